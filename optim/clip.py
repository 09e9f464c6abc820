"""Clipping: keep gradients within a bound.

All functions take arrays of any library that `arrays.as_array` knows, and IndexedSlices, and give NumPy arrays, and
IndexedSlices. What is within its bound already comes back as it is, bit for bit, and not copied.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from optim import checks, kernels
from optim.arrays import as_array
from optim.plain import compute_dtype
from optim.variable import IndexedSlices

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

    Tensor = ArrayLike | IndexedSlices

__all__ = [
    "clip_by_average_norm",
    "clip_by_global_norm",
    "clip_by_norm",
    "clip_by_value",
    "clip_scale",
    "global_norm",
]


def clip_by_value(t: Tensor, clip_value_min: ArrayLike, clip_value_max: ArrayLike, name: str | None = None) -> Any:
    r"""Keep every element of `t` within bounds.

    .. math:: \max(\min(t, b), a)

    NaN stays NaN.

    Args:
        t: array, any shape, floating dtype; or IndexedSlices, whose values are clipped. Not modified.
        clip_value_min: the least a, a number or an array that broadcasts to the shape of `t`.
        clip_value_max: the most b, likewise.
        name: accepted for TF1's sake; unused.

    Returns:
        Array (or IndexedSlices) of the shape and dtype of `t`.

    Raises:
        ValueError: a bound does not broadcast to the shape of `t`.

    >>> clip_by_value(np.array([-3.0, 0.5, np.nan]), -1.0, 1.0)
    array([-1. ,  0.5,  nan])
    """

    def clip(array: NDArray[Any]) -> NDArray[Any]:
        bounds = [np.asarray(bound, array.dtype) for bound in (clip_value_min, clip_value_max)]
        for bound in bounds:
            if np.broadcast_shapes(bound.shape, array.shape) != array.shape:
                raise ValueError(f"bounds must broadcast to the shape {array.shape} of t, got {bound.shape}")
        kept: NDArray[Any] = np.maximum(np.minimum(array, bounds[1]), bounds[0])
        return kept

    return _mapped(clip, t)


def clip_by_norm(
    t: Tensor, clip_norm: ArrayLike, axes: int | Sequence[int] | None = None, name: str | None = None
) -> Any:
    r"""Scale `t` so that its L2 norm is at most `clip_norm`.

    .. math:: t \cdot c / \max(\lVert t \rVert_2, c)

    As in TF1, where the norm is infinite finite elements become 0 and infinite ones NaN; where it is NaN, all do.

    Args:
        t: array, any shape, floating dtype; or IndexedSlices, whose values are clipped. Not modified.
        clip_norm: the bound c, in the units of `t`; positive; a number, or an array that broadcasts to the norms.
        axes: axes to reduce over, so that each of the others has its norm; None reduces over all of them.
        name: accepted for TF1's sake; unused.

    Returns:
        Array (or IndexedSlices) of the shape and dtype of `t`.

    Raises:
        ValueError: `clip_norm` is not positive.

    >>> clip_by_norm(np.array([3.0, 4.0]), 1.0)
    array([0.6, 0.8])
    >>> clip_by_norm(np.array([[3.0, 4.0], [0.3, 0.4]]), 1.0, axes=1)
    array([[0.6, 0.8],
           [0.3, 0.4]])

    References: Pascanu et al. 2013, https://arxiv.org/abs/1211.5063
    """
    bound = _positive(clip_norm)
    reduced = tuple(axes) if axes is not None and not isinstance(axes, int) else axes

    def clip(array: NDArray[Any]) -> NDArray[Any]:
        return _kept(array, _norms(array, reduced), bound)

    return _mapped(clip, t)


def clip_by_average_norm(t: Tensor, clip_norm: ArrayLike, name: str | None = None) -> Any:
    r"""Scale `t` so that its L2 norm over its number of elements is at most `clip_norm`.

    .. math:: t \cdot c / \max(\lVert t \rVert_2 / n, c)

    Args:
        t: array, any shape, floating dtype; or IndexedSlices, whose values are clipped. Not modified.
        clip_norm: the bound c, in the units of `t`; positive.
        name: accepted for TF1's sake; unused.

    Returns:
        Array (or IndexedSlices) of the shape and dtype of `t`.

    Raises:
        ValueError: `clip_norm` is not positive.

    >>> clip_by_average_norm(np.array([3.0, 4.0]), 1.0)
    array([1.2, 1.6])
    """
    bound = _positive(clip_norm)
    return _mapped(lambda array: _kept(array, _norms(array, None) / max(array.size, 1), bound), t)


def global_norm(t_list: Sequence[Tensor | None], name: str | None = None) -> float:
    r"""The L2 norm of all elements of all tensors together.

    .. math:: \sqrt{\sum_i \lVert t_i \rVert_2^2}

    Args:
        t_list: arrays of any shapes, floating dtypes; IndexedSlices, whose values count, duplicates each for itself;
            None, which is skipped.
        name: accepted for TF1's sake; unused.

    Returns:
        The norm, as a float; 0.0 where there is nothing. It neither overflows nor underflows where float64 can hold it.

    Raises:
        TypeError: `t_list` is a single array, or no sequence.

    >>> global_norm([np.array([3.0]), None, np.array([[4.0]])])
    5.0
    """
    return kernels.norm([_values(t) for t in _checked(t_list) if t is not None])


def clip_by_global_norm(
    t_list: Sequence[Tensor | None],
    clip_norm: float,
    use_norm: float | None = None,
    name: str | None = None,
) -> tuple[list[Any], float]:
    r"""Scale all tensors by one factor, so that their global norm is at most `clip_norm`.

    .. math:: t_i \cdot c / \max(\lVert t \rVert_2, c)

    At or below the bound the tensors come back as they are, bit for bit. Where the norm is not finite, every element
    becomes NaN, as in TF1.

    Args:
        t_list: as in `global_norm`. Not modified.
        clip_norm: the bound c, in the units of the tensors; positive.
        use_norm: the global norm, where it is known already.
        name: accepted for TF1's sake; unused.

    Returns:
        The list of tensors, of the same shapes and dtypes, None kept; and the global norm before clipping.

    Raises:
        ValueError: `clip_norm` is not positive.
        TypeError: `t_list` is a single array, or no sequence.

    >>> clip_by_global_norm([np.array([3.0]), None, np.array([4.0])], 1.0)
    ([array([0.6]), None, array([0.8])], 5.0)

    References: Pascanu et al. 2013, https://arxiv.org/abs/1211.5063
    """
    tensors = _checked(t_list)
    norm = global_norm(tensors) if use_norm is None else float(use_norm)
    scale = clip_scale(norm, clip_norm)
    return [_scaled(t, scale) for t in tensors], norm


def clip_scale(norm: float, clip_norm: float) -> float:
    """What to multiply by, so that the norm is at most `clip_norm`: 1.0 below it, NaN where the norm is not finite.

    Raises:
        ValueError: `clip_norm` is not positive.
    """
    checks.positive_or_infinite("clip_norm", clip_norm)
    if not math.isfinite(norm):
        return math.nan
    return clip_norm / norm if norm > clip_norm else 1.0


def _checked(t_list: Sequence[Tensor | None]) -> list[Any]:
    if isinstance(t_list, (np.ndarray, IndexedSlices)) or not hasattr(t_list, "__iter__"):
        raise TypeError(f"t_list must be a list of tensors, got {type(t_list).__name__}")
    return list(t_list)


def _values(tensor: Tensor) -> NDArray[Any]:
    """The elements, as floating numbers."""
    known = as_array(tensor.values if isinstance(tensor, IndexedSlices) else tensor)
    array = np.asarray(tensor) if known is None else known
    return array if array.dtype.kind in "fV" else array.astype(np.float64)  # V: bfloat16


def _mapped(function: Callable[[NDArray[Any]], NDArray[Any]], tensor: Tensor) -> Any:
    with np.errstate(all="ignore"):
        changed = function(_values(tensor))
    return IndexedSlices(changed, tensor.indices, tensor.dense_shape) if isinstance(tensor, IndexedSlices) else changed


def _scaled(tensor: Tensor | None, scale: float) -> Any:
    if tensor is None or scale == 1.0:
        return tensor
    return _mapped(kernels.Clip(scale).applied, tensor)


def _positive(clip_norm: ArrayLike) -> NDArray[np.float64]:
    bound = np.asarray(clip_norm, np.float64)
    if not np.all(bound > 0):
        raise ValueError(f"clip_norm must be positive, got {bound}")
    return bound


def _norms(array: NDArray[Any], axes: int | tuple[int, ...] | None) -> NDArray[np.float64]:
    """Norms over the axes, which stay, of length 1; scaled by powers of 2, so that no square is lost."""
    if axes is None:
        return np.full((1,) * array.ndim, kernels.norm([array]))
    double = array.astype(np.float64)
    largest = np.max(np.abs(double), axis=axes, keepdims=True, initial=0.0)
    unit = np.where((largest > 0) & np.isfinite(largest), np.exp2(np.floor(np.log2(largest))), 1.0)
    norms: NDArray[np.float64] = unit * np.sqrt(np.sum(np.square(double / unit), axis=axes, keepdims=True))
    return norms


def _kept(array: NDArray[Any], norms: NDArray[np.float64], bound: NDArray[np.float64]) -> NDArray[Any]:
    """The array itself where each norm is within its bound; each part scaled to it, or as it is."""
    if np.all(norms <= bound):
        return array
    scale = np.where(norms <= bound, 1.0, bound / norms)
    wide = compute_dtype(array.dtype)  # the scale may be smaller than what a narrower dtype holds
    kept: NDArray[Any] = (array.astype(wide, copy=False) * scale.astype(wide)).astype(array.dtype, copy=False)
    return kept
