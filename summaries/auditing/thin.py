"""Curves for drawing: of each stretch of points, the least and the largest stay. Never for judging."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from summaries.auditing.finding import Curve

if TYPE_CHECKING:
    from summaries.auditing.signals import Signal

__all__ = ["MAX_POINTS", "curve"]

MAX_POINTS = 2000  # more than a screen has columns for


def curve(signal: Signal, max_points: int = MAX_POINTS) -> Curve:
    """One tag's points that stand, thinned to about `max_points`.

    A value that is not finite stays where it is the first, the last or the only one of its stretch; a stretch's first
    point that is not finite always does.
    """
    series = signal.standing
    n = len(series)
    keep = np.arange(n) if n <= max_points else _extremes(series.value, max_points // 3)
    meaning = signal.meaning
    return Curve(
        signal.tag, meaning.role, meaning.variable, series.step[keep], series.wall_time[keep], series.value[keep], n
    )


def _extremes(
    value: np.ndarray[tuple[int], np.dtype[np.float64]], stretches: int
) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """The indices, sorted, of each stretch's least and largest value, and of its first that is not finite."""
    n = len(value)
    start = np.linspace(0, n, stretches, endpoint=False).astype(np.int64)
    finite = np.isfinite(value)
    places = [np.array([0, n - 1])]
    width = int(np.diff(start, append=n).max())
    index = start[:, None] + np.arange(width)
    inside = index < np.append(start[1:], n)[:, None]
    index = np.minimum(index, n - 1)
    table, fine = value[index], finite[index] & inside
    rows = np.arange(stretches)
    for fill, pick in ((np.inf, np.argmin), (-np.inf, np.argmax)):
        place = index[rows, pick(np.where(fine, table, fill), axis=1)]
        places.append(place[fine.any(axis=1)])
    bad = inside & ~fine
    if bad.any():
        places.append(index[rows, np.argmax(bad, axis=1)][bad.any(axis=1)])
    found: np.ndarray[tuple[int], np.dtype[np.int64]] = np.unique(np.concatenate(places))
    return found
