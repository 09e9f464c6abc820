"""Clipping: keep gradients within a bound."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from optim import kernels
from optim.variable import IndexedSlices

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

__all__ = ["clip_by_global_norm", "clip_scale", "global_norm"]


def global_norm(t_list: Sequence[ArrayLike | IndexedSlices | None], name: str | None = None) -> float:
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
    t_list: Sequence[ArrayLike | IndexedSlices | None],
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
    if not clip_norm > 0:
        raise ValueError(f"clip_norm must be positive, got {clip_norm}")
    if not math.isfinite(norm):
        return math.nan
    return clip_norm / norm if norm > clip_norm else 1.0


def _checked(t_list: Sequence[ArrayLike | IndexedSlices | None]) -> list[Any]:
    if isinstance(t_list, (np.ndarray, IndexedSlices)) or not hasattr(t_list, "__iter__"):
        raise TypeError(f"t_list must be a list of tensors, got {type(t_list).__name__}")
    return list(t_list)


def _values(tensor: ArrayLike | IndexedSlices) -> NDArray[Any]:
    array = tensor.values if isinstance(tensor, IndexedSlices) else np.asarray(tensor)
    return array if array.dtype.kind in "fV" else array.astype(np.float64)  # V: bfloat16


def _scaled(tensor: Any, scale: float) -> Any:
    if tensor is None or scale == 1.0:
        return tensor
    if isinstance(tensor, IndexedSlices):
        return IndexedSlices(_scaled(tensor.values, scale), tensor.indices, tensor.dense_shape)
    array = np.asarray(tensor)
    return array * array.dtype.type(scale)
