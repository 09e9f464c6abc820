"""Derivatives of matrix products and linear algebra that autograd lacks, or has for some arguments only.

References: Giles 2008, "An extended collection of matrix derivative results for forward and reverse mode algorithmic
differentiation", https://people.maths.ox.ac.uk/gilesm/files/NA-08-01.pdf
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from optim.autodiff.broadcasting import expanded, quotient, unbroadcast
from optim.recording.nodes import UnknownGradientError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Gradient = Any

__all__ = ["LINEAR"]


def _norm(ans: Any, x: Any, ord: Any = None, axis: Any = None, keepdims: Any = False) -> Any:  # noqa: A002 - NumPy's
    axis = tuple(axis) if isinstance(axis, list) else axis
    matrix = isinstance(axis, tuple) and len(axis) > 1 if axis is not None else np.ndim(x) > 1 and ord is not None
    shape = np.shape(x)
    if matrix and ord not in (None, "fro"):
        return _matrix_norm(x, ord, axis, keepdims)

    def vjp(g: Gradient) -> Gradient:
        g, norm = expanded(g, shape, axis, keepdims), expanded(ans, shape, axis, keepdims)
        if ord in (None, "fro", 2):
            return g * quotient(x, norm)  # 0 at 0, where the norm has a kink
        size = np.abs(x)
        if ord in (np.inf, -np.inf):
            chosen = np.equal(size, norm)
            return g * np.sign(x) * chosen / np.sum(chosen, axis=axis, keepdims=True)
        if ord == 0:
            return 0 * (g * x)
        return g * np.sign(x) * quotient(size, norm) ** (ord - 1)

    return vjp


def _matrix_norm(x: Any, ord: Any, axis: Any, keepdims: Any) -> Any:  # noqa: A002 - NumPy's
    axes = (0, 1) if axis is None else axis

    def vjp(g: Gradient) -> Gradient:
        moved = np.moveaxis(x, axes, (-2, -1))
        g = np.moveaxis(expanded(g, np.shape(x), axes, keepdims), axes, (-2, -1))
        if ord in ("nuc", 2, -2):
            u, s, vh = np.linalg.svd(moved, full_matrices=False)
            weights = np.ones_like(s) if ord == "nuc" else np.equal(s, np.max(s, -1, keepdims=True))
            if ord == -2:  # noqa: PLR2004 - the smallest singular value
                weights = np.equal(s, np.min(s, -1, keepdims=True))
            inner = (u * weights[..., None, :]) @ vh
        elif ord in (1, -1, np.inf, -np.inf):
            along = -2 if abs(ord) == 1 else -1
            sums = np.sum(np.abs(moved), axis=along, keepdims=True)
            pick = np.max if ord > 0 else np.min
            chosen = np.equal(sums, pick(sums, axis=(-2, -1), keepdims=True))
            inner = np.sign(moved) * chosen / np.sum(chosen, axis=(-2, -1), keepdims=True)
        else:
            raise UnknownGradientError(f"with ord={ord!r}")
        return np.moveaxis(g * inner, (-2, -1), axes)

    return vjp


def _matmul_left(ans: Any, a: Any, b: Any) -> Any:
    def vjp(g: Gradient) -> Gradient:
        if np.ndim(a) == np.ndim(b) == 2:  # noqa: PLR2004 - two matrices: nearly always so
            return g @ b.T
        if np.ndim(b) == 1:
            return unbroadcast(np.expand_dims(g, -1) * b, a)
        return unbroadcast(np.matmul(np.expand_dims(g, -2) if np.ndim(a) == 1 else g, np.swapaxes(b, -1, -2)), a)

    return vjp


def _matmul_right(ans: Any, a: Any, b: Any) -> Any:
    def vjp(g: Gradient) -> Gradient:
        if np.ndim(a) == np.ndim(b) == 2:  # noqa: PLR2004
            return a.T @ g
        if np.ndim(a) == 1:
            rows = np.expand_dims(a, -1)
            return unbroadcast(rows * np.expand_dims(g, -2) if np.ndim(b) > 1 else a * g, b)
        if np.ndim(b) == 1:
            return unbroadcast(np.sum(a * np.expand_dims(g, -1), axis=tuple(range(np.ndim(a) - 1))), b)
        return unbroadcast(np.matmul(np.swapaxes(a, -1, -2), g), b)

    return vjp


def _singular_values(
    ans: Any, a: Any, full_matrices: Any = True, compute_uv: Any = True, hermitian: Any = False
) -> Any:
    """autograd's, extended to the default full_matrices=True as long as only the singular values are used."""
    from autograd.numpy.linalg import grad_svd  # noqa: PLC0415 - as in _table

    def vjp(g: Gradient) -> Gradient:
        if not compute_uv:
            return grad_svd(ans, a, full_matrices=False, compute_uv=False)(g)
        if full_matrices and np.shape(a)[-1] != np.shape(a)[-2]:
            if np.any(g[0]) or np.any(g[2]):
                raise UnknownGradientError("of singular vectors with full_matrices=True; give full_matrices=False")
            return grad_svd(ans[1], a, full_matrices=False, compute_uv=False)(g[1])
        return grad_svd(ans, a, full_matrices=False)(g)

    return vjp


