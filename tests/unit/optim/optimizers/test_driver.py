"""apply_gradients checks everything, and only then changes something."""

import math

import numpy as np
import pytest

from optim import GradientDescentOptimizer, Optimizer, StepReport, Variable


def float32(*numbers):
    return np.float32(numbers)


@pytest.fixture
def w():
    return Variable([1.0, 2.0], name="w")


@pytest.fixture
def b():
    return Variable(0.5, name="b")


@pytest.fixture
def step():
    return Variable(10, trainable=False, name="global_step")


def test_update(w, b):
    live = w.value
    report = GradientDescentOptimizer(0.5).apply_gradients([(float32(1, -1), w), (np.float32(2), b)])
    assert report == StepReport(step=1, learning_rate=0.5)
    assert w.value is live
    assert (live.tolist(), float(b)) == ([0.5, 2.5], -0.5)


def test_without_a_gradient_a_variable_stays(w, b):
    GradientDescentOptimizer(0.5).apply_gradients(iter([(None, w), (np.float32(2), b)]))
    assert (w.value.tolist(), float(b)) == ([1, 2], -0.5)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_dtypes(dtype):
    variable = Variable(np.ones(3, dtype))
    GradientDescentOptimizer(0.5).apply_gradients([(np.ones(3, dtype), variable)])
    assert (variable.dtype, variable.value.tolist()) == (dtype, [0.5] * 3)


class Tensor:
    """A gradient of another library."""

    dtype = "float32"
    shape = (2,)

    def __array__(self, dtype=None, copy=None):
        return float32(1, -1)


def test_a_gradient_of_another_library(w):
    GradientDescentOptimizer(0.5).apply_gradients([(Tensor(), w)])
    assert w.value.tolist() == [0.5, 2.5]


@pytest.mark.parametrize("rate", [0.5, Variable(0.5), np.float32(0.5), lambda: 0.5])
def test_learning_rates(w, rate):
    report = GradientDescentOptimizer(rate).apply_gradients([(float32(1, -1), w)])
    assert report.learning_rate == 0.5
    assert w.value.tolist() == [0.5, 2.5]


def test_the_learning_rate_is_read_at_each_step(w):
    rate = Variable(0.5)
    optimizer = GradientDescentOptimizer(rate)
    reports = []
    for value in (0.5, 0.25):
        rate.assign(value)
        reports.append(optimizer.apply_gradients([(float32(1, -1), w)]))
    assert [(report.step, report.learning_rate) for report in reports] == [(1, 0.5), (2, 0.25)]


def test_global_step(w, step):
    optimizer = GradientDescentOptimizer(0.5)
    reports = [optimizer.apply_gradients([(float32(1, -1), w)], step) for _ in range(3)]
    assert [report.step for report in reports] == [11, 12, 13]
    assert (int(step), step.dtype) == (13, np.int64)


def test_names():
    assert GradientDescentOptimizer(0.5).get_name() == "GradientDescent"
    assert GradientDescentOptimizer(0.5, name="mine").get_name() == "mine"
    with pytest.raises(ValueError, match=r"^name must not be empty, got ''$"):
        GradientDescentOptimizer(0.5, name="")


def test_gates():
    assert (Optimizer.GATE_NONE, Optimizer.GATE_OP, Optimizer.GATE_GRAPH) == (0, 1, 2)


