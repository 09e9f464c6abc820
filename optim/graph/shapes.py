"""TensorFlow's operations for the functions that move elements: shapes, indexing, joining, splitting."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from optim.graph.call import Call, axes_of, bound, dtype_of
from optim.recording.calls import Box

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["SHAPES"]


def _reshape(call: Call) -> bool:
    if (call.kwargs.get("order") or "C") != "C" or (call.function is np.ravel and len(call.args) > 1):
        return False
    shape = call.constant(list(np.shape(call.value)), "shape")
    call.add("Reshape", [call.input(call.args[0]), shape], T=dtype_of(call.value), Tshape=np.dtype(np.int32))
    return True


def _expand_dims(call: Call) -> bool:
    axis = call.kwargs.get("axis", call.args[-1])
    if not isinstance(axis, int):
        return _reshape(call)
    inputs = [call.input(call.args[0]), call.constant(axis, "dim")]
    call.add("ExpandDims", inputs, T=dtype_of(call.value), Tdim=np.dtype(np.int32))
    return True


def _transpose(call: Call) -> bool:
    """Any permutation of axes, found by applying it to an array with a different size along each axis."""
    found = call.function(np.empty(range(2, 2 + np.ndim(call.value)), bool), *call.args[1:], **call.kwargs)
    order = call.constant([size - 2 for size in found.shape], "perm")
    call.add("Transpose", [call.input(call.args[0]), order], T=dtype_of(call.value), Tperm=np.dtype(np.int32))
    return True


def _concatenate(call: Call) -> bool:
    parts = call.args[0]
    axis = call.kwargs.get("axis", call.args[1] if len(call.args) > 1 else 0)
    if axis is None or call.kwargs.keys() - {"axis"}:
        return False
    return _joined(call, [call.input(part, dtype_of(call.value)) for part in parts], axis)


def _joined(call: Call, inputs: list[str], axis: int) -> bool:
    options = {"N": len(inputs), "T": dtype_of(call.value), "Tidx": np.dtype(np.int32)}
    call.add("ConcatV2", [*inputs, call.constant(axis % np.ndim(call.value), "axis")], **options)
    return True


def _join(axis: Callable[[Any], int], shape: Callable[[tuple[int, ...]], tuple[int, ...]]) -> Callable[[Call], bool]:
    """A join that first reshapes each part to the result's number of axes."""

    def entry(call: Call) -> bool:
        dtype, inputs = dtype_of(call.value), []
        for part in call.args[0]:
            source, wanted = call.input(part, dtype), shape(np.shape(part))
            if wanted != np.shape(part):
                like = np.empty(wanted, dtype)
                made = call.constant(list(wanted), "shape")
                source = call.add("Reshape", [source, made], like=like, label="part", T=dtype)
            inputs.append(source)
        return _joined(call, inputs, axis(call.value))

    return entry


def _stack(call: Call) -> bool:
    axis = call.kwargs.get("axis", call.args[1] if len(call.args) > 1 else 0)
    dtype = dtype_of(call.value)
    inputs = [call.input(part, dtype) for part in call.args[0]]
    call.add("Pack", inputs, N=len(inputs), T=dtype, axis=axis % np.ndim(call.value))
    return True


def _axis_of_split(call: Call) -> int:
    axis = call.kwargs.get("axis", call.args[2] if len(call.args) > 2 else 0)  # noqa: PLR2004 - (array, parts, axis)
    return int(axis) % np.ndim(call.args[0])


def _split(axis: Callable[[Call], int]) -> Callable[[Call], bool]:
    def entry(call: Call) -> bool:
        along = axis(call)
        sizes = call.constant([np.shape(part)[along] for part in call.value], "sizes")
        options = {"num_split": len(call.value), "T": dtype_of(call.value[0]), "Tlen": np.dtype(np.int32)}
        call.add("SplitV", [call.input(call.args[0]), sizes, call.constant(along, "split_dim")], **options)
        return True

    return entry


def _getitem(call: Call) -> bool:
    array, index = call.args
    parts = list(index) if isinstance(index, tuple) else [index]
    if all(part is None or part is Ellipsis or type(part) in (int, slice) for part in parts):
        return _strided_slice(call, parts)
    parts = [np.asarray(part) if isinstance(part, list) else part for part in parts]
    arrays = [part for part in parts if not isinstance(part, slice)]
    if any(part is None or part is Ellipsis or dtype_of(part).kind not in "iu" for part in arrays):
        return False
    if len(arrays) == 1 and all(part == slice(None) for part in parts if isinstance(part, slice)):
        return _gather(call, array, arrays[0], next(i for i, part in enumerate(parts) if not isinstance(part, slice)))
    return len(arrays) == len(parts) and _gather_nd(call, array, arrays)


def _strided_slice(call: Call, parts: list[Any]) -> bool:
    begin, end, strides, masks = [], [], [], dict.fromkeys(("begin", "end", "ellipsis", "new_axis", "shrink_axis"), 0)
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
        begin.append(first)
        end.append(last)
        strides.append(step)
    inputs = [call.constant(values, label) for values, label in ((begin, "begin"), (end, "end"), (strides, "strides"))]
    attributes: dict[str, Any] = {f"{name}_mask": mask for name, mask in masks.items()}
    call.add(
        "StridedSlice",
        [call.input(call.args[0]), *inputs],
        T=dtype_of(call.value),
        Index=np.dtype(np.int32),
        **attributes,
    )
    return True


