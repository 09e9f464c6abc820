"""NumPy's functions as TensorFlow's operations: which ones, with which inputs and attributes.

An entry takes a `Call` (what was called, and what may be put into the graph for it) and puts the operations in, the
last of which gives the result. It answers False where TensorFlow has nothing of this meaning; the call is then a node of its
own kind, `numpy.<name>`, which TensorBoard draws like any other.
"""

from __future__ import annotations

import operator
from string import ascii_letters
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from optim.compositions import NO_VALUE
from optim.recording import Box, plain, stopped

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["OPERATIONS", "Call"]


class Call(Protocol):
    """A call to be drawn."""

    function: Any
    args: Sequence[Any]  # boxes, arrays and numbers
    kwargs: dict[str, Any]
    value: Any  # what it gave

    def add(self, op: str, inputs: Sequence[str], *, like: Any = None, label: str = "", **attributes: Any) -> str:
        """Put in an operation; its output's name. `like`, of its output's dtype and shape, where it is not the last."""

    def input(self, value: Any, dtype: Any = None) -> str:
        """The name of an argument's tensor, cast to the dtype where it has another; constants are put in."""

    def constant(self, value: Any, label: str) -> str:
        """Put in a constant: a number or a list of numbers, integers as int32."""


def _bound(names: str, call: Call) -> dict[str, Any] | None:
    """The arguments by name; None where there are others that matter."""
    found = dict(zip(names.split(), call.args, strict=False))
    extra = {k: v for k, v in call.kwargs.items() if k not in names.split()}
    if any(v is not None and v is not NO_VALUE for k, v in extra.items() if k not in ("dtype", "order", "copy")):
        return None
    return found | {k: v for k, v in call.kwargs.items() if k in names.split() and v is not NO_VALUE}


def _axes(axis: Any, ndim: int) -> list[int]:
    axes = range(ndim) if axis is None else axis if isinstance(axis, tuple | list) else (axis,)
    return [int(a) % ndim for a in axes] if ndim else []


def _dtype(value: Any) -> Any:
    return np.result_type(plain(value))


def _same(op: str, *, of_inputs: bool = False) -> Callable[[Call], bool]:
    """An operation of the function's own arguments; they are cast to the result's dtype, or to their common one."""

    def entry(call: Call) -> bool:
        if call.kwargs.keys() - {"dtype", "casting"}:
            return False
        dtype = np.result_type(*map(plain, call.args)) if of_inputs else _dtype(call.value)
        call.add(op, [call.input(arg, dtype) for arg in call.args], T=dtype)
        return True

    return entry


def _logical(op: str) -> Callable[[Call], bool]:
    def entry(call: Call) -> bool:
        call.add(op, [call.input(arg, np.dtype(bool)) for arg in call.args])
        return True

    return entry


def _reduction(op: str) -> Callable[[Call], bool]:
    def entry(call: Call) -> bool:
        found = _bound("a axis dtype out keepdims" if op in ("Sum", "Mean", "Prod") else "a axis out keepdims", call)
        if found is None or found.get("out") is not None:
            return False
        axes = call.constant(_axes(found.get("axis"), np.ndim(found["a"])), "reduction_indices")
        typed = {} if op in ("All", "Any") else {"T": _dtype(call.value)}
        call.add(
            op, [call.input(found["a"], _dtype(call.value)), axes],
            keep_dims=bool(found.get("keepdims", False)), Tidx=np.dtype(np.int32), **typed,
        )  # fmt: skip
        return True

    return entry


