"""Alignment: the points of one tag in several runs, side by side, step by step. Pure (no I/O)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from summaries.reading.series import Series
    from summaries.tools.choices import Alignment

__all__ = ["Aligned", "aligned"]


class Aligned(NamedTuple):
    """The points of several series at common steps.

    Attributes:
        step: int64[k], increasing.
        wall_time: float64[k], when the last of the runs was there, in seconds since the epoch.
        value: float64[k, n], a column for each series.
        present: bool[k, n], whether the series has a value there; where not, the value is NaN.
    """

    step: NDArray[np.int64]
    wall_time: NDArray[np.float64]
    value: NDArray[np.float64]
    present: NDArray[np.bool_]


def aligned(series: Sequence[Series], how: Alignment, *, bridge_nan: bool = False) -> Aligned:
    """Put series side by side.

    Args:
        series: at least one, each with increasing steps, as `Series.latest` returns them.
        how: at which steps. "exact": at those that all have. "union": at those that any has; the others have no value
            there. "interpolate": at the same, with the values of the others on the straight line between their
            neighbouring points; before its first and after its last point, a series has no value.
        bridge_nan: for "interpolate", whether a point whose value is NaN counts as none.

    >>> from summaries.reading.series import Series
    >>> a = Series("loss", np.array([0, 10]), np.array([0.0, 10.0]), np.array([4.0, 2.0]))
    >>> b = Series("loss", np.array([0, 5]), np.array([0.0, 50.0]), np.array([8.0, 6.0]))
    >>> aligned([a, b], "interpolate").value
    array([[ 4.,  8.], [ 3.,  6.], [ 2., nan]])
    """
    steps = [own.step for own in series]
    every, counts = np.unique(np.concatenate(steps), return_counts=True)
    if how == "exact":
        every = every[counts == len(series)]
    shape = len(every), len(series)
    value, wall_time = np.full(shape, np.nan), np.full(shape, np.nan)
    present = np.zeros(shape, np.bool_)
    for column, points in enumerate(series):
        own = _numbers(points) if bridge_nan and how == "interpolate" else points
        at = np.searchsorted(own.step, every)
        has = at < len(own.step)
        has[has] = own.step[at[has]] == every[has]
        value[has, column], wall_time[has, column] = own.value[at[has]], own.wall_time[at[has]]
        present[:, column] = has
        if how == "interpolate":
            between = ~has & (at > 0) & (at < len(own.step))
            value[between, column] = _between(own.step, own.value, every[between], at[between])
            wall_time[between, column] = _between(own.step, own.wall_time, every[between], at[between])
            present[:, column] |= between
    return Aligned(every, np.fmax.reduce(wall_time, axis=1), value, present)


def _numbers(series: Series) -> Series:
    """The points whose values are not NaN."""
    rows = ~np.isnan(series.value)
    return replace(series, step=series.step[rows], wall_time=series.wall_time[rows], value=series.value[rows])


def _between(
    step: NDArray[np.int64], value: NDArray[np.float64], wanted: NDArray[np.int64], at: NDArray[np.intp]
) -> NDArray[np.float64]:
    """The values at wanted steps, on the line from the point before, whose index is `at - 1`, to the one at `at`."""
    before, after = step[at - 1], step[at]
    # Differences are exact as integers, also of steps beyond 2**53; those over 2**63 as unsigned ones.
    share = (wanted - before).astype(np.uint64) / (after - before).astype(np.uint64)
    low, high = value[at - 1], value[at]
    with np.errstate(invalid="ignore", over="ignore"):  # infinities
        line: NDArray[np.float64] = low + share * (high - low)
    return line
