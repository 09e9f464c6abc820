"""Clipping: keep gradients within a bound.

All functions take arrays of any library, and IndexedSlices, and give NumPy arrays, and IndexedSlices. What is within
its bound already comes back as it is, bit for bit, and not copied.
"""

from __future__ import annotations

import math
import reprlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from optim import checks
from optim.kernels import measure
from optim.kernels.plain import compute_dtype
from optim.kernels.scale_and_bounds import Clip
from optim.variable import IndexedSlices
from summaries.foreign_arrays import array_like

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

    Tensor = ArrayLike | IndexedSlices

__all__ = [
    "clip_by_average_norm",
    "clip_by_global_norm",
    "clip_by_norm",
    "clip_by_value",
    "clip_gradients_by_global_norm",
    "clip_scale",
    "global_norm",
]


def clip_by_value(t: Tensor, clip_value_min: ArrayLike, clip_value_max: ArrayLike, name: str | None = None) -> Any:
    r"""Keep every element of `t` within bounds.

    .. math:: \max(\min(t, b), a)

    NaN stays NaN.

    Args:
        t: array, any shape, floating or integer dtype; or IndexedSlices, whose values are clipped. Not modified.
        clip_value_min: the minimum a, a number or an array that broadcasts to the shape of `t`, in its dtype.
        clip_value_max: the maximum b, likewise.
        name: accepted for compatibility with TF1; unused.

    Returns:
        Array (or IndexedSlices) of the shape and dtype of `t`.

    Raises:
        TypeError: `t` or a bound is not real; or `t` is integer and a bound is not.
        ValueError: a bound does not broadcast to the shape of `t`.

    >>> clip_by_value(np.array([-3.0, 0.5, np.nan]), -1.0, 1.0)
    array([-1. ,  0.5,  nan])
    """

    def clip(array: NDArray[Any]) -> NDArray[Any]:
        low, high = (_bound(bound, array) for bound in (clip_value_min, clip_value_max))
        clipped = np.empty(array.shape, array.dtype)
        np.maximum(np.minimum(array, high, out=clipped), low, out=clipped)
        return clipped

    return _mapped(clip, t, integers=True)


def clip_by_norm(
    t: Tensor, clip_norm: ArrayLike, axes: int | Sequence[int] | None = None, name: str | None = None
) -> Any:
    r"""Scale `t` so that its L2 norm is at most `clip_norm`.

    .. math:: t \cdot c / \max(\lVert t \rVert_2, c)

    As in TF1, if the norm is infinite, finite elements become 0 and infinite ones NaN; if it is NaN, all become NaN.

    Args:
        t: array, any shape, floating dtype; or IndexedSlices, whose values are clipped. Not modified.
        clip_norm: the bound c, in the units of `t`; positive; a number, or an array that broadcasts to the norms.
        axes: axes to reduce over: each index along the others has its own norm; None reduces over all axes.
        name: accepted for compatibility with TF1; unused.

    Returns:
        Array (or IndexedSlices) of the shape and dtype of `t`.

    Raises:
        TypeError: `t` or `clip_norm` is not real, or `axes` are not integers.
        ValueError: `clip_norm` is not positive, or does not broadcast to the norms; `t` has no such axes.

    >>> clip_by_norm(np.array([3.0, 4.0]), 1.0)
    array([0.6, 0.8])
    >>> clip_by_norm(np.array([[3.0, 4.0], [0.3, 0.4]]), 1.0, axes=1)
    array([[0.6, 0.8],
           [0.3, 0.4]])

    References: Pascanu et al. 2013, https://arxiv.org/abs/1211.5063
    """
    bound = _positive(clip_norm)

    def clip(array: NDArray[Any]) -> NDArray[Any]:
        return _scaled_within(array, _norms(array, axes), bound)

    return _mapped(clip, t)


def clip_by_average_norm(t: Tensor, clip_norm: ArrayLike, name: str | None = None) -> Any:
    r"""Scale `t` so that its L2 norm over its number of elements is at most `clip_norm`.

    .. math:: t \cdot c / \max(\lVert t \rVert_2 / n, c)

    Args:
        t: array, any shape, floating dtype; or IndexedSlices, whose values are clipped. Not modified.
        clip_norm: the bound c, in the units of `t`; positive.
        name: accepted for compatibility with TF1; unused.

    Returns:
        Array (or IndexedSlices) of the shape and dtype of `t`.

    Raises:
        TypeError: `t` or `clip_norm` is not real.
        ValueError: `clip_norm` is not positive, or is more than one number.

    >>> clip_by_average_norm(np.array([3.0, 4.0]), 1.0)
    array([1.2, 1.6])
    """
    bound = _positive(clip_norm)
    return _mapped(lambda array: _scaled_within(array, _norms(array, None) / max(array.size, 1), bound), t)


