"""Curves: long series thinned for drawing, few points, and none of their extremes lost. Never used for judging.

Pure NumPy (no I/O). The points are cut into stretches of equal length, in the order that they come in, and each
stretch keeps its least and its largest finite value: what a plot a few hundred pixels wide would show of it. Stretches
of points rather than of steps, because one odd step (1e12 after a bug) would put all others into one stretch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["STRETCHES", "Curve", "averages", "means", "thin"]

STRETCHES = 1000  # two points each: about one a pixel on a wide screen, and still enough when zoomed in fourfold
_FEWEST_TO_AVERAGE = 20
_MOST_MEANS = 200


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """One tag's points, thinned for drawing: of each stretch of steps the least and the largest stay.

    Attributes:
        tag: the tag.
        role: what the tag was taken for, as "loss" or "global_norm"; "" where no pattern knows it.
        variable: the variable that it is about; "" where it is about all, or none.
        step: int64[n], not decreasing.
        wall_time: float64[n], seconds since the epoch.
        value: float64[n].
        points: how many points the tag has in all.
        averages: float64[m], m ≤ 16: the means of equal stretches of all points, for a sparkline; see `averages`.
    """

    tag: str
    role: str
    variable: str
    step: NDArray[np.int64]
    wall_time: NDArray[np.float64]
    value: NDArray[np.float64]
    points: int
    averages: NDArray[np.float64]


def thin(value: NDArray[np.float64], stretches: int = STRETCHES) -> NDArray[np.intp]:
    """Which points to draw: the first, the last, and of each stretch the least, the largest and what is not finite.

    A series of at most `2 * stretches` points is kept whole. Of a stretch's non-finite points the first and the last
    stay, so that a single NaN among millions of points is never lost, and a run that is NaN to its end stays small.
    The work is linear: about 20 ms for two million points.

    Args:
        value: float64[n], in the order to be drawn.
        stretches: into how many stretches to cut, at least 1.

    Returns:
        intp[m], rising: indices of the points that stay; m is at most `4 * stretches + 2`.

    Raises:
        ValueError: there is less than one stretch.

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
    width = -(-count // stretches)  # points a stretch, the last one's may be fewer
    finite = np.isfinite(value)
    starts = np.arange(0, count, width)
    # A stretch without finite values gives its first point twice, which is one of its non-finite ones anyway.
    least = starts + np.argmin(_rows(np.where(finite, value, np.inf), width, np.inf), axis=1)
    largest = starts + np.argmax(_rows(np.where(finite, value, -np.inf), width, -np.inf), axis=1)
    kept = [least, largest, np.array([0, count - 1])]
    if not finite.all():
        odd = _rows(~finite, width, fill=False)
        some = odd.any(axis=1)
        first = starts + np.argmax(odd, axis=1)
        last = starts + width - 1 - np.argmax(odd[:, ::-1], axis=1)
        kept += [first[some], last[some]]
    return np.unique(np.concatenate(kept))


def averages(value: NDArray[np.float64], stretches: int = 16) -> NDArray[np.float64]:
    """The mean of the finite values in each of up to `stretches` equal stretches.

    Args:
        value: float64[n], all points of a series; of a thinned one only extremes are left, whose means say little.
        stretches: into how many stretches to cut, at least 1.

    Returns:
        float64[min(n, stretches)]; NaN where a stretch has no finite value.

    Example:
        >>> averages(np.array([1.0, 3.0, np.inf, 5.0, np.nan, np.nan]), 3)
        array([ 2.,  5., nan])
    """
    count = len(value)
    stretches = min(stretches, count)
    if stretches == 0:
        return np.empty(0)
    starts = np.arange(stretches) * count // stretches
    finite = np.isfinite(value)
    number = np.add.reduceat(finite, starts, dtype=np.intp)
    longest = -(-count // stretches)
    with np.errstate(over="ignore"):
        parts = np.add.reduceat(np.where(finite, value, 0.0) / longest, starts)  # divided first: no sum overflows
        return np.asarray(np.divide(parts, number / longest, out=np.full(stretches, np.nan), where=number > 0))


def means(value: NDArray[np.float64]) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """A series of zeros and ones, as whether a step was clipped, as the share of ones in each stretch.

    Its extremes say nothing: they are 0 and 1 everywhere.

    Args:
        value: float64[n], in the order to be drawn.

    Returns:
        last: intp[m], the index of the last point of each stretch; m is at most 200, and no stretch has under 20 points
            but the last one.
        share: float64[m], the mean of each stretch; NaN where a value in it is.

    Example:
        >>> last, share = means(np.repeat([1.0, 0.0, 0.5], 20))
        >>> last, share
        (array([19, 39, 59]), array([1. , 0. , 0.5]))
    """
    count = len(value)
    if count == 0:
        return np.empty(0, np.intp), np.empty(0)
    width = max(_FEWEST_TO_AVERAGE, -(-count // _MOST_MEANS))
    starts = np.arange(0, count, width)
    last = np.minimum(starts + width, count) - 1
    with np.errstate(invalid="ignore"):
        return last, np.add.reduceat(value, starts) / (last - starts + 1)


def _rows(values: NDArray[Any], width: int, fill: float) -> NDArray[Any]:
    """[rows, width], a stretch a row; `fill` where the last stretch has no points."""
    rows = -(-len(values) // width)
    padded = np.full(rows * width, fill, values.dtype)
    padded[: len(values)] = values
    return padded.reshape(rows, width)
