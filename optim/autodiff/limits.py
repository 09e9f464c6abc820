"""Arguments that a derivative does not cover: its entry would be wrong for them, so an error is raised instead."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["LIMITS"]

_MOVING_MODES = ("constant", "edge", "reflect", "symmetric", "wrap", "empty")
_MOST_KRON_AXES = 2


def _pad(array: Any, pad_width: Any, mode: Any = "constant", **options: Any) -> str:
    if mode not in _MOVING_MODES:
        return f"with mode={mode!r}"
    return "with reflect_type='odd'" if options.get("reflect_type", "even") != "even" else ""


def _kron(a: Any, b: Any) -> str:
    return "of arrays of more than two axes" if max(np.ndim(a), np.ndim(b)) > _MOST_KRON_AXES else ""


def _fft_of_reals(a: Any, n: Any = None, axis: Any = -1, norm: Any = None, out: Any = None) -> str:
    if norm not in (None, "backward", "ortho"):
        return f"with norm={norm!r}"
    return "with a length n other than the array's" if n is not None and n != np.shape(a)[axis] else ""


def _ifft_to_reals(a: Any, n: Any = None, axis: Any = -1, norm: Any = None, out: Any = None) -> str:
    if norm not in (None, "backward", "ortho"):
        return f"with norm={norm!r}"
    return "with a length n other than 2 (m - 1)" if n is not None and n != 2 * (np.shape(a)[axis] - 1) else ""


def _fftn_of_reals(a: Any, s: Any = None, axes: Any = None, norm: Any = None, out: Any = None) -> str:
    if norm not in (None, "backward", "ortho"):
        return f"with norm={norm!r}"
    return "with a shape s other than the array's" if s is not None else ""


def _real(a: Any, *args: Any, **kwargs: Any) -> str:
    return "of complex numbers" if np.iscomplexobj(a) else ""


LIMITS: dict[Any, Callable[..., str]] = {
    np.pad: _pad,
    np.kron: _kron,
    np.fft.rfft: _fft_of_reals,
    np.fft.irfft: _ifft_to_reals,
    **dict.fromkeys((np.fft.rfft2, np.fft.irfft2, np.fft.rfftn, np.fft.irfftn), _fftn_of_reals),
    **dict.fromkeys((np.var, np.std, np.linalg.norm, np.linalg.det, np.linalg.pinv, np.linalg.cholesky), _real),
}
"""Function → limit(*args, **kwargs): why these arguments have no derivative; "" if they have one."""
