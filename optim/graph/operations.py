"""Maps NumPy's functions to TensorFlow's operations, with their inputs and attributes.

An entry takes a `GraphCall` and adds operations to the graph, the last of which produces the result. It raises
NoEquivalentError if TensorFlow has none; the call then becomes a node of its own kind, `numpy.<name>`, which
TensorBoard draws like any other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from optim.graph.drawing import INT32, GraphCall, NoEquivalentError, axes_of, dtype_of
from optim.graph.linear_algebra import LINEAR_ALGEBRA
from optim.graph.shapes import SHAPES
from optim.recording.calls import plain, stopped

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["OPERATIONS", "no_operation"]


def no_operation(call: GraphCall) -> None:
    """The entry of a function that the tables lack."""
    raise NoEquivalentError


def _same(op: str, *, of_inputs: bool = False) -> Callable[[GraphCall], None]:
    """An operation with the function's own arguments, cast to the result's dtype, or to their common one."""

    def entry(call: GraphCall) -> None:
        if call.kwargs.keys() - {"dtype", "casting"}:
            raise NoEquivalentError
        dtype = np.result_type(*map(plain, call.args)) if of_inputs else call.dtype
        call.add(op, [call.input(arg, dtype) for arg in call.args], T=dtype)

    return entry


def _logical(op: str) -> Callable[[GraphCall], None]:
    def entry(call: GraphCall) -> None:
        call.add(op, [call.input(arg, np.dtype(bool)) for arg in call.args])

    return entry


def _reduction(op: str) -> Callable[[GraphCall], None]:
    def entry(call: GraphCall) -> None:
        named = call.arguments("a axis dtype out keepdims" if op in ("Sum", "Mean", "Prod") else "a axis out keepdims")
        axes = call.constant(axes_of(named.get("axis"), np.ndim(named["a"])), "reduction_indices")
        typed = {} if op in ("All", "Any") else {"T": call.dtype}
        call.add(
            op, [call.input(named["a"], call.dtype), axes],
            keep_dims=bool(named.get("keepdims", False)), Tidx=INT32, **typed,
        )  # fmt: skip

    return entry


def _variance(call: GraphCall) -> None:
    named = call.arguments("a axis dtype out ddof keepdims")
    a, dtype, keepdims = plain(named["a"]), call.dtype, bool(named.get("keepdims", False))
    axis = named.get("axis")
    axis = tuple(axis) if isinstance(axis, list) else axis
    x = call.input(named["a"], dtype)
    axes = call.constant(axes_of(axis, np.ndim(a)), "reduction_indices")
    options = {"T": dtype, "Tidx": INT32}
    mean = np.mean(a, axis=axis, keepdims=True, dtype=dtype)
    center = call.add("Mean", [x, axes], like=mean, label="mean", keep_dims=True, **options)
    squares = call.add("SquaredDifference", [x, center], like=np.asarray(a, dtype), label="squares", T=dtype)
    total = {"like": call.value, "keep_dims": keepdims, **options}
    degrees = np.size(a) / max(np.size(call.value), 1) - named.get("ddof", 0)
    sums = call.add("Sum", [squares, axes], label="sum", **total)
    count = call.input(np.asarray(degrees, dtype))
    if call.function is np.std:
        call.add("Sqrt", [call.add("RealDiv", [sums, count], like=call.value, label="variance", T=dtype)], T=dtype)
    else:
        call.add("RealDiv", [sums, count], T=dtype)


def _arg_extreme(op: str) -> Callable[[GraphCall], None]:
    def entry(call: GraphCall) -> None:
        named = call.arguments("a axis out")
        if np.ndim(call.value) == np.ndim(named["a"]):
            raise NoEquivalentError
        a, axis = named["a"], named.get("axis")
        x = call.input(a)
        if axis is None:
            flat = np.ravel(plain(a))
            x = call.add("Reshape", [x, call.constant([flat.size], "shape")], like=flat, label="flat", T=dtype_of(a))
        call.add(
            op, [x, call.constant((axis or 0) % np.ndim(a), "dimension")],
            T=dtype_of(a), Tidx=INT32, output_type=np.dtype(np.int64),
        )  # fmt: skip

    return entry


def _where(call: GraphCall) -> None:
    condition, x, y = call.args
    dtype = call.dtype
    inputs = [call.input(condition, np.dtype(bool)), call.input(x, dtype), call.input(y, dtype)]
    call.add("SelectV2", inputs, T=dtype)


def _clip(call: GraphCall) -> None:
    named = call.arguments("a a_min a_max out min max")
    low, high = named.get("a_min", named.get("min")), named.get("a_max", named.get("max"))
    dtype = call.dtype
    x = call.input(named["a"], dtype)
    if low is not None and high is not None:
        x = call.add("Maximum", [x, call.input(low, dtype)], like=np.maximum(plain(named["a"]), plain(low)),
                     label="Maximum", T=dtype)  # fmt: skip
    last, op = (high, "Minimum") if high is not None else (low, "Maximum")
    call.add(op, [x, call.input(last, dtype)], T=dtype)


def _cumsum(call: GraphCall) -> None:
    named = call.arguments("a axis dtype out")
    if named.get("axis") is None and np.ndim(named["a"]) != 1:
        raise NoEquivalentError
    axis = call.constant((named.get("axis") or 0) % np.ndim(named["a"]), "axis")
    dtype = call.dtype
    options = {"T": dtype, "Tidx": INT32, "exclusive": False, "reverse": False}
    call.add("Cumsum", [call.input(named["a"], dtype), axis], **options)


def _cast(call: GraphCall) -> None:
    source = call.args[0]
    call.add("Cast", [call.input(source)], SrcT=dtype_of(source), DstT=call.dtype, Truncate=False)


def _real_only(op: str) -> Callable[[GraphCall], None]:
    def entry(call: GraphCall) -> None:
        if dtype_of(call.args[0]).kind != "f":
            raise NoEquivalentError
        _same(op)(call)

    return entry


def _invert(call: GraphCall) -> None:
    if dtype_of(call.args[0]).kind != "b":
        raise NoEquivalentError
    _logical("LogicalNot")(call)


def _numbers(formula: Callable[[GraphCall, Callable[..., str]], None]) -> Callable[[GraphCall], None]:
    """An elementwise function that is a short formula of other operations."""

    def entry(call: GraphCall) -> None:
        if call.kwargs:
            raise NoEquivalentError

        def step(op: str, *inputs: str, last: bool = False) -> str:
            return call.add(op, inputs, like=None if last else call.value, label=op, T=call.dtype)

        formula(call, step)

    return entry


def _log_add_exp(call: GraphCall, step: Callable[..., str]) -> None:
    a, b = (call.input(arg, call.dtype) for arg in call.args)
    step("AddV2", a, step("Softplus", step("Sub", b, a)), last=True)


def _scaled(op: str, factor: float) -> Callable[[GraphCall], None]:
    def formula(call: GraphCall, step: Callable[..., str]) -> None:
        x = call.input(call.args[0], call.dtype)
        made = x if op == "Identity" else step(op, x)
        step("Mul", made, call.input(np.asarray(factor, call.dtype)), last=True)

    return _numbers(formula)


def _exp2(call: GraphCall, step: Callable[..., str]) -> None:
    step("Pow", call.input(np.asarray(2, call.dtype)), call.input(call.args[0], call.dtype), last=True)


def _hypot(call: GraphCall, step: Callable[..., str]) -> None:
    a, b = (step("Square", call.input(arg, call.dtype)) for arg in call.args)
    step("Sqrt", step("AddV2", a, b), last=True)


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

OPERATIONS: dict[Any, Callable[[GraphCall], None]] = {
    **SHAPES,
    **LINEAR_ALGEBRA,
    **{function: _same(op) for function, op in (_UNARY | _BINARY).items()},
    **{function: _same(op, of_inputs=True) for function, op in _COMPARISON.items()},
    **{function: _logical(op) for function, op in _LOGICAL.items()},
    **{function: _reduction(op) for function, op in _REDUCTION.items()},
    **dict.fromkeys((np.var, np.std), _variance),
    np.argmax: _arg_extreme("ArgMax"),
    np.argmin: _arg_extreme("ArgMin"),
    np.where: _where,
    np.clip: _clip,
    np.cumsum: _cumsum,
    **dict.fromkeys((np.ndarray.astype, np.astype), _cast),
    **dict.fromkeys((np.conjugate, np.real), _real_only("Identity")),
    np.invert: _invert,
    np.logaddexp: _numbers(_log_add_exp),
    np.exp2: _numbers(_exp2),
    np.hypot: _numbers(_hypot),
    np.log2: _scaled("Log", 1 / np.log(2)),
    np.log10: _scaled("Log", 1 / np.log(10)),
    **dict.fromkeys((np.deg2rad, np.radians), _scaled("Identity", np.pi / 180)),
    **dict.fromkeys((np.rad2deg, np.degrees), _scaled("Identity", 180 / np.pi)),
}
