"""TensorFlow's operations for the functions that move elements: shapes, indexing, joining, splitting."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from optim.graph.drawing import INT32, GraphCall, NoEquivalentError, axes_of, dtype_of
from optim.recording.calls import Box

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["SHAPES"]


def _move(call: GraphCall, op: str, how: Any, label: str, dtype_attribute: str) -> None:
    """Add an operation that moves the elements of the first argument as an int32 constant says."""
    constant = call.constant(how, label)
    call.add(op, [call.input(call.args[0]), constant], **{"T": call.dtype, dtype_attribute: INT32})


def _reshape(call: GraphCall) -> None:
    if (call.kwargs.get("order") or "C") != "C" or (call.function is np.ravel and len(call.args) > 1):
        raise NoEquivalentError
    _move(call, "Reshape", list(np.shape(call.value)), "shape", "Tshape")


def _expand_dims(call: GraphCall) -> None:
    axis = call.kwargs.get("axis", call.args[-1])
    if isinstance(axis, int):
        _move(call, "ExpandDims", axis, "dim", "Tdim")
    else:
        _reshape(call)


def _transpose(call: GraphCall) -> None:
    """Any permutation of axes, found by applying it to an array with a different size along each axis."""
    permuted = call.function(np.empty(range(2, 2 + np.ndim(call.value)), bool), *call.args[1:], **call.kwargs)
    _move(call, "Transpose", [size - 2 for size in permuted.shape], "perm", "Tperm")


def _concatenate(call: GraphCall) -> None:
    parts = call.args[0]
    axis = call.kwargs.get("axis", call.args[1] if len(call.args) > 1 else 0)
    if axis is None or call.kwargs.keys() - {"axis"}:
        raise NoEquivalentError
    _joined(call, [call.input(part, call.dtype) for part in parts], axis)


def _joined(call: GraphCall, inputs: list[str], axis: int) -> None:
    options = {"N": len(inputs), "T": call.dtype, "Tidx": INT32}
    call.add("ConcatV2", [*inputs, call.constant(axis % np.ndim(call.value), "axis")], **options)


def _join(
    axis: Callable[[Any], int], shape: Callable[[tuple[int, ...]], tuple[int, ...]]
) -> Callable[[GraphCall], None]:
    """A join that first reshapes each part to the result's number of axes."""

    def entry(call: GraphCall) -> None:
        dtype, inputs = call.dtype, []
        for part in call.args[0]:
            source, wanted = call.input(part, dtype), shape(np.shape(part))
            if wanted != np.shape(part):
                like = np.empty(wanted, dtype)
                made = call.constant(list(wanted), "shape")
                source = call.add("Reshape", [source, made], like=like, label="part", T=dtype)
            inputs.append(source)
        _joined(call, inputs, axis(call.value))

    return entry


def _stack(call: GraphCall) -> None:
    axis = call.kwargs.get("axis", call.args[1] if len(call.args) > 1 else 0)
    dtype = call.dtype
    inputs = [call.input(part, dtype) for part in call.args[0]]
    call.add("Pack", inputs, N=len(inputs), T=dtype, axis=axis % np.ndim(call.value))


def _axis_of_split(call: GraphCall) -> int:
    axis = call.kwargs.get("axis", call.args[2] if len(call.args) > 2 else 0)  # noqa: PLR2004 - (array, parts, axis)
    return int(axis) % np.ndim(call.args[0])


def _split(axis: Callable[[GraphCall], int]) -> Callable[[GraphCall], None]:
    def entry(call: GraphCall) -> None:
        along = axis(call)
        sizes = call.constant([np.shape(part)[along] for part in call.value], "sizes")
        options = {"num_split": len(call.value), "T": dtype_of(call.value[0]), "Tlen": INT32}
        call.add("SplitV", [call.input(call.args[0]), sizes, call.constant(along, "split_dim")], **options)

    return entry


