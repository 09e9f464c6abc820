"""The derivative of each NumPy function: how a gradient of its result becomes gradients of its arguments.

This starts from HIPS autograd's table. Some of its entries ignore arguments (`where`, `initial`, `correction`,
`keepdims` of a norm), and some are undefined where the derivative exists (a product with a zero in it, sinc at 0).
Our own entries here replace those; functions that move elements have theirs in `movement`. An argument that an entry
does not take is an error, never ignored.

An entry is `entry(positions, ans, args, kwargs)` → function of the gradient g → the gradients at these positions.
Positions count positional arguments; (i, j) is item j of a list at position i.
"""

from __future__ import annotations

import inspect
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from optim.autodiff.broadcasting import expanded, quotient, unbroadcast
from optim.autodiff.limits import LIMITS
from optim.autodiff.linear_algebra import LINEAR
from optim.autodiff.movement import MOVEMENTS
from optim.recording.calls import stopped
from optim.recording.compositions import NO_VALUE
from optim.recording.nodes import UnknownGradientError, name_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    Gradient = Any
    Position = int | tuple[int, int]
    Entry = Callable[[Sequence[Position], Any, Sequence[Any], dict[str, Any]], Callable[[Gradient], Iterable[Gradient]]]

__all__ = ["derivative"]

# Keyword arguments that change at most the result's dtype: gradients are cast to their argument's dtype anyway.
_HARMLESS = {"dtype", "casting", "order", "subok", "optimize", "like", "kind", "out"}


def derivative(function: Callable[..., Any]) -> Entry:
    """The function's entry.

    Raises:
        LookupError: no derivative of the function is known.
    """
    entry = _table().get(function)
    if entry is None:
        raise LookupError(f"no gradient of np.{name_of(function)} is known")
    return entry


@cache
def _table() -> dict[Any, Entry]:
    from autograd.core import primitive_vjps  # noqa: PLC0415
    from autograd.tracer import trace_primitives_map  # noqa: PLC0415

    table = {
        raw: _of_autograd(primitive_vjps[twin])
        for raw, twin in trace_primitives_map.items()
        if twin in primitive_vjps and raw not in _WRONG
    }
    table |= MOVEMENTS
    table |= {function: _by_position(function, makers) for function, makers in (_OURS | LINEAR).items()}
    return table | {function: _within(limit, table[function]) for function, limit in LIMITS.items()}


