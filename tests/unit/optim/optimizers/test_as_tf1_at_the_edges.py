"""Where float32 overflows, or a weight has diverged: what tf.compat.v1.train computed, in graph mode, by 2.21."""

import math

import numpy as np
import pytest

import optim
from optim import IndexedSlices, Variable

INF = math.inf


def dense(value):
    return np.float32([value])


def sparse(*values):
    """Rows of one index."""
    return IndexedSlices(np.float32(values)[:, np.newaxis], np.zeros(len(values), np.int64), (1, 1))


# optimizer, variable, gradient → variable after one step, and slots
CASES = {
    "Ftrl does not hide a diverged weight": (
        lambda: optim.FtrlOptimizer(0.5), INF, dense(1.0), INF, {"linear": -INF},
    ),
    "nor with a sparse gradient": (
        lambda: optim.FtrlOptimizer(0.5), INF, sparse(1.0), INF, {"linear": -INF},
    ),
    "sparse centered RMSProp adds epsilon first": (
        lambda: optim.RMSPropOptimizer(0.1, decay=0.0, centered=True), 1.0, sparse(30.0), -INF, {"momentum": INF},
    ),
    "sparse RMSProp divides before it multiplies": (
        lambda: optim.RMSPropOptimizer(1e20), 1.0, sparse(1e20), 1.0, {"momentum": 0.0},
    ),
    "sparse Adam scales before it squares": (
        optim.AdamOptimizer, 1.0, sparse(5e19), 0.999, {"v": 2.5e36},
    ),
    "gradient descent multiplies before it sums rows of one index": (
        lambda: optim.GradientDescentOptimizer(0.01), 1.0, sparse(2e38, 2e38), -4e36, {},
    ),
    "nothing else does": (
        lambda: optim.MomentumOptimizer(0.01, 0.5), 1.0, sparse(2e38, 2e38), -INF, {"momentum": INF},
    ),
}  # fmt: skip


@pytest.mark.parametrize(("make", "start", "gradient", "value", "slots"), CASES.values(), ids=CASES)
def test_one_step(make, start, gradient, value, slots):
    shape = (1, 1) if isinstance(gradient, IndexedSlices) else (1,)
    w = Variable(np.full(shape, start, np.float32), name="w")
    optimizer = make()
    optimizer.apply_gradients([(gradient, w)])
    np.testing.assert_allclose(w.value.item(), value, rtol=2e-4)
    for slot, wanted in slots.items():
        np.testing.assert_allclose(optimizer.get_slot(w, slot).value.item(), wanted, rtol=2e-4)


def test_what_is_measured_is_the_sum_of_the_rows_as_they_came():
    w = Variable(np.ones((1, 1), np.float32), name="w")
    report = optim.GradientDescentOptimizer(0.25).apply_gradients([(sparse(2.0, 1.0), w)], report=True)
    (of_w,) = report.variables
    assert (of_w.gradient_norm, of_w.update_norm) == (3.0, 0.75)


@pytest.mark.parametrize("axes", [None, [], ()])
def test_clip_by_norm_of_a_number(axes):
    assert optim.clip_by_norm(np.float32(3.0).reshape(()), 1.0, axes=axes) == 1.0


def test_a_norm_is_not_negative():
    with pytest.raises(ValueError, match=r"^use_norm must be at least 0, got -1.0$"):
        optim.clip_by_global_norm([np.float32([3.0, 4.0])], 5.0, use_norm=-1.0)


@pytest.mark.parametrize("optimizer", [optim.AdamOptimizer, optim.NAdamOptimizer, optim.AdamWOptimizer])
def test_a_learning_rate_that_has_come_to_0_moves_nothing_however_small_epsilon_is(optimizer):
    rates = iter([1.0, 0.0])
    w = Variable(np.ones(2, np.float32), name="w")
    adam = optimizer(lambda: next(rates), beta2=0.0, epsilon=1e-30)
    adam.apply_gradients([(np.float32([1e10, 1]), w)])
    before = w.value.copy()
    adam.apply_gradients([(np.float32([0, 0]), w)])
    np.testing.assert_array_equal(w.value, before)
