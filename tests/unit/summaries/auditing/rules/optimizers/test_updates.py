"""GL501: how large the updates of a variable are beside its weights."""

import numpy as np
import pytest
from audits.audited import findings

N = 200
DECAY = 1 / (1 + np.arange(N))


def ratios(ratio, name="kernel", **norms):
    """What is found of a variable whose updates are this part of its weights."""
    hits = findings("GL501", **{f"updates__ratio__{name}": ratio}, **norms)
    return [(hit.code, hit.message, hit.steps) for hit in hits]


def test_a_ratio_is_told_from_where_it_rose():
    assert ratios(np.where(np.arange(N) < 60, 1e-3, 0.5)) == [
        ("GL501", "the updates of kernel are 0.5 of its weights, more than 0.1", (60, 199))
    ]


def test_a_few_points_above_a_low_bound_are_not_denied():
    low = np.full(N, 9e-7)
    assert ratios(low)[0][1] == "the updates of kernel are 9e-07 of its weights, never as much as 1e-06"
    low[33] = 2e-6
    assert ratios(low)[0][1] == "the updates of kernel are 9e-07 of its weights, usually less than 1e-06"


def test_a_schedule_that_ends_at_zero_excuses_nothing():
    (hit,) = ratios(0.8 * (1 - (np.arange(N) + 0.5) / N))
    assert hit == ("GL501", "the updates of kernel are 0.45 of its weights, more than 0.1", (0, 174))


@pytest.mark.parametrize(
    ("name", "size", "codes"),
    [
        ("w", 0.04, []),
        ("w", 0.2, ["GL501"]),
        ("b", 0.4, []),
        ("b", 0.6, ["GL501"]),
        ("norm.bias", 0.4, []),
        ("dense/bias:0", 0.4, []),
    ],
)
def test_weights_near_zero_are_taken_for_larger(name, size, codes):
    name = name.replace("/", "__")
    weights = {f"weights__norm__{name}": np.full(N, size), "weights__norm__v": np.ones(N)}
    assert [code for code, *_ in ratios(np.full(N, 0.2), name, **weights)] == codes


def test_weights_that_start_at_zero_settle():
    assert ratios(DECAY) == []
    assert ratios(np.sqrt(DECAY)) == []
