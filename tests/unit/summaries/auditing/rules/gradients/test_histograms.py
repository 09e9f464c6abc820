"""GL408: histograms in files, dead, saturated and alive."""

import numpy as np
import pytest

from summaries import SummaryWriter, audit


def found(directory, tag, values_of, steps=6, **config):
    rng = np.random.default_rng(0)
    with SummaryWriter(directory) as writer:
        for step in range(steps):
            writer.add_histogram(tag, values_of(rng), step)
    return [finding.message for finding in audit(directory, {"select": ["GL408"], **config}).findings]


@pytest.mark.parametrize(
    ("tag", "values_of", "said"),
    [
        ("gradients/w", lambda _: np.zeros(500), "is zero everywhere: 100% of its values"),
        ("layer2/relu", lambda _: np.zeros(500), "is zero everywhere: 100% of its values"),
        ("act/tanh", lambda rng: np.tanh(50 * rng.standard_normal(500)), "is saturated: 9"),
        ("sigmoid", lambda rng: (1 + np.tanh(100 * rng.standard_normal(500))) / 2, "is saturated: 9"),
    ],
)
def test_dead(tag, values_of, said, tmp_path):
    (message,) = found(tmp_path, tag, values_of)
    assert message.startswith(f"{tag} {said}")
    assert message.endswith(", in each of 6 histograms that were looked at")


@pytest.mark.parametrize(
    ("tag", "values_of"),
    [
        ("gradients/w", lambda rng: rng.standard_normal(500)),
        ("gradients/embedding", lambda rng: np.r_[np.zeros(499), rng.standard_normal()]),
        ("layer2/relu", lambda rng: np.maximum(rng.standard_normal(500), 0)),
        ("act/tanh", lambda rng: np.tanh(rng.standard_normal(500))),
        ("sigmoid", lambda rng: 1 / (1 + np.exp(-rng.standard_normal(500)))),
        ("sigmoid", lambda rng: 0.5 + 0.01 * rng.standard_normal(500)),
        ("weights/b", lambda _: np.zeros(500)),
        ("actor/w", lambda _: np.zeros(500)),
    ],
)
def test_alive(tag, values_of, tmp_path):
    assert found(tmp_path, tag, values_of) == []


def test_a_few_zero_histograms_among_others(tmp_path):
    count = iter(range(100))
    assert found(tmp_path, "gradients/w", lambda rng: rng.standard_normal(50) * (next(count) > 3)) == []
    assert found(tmp_path / "few", "gradients/w", lambda _: np.zeros(5), steps=3) == []


def test_a_tag_that_a_configuration_calls_other(tmp_path):
    assert found(tmp_path, "gradients/w", lambda _: np.zeros(500), tags={"other": ["gradients/.*"]}) == []