W = Variable([1.0, 2.0], name="w")
GOOD = (np.float32(2.0), Variable(0.5, name="b"))
# (grads_and_vars, error, its text); where there are others, a good pair comes first, and stays unused.
REFUSED = {
    "nothing": ([], ValueError, "No variables provided: grads_and_vars is empty"),
    "no gradients": ([(None, W), (None, GOOD[1])], ValueError, "No gradients provided for any variable: ['w', 'b']"),
    "no variable": (
        [GOOD, (float32(1), 5)],
        TypeError,
        "variable must be a Variable, got int: 5",
    ),
    "a long list": (
        [GOOD, (float32(1), [0] * 10_000)],
        TypeError,
        "variable must be a Variable, got list: [0, 0, 0, 0, 0, 0, ...]",
    ),
    "no pairs": (5, TypeError, "grads_and_vars must be pairs (gradient, Variable), got int: 5"),
    "no gradient": (
        [GOOD, (2.0,)],
        TypeError,
        "grads_and_vars must be pairs (gradient, Variable), got one that is tuple: (2.0,)",
    ),
    "an array": (
        [GOOD, float32(1)],
        TypeError,
        "grads_and_vars must be pairs (gradient, Variable), got one that is ndarray: array([1.], dtype=float32)",
    ),
    "twice": ([GOOD, GOOD], ValueError, "variable 'b' is given twice"),
    "another shape": (
        [GOOD, (float32(1), W)],
        ValueError,
        "gradient of 'w' must have the variable's shape (2,), got (1,)",
    ),
    "another dtype": (
        [GOOD, (np.float64([1, 2]), W)],
        ValueError,
        "gradient of 'w' must have the variable's dtype float32, got float64",
    ),
    "no array": (
        [GOOD, ([1.0, 2.0], W)],
        TypeError,
        "gradient of 'w' must be an array, IndexedSlices or None, got list: [1.0, 2.0]",
    ),
}


@pytest.mark.parametrize(("pairs", "error", "text"), REFUSED.values(), ids=REFUSED)
def test_a_refused_call_changes_nothing(pairs, error, text, step):
    optimizer = GradientDescentOptimizer(0.5)
    with pytest.raises(error) as raised:
        optimizer.apply_gradients(pairs, step)
    assert str(raised.value) == text
    assert (W.value.tolist(), float(GOOD[1]), int(step)) == ([1, 2], 0.5, 10)
    assert optimizer.apply_gradients([(np.float32([0]), Variable([0.0]))]).step == 1


@pytest.mark.parametrize(
    ("step", "text"),
    [
        (Variable(1.0), "global_step must be one integer, got float32 of shape ()"),
        (Variable([1, 2]), "global_step must be one integer, got int64 of shape (2,)"),
    ],
)
def test_a_global_step_that_is_none_changes_nothing(w, step, text):
    with pytest.raises(TypeError) as raised:
        GradientDescentOptimizer(0.5).apply_gradients([(float32(1, -1), w)], step)
    assert str(raised.value) == text
    assert w.value.tolist() == [1, 2]


def test_a_learning_rate_that_fails_changes_nothing(w, step):
    with pytest.raises(ZeroDivisionError):
        GradientDescentOptimizer(lambda: 1 / 0).apply_gradients([(float32(1, -1), w)], step)
    assert (w.value.tolist(), int(step)) == ([1, 2], 10)


def test_an_integer_variable_is_not_trained_by_halves():
    """Its update would be cut off at every step, and nobody would know."""
    counts = Variable([10, 20], name="counts")
    with pytest.raises((TypeError, ValueError)):
        GradientDescentOptimizer(0.5).apply_gradients([(np.array([1, 1]), counts)])
    assert counts.value.tolist() == [10, 20]


def test_a_read_only_variable_changes_nothing(w, b, step):
    b.value.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        GradientDescentOptimizer(0.5).apply_gradients([(float32(1, -1), w), (np.float32(1), b)], step)
    assert (w.value.tolist(), float(b), int(step)) == ([1, 2], 0.5, 10)


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_gradient_that_is_not_finite_is_applied(w, bad):
    """Without clipping, as TF1 does; the summaries tell."""
    GradientDescentOptimizer(0.5).apply_gradients([(float32(bad, -1), w)])
    assert not math.isfinite(w.value[0])
    assert w.value[1] == 2.5


def test_a_constraint_holds_after_each_update():
    w = Variable([1.0, 2.0], name="w", constraint=lambda value: np.clip(value, -0.5, 1.5))
    free = Variable([1.0, 2.0], name="free")
    optimizer = GradientDescentOptimizer(1.0)
    optimizer.apply_gradients([(np.float32([3.0, 0.25]), v) for v in (w, free)])
    assert w.value.tolist() == [-0.5, 1.5]
    assert free.value.tolist() == [-2.0, 1.75]