def global_norm(t_list: Sequence[Tensor | None], name: str | None = None) -> float:
    r"""The L2 norm of all elements of all tensors together.

    .. math:: \sqrt{\sum_i \lVert t_i \rVert_2^2}

    Args:
        t_list: arrays of any shapes, floating dtypes; IndexedSlices, whose values count, duplicates separately; None,
            which is skipped.
        name: accepted for compatibility with TF1; unused.

    Returns:
        The norm, as a float; 0.0 for no elements. It does not overflow or underflow if float64 can represent it.

    Raises:
        TypeError: `t_list` is a single tensor, or not a sequence; or a tensor is not real.

    >>> global_norm([np.array([3.0]), None, np.array([[4.0]])])
    5.0
    """
    return measure.norm([_values(t) for t in _checked(t_list) if t is not None])


def clip_by_global_norm(
    t_list: Sequence[Tensor | None], clip_norm: float, use_norm: float | None = None, name: str | None = None
) -> tuple[list[Any], float]:
    r"""Scale all tensors by one factor, so that their global norm is at most `clip_norm`.

    .. math:: t_i \cdot c / \max(\lVert t \rVert_2, c)

    At or below the bound, the arrays are returned unchanged, bit for bit. If the norm is not finite, every element
    becomes NaN, as in TF1. Clipping again changes at most the last bit, if rounding has left the norm above the bound.

    Args:
        t_list: as in `global_norm`. Not modified.
        clip_norm: the bound c, in the units of the tensors; positive.
        use_norm: the global norm, if it is already known.
        name: accepted for compatibility with TF1; unused.

    Returns:
        The list of tensors, of the same shapes and dtypes, None kept; and the global norm before clipping.

    Raises:
        ValueError: `clip_norm` is not positive.
        TypeError: `t_list` is a single tensor, or not a sequence; a tensor is not real; `clip_norm` is not a number.

    >>> clip_by_global_norm([np.array([3.0]), None, np.array([4.0])], 1.0)
    ([array([0.6]), None, array([0.8])], 5.0)

    References: Pascanu et al. 2013, https://arxiv.org/abs/1211.5063
    """
    tensors = _checked(t_list)
    norm = global_norm(tensors) if use_norm is None else checks.constant("use_norm", use_norm, _not_negative)
    scale = clip_scale(norm, clip_norm)
    return [_scaled(t, scale) for t in tensors], norm


def clip_gradients_by_global_norm(
    gradients_variables: Sequence[tuple[Any, Any]], clip_norm: float = 20.0
) -> tuple[list[tuple[Any, Any]], float]:
    """Clip gradients, paired with their variables, by their global norm; TF1's contrib function of this name.

    Gradients that are 0 in every element do not count, as with `MultitaskOptimizerWrapper`: in a norm they never do.

    Args:
        gradients_variables: pairs (gradient, variable), as from `compute_gradients`. Not modified.
        clip_norm: the bound, in the units of the gradients; positive.

    Returns:
        The pairs with clipped gradients, and the global norm before clipping.

    Raises:
        ValueError: `clip_norm` is not positive.
        TypeError: a gradient is not real.

    >>> clip_gradients_by_global_norm([(np.array([3.0]), "a"), (None, "b"), (np.array([4.0]), "c")], 1.0)
    ([(array([0.6]), 'a'), (None, 'b'), (array([0.8]), 'c')], 5.0)

    References: tf.contrib.opt.clip_gradients_by_global_norm
    """
    pairs = list(gradients_variables)
    clipped, norm = clip_by_global_norm([gradient for gradient, _ in pairs], clip_norm)
    return list(zip(clipped, [variable for _, variable in pairs], strict=True)), norm


_not_negative = checks.Bound("at least 0", lambda norm: not norm < 0)  # NaN is accepted


def clip_scale(norm: float, clip_norm: float) -> float:
    """The factor that makes the norm at most `clip_norm`: 1.0 up to that bound, NaN if the norm is not finite.

    Raises:
        ValueError: `clip_norm` is not positive.
    """
    bound = checks.number("clip_norm", clip_norm, checks.positive_or_infinite)
    if not math.isfinite(norm):
        return math.nan
    return bound / norm if norm > bound else 1.0


def _checked(t_list: Sequence[Tensor | None]) -> list[Any]:
    # An array, or anything else with a shape, is a single tensor, not a list of its rows.
    single = isinstance(t_list, IndexedSlices | str | bytes) or hasattr(t_list, "shape")
    if single or isinstance(t_list, Mapping) or not hasattr(t_list, "__iter__"):
        raise TypeError(f"t_list must be a list of tensors, got {type(t_list).__name__}")
    return list(t_list)