def _indices(call: Call, index: Any, size: int) -> str:
    """An index as a tensor, without negative numbers, which TensorFlow does not support."""
    if isinstance(index, Box):
        return call.input(index)
    return call.input(np.asarray(index) % max(size, 1))


def _gather(call: Call, array: Any, index: Any, axis: int) -> bool:
    where = _indices(call, index, np.shape(array)[axis])
    options = {"Tparams": dtype_of(array), "Tindices": dtype_of(index), "Taxis": np.dtype(np.int32), "batch_dims": 0}
    call.add("GatherV2", [call.input(array), where, call.constant(axis, "axis")], **options)
    return True


def _gather_nd(call: Call, array: Any, indices: list[Any]) -> bool:
    if any(isinstance(index, Box) for index in indices):
        return False
    sizes = np.shape(array)[: len(indices)]
    places = np.stack(np.broadcast_arrays(*[np.asarray(i) % n for i, n in zip(indices, sizes, strict=True)]), -1)
    call.add("GatherNd", [call.input(array), call.input(places)], Tparams=dtype_of(array), Tindices=places.dtype)
    return True


def _take(call: Call) -> bool:
    found = bound("a indices axis out mode", call)
    if found is None or found.get("axis") is None or found.get("mode", "raise") != "raise":
        return False
    index = found["indices"] if isinstance(found["indices"], Box) else np.asarray(found["indices"])
    return _gather(call, found["a"], index, found["axis"] % np.ndim(found["a"]))


def _broadcast_to(call: Call) -> bool:
    shape = call.constant(list(np.shape(call.value)), "shape")
    call.add("BroadcastTo", [call.input(call.args[0]), shape], T=dtype_of(call.value), Tidx=np.dtype(np.int32))
    return True


def _flip(call: Call) -> bool:
    axis = call.kwargs.get("axis", call.args[1] if len(call.args) > 1 else None)
    axes = call.constant(axes_of(axis, np.ndim(call.value)), "axis")
    call.add("ReverseV2", [call.input(call.args[0]), axes], T=dtype_of(call.value), Tidx=np.dtype(np.int32))
    return True


def _flip_axis(axis: int) -> Callable[[Call], bool]:
    def entry(call: Call) -> bool:
        axes = call.constant([axis], "axis")
        call.add("ReverseV2", [call.input(call.args[0]), axes], T=dtype_of(call.value), Tidx=np.dtype(np.int32))
        return True

    return entry


def _roll(call: Call) -> bool:
    found = bound("a shift axis", call)
    if found is None or found.get("axis") is None:
        return False
    shift, axis = np.atleast_1d(found["shift"]), np.atleast_1d(found["axis"]) % np.ndim(found["a"])
    shift, axis = np.broadcast_arrays(shift, axis)
    inputs = [call.input(found["a"]), call.constant(shift, "shift"), call.constant(axis, "axis")]
    call.add("Roll", inputs, T=dtype_of(call.value), Tshift=np.dtype(np.int32), Taxis=np.dtype(np.int32))
    return True


def _pad(call: Call) -> bool:
    found = bound("array pad_width mode constant_values", call)
    if found is None or found.get("mode", "constant") != "constant" or np.ndim(found.get("constant_values", 0)):
        return False
    dtype, ndim = dtype_of(call.value), np.ndim(found["array"])
    widths = call.constant(np.broadcast_to(found["pad_width"], (ndim, 2)), "paddings")
    fill = call.input(np.asarray(found.get("constant_values", 0), dtype))
    call.add("PadV2", [call.input(found["array"]), widths, fill], T=dtype, Tpaddings=np.dtype(np.int32))
    return True


def _band(call: Call) -> bool:
    """The triangle on and beyond a diagonal; TensorFlow counts the diagonals to keep, -1 for all."""
    found = bound("m k", call)
    if found is None or np.ndim(found["m"]) < 2:  # noqa: PLR2004 - NumPy makes a vector a matrix
        return False
    k, upper = found.get("k", 0), call.function is np.triu
    if (k > 0) if upper else (k < 0):
        return False
    below, above = (-k, -1) if upper else (-1, k)
    inputs = [call.input(found["m"]), call.constant(below, "num_lower"), call.constant(above, "num_upper")]
    call.add("MatrixBandPart", inputs, T=dtype_of(call.value), Tindex=np.dtype(np.int32))
    return True


def _tile(call: Call) -> bool:
    a, reps = call.args
    ndim = np.ndim(a)
    reps = [int(r) for r in np.atleast_1d(reps)]
    if len(reps) > ndim:
        return False
    multiples = call.constant([1] * (ndim - len(reps)) + reps, "multiples")
    call.add("Tile", [call.input(a), multiples], T=dtype_of(a), Tmultiples=np.dtype(np.int32))
    return True


def _diagonal(call: Call) -> bool:
    if np.ndim(call.args[0]) != 2 or list(call.args[1:]) not in ([], [0], [0, 0, 1]) or call.kwargs:  # noqa: PLR2004
        return False
    call.add("MatrixDiagPart", [call.input(call.args[0])], T=dtype_of(call.value))
    return True


SHAPES: dict[Any, Callable[[Call], bool]] = {
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
    np.flipud: _flip_axis(0),
    np.fliplr: _flip_axis(1),
    np.roll: _roll,
    np.pad: _pad,
    np.triu: _band,
    np.tril: _band,
    np.tile: _tile,
    np.diagonal: _diagonal,
}
