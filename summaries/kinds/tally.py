"""Counting an array of floats into TensorFlow's bins, compiled: one look at each block. Pure (no I/O)."""

from __future__ import annotations

import math
from threading import local
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from summaries.kinds.tensorflow_bins import BINS, places
from summaries.native import library
from summaries.native.calls import Array, Call, address

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["ARGUMENTS", "tally"]

_ROWS = 4  # of counters: equal values follow each other, and each increment would wait for the one before


def _arguments(dtype: str) -> tuple[Any, ...]:
    """The types of the arguments for floats of a dtype: see `compiled.tally`."""
    return Array(dtype), Array(np.int64), Array(np.float64, 2), Array(np.int64), Array(np.uint32, 2), Array(dtype)


ARGUMENTS = {f"tally_{dtype}": _arguments(dtype) for dtype in ("float32", "float64")}


def tally(values: NDArray[Any], sums: NDArray[np.float64]) -> tuple[NDArray[np.int64], float, float]:
    """Count values, and sum them up.

    Args:
        values: float32[n] or float64[n], contiguous and aligned; n is at least 1 and at most 2**32.
        sums: float64[blocks, 2], contiguous, filled with what `sums_of_blocks` returns.

    Returns:
        int64[BINS], how many values are in each bin; the smallest value; the largest. If a value is not finite, or the
        sum of a block, these two are NaN, and the rest is of no use.
    """
    dtype = values.dtype
    # It is taken away meanwhile: a signal's handler that counts, too, in the midst of this, prepares its own.
    prepared: _Prepared = _threads.__dict__.pop(dtype.char, None) or _prepared(dtype)
    words = prepared.call.words
    counts = np.empty(BINS, np.int64)
    words[0], words[1], words[2], words[4] = address(values), len(values), address(counts), address(sums)
    prepared.call()
    least, greatest, odd = prepared.extremes.tolist()
    setattr(_threads, dtype.char, prepared)
    return (counts, math.nan, math.nan) if math.isnan(odd) else (counts, least, greatest)


class _Prepared(NamedTuple):
    """A call with all its arguments but the values, the counts and the sums, for one thread."""

    call: Call
    extremes: NDArray[Any]


_threads = local()


def _prepared(dtype: np.dtype[Any]) -> _Prepared:
    steps = places(dtype).steps
    rows, extremes = np.empty((_ROWS, BINS), np.uint32), np.empty(3, dtype)
    values, counts, sums = np.empty(0, dtype), np.empty(BINS, np.int64), np.empty((0, 2))
    call = Call(library.function(f"tally_{dtype.name}"), (values, counts, sums, steps, rows, extremes))
    return _Prepared(call, extremes)