def _within(limit: Callable[..., str], entry: Entry) -> Entry:
    def limited(positions: Sequence[Any], ans: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        reason = limit(*args, **kwargs)
        if reason:
            raise UnknownGradientError(reason)
        return entry(positions, ans, args, kwargs)

    return limited


# Entries of autograd that are wrong for some arguments, and that we do not replace.
_WRONG = {np.linalg.eig, np.linspace, np.rollaxis, np.full, np.nan_to_num}


_SYNONYMS = {"min": 1, "max": 2}  # of np.clip: its bounds have two names each


def _of_autograd(maker: Callable[..., Any]) -> Entry:
    def entry(positions: Sequence[Any], ans: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        return maker(tuple(positions), ans, tuple(args), {k: v for k, v in kwargs.items() if k not in _HARMLESS})

    return entry


def _by_position(function: Callable[..., Any], makers: Sequence[Callable[..., Any] | None]) -> Entry:
    """An entry made of one maker per argument: maker(ans, *args, **kwargs) → (g → the argument's gradient)."""
    is_ufunc = isinstance(function, np.ufunc)
    try:
        names = [] if is_ufunc else list(inspect.signature(function).parameters)
    except ValueError:  # functions in C have signatures since NumPy 2.4; ours take by position what has a gradient
        names = []

    def entry(positions: Sequence[Any], ans: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        if is_ufunc:
            kwargs = {key: value for key, value in kwargs.items() if key not in _HARMLESS}
        elif kwargs:
            kwargs = {key: value for key, value in kwargs.items() if value is not NO_VALUE}
        vjps = []
        for position in positions:
            number = _SYNONYMS.get(position) or names.index(position) if isinstance(position, str) else position
            maker = makers[number] if number < len(makers) else None
            if maker is None:
                raise UnknownGradientError(f"of argument {number + 1}")
            vjps.append(maker(ans, *args, **kwargs))
        return lambda g: [vjp(g) for vjp in vjps]

    return entry


def _spread(g: Gradient, x: Any, axis: Any, keepdims: Any, where: Any = True) -> Gradient:
    """A reduction's gradient at each element that it reduced; 0 at the others."""
    g = expanded(g, np.shape(x), axis, keepdims)
    if where is not True and where is not NO_VALUE:
        return np.where(where, g, np.zeros((), g.dtype))
    return np.broadcast_to(g, np.shape(x))


def _sum(ans: Any, a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False,
         initial: Any = None, where: Any = True) -> Any:  # fmt: skip
    return lambda g: _spread(g, a, axis, keepdims, where)


def _mean(ans: Any, a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, *,
          where: Any = True) -> Any:  # fmt: skip
    counts = _count(a, ans, axis, keepdims, where)
    return lambda g: _spread(g / counts, a, axis, keepdims, where)


def _count(a: Any, ans: Any, axis: Any, keepdims: Any, where: Any) -> Any:
    """The number of elements that went into each result; an array of numbers if there is a mask."""
    if where is True or where is NO_VALUE:
        return np.size(a) // max(np.size(ans), 1)
    mask: Any = np.broadcast_to(where, np.shape(a))
    return mask.sum(axis=axis, keepdims=keepdims is True).astype(np.result_type(a))


def _var(ans: Any, a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: Any = False,
         *, where: Any = True, correction: Any = NO_VALUE) -> Any:  # fmt: skip
    degrees = _count(a, ans, axis, keepdims, where) - (ddof if correction is NO_VALUE else correction)
    masked = {} if where is True or where is NO_VALUE else {"where": where}

    def vjp(g: Gradient) -> Gradient:
        centered = a - np.mean(a, axis=axis, keepdims=True, **masked)
        return _spread(g * 2 / degrees, a, axis, keepdims, where) * centered

    return vjp


def _std(ans: Any, a: Any, *args: Any, **kwargs: Any) -> Any:
    # Where all elements are equal there is a kink; 0 is a subgradient.
    return lambda g: _var(ans, a, *args, **kwargs)(quotient(g, 2 * ans))


def _prod(ans: Any, a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False,
          initial: Any = 1, where: Any = True) -> Any:  # fmt: skip
    def vjp(g: Gradient) -> Gradient:
        factors = a if where is True or where is NO_VALUE else np.where(where, a, np.ones((), np.result_type(a)))
        zeros = np.equal(factors, 0)
        # With one zero, its own gradient is the product of the others; with two or more, all are 0.
        others = np.prod(np.where(zeros, np.ones((), np.result_type(a)), factors), axis=axis, keepdims=True)
        count = np.sum(zeros, axis=axis, keepdims=True)
        product = np.where(count == 0, quotient(others, factors), np.where((count == 1) & zeros, others, 0 * others))
        factor = 1 if initial is NO_VALUE or initial is None else initial
        return _spread(g, a, axis, keepdims, where) * product * factor

    return vjp


def _extreme(ans: Any, a: Any, axis: Any = None, out: Any = None, keepdims: Any = False, initial: Any = NO_VALUE,
             where: Any = True) -> Any:  # fmt: skip
    def vjp(g: Gradient) -> Gradient:
        chosen = np.equal(a, expanded(ans, np.shape(a), axis, keepdims))
        if where is not True and where is not NO_VALUE:
            chosen = chosen & where
        # Equal elements share the gradient. There may be none, if `initial` was chosen.
        count = np.maximum(np.sum(chosen, axis=axis, keepdims=True), 1)
        return _spread(g, a, axis, keepdims) * (chosen / count).astype(np.result_type(ans))

    return vjp


def _where(position: int) -> Callable[..., Any]:
    def maker(ans: Any, condition: Any, x: Any, y: Any) -> Any:
        def vjp(g: Gradient) -> Gradient:
            zero = np.zeros((), np.result_type(g))
            mine = np.where(condition, g, zero) if position == 1 else np.where(condition, zero, g)
            return unbroadcast(mine, x if position == 1 else y)

        return vjp

    return maker


def _clip(position: int) -> Callable[..., Any]:
    def maker(ans: Any, a: Any, a_min: Any = None, a_max: Any = None, out: Any = None, **bounds: Any) -> Any:
        low, high = bounds.pop("min", a_min), bounds.pop("max", a_max)
        bounds.pop("dtype", None)
        if bounds:
            raise UnknownGradientError(f"with {', '.join(bounds)}")
        low, high = (None if bound is NO_VALUE else bound for bound in (low, high))

        def vjp(g: Gradient) -> Gradient:
            below = np.less(a, low) if low is not None else np.False_
            above = np.greater(a, high) if high is not None else np.False_
            # The upper bound takes precedence over the lower one, as in np.clip.
            if low is not None and high is not None:
                above = above | (below & np.greater(low, high))
            mine = [~(below | above), below & ~above, above][position]
            return unbroadcast(g * mine, [a, low, high][position])

        return vjp

    return maker


def _power_base(ans: Any, x: Any, y: Any) -> Any:
    def vjp(g: Gradient) -> Gradient:
        if isinstance(y, int | float):  # a Python number does not widen float32
            return g * (2 * x) if y == 2 else g * (y * x ** (y - 1)) if y else 0 * g  # noqa: PLR2004 - the square
        exponent = np.where(np.equal(y, 0), np.ones((), np.result_type(y)), y) - 1
        return unbroadcast(g * y * np.power(x, exponent), x)

    return vjp


def _power_exponent(ans: Any, x: Any, y: Any) -> Any:
    def vjp(g: Gradient) -> Gradient:
        base = np.where(np.equal(x, 0), np.ones((), np.result_type(x)), x)
        return unbroadcast(g * ans * np.log(base), y)

    return vjp


def _elementwise(slope: Callable[[Any, Any], Any]) -> tuple[Callable[..., Any]]:
    """The makers of a function of one argument with derivative slope(ans, x)."""
    return (lambda ans, x: lambda g: g * slope(ans, x),)


def _divide_by(ans: Any, x: Any, y: Any) -> Any:
    return lambda g: unbroadcast(-g * ans / y, y)


def _share(position: int) -> Callable[..., Any]:
    """The larger (or smaller) argument gets the gradient; equal ones get half each."""

    def maker(ans: Any, x: Any, y: Any) -> Any:
        mine, other = (x, y) if position == 0 else (y, x)

        def vjp(g: Gradient) -> Gradient:
            share = np.equal(mine, ans) * np.where(np.equal(mine, other), 0.5, 1.0)
            return unbroadcast(g * share.astype(np.result_type(g)), mine)

        return vjp

    return maker


def _sinc(ans: Any, x: Any) -> Any:
    return lambda g: g * quotient(np.cos(np.pi * x) - ans, x)


def _cumsum(ans: Any, a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    def vjp(g: Gradient) -> Gradient:
        along = 0 if axis is None else axis
        return np.reshape(np.flip(np.cumsum(np.flip(g, along), along), along), np.shape(a))

    return vjp


def _nan_to_num(ans: Any, x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    return lambda g: g * np.isfinite(x)


_identity = (lambda ans, x, *args, **kwargs: lambda g: g,)
_OURS: dict[Any, Sequence[Callable[..., Any] | None]] = {
    np.add: (lambda ans, x, y: lambda g: unbroadcast(g, x), lambda ans, x, y: lambda g: unbroadcast(g, y)),
    np.subtract: (lambda ans, x, y: lambda g: unbroadcast(g, x), lambda ans, x, y: lambda g: unbroadcast(-g, y)),
    np.multiply: (lambda ans, x, y: lambda g: unbroadcast(g * y, x), lambda ans, x, y: lambda g: unbroadcast(g * x, y)),
    np.divide: (lambda ans, x, y: lambda g: unbroadcast(g / y, x), _divide_by),
    **dict.fromkeys((np.power, np.float_power), (_power_base, _power_exponent)),
    **dict.fromkeys((np.maximum, np.minimum, np.fmax, np.fmin), (_share(0), _share(1))),
    np.copysign: (lambda ans, x, y: lambda g: unbroadcast(g * np.copysign(1, y) * np.copysign(1, x), x), None),
    np.hypot: (
        lambda ans, x, y: lambda g: unbroadcast(g * quotient(x, ans), x),
        lambda ans, x, y: lambda g: unbroadcast(g * quotient(y, ans), y),
    ),
    np.tanh: _elementwise(lambda ans, x: 1 - ans * ans),
    np.tan: _elementwise(lambda ans, x: 1 + ans * ans),
    np.sqrt: _elementwise(lambda ans, x: 0.5 / ans),
    np.cbrt: _elementwise(lambda ans, x: 1 / (3 * ans * ans)),
    np.square: _elementwise(lambda ans, x: 2 * x),
    np.fabs: _elementwise(lambda ans, x: np.sign(x)),
    **dict.fromkeys((np.positive, np.ndarray.astype, np.astype), _identity),
    np.sinc: (_sinc,),
    np.nan_to_num: (_nan_to_num,),
    np.sum: (_sum,),
    np.mean: (_mean,),
    np.var: (_var,),
    np.std: (_std,),
    np.prod: (_prod,),
    **dict.fromkeys((np.max, np.min, np.amax, np.amin), (_extreme,)),
    np.cumsum: (_cumsum,),
    np.where: (None, _where(1), _where(2)),
    np.clip: (_clip(0), _clip(1), _clip(2)),
    stopped: (None,),
}
