"""NumPy functions expressed as short formulas of others, so that each part is differentiated on its own.

A composition takes the function's arguments. If it returns NotImplemented, the function itself is recorded.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["COMPOSITIONS", "METHODS", "NO_VALUE"]

NO_VALUE: Any = np._NoValue  # noqa: SLF001 - NumPy's marker for "not given"


def _average(a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: Any = False) -> Any:
    if weights is None:
        mean = np.mean(a, axis, keepdims=keepdims)
        return (mean, np.size(a) / np.size(mean)) if returned else mean
    if np.shape(weights) != np.shape(a):
        if not isinstance(axis, int) or np.shape(weights) != (np.shape(a)[axis],):
            return NotImplemented
        weights = np.reshape(weights, [-1 if i == axis % np.ndim(a) else 1 for i in range(np.ndim(a))])
        weights = np.broadcast_to(weights, np.shape(a))
    total = np.sum(weights, axis, keepdims=keepdims)
    mean = np.sum(a * weights, axis, keepdims=keepdims) / total
    return (mean, total) if returned else mean


def _ptp(a: Any, axis: Any = None, out: Any = None, keepdims: Any = False) -> Any:
    return np.max(a, axis, keepdims=keepdims) - np.min(a, axis, keepdims=keepdims) if out is None else NotImplemented


def _vdot(a: Any, b: Any, /) -> Any:
    return np.sum(np.conj(np.ravel(a)) * np.ravel(b))


def _multi_dot(arrays: Any, *, out: Any = None) -> Any:
    return functools.reduce(np.dot, arrays) if out is None else NotImplemented


def _matrix_power(a: Any, n: int) -> Any:
    if n < 1:
        return NotImplemented if n == 0 else _matrix_power(np.linalg.inv(a), -n)
    return functools.reduce(np.matmul, [a] * n)


def _trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    if x is not None and np.ndim(x) != 1:
        return NotImplemented
    y = np.moveaxis(y, axis, -1)
    steps = dx if x is None else np.diff(x)
    return np.sum(steps * (y[..., 1:] + y[..., :-1]) / 2.0, axis=-1)


def _nansum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False) -> Any:
    return np.sum(np.where(np.isnan(a), 0, a), axis, dtype, out, keepdims)


def _nanmean(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False) -> Any:
    count = np.sum(~np.isnan(a), axis=axis, keepdims=keepdims)
    total = _nansum(a, axis, dtype, out, keepdims)
    return total / np.asarray(count).astype(total.dtype)


def _matvec(a: Any, b: Any, /) -> Any:
    return np.einsum("...ij,...j->...i", a, b)


def _vecmat(a: Any, b: Any, /) -> Any:
    return np.einsum("...i,...ij->...j", np.conj(a), b)


def _vecdot(a: Any, b: Any, /, *, axis: int = -1) -> Any:
    return np.sum(np.conj(a) * b, axis=axis)


def _diff(
    a: Any, n: int = 1, axis: int = -1, prepend: Any = NO_VALUE, append: Any = NO_VALUE
) -> Any:  # fmt: skip
    if n < 1 or prepend is not NO_VALUE or append is not NO_VALUE:
        return NotImplemented
    a = np.moveaxis(a, axis, -1)
    for _ in range(n):
        a = a[..., 1:] - a[..., :-1]
    return np.moveaxis(a, -1, axis)


def _atleast(least: int) -> Callable[..., Any]:
    shapes: dict[int, Callable[[tuple[int, ...]], tuple[int, ...]]] = {
        1: lambda shape: shape or (1,),
        2: lambda shape: shape if len(shape) >= 2 else (1, *(shape or (1,))),  # noqa: PLR2004
        3: lambda shape: {0: (1, 1, 1), 1: (1, *shape, 1), 2: (*shape, 1)}.get(len(shape), shape),
    }

    def atleast(*arrays: Any) -> Any:
        made = tuple(np.reshape(array, shapes[least](np.shape(array))) for array in arrays)
        return made[0] if len(made) == 1 else made

    return atleast


def _linalg_trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Any:
    return np.trace(x, offset=offset, axis1=-2, axis2=-1, dtype=dtype)


def _linalg_diagonal(x: Any, /, *, offset: int = 0) -> Any:
    return np.diagonal(x, offset=offset, axis1=-2, axis2=-1)


def _trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: Any = None) -> Any:
    return np.sum(np.diagonal(a, offset, axis1, axis2), axis=-1, dtype=dtype) if out is None else NotImplemented


def _vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:  # noqa: A002 - NumPy's
    if axis is None and not keepdims:
        return np.linalg.norm(np.ravel(x), ord)
    return np.linalg.norm(x, ord, axis, keepdims) if isinstance(axis, int) else NotImplemented


def _matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:  # noqa: A002 - NumPy's
    return np.linalg.norm(x, ord, (-2, -1), keepdims)


def _median(a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: Any = False) -> Any:
    if out is not None or not (axis is None or isinstance(axis, int)):
        return NotImplemented
    ordered = np.sort(np.ravel(a)) if axis is None else np.moveaxis(np.sort(a, axis), axis, -1)
    size = np.shape(ordered)[-1]
    middle = 0.5 * (ordered[..., (size - 1) // 2] + ordered[..., size // 2])
    if not keepdims or keepdims is NO_VALUE:
        return middle
    return np.reshape(middle, [1 if axis is None or i == axis % np.ndim(a) else n for i, n in enumerate(np.shape(a))])


def _convolve(a: Any, v: Any, mode: str = "full") -> Any:
    if mode not in ("full", "same", "valid"):
        return NotImplemented
    a, v = (v, a) if np.size(v) > np.size(a) else (a, v)
    n, m = np.size(a), np.size(v)
    windows = np.arange(n + m - 1)[:, None] + np.arange(m)
    full = np.matmul(np.pad(a, m - 1)[windows], v[::-1])
    length = {"full": n + m - 1, "same": n, "valid": n - m + 1}[mode]
    start = (n + m - 1 - length) // 2
    return full[start : start + length]


def _polyval(p: Any, x: Any) -> Any:
    return functools.reduce(lambda total, coefficient: total * x + coefficient, p[1:], p[0] + 0 * x)


def _divmod(x: Any, y: Any, /) -> Any:
    return np.floor_divide(x, y), np.remainder(x, y)


def _block(arrays: Any) -> Any:
    """Join lists along the last axis, lists of lists along the one before, and so on."""
    depth = _depth(arrays)
    ndim = max(depth, *(np.ndim(leaf) for leaf in _leaves(arrays)))

    def joined(part: Any, level: int) -> Any:
        if not isinstance(part, list):
            return np.reshape(part, (1,) * (ndim - np.ndim(part)) + np.shape(part))
        return np.concatenate([joined(each, level - 1) for each in part], axis=-level)

    return joined(arrays, depth)


def _depth(arrays: Any) -> int:
    return 1 + max(_depth(part) for part in arrays) if isinstance(arrays, list) else 0


def _leaves(arrays: Any) -> list[Any]:
    return [leaf for part in arrays for leaf in _leaves(part)] if isinstance(arrays, list) else [arrays]


def _einsum(*operands: Any, **options: Any) -> Any:
    """Take the diagonal first for a label that occurs twice in one operand."""
    equation, *arrays = operands
    if not isinstance(equation, str) or "." in equation:
        return NotImplemented
    sources, arrow, output = equation.replace(" ", "").partition("->")
    if all(len(set(labels)) == len(labels) for labels in sources.split(",")):
        return NotImplemented
    if not arrow:
        output = "".join(sorted(c for c in set(sources) - {","} if sources.count(c) == 1))
    taken = [_distinct(labels, array) for labels, array in zip(sources.split(","), arrays, strict=True)]
    return np.einsum(f"{','.join(labels for labels, _ in taken)}->{output}", *(a for _, a in taken), **options)


def _distinct(labels: str, array: Any) -> tuple[str, Any]:
    for label in labels:
        while labels.count(label) > 1:
            first = labels.index(label)
            second = labels.index(label, first + 1)
            array = np.diagonal(array, axis1=first, axis2=second)
            labels = "".join(c for i, c in enumerate(labels) if i not in (first, second)) + label
    return labels, array


COMPOSITIONS: dict[Callable[..., Any], Callable[..., Any]] = {
    np.average: _average,
    np.block: _block,
    np.convolve: _convolve,
    np.divmod: _divmod,
    np.einsum: _einsum,
    np.median: _median,
    np.polyval: _polyval,
    np.ptp: _ptp,
    np.vdot: _vdot,
    np.diff: _diff,
    np.trapezoid: _trapezoid,
    np.nansum: _nansum,
    np.nanmean: _nanmean,
    np.atleast_1d: _atleast(1),
    np.atleast_2d: _atleast(2),
    np.atleast_3d: _atleast(3),
    np.trace: _trace,
    np.linalg.multi_dot: _multi_dot,
    np.linalg.matrix_power: _matrix_power,
    np.linalg.trace: _linalg_trace,
    np.linalg.diagonal: _linalg_diagonal,
    np.linalg.vector_norm: _vector_norm,
    np.linalg.matrix_norm: _matrix_norm,
    np.linalg.outer: lambda a, b, /: np.outer(a, b),
    np.linalg.matmul: lambda a, b, /: np.matmul(a, b),
    np.linalg.vecdot: _vecdot,
    np.linalg.matrix_transpose: lambda x, /: np.swapaxes(x, -1, -2),
    np.matrix_transpose: lambda x, /: np.swapaxes(x, -1, -2),
    np.linalg.tensordot: lambda a, b, /, *, axes=2: np.tensordot(a, b, axes),
    np.linalg.svdvals: lambda x, /: np.linalg.svd(x, full_matrices=False, compute_uv=False),
}


def _of_arrays(function: Callable[..., Any]) -> Callable[..., Any]:
    """A product of two arrays, one of which may be a list of numbers."""

    def product(*args: Any, **options: Any) -> Any:
        if not any(isinstance(arg, list) for arg in args[:2]):
            return NotImplemented
        return function(*(np.asarray(a) if isinstance(a, list) else a for a in args[:2]), *args[2:], **options)

    return product


COMPOSITIONS |= {
    function: _of_arrays(function)
    for function in (np.dot, np.inner, np.outer, np.tensordot, np.kron, np.cross, np.linalg.solve)
}
for _name, _twin in {"vecdot": _vecdot, "matvec": _matvec, "vecmat": _vecmat}.items():  # vecmat: NumPy 2.2
    if hasattr(np, _name):
        COMPOSITIONS[getattr(np, _name)] = _twin


def _reduced(function: Callable[..., Any]) -> Callable[..., Any]:
    def reduce(ufunc: np.ufunc, array: Any, axis: Any = 0, dtype: Any = None, out: Any = None, **options: Any) -> Any:
        typed = {} if dtype is None else {"dtype": dtype}
        return function(array, axis=axis, out=out, **typed, **options)

    return reduce


def _outer(ufunc: np.ufunc, a: Any, b: Any, /, **options: Any) -> Any:
    return ufunc(np.reshape(a, (*np.shape(a), *(1,) * np.ndim(b))), b, **options)


def _accumulate(ufunc: np.ufunc, array: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Any:
    return np.cumsum(array, axis, dtype, out)


# The equivalents of ufuncs' methods, by (ufunc, method), or for all ufuncs by method.
METHODS: dict[Any, Callable[..., Any]] = {
    (np.add, "reduce"): _reduced(np.sum),
    (np.multiply, "reduce"): _reduced(np.prod),
    (np.maximum, "reduce"): _reduced(np.max),
    (np.minimum, "reduce"): _reduced(np.min),
    (np.add, "accumulate"): _accumulate,
    "outer": _outer,
}
