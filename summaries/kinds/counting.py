"""Counting an array of any number dtype into TensorFlow's bins, piece by piece. Pure (no I/O).

A piece is contiguous, float32 or float64, and stays in cache: where the array is neither, its elements are converted
and gathered piece by piece. Pieces are whole blocks of `sums`, so that nothing depends on their size.
"""

from __future__ import annotations

import math
from functools import cache, partial, reduce
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from summaries.execution.sharing import share
from summaries.kinds.sums import BLOCK, add_up, sums_of_blocks
from summaries.kinds.tally import tally
from summaries.kinds.tensorflow_bins import BINS, OUTERMOST, bin_of, in_order, places
from summaries.native import library

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    # (values, sums to fill) → int64[BINS], the smallest value, the largest.
    _Counter = Callable[[NDArray[Any], NDArray[np.float64]], tuple[NDArray[np.int64], float, float]]

__all__ = ["BinCounts", "count"]

_PIECE = 1 << 17  # elements
_SHARED = 3 << 18  # elements: with two processors, two threads take 0.6 of the time at a million; NumPy gains nothing


class BinCounts(NamedTuple):
    """What was counted; NaN is not.

    Attributes:
        counts: [edges + 1], how many values have so many edges at or below them; infinities among the outermost finite
            values, as in all that follows.
        number: of values.
        total: their sum, as `sums` defines it.
        squares: the sum of their squares, likewise.
        lowest: the smallest value.
        highest: the largest value.
        all_finite: whether there was neither NaN nor infinity.
    """

    counts: NDArray[np.int64]
    number: int
    total: float
    squares: float
    lowest: float
    highest: float
    all_finite: bool


class _Piece(NamedTuple):
    """What was counted of one piece or several: finite values, in the order of bits; and the number of infinities."""

    counts: NDArray[np.int64]
    number: int
    lowest: float
    highest: float
    below: int
    above: int


def count(array: NDArray[Any]) -> BinCounts:
    """Count an array of real numbers, of any shape and layout, that is not empty."""
    flat = array.reshape(-1, order="A")
    sums = np.zeros((-(-flat.size // BLOCK) + 2, 2))
    counter = tally if library.is_available() else _plain
    work = partial(_counted, flat, sums, _counted_in(array.dtype), counter)
    starts = range(0, flat.size, _PIECE)
    is_shared = counter is tally and flat.size >= _SHARED
    parts: Iterable[_Piece] = share(work, starts) if is_shared else map(work, starts)
    return _finished(reduce(_joined, parts), sums, flat.size)


@cache
def _counted_in(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype to count in: float32 if it holds every value of the array's own."""
    return np.dtype(np.float32 if np.can_cast(dtype, np.float32) else np.float64)


def _counted(
    flat: NDArray[Any], sums: NDArray[np.float64], dtype: np.dtype[Any], counter: _Counter, start: int
) -> _Piece:
    """What is counted of the piece that begins there; the sums of its blocks are written to `sums`."""
    piece = flat[start : start + _PIECE]
    if piece.dtype != dtype or not (piece.flags.c_contiguous and piece.flags.aligned):
        with np.errstate(over="ignore", invalid="ignore"):
            piece = np.require(piece, dtype, ["C", "A"])
    out = sums[start // BLOCK :]
    counts, lowest, highest = counter(piece, out)
    if math.isfinite(lowest) and math.isfinite(highest):
        return _Piece(counts, len(piece), lowest, highest, 0, 0)
    odd = np.flatnonzero(~np.isfinite(piece))
    below, above = (int(np.count_nonzero(piece[odd] == bound)) for bound in (-np.inf, np.inf))
    finite = piece.copy()
    finite[odd] = 0
    counts, _, _ = counter(finite, out)
    counts[0] -= len(odd)  # 0 is in the first bin
    finite[odd] = np.nan  # which these leave out
    lowest, highest = float(np.fmin.reduce(finite, initial=np.inf)), float(np.fmax.reduce(finite, initial=-np.inf))
    return _Piece(counts, len(piece) - len(odd), lowest, highest, below, above)


def _plain(values: NDArray[Any], sums: NDArray[np.float64]) -> tuple[NDArray[np.int64], float, float]:
    """The same as `tally`, with NumPy."""
    lowest, highest = float(values.min()), float(values.max())
    if not (math.isfinite(lowest) and math.isfinite(highest)):
        return np.empty(0, np.int64), math.nan, math.nan
    steps, shift = places(values.dtype)
    bits = values.view(f"u{values.itemsize}")
    at = steps.take((bits >> shift).astype(np.intp))
    at += bits.astype(np.int64)
    at >>= shift
    sums_here = sums_of_blocks(values)
    sums[: len(sums_here)] = sums_here
    return np.bincount(at, minlength=BINS), lowest, highest


def _joined(a: _Piece, b: _Piece) -> _Piece:
    lowest, highest = min(a.lowest, b.lowest), max(a.highest, b.highest)
    return _Piece(a.counts + b.counts, a.number + b.number, lowest, highest, a.below + b.below, a.above + b.above)


def _finished(piece: _Piece, sums: NDArray[np.float64], size: int) -> BinCounts:
    """The counts of an array of so many elements, NaN included; `sums` has two rows left, for infinities."""
    counts, number, lowest, highest, below, above = piece
    counts, lowest, highest = in_order(counts), lowest + 0.0, highest + 0.0  # not -0.0
    if number < size:
        bounds = (lowest, highest) if number else (-OUTERMOST, OUTERMOST)
        for row, bound, times in zip((-2, -1), bounds, (below, above), strict=True):
            if times:
                counts[bin_of(bound)] += times
                sums[row] = times * bound, times * bound * bound
                lowest, highest = min(lowest, bound), max(highest, bound)
    total, squares = map(add_up, sums.T.tolist())
    return BinCounts(counts, number + below + above, total, squares, lowest, highest, all_finite=number == size)
