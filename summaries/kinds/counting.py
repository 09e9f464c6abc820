"""Counting an array of any number dtype into TensorFlow's bins, piece by piece; compiled where that pays off.

A piece is contiguous, float32 or float64, and stays in cache: where the array is neither, its elements are converted
and gathered piece by piece.
"""

from __future__ import annotations

import math
from functools import partial, reduce
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from summaries.execution.sharing import share
from summaries.kinds.tally import tally
from summaries.kinds.tensorflow_bins import BINS, OUTERMOST, bin_of, in_order, places
from summaries.native.library import is_available

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    # int64[BINS], the sum, the sum of squares, the smallest value, the largest.
    _Counter = Callable[[NDArray[Any]], tuple[NDArray[np.int64], float, float, float, float]]

__all__ = ["Tally", "count", "is_fast"]

_PLAIN_PIECE = 1 << 13  # elements: they stay in cache, and BLAS starts no threads for so few
_GATHERED_PIECE = 1 << 16  # elements: converted or gathered at once
_COUNTED_AGAIN = 1 << 16  # elements, if one of them is not finite
_SHARED = 3 << 18  # elements: two threads gain a fifth from here on, and nothing at half a million
_SHARED_PIECE = 1 << 17
_LARGE = 1 << 17  # elements: only for such arrays is the compiled counter loaded,
_SEVERAL = 1 << 22  # and is loaded after this many in such arrays: NumPy took about as long to count them,
_MANY = 1 << 27  # or compiled after this many
_large_elements = 0


class Tally(NamedTuple):
    """What was counted; NaN is not.

    Attributes:
        counts: [edges + 1], how many values have so many edges at or below them; infinities among the outermost finite
            values, as in all that follows.
        number: of values.
        total: their sum.
        squares: the sum of their squares.
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


class _Part(NamedTuple):
    """The tally of one piece or several: of finite values, in the order of bits; and the number of infinities."""

    counts: NDArray[np.int64]
    number: int
    total: float
    squares: float
    lowest: float
    highest: float
    below: int
    above: int


def is_fast(array: NDArray[Any]) -> bool:
    """Whether counting these numbers takes about as long as copying them and looking for NaN."""
    return array.dtype.kind == "f" and is_available()


def count(array: NDArray[Any]) -> Tally:
    """Count an array of real numbers, of any shape and layout, that is not empty."""
    dtype = _dtype_of(array)
    counter = _counter(array.size)
    work = partial(_counted, counter)
    parts: Iterable[_Part]
    if array.dtype != dtype or not (array.flags.forc and array.flags.aligned):
        parts = map(work, _gathered(array, dtype))
    elif counter is _plain:
        parts = map(work, _cut(array, _PLAIN_PIECE))
    elif array.size < _SHARED:
        parts = map(work, _cut(array, _SHARED))
    else:
        parts = share(work, _cut(array, _SHARED_PIECE))
    return _finished(reduce(_joined, parts), array.size)


def _dtype_of(array: NDArray[Any]) -> np.dtype[Any]:
    """The dtype to count in: float32 if it holds every value of the array's own."""
    return np.dtype(np.float32 if np.can_cast(array.dtype, np.float32) else np.float64)


def _counter(elements: int) -> _Counter:
    """The counter for an array of so many elements."""
    return tally if is_available() else _plain


def _cut(array: NDArray[Any], most: int) -> list[NDArray[Any]]:
    """The elements of an array without gaps, so many at once."""
    flat = array.reshape(-1, order="A")
    return [flat[start : start + most] for start in range(0, len(flat), most)]


def _gathered(array: NDArray[Any], dtype: np.dtype[Any]) -> Iterator[NDArray[Any]]:
    """The elements of any array, converted; a piece shares the next one's memory."""
    pieces = np.nditer(
        array,
        ["external_loop", "buffered"],
        ["readonly", "aligned"],
        op_dtypes=dtype,
        casting="same_kind",
        buffersize=_GATHERED_PIECE,
    )
    return map(np.ascontiguousarray, pieces)


def _counted(counter: _Counter, piece: NDArray[Any]) -> _Part:
    counts, total, squares, lowest, highest = counter(piece)
    if math.isfinite(squares):
        return _Part(counts, len(piece), total, squares, lowest, highest, 0, 0)
    if len(piece) > _COUNTED_AGAIN:
        return reduce(_joined, map(partial(_counted, counter), _cut(piece, _COUNTED_AGAIN)))
    below, above = (int(np.count_nonzero(piece == bound)) for bound in (-np.inf, np.inf))
    finite = piece[np.isfinite(piece)]
    if not len(finite):
        return _Part(np.zeros(BINS, np.int64), 0, 0.0, 0.0, math.inf, -math.inf, below, above)
    counts, total, squares, lowest, highest = counter(finite)
    return _Part(counts, len(finite), total, squares, lowest, highest, below, above)


def _plain(values: NDArray[Any]) -> tuple[NDArray[np.int64], float, float, float, float]:
    """The same as `tally`, with NumPy."""
    steps, shift = places(values.dtype)
    bits = values.view(f"u{values.itemsize}")
    at = steps.take((bits >> shift).astype(np.intp))
    at += bits.astype(np.int64)
    at >>= shift
    with np.errstate(over="ignore", invalid="ignore"):
        wide = values.astype(np.float64)
        total, squares = float(wide.sum()), float(np.dot(wide, wide))
    return np.bincount(at, minlength=BINS), total, squares, float(values.min()), float(values.max())


def _joined(one: _Part, two: _Part) -> _Part:
    return _Part(
        one.counts + two.counts,
        one.number + two.number,
        one.total + two.total,
        one.squares + two.squares,
        min(one.lowest, two.lowest),
        max(one.highest, two.highest),
        one.below + two.below,
        one.above + two.above,
    )


def _finished(part: _Part, size: int) -> Tally:
    """The tally of an array of so many elements, NaN included."""
    counts, number, total, squares, lowest, highest, below, above = part
    counts, lowest, highest = in_order(counts), lowest + 0.0, highest + 0.0  # not -0.0
    if number == size:
        return Tally(counts, number, total, squares, lowest, highest, all_finite=True)
    bounds = (lowest, highest) if number else (-OUTERMOST, OUTERMOST)
    for bound, times in zip(bounds, (below, above), strict=True):
        if times:
            counts[bin_of(bound)] += times
            total, squares = total + times * bound, squares + times * bound * bound
            lowest, highest = min(lowest, bound), max(highest, bound)
    return Tally(counts, number + below + above, total, squares, lowest, highest, all_finite=False)
