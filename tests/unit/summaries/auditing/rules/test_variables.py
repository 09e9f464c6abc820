"""One variable beside the others: when it died, and how large its updates are."""

import labelled_runs as labelled
import numpy as np
import pytest

from summaries.auditing.config import Config
from summaries.auditing.engine import audit_run

N = 200
DECAY = 1 / (1 + np.arange(N))


def found(*codes, **values):
    """What is found in a run of these tags' values: (code, message, steps)."""
    columns = {tag.replace("__", "/"): labelled.columns(value) for tag, value in values.items()}
    run = labelled.as_run(np.random.default_rng(0), columns)
    findings = audit_run("run", run, Config(select=codes)).findings
    return [(finding.code, finding.message, finding.steps) for finding in findings]


def norms(one, other=None):
    """What is found of two variables' gradients, of whose norms one is 1 throughout."""
    other = np.ones(N) if other is None else other
    return found("GL403", "GL406", gradients__norm__a=one, gradients__norm__b=other)


def zero_from(at, norm=1.0):
    return np.where(np.arange(N) < at, norm, 0.0)


def test_a_variable_dies():
    message = "the gradient of a is zero at all 50 points since step 150"
    assert norms(zero_from(150)) == [("GL406", message, (150, 199))]


@pytest.mark.parametrize("at", [0, 150])
def test_where_all_have_no_gradient_any_more_none_has_died(at):
    expected = [("GL406", f"the gradient of {name} is zero at all 200 points", (0, 199)) for name in "ab"]
    assert norms(zero_from(at), zero_from(at)) == ([] if at else expected)


def test_a_pause_is_no_death():
    pauses = np.where(np.arange(N) % 40 < 10, 1.0, 0.0)  # the last 30 points are one
    assert norms(pauses) == []


def test_what_shrinks_to_zero_has_vanished():
    ((code, message, _),) = norms(np.float32(10.0 ** (-0.6 * np.arange(N))))
    assert (code, message[:46]) == ("GL403", "the gradient of a is exactly zero since step 7")


def ratios(ratio, name="kernel", **norms):
    """What is found of a variable whose updates are this part of its weights."""
    return found("GL501", **{f"updates__ratio__{name}": ratio}, **norms)


def test_a_ratio_is_told_from_where_it_rose():
    assert ratios(np.where(np.arange(N) < 60, 1e-3, 0.5)) == [
        ("GL501", "the updates of kernel are 0.5 of its weights, more than 0.1", (60, 199))
    ]


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
