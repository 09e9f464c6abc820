"""Derivatives of the functions that only move elements: indexing, joining, splitting, repeating, padding, sorting.

The gradient follows the elements back. The common functions have an explicit rule here; for all others, the path is
found by passing the number of each element through the function itself, with all its arguments.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from optim.recording.calls import call

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

__all__ = ["MOVEMENTS", "Scattered"]


class Scattered:
    """A gradient that is zero except at some places; the whole array is built only when it is needed.

    Attributes:
        values: the values at these places.
        index: the places: an index into the whole array.
        shape: the shape of the whole array.
    """

    __slots__ = ("index", "shape", "values")

    def __init__(self, values: Any, index: Any, shape: tuple[int, ...]) -> None:
        self.values: Any = values
        self.index: Any = index
        self.shape: tuple[int, ...] = shape

    @property
    def rows(self) -> NDArray[Any] | None:
        """The row numbers if whole rows were picked by integers; else None."""
        index = self.index[0] if isinstance(self.index, tuple) and len(self.index) == 1 else self.index
        if isinstance(index, list):
            index = np.asarray(index)
        return index if isinstance(index, np.ndarray) and index.dtype.kind in "iu" and index.ndim else None

    def whole(self) -> Any:
        """The whole array."""
        return call(scattered, (self.values, self.index, self.shape), {})

    def add_to(self, whole: NDArray[Any]) -> None:
        """Add this gradient to an array."""
        if _is_basic(self.index):
            whole[self.index] += self.values
        else:
            np.add.at(whole, self.index, np.asarray(self.values, whole.dtype))


def scattered(values: Any, index: Any, shape: tuple[int, ...]) -> NDArray[Any]:
    """An array of zeros, with values[i] added at index[i]."""
    whole = np.zeros(shape, values.dtype)
    Scattered(values, index, shape).add_to(whole)
    return whole


def _is_basic(index: Any) -> bool:
    """Whether there are only slices and single numbers, so that no element is picked twice."""
    parts = index if isinstance(index, tuple) else (index,)
    return all(part is None or part is Ellipsis or isinstance(part, int | slice | np.integer) for part in parts)


def _getitem(positions: Sequence[Any], ans: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    array, index = args
    return lambda g: [Scattered(g, index, np.shape(array))]


def _take(positions: Sequence[Any], ans: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    names = dict(zip(("a", "indices", "axis", "out", "mode"), args, strict=False)) | kwargs
    array, axis = names["a"], names.get("axis")
    indices = np.asarray(names["indices"])
    if axis is None or names.get("mode", "raise") != "raise" or axis % np.ndim(array) != 0:
        return _by_numbers(np.take)(positions, ans, args, kwargs)
    return lambda g: [Scattered(g, indices, np.shape(array))]


def _reshaped(positions: Sequence[Any], ans: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    order = kwargs.get("order", args[2] if len(args) > 2 else "C") or "C"  # noqa: PLR2004 - reshape(a, shape, order)
    if order != "C":
        return _by_numbers(np.reshape)(positions, ans, args, kwargs)
    return lambda g: [np.reshape(g, np.shape(args[0]))]


def _back_to_shape(positions: Sequence[Any], ans: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    return lambda g: [np.reshape(g, np.shape(args[0]))]


def _transpose(positions: Sequence[Any], ans: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    axes = kwargs.get("axes", args[1] if len(args) > 1 else None)
    if axes is None:
        return lambda g: [np.transpose(g)]
    back = np.argsort([axis % len(axes) for axis in axes])
    return lambda g: [np.transpose(g, back)]


def _swapaxes(positions: Sequence[Any], ans: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    return lambda g: [np.swapaxes(g, *args[1:], **kwargs)]


def _concatenate(positions: Sequence[Any], ans: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    parts, axis = args[0], kwargs.get("axis", args[1] if len(args) > 1 else 0)
    if axis is None:
        return _by_numbers(np.concatenate)(positions, ans, args, kwargs)
    ends = np.cumsum([np.shape(part)[axis] for part in parts])
    lead = (slice(None),) * (axis % np.ndim(ans))

    def vjp(g: Any) -> list[Any]:
        return [g[(*lead, slice(ends[j] - np.shape(parts[j])[axis], ends[j]))] for _, j in positions]

    return vjp


def _stack(positions: Sequence[Any], ans: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    axis = kwargs.get("axis", args[1] if len(args) > 1 else 0)
    lead = (slice(None),) * (axis % np.ndim(ans))
    return lambda g: [g[(*lead, j)] for _, j in positions]


def _sorted(positions: Sequence[Any], ans: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    array, *others = args
    if kwargs.get("axis", others[0] if others else -1) is None:
        array, others, kwargs = np.ravel(array), [-1, *others[1:]], {k: v for k, v in kwargs.items() if k != "axis"}
    axis = kwargs.get("axis", others[0] if others else -1)
    order = np.argsort(np.argsort(array, *others, **kwargs), axis=axis)
    return lambda g: [np.reshape(np.take_along_axis(g, order, axis), np.shape(args[0]))]


def _by_numbers(function: Callable[..., Any], values: Sequence[int] = ()) -> Callable[..., Any]:
    """The entry of a function that moves elements.

    Args:
        function: any function whose results are elements of its arguments, or constants.
        values: the positions of other arguments whose elements may end up in the result; these are not numbered.
    """

    def entry(positions: Sequence[Any], ans: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        # Elements are numbered from 1 across all arguments; 0 marks results that came from none of them.
        numbered = [_zeros(arg) if i in values else arg for i, arg in enumerate(args)]
        kwargs = {key: 0 if key in ("constant_values", "fill_value") else value for key, value in kwargs.items()}
        ends = [1]
        for position in positions:
            i, *j = position if isinstance(position, tuple) else (position,)
            shape = np.shape(args[i][j[0]] if j else args[i])
            size = int(np.prod(shape))
            numbers = np.arange(ends[-1], ends[-1] + size).reshape(shape)
            if j:
                if numbered[i] is args[i]:
                    numbered[i] = [_zeros(part) for part in args[i]]
                numbered[i][j[0]] = numbers
            else:
                numbered[i] = numbers
            ends.append(ends[-1] + size)
        sources = function(*numbered, **kwargs)
        parts = sources if isinstance(sources, tuple | list) else [sources]
        flat = np.concatenate([np.ravel(part) for part in parts])

        def vjp(g: Any) -> list[Any]:
            pieces = g if isinstance(sources, tuple | list) else [g]
            arrived = np.concatenate([np.ravel(piece) for piece in pieces])
            sums = call(scattered, (arrived, flat, (ends[-1],)), {})
            gradients = []
            for position, start, stop in zip(positions, ends[:-1], ends[1:], strict=True):
                i, *j = position if isinstance(position, tuple) else (position,)
                gradients.append(np.reshape(sums[start:stop], np.shape(args[i][j[0]] if j else args[i])))
            return gradients

        return vjp

    return entry


def _zeros(value: Any) -> Any:
    return [_zeros(part) for part in value] if isinstance(value, tuple | list) else np.zeros(np.shape(value), np.int64)


MOVEMENTS: dict[Any, Callable[..., Any]] = {
    operator.getitem: _getitem,
    scattered: lambda positions, ans, args, kwargs: lambda g: [g[args[1]]],
    np.take: _take,
    np.reshape: _reshaped,
    np.ravel: lambda positions, ans, args, kwargs: (
        _by_numbers(np.ravel)(positions, ans, args, kwargs)
        if len(args) > 1 or kwargs.get("order", "C") != "C"
        else _back_to_shape(positions, ans, args, kwargs)
    ),
    np.expand_dims: _back_to_shape,
    np.squeeze: _back_to_shape,
    np.transpose: _transpose,
    np.permute_dims: _transpose,
    np.swapaxes: _swapaxes,
    np.concatenate: _concatenate,
    np.stack: _stack,
    np.sort: _sorted,
    np.copy: _back_to_shape,
    **{
        function: _by_numbers(function)
        for function in (
            *(np.moveaxis, np.rollaxis, np.roll, np.rot90, np.flip, np.fliplr, np.flipud, np.tile, np.repeat),
            *(np.broadcast_to, np.broadcast_arrays, np.pad, np.resize, np.delete, np.compress, np.extract),
            *(np.take_along_axis, np.diag, np.diagflat, np.diagonal, np.triu, np.tril, np.vstack, np.hstack, np.dstack),
            *(np.column_stack, np.block, np.split, np.array_split, np.hsplit, np.vsplit, np.dsplit, np.meshgrid),
        )
    },
    np.append: _by_numbers(np.append, values=(0, 1)),
    np.insert: _by_numbers(np.insert, values=(2,)),
    np.choose: _by_numbers(np.choose),
    np.select: _by_numbers(np.select, values=(2,)),
}