def _slogdet(ans: Any, a: Any) -> Any:
    return lambda g: np.reshape(g[1], (*np.shape(g[1]), 1, 1)) * np.swapaxes(np.linalg.inv(a), -1, -2)


def _det(ans: Any, a: Any) -> Any:
    def vjp(g: Gradient) -> Gradient:
        # By singular values, since singular matrices have a gradient too: for each value, the product of the others.
        u, s, vh = np.linalg.svd(a)
        sign = np.linalg.det(u) * np.linalg.det(vh)
        columns = np.arange(s.shape[-1])
        others = np.stack([np.prod(s[..., columns != i], axis=-1) for i in columns], axis=-1)
        return (g * sign)[..., None, None] * ((u * others[..., None, :]) @ vh)

    return vjp


def _eigvalsh(ans: Any, a: Any, UPLO: str = "L") -> Any:  # noqa: N803 - NumPy's
    from autograd.numpy.linalg import grad_eigh  # noqa: PLC0415 - as in _table

    values, vectors = np.linalg.eigh(a, UPLO)  # type: ignore[call-overload]
    return lambda g: grad_eigh((values, vectors), a, UPLO)((g, np.zeros_like(vectors)))


def _solve(position: int) -> Callable[..., Any]:
    def maker(ans: Any, a: Any, b: Any) -> Any:
        def vjp(g: Gradient) -> Gradient:
            vector = np.ndim(b) == 1
            back = np.linalg.solve(np.swapaxes(a, -1, -2), g[..., None] if vector else g)
            if position == 1:
                return unbroadcast(back[..., 0] if vector else back, b)
            return unbroadcast(-back @ np.swapaxes(ans[..., None] if vector else ans, -1, -2), a)

        return vjp

    return maker


# Makers, one for each argument; see `derivatives`.
LINEAR: dict[Any, Sequence[Callable[..., Any] | None]] = {
    np.matmul: (_matmul_left, _matmul_right),
    np.outer: (
        lambda ans, a, b, out=None: lambda g: np.reshape(g @ np.ravel(b), np.shape(a)),
        lambda ans, a, b, out=None: lambda g: np.reshape(np.ravel(a) @ g, np.shape(b)),
    ),
    np.linalg.norm: (_norm,),
    np.linalg.svd: (_singular_values,),
    np.linalg.slogdet: (_slogdet,),
    np.linalg.det: (_det,),
    np.linalg.eigvalsh: (_eigvalsh,),
    np.linalg.solve: (_solve(0), _solve(1)),
}