def _getitem(call: GraphCall) -> None:
    array, index = call.args
    parts = list(index) if isinstance(index, tuple) else [index]
    if all(part is None or part is Ellipsis or type(part) in (int, slice) for part in parts):
        _strided_slice(call, parts)
        return
    parts = [np.asarray(part) if isinstance(part, list) else part for part in parts]
    axes = [i for i, part in enumerate(parts) if not isinstance(part, slice)]
    arrays = [parts[i] for i in axes]
    if any(part is None or part is Ellipsis or dtype_of(part).kind not in "iu" for part in arrays):
        raise NoEquivalentError
    if len(arrays) == 1 and all(part == slice(None) for part in parts if isinstance(part, slice)):
        _gather(call, array, arrays[0], axes[0])
    elif len(arrays) == len(parts):
        _gather_nd(call, array, arrays)
    else:
        raise NoEquivalentError


def _strided_slice(call: GraphCall, parts: list[Any]) -> None:
    bounds, masks = [], dict.fromkeys(("begin", "end", "ellipsis", "new_axis", "shrink_axis"), 0)
    for i, part in enumerate(parts):
        bit = 1 << i
        first, last, step = 0, 0, 1
        if part is None:
            masks["new_axis"] |= bit
        elif part is Ellipsis:
            masks["ellipsis"] |= bit
        elif isinstance(part, slice):
            first, last, step = part.start or 0, part.stop or 0, 1 if part.step is None else int(part.step)
            masks["begin"] |= bit * (part.start is None)
            masks["end"] |= bit * (part.stop is None)
        else:
            first, last = part, part + 1
            masks["shrink_axis"] |= bit
        bounds.append((first, last, step))
    labels = ("begin", "end", "strides")
    inputs = [call.constant([bound[k] for bound in bounds], label) for k, label in enumerate(labels)]
    attributes: dict[str, Any] = {
        "T": call.dtype,
        "Index": INT32,
        **{f"{name}_mask": mask for name, mask in masks.items()},
    }
    call.add("StridedSlice", [call.input(call.args[0]), *inputs], **attributes)


def _indices(call: GraphCall, index: Any, size: int) -> str:
    """An index as a tensor, without negative numbers, which TensorFlow does not support."""
    if isinstance(index, Box):
        return call.input(index)
    return call.input(np.asarray(index) % max(size, 1))


def _gather(call: GraphCall, array: Any, index: Any, axis: int) -> None:
    where = _indices(call, index, np.shape(array)[axis])
    options = {"Tparams": dtype_of(array), "Tindices": dtype_of(index), "Taxis": INT32, "batch_dims": 0}
    call.add("GatherV2", [call.input(array), where, call.constant(axis, "axis")], **options)


def _gather_nd(call: GraphCall, array: Any, indices: list[Any]) -> None:
    if any(isinstance(index, Box) for index in indices):
        raise NoEquivalentError
    sizes = np.shape(array)[: len(indices)]
    positions = np.stack(np.broadcast_arrays(*[np.asarray(i) % n for i, n in zip(indices, sizes, strict=True)]), -1)
    call.add("GatherNd", [call.input(array), call.input(positions)], Tparams=dtype_of(array), Tindices=positions.dtype)


def _take(call: GraphCall) -> None:
    named = call.arguments("a indices axis out mode")
    if named.get("axis") is None or named.get("mode", "raise") != "raise":
        raise NoEquivalentError
    index = named["indices"] if isinstance(named["indices"], Box) else np.asarray(named["indices"])
    _gather(call, named["a"], index, named["axis"] % np.ndim(named["a"]))


def _broadcast_to(call: GraphCall) -> None:
    _move(call, "BroadcastTo", list(np.shape(call.value)), "shape", "Tidx")


def _flip(call: GraphCall) -> None:
    axis = call.kwargs.get("axis", call.args[1] if len(call.args) > 1 else None)
    _move(call, "ReverseV2", axes_of(axis, np.ndim(call.value)), "axis", "Tidx")