def _variance(call: Call) -> bool:
    found = _bound("a axis dtype out ddof keepdims", call)
    if found is None or found.get("out") is not None:
        return False
    a, dtype, keepdims = plain(found["a"]), _dtype(call.value), bool(found.get("keepdims", False))
    axis = found.get("axis")
    axis = tuple(axis) if isinstance(axis, list) else axis
    x = call.input(found["a"], dtype)
    axes = call.constant(_axes(axis, np.ndim(a)), "reduction_indices")
    options = {"T": dtype, "Tidx": np.dtype(np.int32)}
    mean = np.mean(a, axis=axis, keepdims=True, dtype=dtype)
    center = call.add("Mean", [x, axes], like=mean, label="mean", keep_dims=True, **options)
    squares = call.add("SquaredDifference", [x, center], like=np.asarray(a, dtype), label="squares", T=dtype)
    total = {"like": call.value, "keep_dims": keepdims, **options}
    degrees = np.size(a) / max(np.size(call.value), 1) - found.get("ddof", 0)
    sums = call.add("Sum", [squares, axes], label="sum", **total)
    count = call.input(np.asarray(degrees, dtype))
    if call.function is np.std:
        call.add("Sqrt", [call.add("RealDiv", [sums, count], like=call.value, label="variance", T=dtype)], T=dtype)
    else:
        call.add("RealDiv", [sums, count], T=dtype)
    return True


def _arg_extreme(op: str) -> Callable[[Call], bool]:
    def entry(call: Call) -> bool:
        found = _bound("a axis out", call)
        if found is None or found.get("out") is not None or np.ndim(call.value) == np.ndim(found["a"]):
            return False
        a, axis = found["a"], found.get("axis")
        x = call.input(a)
        if axis is None:
            flat = np.ravel(plain(a))
            x = call.add("Reshape", [x, call.constant([flat.size], "shape")], like=flat, label="flat", T=_dtype(a))
        call.add(
            op, [x, call.constant((axis or 0) % np.ndim(a), "dimension")],
            T=_dtype(a), Tidx=np.dtype(np.int32), output_type=np.dtype(np.int64),
        )  # fmt: skip
        return True

    return entry


def _reshape(call: Call) -> bool:
    if (call.kwargs.get("order") or "C") != "C" or (call.function is np.ravel and len(call.args) > 1):
        return False
    shape = call.constant(list(np.shape(call.value)), "shape")
    call.add("Reshape", [call.input(call.args[0]), shape], T=_dtype(call.value), Tshape=np.dtype(np.int32))
    return True


def _expand_dims(call: Call) -> bool:
    axis = call.kwargs.get("axis", call.args[-1])
    if not isinstance(axis, int):
        return _reshape(call)
    inputs = [call.input(call.args[0]), call.constant(axis, "dim")]
    call.add("ExpandDims", inputs, T=_dtype(call.value), Tdim=np.dtype(np.int32))
    return True


def _transpose(call: Call) -> bool:
    """Any change of the axes' order; which one, an array tells that has another size along each axis."""
    found = call.function(np.empty(range(2, 2 + np.ndim(call.value)), bool), *call.args[1:], **call.kwargs)
    order = call.constant([size - 2 for size in found.shape], "perm")
    call.add("Transpose", [call.input(call.args[0]), order], T=_dtype(call.value), Tperm=np.dtype(np.int32))
    return True


def _concatenate(call: Call) -> bool:
    parts = call.args[0]
    axis = call.kwargs.get("axis", call.args[1] if len(call.args) > 1 else 0)
    if axis is None or call.kwargs.keys() - {"axis"}:
        return False
    return _joined(call, [call.input(part, _dtype(call.value)) for part in parts], axis)


def _joined(call: Call, inputs: list[str], axis: int) -> bool:
    options = {"N": len(inputs), "T": _dtype(call.value), "Tidx": np.dtype(np.int32)}
    call.add("ConcatV2", [*inputs, call.constant(axis % np.ndim(call.value), "axis")], **options)
    return True


def _join(axis: Callable[[Any], int], shape: Callable[[tuple[int, ...]], tuple[int, ...]]) -> Callable[[Call], bool]:
    """A join that first makes each part of the result's number of axes."""

    def entry(call: Call) -> bool:
        dtype, inputs = _dtype(call.value), []
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
    dtype = _dtype(call.value)
    inputs = [call.input(part, dtype) for part in call.args[0]]
    call.add("Pack", inputs, N=len(inputs), T=dtype, axis=axis % np.ndim(call.value))
    return True


