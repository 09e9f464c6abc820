"""Thinning: long series reduced to a few points for drawing, without losing extremes.

The points are cut into stretches of equal length, in the given order, and each stretch keeps its smallest and largest
finite value: what a plot a few hundred pixels wide would show of it. Stretches are of points rather than steps, because
one odd step (1e12 after a bug) would put all others into one stretch.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

__all__ = ["STRETCHES", "Zoomable", "thin"]

STRETCHES = 1000  # two points each: about one a pixel on a wide screen, and still enough when zoomed in fourfold
_BLOCK = 512  # points: a stretch of very many is thinned by blocks of so many


def thin(value: NDArray[np.float64], stretches: int = STRETCHES) -> NDArray[np.intp]:
    """Choose points to draw: the first, the last, and of each stretch the smallest, the largest and non-finite ones.

    A series of at most `2 * stretches` points is kept whole. Of the non-finite points of a stretch, the first and the
    last stay: a single NaN among millions of points is never lost, and a run that is NaN to its end stays small.
    The time is linear: about 20 ms for two million points.

    Args:
        value: float64[n], in the order to be drawn.
        stretches: number of stretches, at least 1.

    Returns:
        intp[m], rising: indices of the points that stay; m is at most `4 * stretches + 2`.

    Raises:
        ValueError: `stretches` is less than 1.

    Example:
        >>> value = np.array([0, 1, 9, 1, 0, 1, np.nan, 1, 0, -9, 0, 1.0])
        >>> thin(value, stretches=2)
        array([ 0,  2,  6,  7,  9, 11])
    """
    if stretches < 1:
        raise ValueError(f"stretches must be at least 1, got {stretches}")
    count = len(value)
    if count <= 2 * stretches:
        return np.arange(count)
    width = -(-count // stretches)  # points per stretch; the last one may have fewer
    finite = np.isfinite(value)
    whole = bool(finite.all())
    if whole and stretches == 1:  # as where nothing is drawn; the same in a third of the time
        return np.array(sorted({0, int(value.argmin()), int(value.argmax()), count - 1}), np.intp)
    starts = np.arange(0, count, width)
    # A stretch without finite values yields its first point twice, which is kept as a non-finite one anyway.
    least = starts + _in_each(np.argmin, value if whole else np.where(finite, value, np.inf), width)
    largest = starts + _in_each(np.argmax, value if whole else np.where(finite, value, -np.inf), width)
    chosen = [least, largest, np.array([0, count - 1])]
    if not whole:
        odd = _rows(~finite, width, fill=False)
        some = odd.any(axis=1)
        first = starts + np.argmax(odd, axis=1)
        last = starts + width - 1 - np.argmax(odd[:, ::-1], axis=1)
        chosen += [first[some], last[some]]
    return _together(chosen)


def _together(indices: list[NDArray[np.intp]]) -> NDArray[np.intp]:
    """All of them, rising, each once; NumPy's `unique` takes many times as long."""
    ordered = np.sort(np.concatenate(indices))
    once: NDArray[np.intp] = ordered[np.append(True, ordered[1:] != ordered[:-1])]
    return once


class Zoomable:
    """A series of which parts are thinned again and again; of a long one, the extremes of blocks are kept for that.

    Args:
        value: float64[n], in the order to be drawn; it must not change.

    Example:
        >>> Zoomable(np.array([0, 1, 9, 1, 0, 1, np.nan, 1, 0, -9, 0, 1.0])).thin(0, 12, stretches=2)
        array([ 0,  2,  6,  7,  9, 11])
    """

    def __init__(self, value: NDArray[np.float64]) -> None:
        self._value = value

    @cached_property
    def _extremes(self) -> NDArray[np.intp]:
        """Of each block, what `thin` would keep of it."""
        return thin(self._value, -(-len(self._value) // _BLOCK))

    def thin(self, start: int, stop: int, stretches: int) -> NDArray[np.intp]:
        """What `thin` keeps of this part; of 100,000,000 points within 50 ms, but for the first time."""
        stop = min(stop, len(self._value))
        width = -(-max(stop - start, 0) // stretches)
        if width < 4 * _BLOCK:
            return start + thin(self._value[start:stop], stretches)
        block = -(-len(self._value) // -(-len(self._value) // _BLOCK))  # as `thin` cuts it
        first = np.append(np.arange(start, stop, width), stop) // block * block  # of blocks that lie in two stretches
        cut = (first[:, np.newaxis] + np.arange(block)).ravel()
        kept = self._extremes[np.searchsorted(self._extremes, start) : np.searchsorted(self._extremes, stop)]
        found = _together([kept, cut[(cut >= start) & (cut < stop)]])
        value, stretch = self._value[found], (found - start) // width
        finite = np.isfinite(value)
        chosen = [np.array([start, stop - 1])]
        for extreme, nothing in ((np.minimum, np.inf), (np.maximum, -np.inf)):
            filled = np.where(finite, value, nothing)
            its = extreme.reduceat(filled, np.searchsorted(stretch, np.arange(stretch[-1] + 1)))
            chosen.append(found[_first_of_each(stretch, (filled == its[stretch]) & finite)])
        odd = ~finite
        chosen += [found[_first_of_each(stretch, odd)], found[::-1][_first_of_each(stretch[::-1], odd[::-1])]]
        return _together(chosen)


def _first_of_each(group: NDArray[np.intp], chosen: NDArray[np.bool_]) -> NDArray[np.intp]:
    """The index of the first that is chosen in each group that has any; groups lie together."""
    at = np.flatnonzero(chosen)
    return at[np.append(True, group[at][1:] != group[at][:-1])] if len(at) else at


def _in_each(find: Callable[..., Any], values: NDArray[np.float64], width: int) -> NDArray[np.intp]:
    """What `np.argmin` or `np.argmax` finds in each stretch."""
    whole = len(values) // width
    rest = values[whole * width :]
    positions: NDArray[np.intp] = find(values[: whole * width].reshape(whole, width), axis=1)
    return np.append(positions, find(rest)) if len(rest) else positions


def _rows(values: NDArray[Any], width: int, fill: float) -> NDArray[Any]:
    """[rows, width]: a stretch in each row; the last one is padded with `fill`."""
    rows = -(-len(values) // width)
    padded = np.full(rows * width, fill, values.dtype)
    padded[: len(values)] = values
    return padded.reshape(rows, width)
