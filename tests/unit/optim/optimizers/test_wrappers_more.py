"""Clipping by value and by percentile, steps left out, and all of them one around another."""

import math

import numpy as np
import pytest

import optim
from optim import Variable, clip_gradients_by_norm, clip_gradients_by_percentile, clip_gradients_by_value

NAN = math.nan


def applied(wrap, gradient):
    """What gradient descent with rate 1 moves by, the other way: the gradient as the wrapper left it."""
    w = Variable(np.zeros(len(gradient)), name="w")
    report = wrap(optim.GradientDescentOptimizer(1.0)).apply_gradients([(np.array(gradient), w)])
    return -w.value, report


def test_the_outermost_sees_the_gradients_first():
    gradient = [3.0, 4.0]
    got, report = applied(lambda o: clip_gradients_by_value(clip_gradients_by_norm(o, 1.0), -0.3, 3.5), gradient)
    np.testing.assert_allclose(got, np.array([3.0, 3.5]) / np.hypot(3.0, 3.5))
    assert (report.global_norm, report.clipped) == (5.0, True)
    got, report = applied(lambda o: clip_gradients_by_norm(clip_gradients_by_value(o, -0.3, 0.7), 1.0), gradient)
    np.testing.assert_allclose(got, [0.6, 0.7])
    assert (report.global_norm, report.clip_norm) == (5.0, 1.0)
    got, _ = applied(lambda o: clip_gradients_by_value(clip_gradients_by_value(o, -9, 2), 2.5, 9), gradient)
    np.testing.assert_allclose(got, [2.0, 2.0])


def test_by_value_nan_stays_nan():
    got, _ = applied(lambda o: clip_gradients_by_value(o, -1.0, 1.0), [NAN, math.inf, -math.inf])
    np.testing.assert_array_equal(got, [NAN, 1.0, -1.0])


def test_by_percentile_is_autoclip():
    rng = np.random.default_rng(0)
    w = Variable(np.zeros(5), name="w")
    optimizer = clip_gradients_by_percentile(optim.GradientDescentOptimizer(1.0), 25.0)
    norms = []
    for _ in range(20):
        gradient = rng.standard_normal(5) * rng.uniform(0, 10)
        norms.append(np.linalg.norm(gradient))
        report = optimizer.apply_gradients([(gradient, w)])
        assert report.clip_norm == pytest.approx(np.percentile(norms, 25.0))
        assert report.clipped == (report.global_norm > report.clip_norm)


def test_by_percentile_forgets_what_is_not_finite():
    w = Variable(np.zeros(1), name="w")
    optimizer = optim.skip_nonfinite_steps(clip_gradients_by_percentile(optim.GradientDescentOptimizer(1.0), 50.0))
    bounds = [optimizer.apply_gradients([(np.array([g]), w)]).clip_norm for g in (1.0, NAN, 3.0)]
    assert bounds == [1.0, None, 2.0]


def test_by_percentile_of_zeros():
    got, report = applied(clip_gradients_by_percentile, [0.0, 0.0])
    assert (got.tolist(), report.clip_norm) == ([0, 0], None)


def test_steps_that_are_not_finite_are_left_out():
    w, step = Variable([1.0, 1.0], name="w"), Variable(7, trainable=False, name="global_step")
    optimizer = optim.skip_nonfinite_steps(optim.AdamOptimizer(), max_in_a_row=3)
    good, bad = np.float32([1.0, 2.0]), np.float32([1.0, math.inf])
    optimizer.apply_gradients([(good, w)], step)
    before = [w.value.copy(), *(v.value.copy() for v in optimizer.variables())]
    for _ in range(2):
        report = optimizer.apply_gradients([(bad, w)], step)
        assert (report.skipped, report.nonfinite, report.step) == (True, 1, 9)
    for now, old in zip([w, *optimizer.variables()], before, strict=True):
        np.testing.assert_array_equal(now.value, old)
    assert int(step) == 8
    assert (optimizer.skipped_steps, optimizer.skipped_in_a_row) == (2, 2)
    assert not optimizer.apply_gradients([(good, w)], step).skipped
    assert (optimizer.skipped_steps, optimizer.skipped_in_a_row) == (2, 0)


def test_too_many_in_a_row_are_an_error():
    w = Variable([1.0, 1.0], name="w")
    optimizer = optim.skip_nonfinite_steps(optim.GradientDescentOptimizer(1.0), max_in_a_row=2)
    bad = [(np.float32([NAN, NAN]), w), (np.float32([1.0]), Variable([0.0], name="b"))]
    optimizer.apply_gradients(bad)
    with pytest.raises(FloatingPointError) as raised:
        optimizer.apply_gradients(bad)
    assert str(raised.value) == (
        "gradients were not finite in 2 steps in a row; at step 1, 2 of their elements were not, in ['w']"
    )
    assert w.value.tolist() == [1, 1]


WRAPPERS = {
    "norm": lambda o: clip_gradients_by_norm(o, 1.0),
    "value": lambda o: clip_gradients_by_value(o, -1.0, 1.0),
    "percentile": clip_gradients_by_percentile,
    "skip": optim.skip_nonfinite_steps,
}


@pytest.mark.parametrize("wrap", WRAPPERS.values(), ids=WRAPPERS)
def test_a_wrapper_is_an_optimizer(wrap):
    inner = optim.AdamOptimizer(name="mine")
    optimizer = wrap(inner)
    w = Variable([1.0], name="w")
    assert isinstance(optimizer, optim.Optimizer)
    report = optimizer.apply_gradients([(np.float32([1.0]), w)], report=True)
    assert optimizer.get_name() == "mine"
    assert optimizer.get_slot(w, "m") is inner.get_slot(w, "m")
    assert optimizer.get_slot_names() == ["m", "v"]
    assert optimizer.variables() == inner.variables()
    assert [row.name for row in report.variables] == ["w"]


BAD = {
    "clip_norm must be positive, got 0.0": lambda o: clip_gradients_by_norm(o, 0.0),
    "clip_value_min must be at most clip_value_max, got 1 and -1": lambda o: clip_gradients_by_value(o, 1, -1),
    "percentile must be from 0 to 100, got 101.0": lambda o: clip_gradients_by_percentile(o, 101),
    "max_in_a_row must be positive, got 0": lambda o: optim.skip_nonfinite_steps(o, 0),
}


@pytest.mark.parametrize(("text", "wrap"), BAD.items(), ids=BAD)
def test_refused(text, wrap):
    with pytest.raises(ValueError) as raised:  # noqa: PT011 - the whole text is compared
        wrap(optim.GradientDescentOptimizer(1.0))
    assert str(raised.value) == text