def _split(axis: Callable[[Call], int]) -> Callable[[Call], bool]:
    def entry(call: Call) -> bool:
        along = axis(call)
        sizes = call.constant([np.shape(part)[along] for part in call.value], "sizes")
        options = {"num_split": len(call.value), "T": _dtype(call.value[0]), "Tlen": np.dtype(np.int32)}
        call.add("SplitV", [call.input(call.args[0]), sizes, call.constant(along, "split_dim")], **options)
        return True

    return entry


def _where(call: Call) -> bool:
    condition, x, y = call.args
    dtype = _dtype(call.value)
    inputs = [call.input(condition, np.dtype(bool)), call.input(x, dtype), call.input(y, dtype)]
    call.add("SelectV2", inputs, T=dtype)
    return True


def _clip(call: Call) -> bool:
    found = _bound("a a_min a_max out min max", call)
    if found is None or found.get("out") is not None:
        return False
    low, high = found.get("a_min", found.get("min")), found.get("a_max", found.get("max"))
    dtype = _dtype(call.value)
    x = call.input(found["a"], dtype)
    if low is not None and high is not None:
        x = call.add("Maximum", [x, call.input(low, dtype)], like=np.maximum(plain(found["a"]), plain(low)),
                     label="Maximum", T=dtype)  # fmt: skip
    bound, op = (high, "Minimum") if high is not None else (low, "Maximum")
    call.add(op, [x, call.input(bound, dtype)], T=dtype)
    return True


def _getitem(call: Call) -> bool:
    array, index = call.args
    parts = list(index) if isinstance(index, tuple) else [index]
    if all(part is None or part is Ellipsis or type(part) in (int, slice) for part in parts):
        return _strided_slice(call, parts)
    parts = [np.asarray(part) if isinstance(part, list) else part for part in parts]
    arrays = [part for part in parts if not isinstance(part, slice)]
    if any(part is None or part is Ellipsis or _dtype(part).kind not in "iu" for part in arrays):
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
        T=_dtype(call.value),
        Index=np.dtype(np.int32),
        **attributes,
    )
    return True


def _indices(call: Call, index: Any, size: int) -> str:
    """An index as a tensor: TensorFlow knows no negative ones."""
    if isinstance(index, Box):
        return call.input(index)
    return call.input(np.asarray(index) % max(size, 1))


def _gather(call: Call, array: Any, index: Any, axis: int) -> bool:
    where = _indices(call, index, np.shape(array)[axis])
    options = {"Tparams": _dtype(array), "Tindices": _dtype(index), "Taxis": np.dtype(np.int32), "batch_dims": 0}
    call.add("GatherV2", [call.input(array), where, call.constant(axis, "axis")], **options)
    return True


def _gather_nd(call: Call, array: Any, indices: list[Any]) -> bool:
    if any(isinstance(index, Box) for index in indices):
        return False
    sizes = np.shape(array)[: len(indices)]
    places = np.stack(np.broadcast_arrays(*[np.asarray(i) % n for i, n in zip(indices, sizes, strict=True)]), -1)
    call.add("GatherNd", [call.input(array), call.input(places)], Tparams=_dtype(array), Tindices=places.dtype)
    return True


def _take(call: Call) -> bool:
    found = _bound("a indices axis out mode", call)
    if found is None or found.get("axis") is None or found.get("mode", "raise") != "raise":
        return False
    index = found["indices"] if isinstance(found["indices"], Box) else np.asarray(found["indices"])
    return _gather(call, found["a"], index, found["axis"] % np.ndim(found["a"]))


def _product(equation: Callable[[int, int], str | None]) -> Callable[[Call], bool]:
    """A product of two arrays: MatMul of two matrices, else Einsum by the equation for their numbers of axes."""

    def entry(call: Call) -> bool:
        a, b = call.args[:2]
        dtype, ndims = _dtype(call.value), (np.ndim(a), np.ndim(b))
        inputs = [call.input(a, dtype), call.input(b, dtype)]
        if ndims == (2, 2) and call.function in (np.dot, np.matmul):
            call.add("MatMul", inputs, T=dtype, transpose_a=False, transpose_b=False)
        elif 0 in ndims:
            call.add("Mul", inputs, T=dtype)
        elif call.function is np.matmul and min(ndims) > 1:
            call.add("BatchMatMulV2", inputs, T=dtype, adj_x=False, adj_y=False)
        else:
            formula = equation(*ndims)
            if formula is None:
                return False
            call.add("Einsum", inputs, equation=formula, N=2, T=dtype)
        return True

    return entry


