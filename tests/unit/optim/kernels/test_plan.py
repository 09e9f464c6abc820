"""Blocks give what the plain formula gives on whole arrays."""

import math

import numpy as np
import pytest
from optimizing.applied_rules import apply_rule

from optim.kernels.plain import _BLOCK
from optim.kernels.plan import Plan
from optim.rules import GRADIENT_DESCENT, Rule

SIZES = [0, 1, 5, _BLOCK - 1, _BLOCK, _BLOCK + 1, 3 * _BLOCK + 7]

MOMENTUM = Rule(lambda g, v, m, rate, decay: (v - rate * (decay * m + g), decay * m + g), slots=("m",), reference="")


def arrays(size, dtype, count=3):
    rng = np.random.default_rng(size)
    return [rng.standard_normal(size).astype(dtype) for _ in range(count)]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("scale", [1.0, 0.3])
def test_blocks_are_the_plain_formula(size, dtype, scale):
    g, v, m = arrays(size, dtype)
    scaled = g if scale == 1.0 else g * dtype(scale)
    new_v, new_m = MOMENTUM.formula(scaled, v, m, 0.1, 0.9)
    g_before = g.copy()
    apply_rule(MOMENTUM, (0.1, 0.9), v, g, [m], scale)
    rounding = 0.0 if dtype is not np.float16 else 2e-3  # float16 is computed as float32, and rounded once
    np.testing.assert_allclose(v, new_v, rtol=rounding, atol=rounding)
    np.testing.assert_allclose(m, new_m, rtol=rounding, atol=rounding)
    np.testing.assert_array_equal(g, g_before)
    assert v.dtype == m.dtype == dtype


# What a formula may ask for, and NumPy takes an output of in a way of its own.
AMSGRAD = Rule(
    lambda g, v, s, most, rate: (v - rate * g / np.sqrt(np.maximum(most, s)), s + g * g, np.maximum(most, s)),
    slots=("s", "most"),
    reference="",
)


def test_a_rule_may_take_the_larger_of_two():
    g, v, s, most = (np.abs(array) for array in arrays(_BLOCK + 1, np.float32, 4))
    wanted = AMSGRAD.formula(g, v, s, most, np.float32(0.1))
    apply_rule(AMSGRAD, (0.1,), v, g, [s, most])
    for got, new in zip([v, s, most], wanted, strict=True):
        np.testing.assert_allclose(got, new, rtol=1e-6)


def test_a_large_variable_is_shared_out_and_measured_as_a_whole():
    g, v, m = arrays(3 * _BLOCK + 7, np.float32)
    plan = Plan(MOMENTUM, [(v, m)])
    before = v.copy()
    stats = plan.run([g], (0.1, 0.9), report=True)
    squares = [np.sum(np.square(array, dtype=np.float64)) for array in (g, v, v - before)]
    np.testing.assert_allclose(stats[0, :3], squares, rtol=1e-5)
    np.testing.assert_allclose(stats[0, -3:], [np.sum(m * m), np.sum(m, dtype=np.float64), np.max(m)], rtol=1e-3)


VIEWS = {
    "every other element": lambda array: array[::2],
    "backwards": lambda array: array[::-1],
    "a column": lambda array: array.reshape(-1, 4)[:, 1],
    "transposed": lambda array: array.reshape(-1, 4).T,
    "a slice": lambda array: array[3:-3],
    "no dimension": lambda array: array[5:6].reshape(()),
    "many dimensions": lambda array: array.reshape(2, -1, 4),
}


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_views_are_updated_in_place(view):
    whole = arrays(4 * _BLOCK, np.float32, 1)[0]
    v = view(whole)
    g = np.ones(v.shape, np.float32)
    expected = v - np.float32(0.5) * g
    untouched = whole.copy()
    view(untouched)[...] = 0
    apply_rule(GRADIENT_DESCENT, (0.5,), v, g)
    np.testing.assert_array_equal(v, expected)
    v[...] = 0
    np.testing.assert_array_equal(whole, untouched)


def test_a_gradient_may_be_the_variable_itself():
    v = np.arange(2.0 * _BLOCK)
    apply_rule(GRADIENT_DESCENT, (0.5,), v, v)
    np.testing.assert_array_equal(v, np.arange(2.0 * _BLOCK) / 2)


def test_a_gradient_of_another_layout():
    v = np.zeros((3, 4))
    g = np.arange(12.0).reshape(4, 3).T
    apply_rule(GRADIENT_DESCENT, (1.0,), v, g)
    np.testing.assert_array_equal(v, -g)


def test_a_nan_scale_makes_everything_nan():
    v = np.ones(3)
    apply_rule(GRADIENT_DESCENT, (1.0,), v, np.ones(3), scale=math.nan)
    assert np.isnan(v).all()
