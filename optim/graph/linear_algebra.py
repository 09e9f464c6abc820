"""TensorFlow's operations for matrix products and linear algebra."""

from __future__ import annotations

from string import ascii_letters
from typing import TYPE_CHECKING, Any

import numpy as np

from optim.graph.drawing import INT32, GraphCall, NoEquivalentError, axes_of, dtype_of

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["LINEAR_ALGEBRA"]


def _product(equation: Callable[[int, int], str | None]) -> Callable[[GraphCall], None]:
    """A product of two arrays: MatMul for two matrices, else Einsum with the equation for their numbers of axes."""

    def entry(call: GraphCall) -> None:
        a, b = call.args[:2]
        dtype, ndims = call.dtype, (np.ndim(a), np.ndim(b))
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
                raise NoEquivalentError
            call.add("Einsum", inputs, equation=formula, N=2, T=dtype)

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


def _outer(call: GraphCall) -> None:
    if np.ndim(call.args[0]) != 1 or np.ndim(call.args[1]) != 1:
        raise NoEquivalentError
    _product(lambda a, b: "i,j->ij")(call)


def _tensordot(call: GraphCall) -> None:
    named = call.arguments("a b axes")
    a, b, axes = np.ndim(named["a"]), np.ndim(named["b"]), named.get("axes", 2)
    if isinstance(axes, int):
        pairs = [(a - axes + i, i) for i in range(axes)]
    else:
        sides = [[side] if isinstance(side, int | np.integer) else list(side) for side in axes]
        pairs = [(i % a, j % b) for i, j in zip(*sides, strict=True)]
    left, right = list(ascii_letters[:a]), list(ascii_letters[a : a + b])
    for i, j in pairs:
        right[j] = left[i]
    output = [c for i, c in enumerate(left) if i not in dict(pairs)] + [c for c in right if c not in left]
    dtype = call.dtype
    inputs = [call.input(named["a"], dtype), call.input(named["b"], dtype)]
    call.add("Einsum", inputs, equation=f"{''.join(left)},{''.join(right)}->{''.join(output)}", N=2, T=dtype)


def _einsum(call: GraphCall) -> None:
    equation, *operands = call.args
    if not isinstance(equation, str) or len(operands) > 2:  # noqa: PLR2004 - the most that TensorFlow takes
        raise NoEquivalentError
    equation = equation.replace(" ", "")
    if "->" not in equation:
        labels = equation.replace(",", "").replace("...", "")
        once = sorted(c for c in set(labels) if labels.count(c) == 1)
        equation += "->" + ("..." if "..." in equation else "") + "".join(once)
    dtype = call.dtype
    call.add("Einsum", [call.input(x, dtype) for x in operands], equation=equation, N=len(operands), T=dtype)


def _norm(call: GraphCall) -> None:
    named = call.arguments("x ord axis keepdims")
    x, axis, ord_ = named["x"], named.get("axis"), named.get("ord")
    vector = isinstance(axis, int) or (axis is None and np.ndim(x) == 1)
    if not (ord_ is None or (ord_ == "fro" and not vector) or (vector and ord_ == 2)):  # noqa: PLR2004
        raise NoEquivalentError
    axes = call.constant(axes_of(axis, np.ndim(x)), "reduction_indices")
    options = {"keep_dims": bool(named.get("keepdims", False)), "T": dtype_of(x), "Tidx": INT32}
    call.add("EuclideanNorm", [call.input(x), axes], **options)


def _solve(call: GraphCall) -> None:
    a, b = call.args
    if np.shape(a)[:-2] != np.shape(b)[:-2]:
        raise NoEquivalentError
    dtype = call.dtype
    left, right = call.input(a, dtype), call.input(b, dtype)
    if np.ndim(b) != 1:
        call.add("MatrixSolve", [left, right], T=dtype, adjoint=False)
        return
    column = np.empty((np.size(b), 1), dtype)
    right = call.add("Reshape", [right, call.constant(list(column.shape), "shape")], like=column, label="b", T=dtype)
    solved = call.add("MatrixSolve", [left, right], like=column, label="solved", T=dtype, adjoint=False)
    call.add("Reshape", [solved, call.constant([np.size(b)], "shape")], T=dtype)


def _matrix(op: str, **attributes: Any) -> Callable[[GraphCall], None]:
    def entry(call: GraphCall) -> None:
        if call.kwargs or len(call.args) > 1:
            raise NoEquivalentError
        call.add(op, [call.input(call.args[0])], T=dtype_of(call.args[0]), **attributes)

    return entry


LINEAR_ALGEBRA: dict[Any, Callable[[GraphCall], None]] = {
    np.matmul: _product(_matmul_equation),
    np.dot: _product(_dot_equation),
    np.inner: _product(_inner_equation),
    np.outer: _outer,
    np.tensordot: _tensordot,
    np.einsum: _einsum,
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
}
