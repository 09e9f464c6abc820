"""Curves: the points of a tag, thinned for drawing (`presenting.thinning`), and means of them. Rules never use them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from summaries.presenting.thinning import thin
from summaries.words import counted, quoted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from summaries.reading.series import Series

__all__ = ["Curve", "are_flags", "averages", "curve_of", "means"]

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

    def __repr__(self) -> str:
        role = f", role={self.role!r}" if self.role else ""
        return f"Curve({quoted(self.tag)}{role}, {len(self.step)} of {counted(self.points, 'point')})"

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle all columns as one: a process sends those of each run, and NumPy pickles an array in microseconds."""
        columns = b"".join(column.tobytes() for column in (self.step, self.wall_time, self.value, self.averages))
        return _unpickled, (self.tag, self.role, self.variable, self.points, len(self.step), columns)


def _unpickled(tag: str, role: str, variable: str, points: int, count: int, columns: bytes) -> Curve:
    numbers = np.frombuffer(bytearray(columns)) if columns else np.empty(0)
    step, wall_time, value = (numbers[i * count : (i + 1) * count] for i in range(3))
    return Curve(tag, role, variable, step.view(np.int64), wall_time, value, points, numbers[3 * count :])


def curve_of(series: Series, stretches: int, role: str = "", variable: str = "") -> Curve:
    """The points of a series, thinned; many flags for clipped steps as the share of ones in each stretch."""
    if role == "clipped" and len(series) > 2 * stretches and are_flags(series.value):
        at, value = means(series.value)
    else:
        at = thin(series.value, stretches)
        value = series.value[at]
    columns = series.step[at], series.wall_time[at], value
    return Curve(series.tag, role, variable, *columns, len(series), averages(series.value))


def are_flags(value: NDArray[np.float64]) -> bool:
    """Whether all are 0, 1 or missing; a share of the last steps, which has that role too, is a value of its own."""
    return bool((np.isin(value, (0.0, 1.0)) | np.isnan(value)).all())


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