def _matmul_equation(a: int, b: int) -> str:
    if a == b == 1:
        return "i,i->"
    return "...ij,j->...i" if b == 1 else "j,...jk->...k"


def _dot_equation(a: int, b: int) -> str:
    left, right = ascii_letters[: a - 1], ascii_letters[a : a + b - 1]
    if b == 1:
        return f"{left}z,z->{left}"
    return f"{left}z,{right[:-1]}z{right[-1]}->{left}{right}"


def _inner_equation(a: int, b: int) -> str:
    left, right = ascii_letters[: a - 1], ascii_letters[a : a + b - 1]
    return f"{left}z,{right}z->{left}{right}"


def _outer(call: Call) -> bool:
    if np.ndim(call.args[0]) != 1 or np.ndim(call.args[1]) != 1:
        return False
    return _product(lambda a, b: "i,j->ij")(call)


def _tensordot(call: Call) -> bool:
    found = _bound("a b axes", call)
    if found is None:
        return False
    a, b, axes = np.ndim(found["a"]), np.ndim(found["b"]), found.get("axes", 2)
    if isinstance(axes, int):
        pairs = [(a - axes + i, i) for i in range(axes)]
    else:
        sides = [[side] if isinstance(side, int | np.integer) else list(side) for side in axes]
        pairs = [(i % a, j % b) for i, j in zip(*sides, strict=True)]
    left, right = list(ascii_letters[:a]), list(ascii_letters[a : a + b])
    for i, j in pairs:
        right[j] = left[i]
    output = [c for i, c in enumerate(left) if i not in dict(pairs)] + [c for c in right if c not in left]
    dtype = _dtype(call.value)
    inputs = [call.input(found["a"], dtype), call.input(found["b"], dtype)]
    call.add("Einsum", inputs, equation=f"{''.join(left)},{''.join(right)}->{''.join(output)}", N=2, T=dtype)
    return True


def _einsum(call: Call) -> bool:
    equation, *operands = call.args
    if not isinstance(equation, str) or len(operands) > 2:  # noqa: PLR2004 - as many as TensorFlow takes
        return False
    equation = equation.replace(" ", "")
    if "->" not in equation:
        labels = equation.replace(",", "").replace("...", "")
        once = sorted(c for c in set(labels) if labels.count(c) == 1)
        equation += "->" + ("..." if "..." in equation else "") + "".join(once)
    dtype = _dtype(call.value)
    call.add("Einsum", [call.input(x, dtype) for x in operands], equation=equation, N=len(operands), T=dtype)
    return True


def _cumsum(call: Call) -> bool:
    found = _bound("a axis dtype out", call)
    if found is None or (found.get("axis") is None and np.ndim(found["a"]) != 1):
        return False
    axis = call.constant((found.get("axis") or 0) % np.ndim(found["a"]), "axis")
    dtype = _dtype(call.value)
    options = {"T": dtype, "Tidx": np.dtype(np.int32), "exclusive": False, "reverse": False}
    call.add("Cumsum", [call.input(found["a"], dtype), axis], **options)
    return True


def _norm(call: Call) -> bool:
    found = _bound("x ord axis keepdims", call)
    if found is None:
        return False
    x, axis, ord_ = found["x"], found.get("axis"), found.get("ord")
    vector = isinstance(axis, int) or (axis is None and np.ndim(x) == 1)
    if not (ord_ is None or (ord_ == "fro" and not vector) or (vector and ord_ == 2)):  # noqa: PLR2004
        return False
    axes = call.constant(_axes(axis, np.ndim(x)), "reduction_indices")
    options = {"keep_dims": bool(found.get("keepdims", False)), "T": _dtype(x), "Tidx": np.dtype(np.int32)}
    call.add("EuclideanNorm", [call.input(x), axes], **options)
    return True


