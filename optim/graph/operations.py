"""Maps NumPy's functions to TensorFlow's operations, with their inputs and attributes.

An entry takes a `Call` and adds operations to the graph, the last of which produces the result. It returns False if
TensorFlow has no equivalent; the call then becomes a node of its own kind, `numpy.<name>`, which TensorBoard draws like
any other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from optim.graph.call import Call, axes_of, bound, dtype_of
from optim.graph.linear_algebra import LINEAR_ALGEBRA
from optim.graph.shapes import SHAPES
from optim.recording.calls import plain, stopped

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["OPERATIONS"]


def _same(op: str, *, of_inputs: bool = False) -> Callable[[Call], bool]:
    """An operation with the function's own arguments, cast to the result's dtype, or to their common one."""

    def entry(call: Call) -> bool:
        if call.kwargs.keys() - {"dtype", "casting"}:
            return False
        dtype = np.result_type(*map(plain, call.args)) if of_inputs else dtype_of(call.value)
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
        found = bound("a axis dtype out keepdims" if op in ("Sum", "Mean", "Prod") else "a axis out keepdims", call)
        if found is None or found.get("out") is not None:
            return False
        axes = call.constant(axes_of(found.get("axis"), np.ndim(found["a"])), "reduction_indices")
        typed = {} if op in ("All", "Any") else {"T": dtype_of(call.value)}
        call.add(
            op, [call.input(found["a"], dtype_of(call.value)), axes],
            keep_dims=bool(found.get("keepdims", False)), Tidx=np.dtype(np.int32), **typed,
        )  # fmt: skip
        return True

    return entry


def _variance(call: Call) -> bool:
    found = bound("a axis dtype out ddof keepdims", call)
    if found is None or found.get("out") is not None:
        return False
    a, dtype, keepdims = plain(found["a"]), dtype_of(call.value), bool(found.get("keepdims", False))
    axis = found.get("axis")
    axis = tuple(axis) if isinstance(axis, list) else axis
    x = call.input(found["a"], dtype)
    axes = call.constant(axes_of(axis, np.ndim(a)), "reduction_indices")
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
        found = bound("a axis out", call)
        if found is None or found.get("out") is not None or np.ndim(call.value) == np.ndim(found["a"]):
            return False
        a, axis = found["a"], found.get("axis")
        x = call.input(a)
        if axis is None:
            flat = np.ravel(plain(a))
            x = call.add("Reshape", [x, call.constant([flat.size], "shape")], like=flat, label="flat", T=dtype_of(a))
        call.add(
            op, [x, call.constant((axis or 0) % np.ndim(a), "dimension")],
            T=dtype_of(a), Tidx=np.dtype(np.int32), output_type=np.dtype(np.int64),
        )  # fmt: skip
        return True

    return entry


def _where(call: Call) -> bool:
    condition, x, y = call.args
    dtype = dtype_of(call.value)
    inputs = [call.input(condition, np.dtype(bool)), call.input(x, dtype), call.input(y, dtype)]
    call.add("SelectV2", inputs, T=dtype)
    return True


def _clip(call: Call) -> bool:
    found = bound("a a_min a_max out min max", call)
    if found is None or found.get("out") is not None:
        return False
    low, high = found.get("a_min", found.get("min")), found.get("a_max", found.get("max"))
    dtype = dtype_of(call.value)
    x = call.input(found["a"], dtype)
    if low is not None and high is not None:
        x = call.add("Maximum", [x, call.input(low, dtype)], like=np.maximum(plain(found["a"]), plain(low)),
                     label="Maximum", T=dtype)  # fmt: skip
    last, op = (high, "Minimum") if high is not None else (low, "Maximum")
    call.add(op, [x, call.input(last, dtype)], T=dtype)
    return True


def _cumsum(call: Call) -> bool:
    found = bound("a axis dtype out", call)
    if found is None or (found.get("axis") is None and np.ndim(found["a"]) != 1):
        return False
    axis = call.constant((found.get("axis") or 0) % np.ndim(found["a"]), "axis")
    dtype = dtype_of(call.value)
    options = {"T": dtype, "Tidx": np.dtype(np.int32), "exclusive": False, "reverse": False}
    call.add("Cumsum", [call.input(found["a"], dtype), axis], **options)
    return True


def _cast(call: Call) -> bool:
    source = call.args[0]
    call.add("Cast", [call.input(source)], SrcT=dtype_of(source), DstT=dtype_of(call.value), Truncate=False)
    return True


def _real_only(op: str) -> Callable[[Call], bool]:
    def entry(call: Call) -> bool:
        return dtype_of(call.args[0]).kind == "f" and _same(op)(call)

    return entry


def _invert(call: Call) -> bool:
    return dtype_of(call.args[0]).kind == "b" and _logical("LogicalNot")(call)


def _numbers(formula: Callable[[Call, Any, Callable[..., str]], None]) -> Callable[[Call], bool]:
    """An elementwise function that is a short formula of other operations."""

    def entry(call: Call) -> bool:
        if call.kwargs:
            return False
        dtype = dtype_of(call.value)

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
    **SHAPES,
    **LINEAR_ALGEBRA,
    **{function: _same(op) for function, op in (_UNARY | _BINARY).items()},
    **{function: _same(op, of_inputs=True) for function, op in _COMPARISON.items()},
    **{function: _logical(op) for function, op in _LOGICAL.items()},
    **{function: _reduction(op) for function, op in _REDUCTION.items()},
    np.var: _variance,
    np.std: _variance,
    np.argmax: _arg_extreme("ArgMax"),
    np.argmin: _arg_extreme("ArgMin"),
    np.where: _where,
    np.clip: _clip,
    np.cumsum: _cumsum,
    np.ndarray.astype: _cast,
    np.astype: _cast,
    np.conjugate: _real_only("Identity"),
    np.real: _real_only("Identity"),
    np.invert: _invert,
    np.logaddexp: _numbers(_log_add_exp),
    np.exp2: _numbers(_exp2),
    np.hypot: _numbers(_hypot),
    np.log2: _scaled("Log", 1 / np.log(2)),
    np.log10: _scaled("Log", 1 / np.log(10)),
    np.deg2rad: _scaled("Identity", np.pi / 180),
    np.radians: _scaled("Identity", np.pi / 180),
    np.rad2deg: _scaled("Identity", 180 / np.pi),
    np.degrees: _scaled("Identity", 180 / np.pi),
}
