"""Skipping, around an optimizer, the steps whose gradients are not finite."""

import math

import numpy as np
import pytest

import optim
from optim import Variable

NAN = math.nan


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


def test_the_most_in_a_row_must_be_positive():
    with pytest.raises(ValueError, match=r"^max_in_a_row must be positive, got 0$"):
        optim.skip_nonfinite_steps(optim.GradientDescentOptimizer(1.0), 0)