def _solve(call: Call) -> bool:
    a, b = call.args
    if np.shape(a)[:-2] != np.shape(b)[:-2]:
        return False
    dtype = _dtype(call.value)
    left, right = call.input(a, dtype), call.input(b, dtype)
    if np.ndim(b) != 1:
        call.add("MatrixSolve", [left, right], T=dtype, adjoint=False)
        return True
    column = np.empty((np.size(b), 1), dtype)
    right = call.add("Reshape", [right, call.constant(list(column.shape), "shape")], like=column, label="b", T=dtype)
    solved = call.add("MatrixSolve", [left, right], like=column, label="solved", T=dtype, adjoint=False)
    call.add("Reshape", [solved, call.constant([np.size(b)], "shape")], T=dtype)
    return True


def _matrix(op: str, **attributes: Any) -> Callable[[Call], bool]:
    def entry(call: Call) -> bool:
        if call.kwargs or len(call.args) > 1:
            return False
        call.add(op, [call.input(call.args[0])], T=_dtype(call.args[0]), **attributes)
        return True

    return entry


def _cast(call: Call) -> bool:
    source = call.args[0]
    call.add("Cast", [call.input(source)], SrcT=_dtype(source), DstT=_dtype(call.value), Truncate=False)
    return True


def _broadcast_to(call: Call) -> bool:
    shape = call.constant(list(np.shape(call.value)), "shape")
    call.add("BroadcastTo", [call.input(call.args[0]), shape], T=_dtype(call.value), Tidx=np.dtype(np.int32))
    return True


def _flip(call: Call) -> bool:
    axis = call.kwargs.get("axis", call.args[1] if len(call.args) > 1 else None)
    axes = call.constant(_axes(axis, np.ndim(call.value)), "axis")
    call.add("ReverseV2", [call.input(call.args[0]), axes], T=_dtype(call.value), Tidx=np.dtype(np.int32))
    return True


def _flip_axis(axis: int) -> Callable[[Call], bool]:
    def entry(call: Call) -> bool:
        axes = call.constant([axis], "axis")
        call.add("ReverseV2", [call.input(call.args[0]), axes], T=_dtype(call.value), Tidx=np.dtype(np.int32))
        return True

    return entry


def _roll(call: Call) -> bool:
    found = _bound("a shift axis", call)
    if found is None or found.get("axis") is None:
        return False
    shift, axis = np.atleast_1d(found["shift"]), np.atleast_1d(found["axis"]) % np.ndim(found["a"])
    shift, axis = np.broadcast_arrays(shift, axis)
    inputs = [call.input(found["a"]), call.constant(shift, "shift"), call.constant(axis, "axis")]
    call.add("Roll", inputs, T=_dtype(call.value), Tshift=np.dtype(np.int32), Taxis=np.dtype(np.int32))
    return True


def _pad(call: Call) -> bool:
    found = _bound("array pad_width mode constant_values", call)
    if found is None or found.get("mode", "constant") != "constant" or np.ndim(found.get("constant_values", 0)):
        return False
    dtype, ndim = _dtype(call.value), np.ndim(found["array"])
    widths = call.constant(np.broadcast_to(found["pad_width"], (ndim, 2)), "paddings")
    fill = call.input(np.asarray(found.get("constant_values", 0), dtype))
    call.add("PadV2", [call.input(found["array"]), widths, fill], T=dtype, Tpaddings=np.dtype(np.int32))
    return True


def _band(call: Call) -> bool:
    """The triangle on and beyond a diagonal; TensorFlow counts diagonals that are kept, -1 for all."""
    found = _bound("m k", call)
    if found is None or np.ndim(found["m"]) < 2:  # noqa: PLR2004 - NumPy makes a matrix of a vector
        return False
    k, upper = found.get("k", 0), call.function is np.triu
    if (k > 0) if upper else (k < 0):
        return False
    below, above = (-k, -1) if upper else (-1, k)
    inputs = [call.input(found["m"]), call.constant(below, "num_lower"), call.constant(above, "num_upper")]
    call.add("MatrixBandPart", inputs, T=_dtype(call.value), Tindex=np.dtype(np.int32))
    return True


