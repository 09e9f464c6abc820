"""Counting an array of floats into TensorFlow's bins, compiled: one look at each block. Pure (no I/O)."""

from __future__ import annotations

from threading import local
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from summaries.kinds.tensorflow_bins import BINS, places
from summaries.native.calls import Array, Call, address
from summaries.native.library import function

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["ARGUMENTS", "tally"]

_ROWS = 4  # of counters: equal values follow each other, and each increment would wait for the one before


def _types(dtype: str) -> tuple[Any, ...]:
    """The types of the arguments for floats of a dtype: see `compiled.tally`."""
    return Array(dtype), Array(np.int64), Array(np.int64), Array(np.uint32, 2), Array(dtype), Array(np.float64)


ARGUMENTS = {f"tally_{dtype}": _types(dtype) for dtype in ("float32", "float64")}
"""The types of the arguments of each compiled function."""


def tally(values: NDArray[Any]) -> tuple[NDArray[np.int64], float, float, float, float]:
    """Count values, and sum them up.

    Args:
        values: float32[n] or float64[n], contiguous, all finite; n is at least 1 and at most 2**32.

    Returns:
        int64[BINS], how many values are in each bin; their sum; the sum of their squares, which is not finite if a
        value is not, and then nothing else is of use; the smallest value; the largest.
    """
    dtype = values.dtype
    # It is taken away meanwhile: a signal's handler that counts, too, in the midst of this, prepares its own.
    prepared: _Prepared = _threads.__dict__.pop(dtype.char, None) or _prepared(dtype)
    words = prepared.call.words
    counts = np.empty(BINS, np.int64)
    words[0], words[1], words[2] = address(values), len(values), address(counts)
    prepared.call()
    total, squares = prepared.sums.tolist()
    several = prepared.extremes.tolist()
    setattr(_threads, dtype.char, prepared)
    return counts, total, squares, min(several), max(several)


class _Prepared(NamedTuple):
    """A call with all its arguments but the values and the counts, for one thread."""

    call: Call
    extremes: NDArray[Any]
    sums: NDArray[np.float64]


_threads = local()


def _prepared(dtype: np.dtype[Any]) -> _Prepared:
    steps = places(dtype).steps
    rows, extremes, sums = np.empty((_ROWS, BINS), np.uint32), np.empty(3, dtype), np.empty(2)
    values, counts = np.empty(0, dtype), np.empty(BINS, np.int64)
    return _Prepared(
        Call(function(f"tally_{dtype.name}"), (values, counts, steps, rows, extremes, sums)), extremes, sums
    )
