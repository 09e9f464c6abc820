"""Norms survive every magnitude."""

import math

import numpy as np
import pytest

from optim.kernels.measure import count_nonfinite, measure, norm
from optim.kernels.plain import _BLOCK
from optim.kernels.stats import OF_GRADIENT

SIZES = [0, 1, 5, _BLOCK - 1, _BLOCK, _BLOCK + 1, 3 * _BLOCK + 7]


def arrays(size, dtype, count=3):
    rng = np.random.default_rng(size)
    return [rng.standard_normal(size).astype(dtype) for _ in range(count)]


NORMS = {
    "nothing": ([], 0.0),
    "empty": ([np.zeros(0)], 0.0),
    "zeros": ([np.zeros(3)], 0.0),
    "3 and 4": ([np.array([3.0]), np.array([[4.0]])], 5.0),
    "no dimension": ([np.array(-2.0)], 2.0),
    "squares beyond float64": ([np.array([3e200, 4e200])], 5e200),
    "squares beyond float64 in several arrays": ([np.array([3e200]), np.array([4e200])], 5e200),
    "a sum of squares beyond float64": ([np.array([1.2e154]), np.array([1.2e154])], 1.2e154 * math.sqrt(2)),
    "a sum of squares beyond float64 in one array": ([np.array([1.2e154, 1.2e154])], 1.2e154 * math.sqrt(2)),
    "a sum of blocks beyond float64": ([np.full(2 * _BLOCK, 2e152)], 2e152 * math.sqrt(2 * _BLOCK)),
    "squares below float64": ([np.array([3e-200, 4e-200])], 5e-200),
    "the smallest": ([np.array([5e-324])], 5e-324),
    "squares beyond float32": ([np.float32([3e30, 4e30])], 5e30),
    "squares below float32": ([np.float32([3e-30, 4e-30])], 5e-30),
    "large and small float32": ([np.float32([3e30]), np.float32([1e-30])], 3e30),
    "large float16": ([np.full(10_000, 6e4, np.float16)], 100 * float(np.float16(6e4))),
    "small float16": ([np.full(10_000, 1e-6, np.float16)], 100 * float(np.float16(1e-6))),
    "not contiguous": ([np.arange(10.0)[::5], np.ones((4, 4)).T[1:3]], math.sqrt(25 + 8)),
    "byte order": ([np.array([3.0, 4.0], ">f8")], 5.0),
    "infinite": ([np.array([1.0]), np.array([math.inf])], math.inf),
    "infinite float16": ([np.float16([math.inf])], math.inf),
    "infinite, both signs": ([np.array([math.inf, -math.inf])], math.inf),
    "not a number": ([np.array([1.0, math.nan])], math.nan),
    "not a number, and infinite": ([np.float32([math.nan]), np.array([math.inf])], math.nan),
    "many blocks": ([np.ones(9 * _BLOCK)], 3 * math.sqrt(_BLOCK)),
}


@pytest.mark.parametrize(("arrays", "expected"), NORMS.values(), ids=NORMS)
def test_norm(arrays, expected):
    assert norm(arrays) == pytest.approx(expected, rel=1e-6, nan_ok=True)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_norm_is_the_plain_formula(size, dtype):
    many = arrays(size, dtype)
    plain = np.linalg.norm(np.concatenate(many).astype(np.float64))
    assert norm(many) == pytest.approx(plain, rel=1e-6)


@pytest.mark.parametrize(
    ("arrays", "count"),
    [
        ([], 0),
        ([np.ones(3)], 0),
        ([np.array([1.0, math.nan, math.inf]), np.float16([-math.inf])], 3),
        ([np.full(2 * _BLOCK + 1, math.nan)[::2]], _BLOCK + 1),
    ],
)
def test_count_nonfinite(arrays, count):
    assert count_nonfinite(arrays) == count


@pytest.mark.parametrize("dtypes", [[np.float32], [np.float64], [np.float32, np.float16]], ids=str)
def test_gradients_are_measured_as_other_arrays(dtypes):
    many = [np.maximum(array, 0) for size in SIZES for dtype in dtypes for array in arrays(size, dtype, 1)]
    found, wanted = measure(many, are_gradients=True), measure(many)
    np.testing.assert_array_equal(found[:, OF_GRADIENT], wanted[:, OF_GRADIENT])