def _real_only(op: str) -> Callable[[Call], bool]:
    def entry(call: Call) -> bool:
        return _dtype(call.args[0]).kind == "f" and _same(op)(call)

    return entry


def _invert(call: Call) -> bool:
    return _dtype(call.args[0]).kind == "b" and _logical("LogicalNot")(call)


def _tile(call: Call) -> bool:
    a, reps = call.args
    ndim = np.ndim(a)
    reps = [int(r) for r in np.atleast_1d(reps)]
    if len(reps) > ndim:
        return False
    multiples = call.constant([1] * (ndim - len(reps)) + reps, "multiples")
    call.add("Tile", [call.input(a), multiples], T=_dtype(a), Tmultiples=np.dtype(np.int32))
    return True


def _numbers(formula: Callable[[Call, Any, Callable[..., str]], None]) -> Callable[[Call], bool]:
    """Elementwise functions that are short formulas of others."""

    def entry(call: Call) -> bool:
        if call.kwargs:
            return False
        dtype = _dtype(call.value)

        def step(op: str, *inputs: str, last: bool = False) -> str:
            return call.add(op, inputs, like=None if last else call.value, label=op, T=dtype)

        formula(call, dtype, step)
        return True

    return entry


def _log_add_exp(call: Call, dtype: Any, step: Callable[..., str]) -> None:
    a, b = (call.input(arg, dtype) for arg in call.args)
    step("AddV2", a, step("Softplus", step("Sub", b, a)), last=True)


def _scaled(op: str, factor: float) -> Callable[[Call], bool]:
    def formula(call: Call, dtype: Any, step: Callable[..., str]) -> None:
        x = call.input(call.args[0], dtype)
        made = x if op == "Identity" else step(op, x)
        step("Mul", made, call.input(np.asarray(factor, dtype)), last=True)

    return _numbers(formula)


def _exp2(call: Call, dtype: Any, step: Callable[..., str]) -> None:
    step("Pow", call.input(np.asarray(2, dtype)), call.input(call.args[0], dtype), last=True)


def _hypot(call: Call, dtype: Any, step: Callable[..., str]) -> None:
    a, b = (step("Square", call.input(arg, dtype)) for arg in call.args)
    step("Sqrt", step("AddV2", a, b), last=True)


def _axis_of_split(call: Call) -> int:
    axis = call.kwargs.get("axis", call.args[2] if len(call.args) > 2 else 0)  # noqa: PLR2004 - (array, parts, axis)
    return int(axis) % np.ndim(call.args[0])


def _diagonal(call: Call) -> bool:
    if np.ndim(call.args[0]) != 2 or list(call.args[1:]) not in ([], [0], [0, 0, 1]) or call.kwargs:  # noqa: PLR2004
        return False
    call.add("MatrixDiagPart", [call.input(call.args[0])], T=_dtype(call.value))
    return True


