"""Clipping: norms within their bound, and nothing changed that is within it already."""

import math

import numpy as np
import pytest

from optim import IndexedSlices, clip_by_global_norm, global_norm
from optim.clip import clip_scale

NORMS = {
    "nothing": ([], 0.0),
    "None": ([None, None], 0.0),
    "an empty array": ([np.zeros((0, 3))], 0.0),
    "one": ([np.array([3.0, 4.0])], 5.0),
    "several, of any shape": ([np.array([[2.0], [4.0]]), None, np.float32(4.0), [5.0, 6.0], 1.0, 1.0, 1.0], 10.0),
    "integers": ([np.array([3, 4])], 5.0),
    "slices, duplicates each for itself": ([IndexedSlices([[3.0], [4.0]], [1, 1])], 5.0),
    "dtypes mixed": ([np.float16([3.0]), np.float64([4.0])], 5.0),
    "infinite": ([np.array([1.0, -math.inf])], math.inf),
}


@pytest.mark.parametrize(("tensors", "norm"), NORMS.values(), ids=NORMS)
def test_global_norm(tensors, norm):
    got = global_norm(tensors)
    assert (type(got), got) == (float, norm)
    assert clip_by_global_norm(tensors, 1.0)[1] == norm


def test_global_norm_of_nan():
    assert math.isnan(global_norm([np.array([1.0, math.nan]), np.array([math.inf])]))


@pytest.mark.parametrize("tensors", [np.ones(2), IndexedSlices([1.0], [0]), 1.0, None], ids=repr)
def test_one_tensor_is_no_list(tensors):
    for call in (global_norm, lambda t_list: clip_by_global_norm(t_list, 1.0)):
        with pytest.raises(TypeError) as raised:
            call(tensors)
        assert str(raised.value) == f"t_list must be a list of tensors, got {type(tensors).__name__}"


def test_within_the_bound_nothing_changes():
    tensors = [np.array([3.0]), None, np.array([[4.0]]), IndexedSlices([0.0], [2], (3,))]
    for bound in (5.0, 6.0, math.inf):
        clipped, norm = clip_by_global_norm(tensors, bound)
        assert norm == 5.0
        assert all(new is old for new, old in zip(clipped, tensors, strict=True))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_clipping(dtype):
    tensors = [np.array([3.0], dtype), None, np.array([[0.0]], dtype), np.array(4.0, dtype)]
    clipped, norm = clip_by_global_norm(tensors, 1.0)
    assert norm == 5.0
    assert clipped[1] is None
    for new, old, expected in zip(clipped, tensors, ([0.6], None, [[0.0]], 0.8), strict=True):
        if old is not None:
            np.testing.assert_allclose(new, np.array(expected, dtype), rtol=np.finfo(dtype).eps)
            assert (new.shape, new.dtype) == (old.shape, old.dtype)
    assert [tensor.tolist() for tensor in tensors if tensor is not None] == [[3], [[0]], 4]


def test_clipping_of_slices():
    slices = IndexedSlices([[3.0], [4.0]], [2, 0], (3, 1))
    (clipped,), norm = clip_by_global_norm([slices], 2.5)
    assert norm == 5.0
    assert (clipped.values.tolist(), clipped.indices.tolist(), clipped.dense_shape) == ([[1.5], [2.0]], [2, 0], (3, 1))


def test_use_norm():
    (clipped,), norm = clip_by_global_norm([np.array([3.0])], 1.0, use_norm=6)
    assert (clipped.tolist(), norm) == ([0.5], 6.0)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_without_a_finite_norm_everything_is_nan(bad):
    clipped, _ = clip_by_global_norm([np.array([1.0, bad]), np.float32([2.0])], 1.0)
    assert all(np.isnan(tensor).all() for tensor in clipped)
    assert [tensor.dtype for tensor in clipped] == [np.float64, np.float32]


@pytest.mark.parametrize("tensor", [np.array([3, 4]), [3, 4]], ids=["array", "list"])
def test_integers_are_not_clipped_to_zero(tensor):
    (clipped,), _ = clip_by_global_norm([tensor], 1.0)
    np.testing.assert_allclose(clipped, [0.6, 0.8])


@pytest.mark.parametrize("size", [10, 100_000])
def test_half_precision_does_not_vanish(size):
    """The scale may be smaller than what float16 holds; the clipped elements are not."""
    tensors = [np.full(size, 6e4, np.float16)] * 3
    bound = 1e-4 * math.sqrt(3 * size)
    clipped, _ = clip_by_global_norm(tensors, bound)
    assert global_norm(clipped) == pytest.approx(bound, rel=1e-2)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("magnitude", [1e-30, 1e-3, 1.0, 1e30])
def test_the_norm_afterwards_is_within_the_bound(dtype, magnitude):
    rng = np.random.default_rng(0)
    tensors = [(rng.standard_normal(shape) * magnitude).astype(dtype) for shape in [(3, 4), (100,), ()]]
    for bound in (0.1 * magnitude, magnitude, 100 * magnitude):
        clipped, norm = clip_by_global_norm(tensors, bound)
        assert global_norm(clipped) <= min(norm, bound) * (1 + 1e-5)
        again, _ = clip_by_global_norm(clipped, bound)
        for one, other in zip(clipped, again, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-5)


@pytest.mark.parametrize(
    ("norm", "clip_norm", "scale"), [(0.0, 1.0, 1.0), (1.0, 1.0, 1.0), (2.0, 1.0, 0.5), (2.0, math.inf, 1.0)]
)
def test_clip_scale(norm, clip_norm, scale):
    assert clip_scale(norm, clip_norm) == scale


@pytest.mark.parametrize("clip_norm", [0.0, -1.0, math.nan, -math.inf])
def test_the_bound_must_be_positive(clip_norm):
    for call in (lambda: clip_scale(1.0, clip_norm), lambda: clip_by_global_norm([np.ones(2)], clip_norm)):
        with pytest.raises(ValueError, match=rf"^clip_norm must be positive, got {clip_norm}$"):
            call()
