"""GL402: a norm that explodes, for how long and since when; GL401: whether a run went on after an overflow."""

import re

import numpy as np
import pytest
from audits.audited import codes, finding, findings


@pytest.mark.parametrize("n", [2_000, 20_000, 100_000])
@pytest.mark.parametrize("k", [10, 50, 100, 200, 300])
@pytest.mark.parametrize("end", [False, True])
def test_a_norm_that_explodes_for_a_while_however_long_the_run(n, k, end):
    rng = np.random.default_rng(n + k)
    norm = np.exp(0.3 * rng.standard_normal(n))
    at = n - k if end else int(rng.uniform(0.2, 0.8) * n)
    assert codes(gradients__global_norm=norm) == []
    norm[at : at + k] *= 50
    assert codes(gradients__global_norm=norm) == ["GL402"]


@pytest.mark.parametrize("n", [50, 200, 2000])
@pytest.mark.parametrize("growth", [3, 5, 20])
def test_a_climb_begins_where_the_norm_is_ten_times_what_it_was(n, growth):
    norm = np.exp(growth * np.maximum(0, 2 * np.arange(n) / n - 1))
    noise = np.exp(0.05 * np.random.default_rng(n).standard_normal(n))
    tenfold = n / 2 + n / 2 * np.log(10) / growth
    assert abs(finding("GL402", grad_norm=norm * noise).steps[0] - tenfold) <= 0.04 * n


def test_one_bad_batch_is_a_warning_if_the_loss_is_back():
    rng = np.random.default_rng(1)
    norm, loss = np.exp(0.3 * rng.standard_normal((2, 400)))
    loss *= 0.1 + np.exp(-np.arange(400) / 20)
    norm[200], loss[200] = 2e5, 5e4
    assert finding("GL402", loss=loss, grad_norm=norm).severity.name == "WARNING"
    loss[201:] = 3
    assert finding("GL402", loss=loss, grad_norm=norm).severity.name == "ERROR"


def test_a_climb_is_told_in_points_of_the_curve():
    norm = np.exp(5 * np.maximum(0, np.arange(200) / 100 - 1))
    message = finding("GL402", grad_norm=norm).message
    assert message == "grad_norm climbs from 1 at step 100 to 134.3 at step 198"


def test_a_climb_ends_after_its_beginning():
    """Though a level before the fall is higher than the lower bound of the last one."""
    norm = np.array([
        1.11, 0.55, 0.602, 0.859, 2.29, 1.81, 0.745, 0.737, 1.44, 1.39, 2.02, 2.06, 1.11, 1.54, 2.34, 1.09, 1.96,
        1.37, 0.963, 3.5, 1.79, 0.938, 2.55, 2.6, 3.85, 1.75, 5.7, 3.42, 4.6, 2.48, 5.76, 5.25, 3.58, 4.08, 5.19,
        3.66, 7.69, 2.54, 12.8, 11.8, 8.02, 3.98, 23.4, 1.76, 5.18, 12, 13.8, 11.5, 12.9, 5.33, 6.12, 10.2, 5.95,
        4.14, 7.39, 11, 8.73, 25.6, 18.8, 21.3, 20.9, 4.89, 5.97, 4.25, 4.78, 1.33, 2.39, 1.9, 1.13, 1.25, 31.1, 32,
        21.1, 9.71, 19.3, 25.6, 19.7, 40.5,
    ])  # fmt: skip
    climb = finding("GL402", grad_norm=norm).message.split(";")[0]
    first, last = re.findall(r"at step (\d+)", climb)
    assert int(first) < int(last)


def test_a_run_that_ends_on_a_norm_that_is_not_finite_is_a_warning():
    norm, loss = np.ones(60), 2 * 0.9 ** np.arange(60)
    norm[59] = np.nan
    found = finding("GL401", grad_norm=norm, loss=loss)
    assert (found.severity.name, found.message) == (
        "WARNING",
        "grad_norm: gradients are not finite at 1 of 60 points, first at step 59; the run ends there",
    )
    for columns in ({"loss": np.append(loss, 0.1)}, {"loss": loss, "train/loss_scale": np.full(60, 1024.0)}):
        found = finding("GL401", grad_norm=norm, **columns)
        assert (found.severity.name, found.message.endswith("; the run ends there")) == ("INFO", False)


def test_layers_that_explode_together_are_one_finding_of_the_one_that_rises_the_most():
    step, noise = np.arange(300), np.exp(0.1 * np.random.default_rng(2).standard_normal((4, 300)))
    norms = {f"grad_norm/layer{i}": noise[i] * 1.1 ** np.maximum(0, step - 200 + 10 * i) for i in range(4)}
    found = finding("GL402", **norms)
    assert (found.tag, found.others) == (
        "grad_norm/layer3",
        ("grad_norm/layer2", "grad_norm/layer1", "grad_norm/layer0"),
    )
    beside = "so do grad_norm/layer2, grad_norm/layer1 and grad_norm/layer0"
    assert re.search(f"^grad_norm/layer3 climbs from .*; {beside}$", found.message)
    assert found.severity.name == "ERROR"


def test_layers_that_explode_at_different_times_are_told_apart():
    noise = np.exp(0.1 * np.random.default_rng(3).standard_normal((2, 600)))
    for i, at in enumerate((200, 450)):
        noise[i, at] *= 1000
    first, second = findings("GL402", **{"grad_norm/a": noise[0], "grad_norm/b": noise[1]})
    assert (first.tag, first.steps, second.tag, second.steps) == ("grad_norm/a", (200, 200), "grad_norm/b", (450, 450))
    assert first.evidence["factor"] == pytest.approx(first.evidence["peak"] / first.evidence["usual"])


def test_a_norm_that_stays_at_another_level_has_not_jumped():
    n = np.arange(100)
    norm = np.where(n < 14, 1.0, 5.6) * np.exp(0.1 * np.random.default_rng(5).standard_normal(100))
    norm[14] = 13.9
    assert "GL402" not in codes(train__loss=2.3 * 0.97**n, train__grad_norm=norm)
    norm[15:] /= 5.6
    assert "GL402" in codes(train__loss=2.3 + 0 * n, train__grad_norm=norm)