def _roll(call: GraphCall) -> None:
    named = call.arguments("a shift axis")
    if named.get("axis") is None:
        raise NoEquivalentError
    shift, axis = np.atleast_1d(named["shift"]), np.atleast_1d(named["axis"]) % np.ndim(named["a"])
    shift, axis = np.broadcast_arrays(shift, axis)
    inputs = [call.input(named["a"]), call.constant(shift, "shift"), call.constant(axis, "axis")]
    call.add("Roll", inputs, T=call.dtype, Tshift=INT32, Taxis=INT32)


def _pad(call: GraphCall) -> None:
    named = call.arguments("array pad_width mode constant_values")
    if named.get("mode", "constant") != "constant" or np.ndim(named.get("constant_values", 0)):
        raise NoEquivalentError
    dtype, ndim = call.dtype, np.ndim(named["array"])
    widths = call.constant(np.broadcast_to(named["pad_width"], (ndim, 2)), "paddings")
    fill = call.input(np.asarray(named.get("constant_values", 0), dtype))
    call.add("PadV2", [call.input(named["array"]), widths, fill], T=dtype, Tpaddings=INT32)


def _band(call: GraphCall) -> None:
    """The triangle on and beyond a diagonal; TensorFlow counts the diagonals to keep, -1 for all."""
    named = call.arguments("m k")
    if np.ndim(named["m"]) < 2:  # noqa: PLR2004 - NumPy makes a vector a matrix
        raise NoEquivalentError
    k, upper = named.get("k", 0), call.function is np.triu
    if (k > 0) if upper else (k < 0):
        raise NoEquivalentError
    below, above = (-k, -1) if upper else (-1, k)
    inputs = [call.input(named["m"]), call.constant(below, "num_lower"), call.constant(above, "num_upper")]
    call.add("MatrixBandPart", inputs, T=call.dtype, Tindex=INT32)


def _tile(call: GraphCall) -> None:
    a, reps = call.args
    ndim = np.ndim(a)
    reps = [int(r) for r in np.atleast_1d(reps)]
    if len(reps) > ndim:
        raise NoEquivalentError
    _move(call, "Tile", [1] * (ndim - len(reps)) + reps, "multiples", "Tmultiples")


def _diagonal(call: GraphCall) -> None:
    if np.ndim(call.args[0]) != 2 or list(call.args[1:]) not in ([], [0], [0, 0, 1]) or call.kwargs:  # noqa: PLR2004
        raise NoEquivalentError
    call.add("MatrixDiagPart", [call.input(call.args[0])], T=call.dtype)


SHAPES: dict[Any, Callable[[GraphCall], None]] = {
    **dict.fromkeys((np.reshape, np.ravel, np.squeeze), _reshape),
    **dict.fromkeys((np.transpose, np.permute_dims, np.swapaxes, np.moveaxis, np.rollaxis), _transpose),
    np.expand_dims: _expand_dims,
    np.concatenate: _concatenate,
    np.stack: _stack,
    np.vstack: _join(lambda joined: 0, lambda shape: shape if len(shape) > 1 else (1, *(shape or (1,)))),
    np.hstack: _join(lambda joined: int(np.ndim(joined) > 1), lambda shape: shape or (1,)),
    np.column_stack: _join(lambda joined: 1, lambda shape: shape if len(shape) > 1 else (*(shape or (1,)), 1)),
    np.split: _split(_axis_of_split),
    np.array_split: _split(_axis_of_split),
    np.vsplit: _split(lambda call: 0),
    np.hsplit: _split(lambda call: int(np.ndim(call.args[0]) > 1)),
    np.dsplit: _split(lambda call: 2),
    operator.getitem: _getitem,
    np.take: _take,
    np.broadcast_to: _broadcast_to,
    np.flip: _flip,
    np.flipud: lambda call: _move(call, "ReverseV2", [0], "axis", "Tidx"),
    np.fliplr: lambda call: _move(call, "ReverseV2", [1], "axis", "Tidx"),
    np.roll: _roll,
    np.pad: _pad,
    np.triu: _band,
    np.tril: _band,
    np.tile: _tile,
    np.diagonal: _diagonal,
}
