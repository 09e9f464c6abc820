"""The five clipping functions on what is not an ordinary array of finite numbers."""

import math

import numpy as np
import pytest

import optim
from optim import IndexedSlices

NAN, INF = math.nan, math.inf


def test_non_finite_values_are_kept_within_bounds_and_nan_stays():
    clipped = optim.clip_by_value(np.array([NAN, INF, -INF, 0.5]), -1.0, 1.0)
    np.testing.assert_array_equal(clipped, [NAN, 1, -1, 0.5])


# (function, input, bound, what TensorFlow 2.21 gives)
NON_FINITE = [
    (optim.clip_by_norm, [NAN, 1.0], 1.0, [NAN, NAN]),
    (optim.clip_by_norm, [INF, 1.0], 1.0, [NAN, 0.0]),
    (optim.clip_by_average_norm, [NAN, 1.0], 1.0, [NAN, NAN]),
    (optim.clip_by_average_norm, [INF, 1.0], 1.0, [NAN, 0.0]),
    (lambda t, c: optim.clip_by_global_norm([t], c)[0][0], [NAN, 1.0], 1.0, [NAN, NAN]),
    (lambda t, c: optim.clip_by_global_norm([t], c)[0][0], [INF, 1.0], 1.0, [NAN, NAN]),
]


@pytest.mark.parametrize(("function", "tensor", "bound", "wanted"), NON_FINITE)
def test_without_a_finite_norm(function, tensor, bound, wanted):
    np.testing.assert_array_equal(function(np.array(tensor), bound), wanted)


@pytest.mark.parametrize("function", [optim.clip_by_norm, optim.clip_by_average_norm])
def test_zeros_stay(function):
    np.testing.assert_array_equal(function(np.zeros((2, 3)), 1.0), np.zeros((2, 3)))
    np.testing.assert_array_equal(optim.clip_by_norm(np.zeros((2, 3)), 1.0, axes=[0, 1]), np.zeros((2, 3)))
    assert function(np.zeros((0, 3)), 1.0).shape == (0, 3)


@pytest.mark.parametrize("magnitude", [1e-300, 1e300])
def test_norms_over_axes_neither_overflow_nor_vanish(magnitude):
    t = magnitude * np.array([[3.0, 4.0]])
    np.testing.assert_allclose(optim.clip_by_norm(t, magnitude, axes=1), magnitude * np.array([[0.6, 0.8]]))


def test_a_bound_for_each_row():
    t = np.array([[3.0, 4.0], [3.0, 4.0]])
    np.testing.assert_allclose(optim.clip_by_norm(t, [[1.0], [10.0]], axes=1), [[0.6, 0.8], [3.0, 4.0]])


CLIP = {
    "value": lambda t: optim.clip_by_value(t, -1.0, 1.0),
    "norm": lambda t: optim.clip_by_norm(t, 1.0),
    "average norm": lambda t: optim.clip_by_average_norm(t, 0.5),
    "global norm": lambda t: optim.clip_by_global_norm([t], 1.0)[0][0],
}


@pytest.mark.parametrize("clip", CLIP.values(), ids=CLIP)
def test_slices_stay_slices(clip):
    slices = IndexedSlices(np.array([[3.0, 4.0]]), [2], (5, 2))
    clipped = clip(slices)
    assert isinstance(clipped, IndexedSlices)
    np.testing.assert_array_equal(clipped.values, clip(slices.values))
    assert (clipped.indices.tolist(), clipped.dense_shape) == ([2], (5, 2))
    assert slices.values.tolist() == [[3.0, 4.0]]


@pytest.mark.parametrize("clip", CLIP.values(), ids=CLIP)
@pytest.mark.parametrize("dtype", [np.float16, "bfloat16", np.float32, np.float64])
def test_the_dtype_stays(clip, dtype):
    if dtype == "bfloat16":
        pytest.importorskip("ml_dtypes")
    t = np.array([3.0, -4.0]).astype(dtype)
    assert clip(t).dtype == t.dtype


@pytest.mark.parametrize("bound", [0.0, -1.0, NAN])
@pytest.mark.parametrize("function", [optim.clip_by_norm, optim.clip_by_average_norm])
def test_the_bound_must_be_positive(function, bound):
    with pytest.raises(ValueError) as raised:  # noqa: PT011 - the whole text is compared
        function(np.ones(2), bound)
    assert str(raised.value) == f"clip_norm must be positive, got {bound}"


def test_bounds_must_fit():
    with pytest.raises(ValueError) as raised:  # noqa: PT011
        optim.clip_by_value(np.ones(2), np.zeros((3, 2)), 1.0)
    assert str(raised.value) == "bounds must broadcast to the shape (2,) of t, got (3, 2)"
    with pytest.raises(ValueError) as raised:  # noqa: PT011
        optim.clip_by_value(np.ones(3), np.ones(4), 2)
    assert str(raised.value) == "bounds must broadcast to the shape (3,) of t, got (4,)"
