"""Norms and other statistics of arrays, in one pass."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from optim.kernels import compiled, plain
from optim.kernels.engine import Arrays, engine, is_ready
from optim.kernels.stats import ARRAY_WIDTH

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from optim.kernels.engine import Engine

__all__ = ["count_nonfinite", "measure", "norm", "norm_from_squares", "root_of_sum", "sums_of_squares"]

_SAFE_MIN = 1e-280  # below this, float64 squares may have underflowed

count_nonfinite: Callable[[Sequence[NDArray[Any]]], int] = plain.count_nonfinite


def norm(arrays: Sequence[NDArray[Any]]) -> float:
    """The L2 norm of all elements of all arrays together.

    Large and tiny elements are handled: the norm is infinite, or 0, only if the true norm does not fit in a float64. It
    is NaN if an element is NaN.
    """
    return norm_from_squares(sums_of_squares(arrays).tolist(), arrays)


def norm_from_squares(squares: Sequence[float], arrays: Sequence[NDArray[Any]]) -> float:
    """The norm of arrays from their sums of squares; measured again if squares overflowed or underflowed float64."""
    root = root_of_sum(squares)
    return plain.scaled_norm(arrays) if root is None else root


def root_of_sum(squares: Sequence[float]) -> float | None:
    """The root of the sum of these squares; None if some may have overflowed or underflowed float64."""
    try:
        sum_of_squares = math.fsum(squares)  # rounded once, so that the order of the arrays does not matter
    except OverflowError:
        sum_of_squares = math.inf
    if _SAFE_MIN < sum_of_squares < math.inf or math.isnan(sum_of_squares):
        return math.sqrt(sum_of_squares)
    return None


def sums_of_squares(arrays: Sequence[NDArray[Any]]) -> NDArray[np.float64]:
    """float64[arrays]: the sum of the squares of each array's elements."""
    memory = Arrays.of(arrays).memory
    if memory is not None:
        return compiled.ENGINE.squares_at(memory)
    squares = np.empty(len(arrays))
    for server, chosen in _servers(arrays):
        squares[chosen] = server.squares([arrays[i] for i in chosen])
    return squares


def measure(arrays: Sequence[NDArray[Any]], *, are_gradients: bool = False) -> NDArray[np.float64]:
    """Measure arrays, reading each once.

    Args:
        arrays: of any shapes, floating dtypes.
        are_gradients: whether SUM and LARGEST are not asked for, which takes less time; they may have any value.

    Returns:
        float64[arrays, ARRAY_WIDTH], an array's columns of `stats`.
    """
    memory = Arrays.of(arrays).memory
    if memory is not None:
        return compiled.ENGINE.measure_gradients_at(memory) if are_gradients else compiled.ENGINE.measure_at(memory)
    measured = np.empty((len(arrays), ARRAY_WIDTH))
    for server, chosen in _servers(arrays):
        measured[chosen] = server.measure([arrays[i] for i in chosen])
    return measured


def _servers(arrays: Sequence[NDArray[Any]]) -> list[tuple[Engine, list[int]]]:
    """The engine for each of the arrays: pairs of an engine and the indices of its arrays."""
    served = engine()
    if served is plain.ENGINE:  # it handles any arrays
        return [(served, list(range(len(arrays))))]
    by_dtype: dict[np.dtype[Any] | None, list[int]] = {}
    for i, array in enumerate(arrays):
        by_dtype.setdefault(array.dtype if is_ready(array) else None, []).append(i)
    return [(plain.ENGINE if dtype is None else served, chosen) for dtype, chosen in by_dtype.items()]
