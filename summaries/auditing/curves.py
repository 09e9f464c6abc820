"""Curves: long series thinned to a few points for drawing, without losing extremes. Rules never use them.

The points are cut into stretches of equal length, in the given order, and each stretch keeps its smallest and largest
finite value: what a plot a few hundred pixels wide would show of it. Stretches are of points rather than steps, because
one odd step (1e12 after a bug) would put all others into one stretch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

__all__ = ["STRETCHES", "Curve", "averages", "means", "thin"]

STRETCHES = 1000  # two points each: about one a pixel on a wide screen, and still enough when zoomed in fourfold
_FEWEST_TO_AVERAGE = 20
_MOST_MEANS = 200


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """The points of a tag, thinned for drawing: of each stretch, the smallest and the largest stay.

    Attributes:
        tag: the tag.
        role: what the tag means, for example "loss" or "global_norm"; "" if it is unknown.
        variable: the variable that it is about; "" if it is about all of them, or none.
        step: int64[n], not decreasing.
        wall_time: float64[n], seconds since the epoch.
        value: float64[n].
        points: number of points of the tag before thinning.
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
    starts = np.arange(0, count, width)
    # A stretch without finite values yields its first point twice, which is kept as a non-finite one anyway.
    least = starts + _in_each(np.argmin, value if whole else np.where(finite, value, np.inf), width)
    largest = starts + _in_each(np.argmax, value if whole else np.where(finite, value, -np.inf), width)
    kept = [least, largest, np.array([0, count - 1])]
    if not whole:
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
    bounds = np.arange(stretches + 1) * count // stretches
    starts = bounds[:-1]
    with np.errstate(over="ignore", invalid="ignore"):
        sums = np.add.reduceat(value, starts)
        if np.isfinite(sums).all():
            return np.asarray(sums / (bounds[1:] - starts))
        finite = np.isfinite(value)
        number = np.add.reduceat(finite, starts, dtype=np.intp)
        longest = -(-count // stretches)
        parts = np.add.reduceat(np.where(finite, value, 0.0) / longest, starts)  # divided first: no sum overflows
        return np.asarray(np.divide(parts, number / longest, out=np.full(stretches, np.nan), where=number > 0))


def means(value: NDArray[np.float64]) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Thin a series of zeros and ones, such as whether a step was clipped, to the share of ones in each stretch.

    The extremes of such a series say nothing: they are 0 and 1 everywhere.

    Args:
        value: float64[n], in the order to be drawn.

    Returns:
        last: intp[m], the index of the last point of each stretch; m is at most 200, and every stretch except the last
            has at least 20 points.
        share: float64[m], the mean of each stretch; NaN if it contains a NaN.

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


def _in_each(find: Callable[..., Any], values: NDArray[np.float64], width: int) -> NDArray[np.intp]:
    """What `np.argmin` or `np.argmax` finds in each stretch."""
    whole = len(values) // width
    rest = values[whole * width :]
    found: NDArray[np.intp] = find(values[: whole * width].reshape(whole, width), axis=1)
    return np.append(found, find(rest)) if len(rest) else found


def _rows(values: NDArray[Any], width: int, fill: float) -> NDArray[Any]:
    """[rows, width]: a stretch in each row; the last one is padded with `fill`."""
    rows = -(-len(values) // width)
    padded = np.full(rows * width, fill, values.dtype)
    padded[: len(values)] = values
    return padded.reshape(rows, width)