def _values(tensor: Tensor, what: str = "tensors", *, integers: bool = False) -> NDArray[Any]:
    """The elements as floating-point numbers; integers stay integers if `integers` is set.

    Raises:
        TypeError: they are not real numbers.
    """
    try:
        array = array_like(tensor.values if isinstance(tensor, IndexedSlices) else tensor, what)
    except ValueError:
        raise TypeError(f"{what} must be arrays, got {type(tensor).__name__} of parts of different shapes") from None
    if array.dtype.kind == "f" or array.dtype.name == "bfloat16" or (integers and array.dtype.kind in "iu"):
        return array
    if array.dtype.kind not in "biu":
        got = array.dtype if hasattr(tensor, "dtype") else reprlib.repr(tensor)
        raise TypeError(f"{what} must be real numbers, got {got}")
    return array.astype(np.float64)


def _mapped(function: Callable[[NDArray[Any]], NDArray[Any]], tensor: Tensor, *, integers: bool = False) -> Any:
    with np.errstate(all="ignore"):
        changed = function(_values(tensor, integers=integers))
    return IndexedSlices(changed, tensor.indices, tensor.dense_shape) if isinstance(tensor, IndexedSlices) else changed


def _scaled(tensor: Tensor | None, scale: float) -> Any:
    if tensor is None or (scale == 1.0 and isinstance(tensor, IndexedSlices)):
        return tensor
    return _values(tensor) if scale == 1.0 else _mapped(Clip(scale).applied, tensor)


def _bound(bound: ArrayLike, array: NDArray[Any]) -> NDArray[Any]:
    bounds = _values(bound, "bounds", integers=True)
    if array.dtype.kind in "iu" and not np.array_equal(bounds, bounds.astype(array.dtype)):
        raise TypeError(f"bounds of a tensor of {array.dtype} must be {array.dtype}, got {bound!r}")
    if not _broadcasts(bounds.shape, array.shape):
        raise ValueError(f"bounds must broadcast to the shape {array.shape} of t, got {bounds.shape}")
    return bounds.astype(array.dtype)


def _broadcasts(shape: tuple[int, ...], target: tuple[int, ...]) -> bool:
    """Whether an array of this shape broadcasts to the target shape without enlarging it."""
    try:
        return np.broadcast_shapes(shape, target) == target
    except ValueError:
        return False


def _positive(clip_norm: ArrayLike) -> NDArray[np.float64]:
    try:
        if clip_norm is None or isinstance(clip_norm, str | bytes):
            raise TypeError  # noqa: TRY301 - NumPy would convert them
        bound = np.asarray(array_like(clip_norm, "clip_norm"), np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"clip_norm must be a number, got {type(clip_norm).__name__}: {clip_norm!r}") from None
    if not np.all(bound > 0):
        raise ValueError(f"clip_norm must be positive, got {bound}")
    return bound


def _norms(array: NDArray[Any], axes: int | Sequence[int] | None) -> NDArray[np.float64]:
    """Norms over the axes, which are kept at length 1; scaled by powers of 2, so that no square is lost."""
    if axes is None:
        return np.full((1,) * array.ndim, measure.norm([array]))
    reduced = _axes(axes, array.ndim)
    largest = np.maximum(  # without a copy of the absolute values
        np.max(array, axis=reduced, keepdims=True, initial=0), -np.min(array, axis=reduced, keepdims=True, initial=0)
    ).astype(np.float64)
    unit = np.where((largest > 0) & np.isfinite(largest), np.exp2(np.floor(np.log2(largest))), 1.0)
    scaled = np.divide(array, unit, dtype=np.float64, out=np.empty(array.shape))
    norms = unit * np.sqrt(np.sum(np.square(scaled, out=scaled), axis=reduced, keepdims=True, dtype=np.float64))
    return np.asarray(norms)  # NumPy returns a scalar if there are no dimensions


def _axes(axes: int | Sequence[int], dimensions: int) -> tuple[int, ...]:
    try:
        found: tuple[int, ...] = normalize_axis_tuple(axes, dimensions)
    except TypeError:
        raise TypeError(f"axes must be an integer or a list of integers, got {axes!r}") from None
    return found


def _scaled_within(array: NDArray[Any], norms: NDArray[np.float64], bound: NDArray[np.float64]) -> NDArray[Any]:
    """The array itself if every norm is within its bound; otherwise a copy in which larger parts are scaled down."""
    if not _broadcasts(bound.shape, norms.shape):
        raise ValueError(f"clip_norm must broadcast to the norms' shape {norms.shape}, got {bound.shape}")
    if np.all(norms <= bound):
        return array
    scale = np.where(norms <= bound, 1.0, bound / norms)
    wide = compute_dtype(array.dtype)  # the scale may be too small for a narrower dtype
    scaled = np.multiply(array, scale.astype(wide), dtype=wide, out=np.empty(array.shape, wide))
    in_its_dtype: NDArray[Any] = scaled.astype(array.dtype, copy=False)
    return in_its_dtype