_UNARY = {
    np.negative: "Neg", np.absolute: "Abs", np.fabs: "Abs", np.exp: "Exp", np.expm1: "Expm1", np.log: "Log",
    np.log1p: "Log1p", np.sqrt: "Sqrt", np.square: "Square", np.reciprocal: "Reciprocal", np.sin: "Sin",
    np.cos: "Cos", np.tan: "Tan", np.arcsin: "Asin", np.arccos: "Acos", np.arctan: "Atan", np.sinh: "Sinh",
    np.cosh: "Cosh", np.tanh: "Tanh", np.arcsinh: "Asinh", np.arccosh: "Acosh", np.arctanh: "Atanh",
    np.sign: "Sign", np.floor: "Floor", np.ceil: "Ceil", np.rint: "Rint", np.positive: "Identity", np.copy: "Identity",
    stopped: "StopGradient",
}  # fmt: skip
_BINARY = {
    np.add: "AddV2", np.subtract: "Sub", np.multiply: "Mul", np.divide: "RealDiv", np.power: "Pow",
    np.float_power: "Pow", np.maximum: "Maximum", np.minimum: "Minimum", np.arctan2: "Atan2",
    np.remainder: "FloorMod", np.floor_divide: "FloorDiv",
}  # fmt: skip
_COMPARISON = {
    np.greater: "Greater", np.greater_equal: "GreaterEqual", np.less: "Less", np.less_equal: "LessEqual",
    np.equal: "Equal", np.not_equal: "NotEqual", np.isnan: "IsNan", np.isinf: "IsInf", np.isfinite: "IsFinite",
}  # fmt: skip
_LOGICAL = {np.logical_and: "LogicalAnd", np.logical_or: "LogicalOr", np.logical_not: "LogicalNot"}
_REDUCTION = {
    np.sum: "Sum", np.mean: "Mean", np.prod: "Prod", np.max: "Max", np.min: "Min", np.amax: "Max", np.amin: "Min",
    np.all: "All", np.any: "Any",
}  # fmt: skip

OPERATIONS: dict[Any, Callable[[Call], bool]] = {
    **{function: _same(op) for function, op in (_UNARY | _BINARY).items()},
    **{function: _same(op, of_inputs=True) for function, op in _COMPARISON.items()},
    **{function: _logical(op) for function, op in _LOGICAL.items()},
    **{function: _reduction(op) for function, op in _REDUCTION.items()},
    **dict.fromkeys((np.reshape, np.ravel, np.squeeze), _reshape),
    **dict.fromkeys((np.transpose, np.permute_dims, np.swapaxes, np.moveaxis, np.rollaxis), _transpose),
    np.expand_dims: _expand_dims,
    np.var: _variance,
    np.std: _variance,
    np.argmax: _arg_extreme("ArgMax"),
    np.argmin: _arg_extreme("ArgMin"),
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
    np.where: _where,
    np.clip: _clip,
    operator.getitem: _getitem,
    np.take: _take,
    np.matmul: _product(_matmul_equation),
    np.dot: _product(_dot_equation),
    np.inner: _product(_inner_equation),
    np.outer: _outer,
    np.tensordot: _tensordot,
    np.einsum: _einsum,
    np.cumsum: _cumsum,
    np.ndarray.astype: _cast,
    np.astype: _cast,
    np.broadcast_to: _broadcast_to,
    np.flip: _flip,
    np.flipud: _flip_axis(0),
    np.fliplr: _flip_axis(1),
    np.roll: _roll,
    np.pad: _pad,
    np.triu: _band,
    np.tril: _band,
    np.conjugate: _real_only("Identity"),
    np.real: _real_only("Identity"),
    np.invert: _invert,
    np.tile: _tile,
    np.logaddexp: _numbers(_log_add_exp),
    np.exp2: _numbers(_exp2),
    np.hypot: _numbers(_hypot),
    np.log2: _scaled("Log", 1 / np.log(2)),
    np.log10: _scaled("Log", 1 / np.log(10)),
    np.deg2rad: _scaled("Identity", np.pi / 180),
    np.radians: _scaled("Identity", np.pi / 180),
    np.rad2deg: _scaled("Identity", 180 / np.pi),
    np.degrees: _scaled("Identity", 180 / np.pi),
    np.linalg.norm: _norm,
    np.linalg.solve: _solve,
    np.linalg.inv: _matrix("MatrixInverse", adjoint=False),
    np.linalg.det: _matrix("MatrixDeterminant"),
    np.linalg.slogdet: _matrix("LogMatrixDeterminant"),
    np.linalg.cholesky: _matrix("Cholesky"),
    np.linalg.eigh: _matrix("SelfAdjointEigV2", compute_v=True),
    np.diag: lambda call: (
        _matrix("MatrixDiag")(call) if np.ndim(call.args[0]) == 1 else _matrix("MatrixDiagPart")(call)
    ),
    np.diagonal: _diagonal,
}
