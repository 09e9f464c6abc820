"""GL403 and GL406: one variable beside the others, and when it died."""

import numpy as np
import pytest
from audits.audited import findings

N = 200


def found(*codes, **values):
    """What is found in a run of these tags' values: (code, message, steps)."""
    return [(hit.code, hit.message, hit.steps) for hit in findings(*codes, **values)]


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
    expected = [("GL406", "the gradients of a and b are zero at all 200 points", (0, 199))]  # one cause, one finding
    assert norms(zero_from(at), zero_from(at)) == ([] if at else expected)


def test_a_pause_is_no_death():
    pauses = np.where(np.arange(N) % 40 < 10, 1.0, 0.0)  # the last 30 points are one
    assert norms(pauses) == []


def test_what_shrinks_to_zero_has_vanished():
    ((code, message, _),) = norms(np.float32(10.0 ** (-0.6 * np.arange(N))))
    assert (code, message[:46]) == ("GL403", "the gradient of a is exactly zero since step 7")


def test_a_chain_that_vanishes_is_one_finding_that_says_since_when():
    fades = np.where(np.arange(100) < 40, 1.0, 1e-6)
    layers = {f"gradients__norm__layer{i}": fades for i in range(4)} | {
        f"gradients__norm__top{i}": np.ones(100) for i in range(9)
    }
    (chain,) = findings("GL403", **layers)
    assert chain.message.startswith(
        "the gradients of 4 variables, from layer0 to layer3, have norms of 1e-06 to 1e-06 where"
    )
    assert chain.message.endswith(", since step 40")
