"""What clipping promises, and what an optimizer's update does not depend on."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import optim

BOUNDS = st.floats(1e-3, 1e3)
SEEDS = st.integers(0, 2**32 - 1)
DTYPES = st.sampled_from([np.float32, np.float64])
CLIPS = {
    "norm": optim.clip_by_norm,
    "average norm": optim.clip_by_average_norm,
    "value": lambda t, c: optim.clip_by_value(t, -c, c),
    "global norm": lambda t, c: optim.clip_by_global_norm([t], c)[0][0],
}
MEASURES = {
    "norm": optim.global_norm,
    "average norm": lambda tensors: optim.global_norm(tensors) / tensors[0].size,
    "value": lambda tensors: np.max(np.abs(tensors[0])),
    "global norm": optim.global_norm,
}


def tensor(seed, dtype):
    rng = np.random.default_rng(seed)
    return (rng.standard_normal(rng.integers(1, 50, 2)) * 10.0 ** rng.integers(-3, 4)).astype(dtype)


@pytest.mark.parametrize("name", CLIPS)
@given(seed=SEEDS, bound=BOUNDS, dtype=DTYPES)
def test_within_the_bound_once_and_for_all(name, seed, bound, dtype):
    t = tensor(seed, dtype)
    epsilon = 4 * float(np.finfo(dtype).eps)
    clipped = CLIPS[name](t, bound)
    assert clipped.dtype == dtype
    assert MEASURES[name]([clipped]) <= bound * (1 + 50 * epsilon)
    np.testing.assert_allclose(CLIPS[name](clipped, bound), clipped, rtol=50 * epsilon)
    if MEASURES[name]([t]) <= bound:
        np.testing.assert_array_equal(clipped, t)


@given(seed=SEEDS, bound=BOUNDS)
def test_axes_clip_each_row_for_itself(seed, bound):
    t = tensor(seed, np.float64)
    wanted = np.stack([optim.clip_by_norm(row, bound) for row in t])
    np.testing.assert_allclose(optim.clip_by_norm(t, bound, axes=1), wanted, rtol=1e-12)
    np.testing.assert_allclose(optim.clip_by_norm(t.T, bound, axes=[0]), wanted.T, rtol=1e-12)


OPTIMIZERS = {
    "GradientDescent": lambda: optim.GradientDescentOptimizer(0.1),
    "Momentum": lambda: optim.MomentumOptimizer(0.1, 0.9),
    "Adagrad": lambda: optim.AdagradOptimizer(0.1),
    "Adadelta": lambda: optim.AdadeltaOptimizer(0.1),
    "Adam": optim.AdamOptimizer,
    "Ftrl": lambda: optim.FtrlOptimizer(0.1),
    "RMSProp": lambda: optim.RMSPropOptimizer(0.1),
    "Lion": optim.LionOptimizer,
}


def train(make, tensors, gradients, order):
    variables = [optim.Variable(t, name=str(i)) for i, t in enumerate(tensors)]
    optimizer = optim.clip_gradients_by_norm(make(), 1.0)
    for step in gradients:
        report = optimizer.apply_gradients([(step[i], variables[i]) for i in order])
    return [variable.value for variable in variables], report


@pytest.mark.parametrize("name", OPTIMIZERS)
@settings(max_examples=10, deadline=None)
@given(seed=SEEDS, dtype=DTYPES)
def test_the_order_of_variables_does_not_matter(name, seed, dtype):
    tensors = [tensor(seed + i, dtype) for i in range(4)]
    gradients = [[tensor(seed + i, dtype) / (step + 1) for i in range(4)] for step in range(2)]
    forward, report = train(OPTIMIZERS[name], tensors, gradients, [0, 1, 2, 3])
    other, other_report = train(OPTIMIZERS[name], tensors, gradients, [2, 0, 3, 1])
    for a, b in zip(forward, other, strict=True):
        np.testing.assert_array_equal(a, b)
    assert report == other_report


@pytest.mark.parametrize("name", OPTIMIZERS)
@settings(max_examples=10, deadline=None)
@given(seed=SEEDS, dtype=DTYPES)
def test_splitting_a_tensor_does_not_change_the_update(name, seed, dtype):
    whole, gradient = tensor(seed, dtype).reshape(-1), tensor(seed, dtype).reshape(-1) ** 2
    cut = len(whole) // 3
    one, two = OPTIMIZERS[name](), OPTIMIZERS[name]()
    w, parts = optim.Variable(whole), [optim.Variable(whole[:cut]), optim.Variable(whole[cut:])]
    for _ in range(2):
        one.apply_gradients([(gradient, w)])
        two.apply_gradients(list(zip([gradient[:cut], gradient[cut:]], parts, strict=True)))
    np.testing.assert_array_equal(np.concatenate(parts), w.value)
