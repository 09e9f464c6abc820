"""Wide tables: a row for each step, a column for each tag. Pure (no I/O).

    tag  step  value                step  loss  lr
    loss    1    2.0                   1   2.0
    loss    2    1.0       ──▶         2   1.0  0.1
    lr      2    0.1

If a tag has several points at a step, the one that was written last stands. The wall time of a row is the latest of
its points.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from summaries.wire.layout import Block

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from summaries.reading.series import Series

__all__ = ["WideRows", "WideRun", "wide_names"]

_TAKEN = ("run", "step", "wall_time")


class WideRows(NamedTuple):
    """Rows of a wide table.

    Attributes:
        step: int64[n], ascending.
        wall_time: float64[n], seconds since the epoch.
        value: float64[n] for each column.
        missing: bool[n] for each column: where the tag has no point at the step; the value is NaN there.
    """

    step: NDArray[np.int64]
    wall_time: NDArray[np.float64]
    value: list[NDArray[np.float64]]
    missing: list[NDArray[np.bool_]]


class WideRun:
    """The scalars of one run, as rows.

    Args:
        scalars: tag → Series.
        tags: the tags of the columns. Points of other tags are left out.

    Attributes:
        step: int64[n]: the steps at which one of these tags has a point, ascending.

    >>> from summaries.reading.series import Series
    >>> loss = Series("loss", np.array([1, 2, 2]), np.arange(3.0), np.array([2.0, 9.0, 1.0]))
    >>> rate = Series("lr", np.array([2]), np.array([5.0]), np.array([0.1]))
    >>> rows = WideRun({"loss": loss, "lr": rate}, ["loss", "lr"]).rows()
    >>> rows.step, rows.wall_time, rows.value
    (array([1, 2]), array([0., 5.]), [array([2., 1.]), array([nan, 0.1])])
    """

    def __init__(self, scalars: Mapping[str, Series], tags: Sequence[str]) -> None:
        self._points = [_last_of_each_step(scalars[tag]) if tag in scalars else None for tag in tags]
        # Most tags have the same steps: comparing digests is much faster than sorting them all together.
        distinct = {
            blake2b(points.step.tobytes()).digest(): points.step for points in self._points if points is not None
        }
        steps = list(distinct.values())
        self.step: NDArray[np.int64] = (
            steps[0] if len(steps) == 1 else np.unique(np.concatenate([np.empty(0, np.int64), *steps]))
        )

    def rows(self, start: int = 0, stop: int | None = None) -> WideRows:
        """The rows from number `start` up to `stop`, without it."""
        step = self.step[start:stop]
        wall_time = np.full(len(step), -np.inf)
        values, gaps = [], []
        for points in self._points:
            value, missing = np.full(len(step), np.nan), np.ones(len(step), np.bool_)
            if points is not None and len(step):
                first, last = np.searchsorted(points.step, step[0]), np.searchsorted(points.step, step[-1], "right")
                at = np.searchsorted(step, points.step[first:last])
                value[at], missing[at] = points.value[first:last], False
                wall_time[at] = np.fmax(wall_time[at], points.wall_time[first:last])
            values.append(value)
            gaps.append(missing)
        return WideRows(step, wall_time, values, gaps)


def wide_names(tags: Iterable[str]) -> list[str]:
    """The names of the columns of tags. A tag with the name of another column gets underscores.

    >>> wide_names(["loss", "step"])
    ['loss', 'step_']
    """
    names: dict[str, None] = {}
    for tag in tags:
        name = tag
        while name in _TAKEN or name in names:
            name += "_"
        names[name] = None
    return list(names)


def _last_of_each_step(series: Series) -> Block:
    """The points with ascending steps, the last one that was written at each."""
    step = series.step
    if (step[1:] > step[:-1]).all():
        return Block(step, series.wall_time, series.value)
    order = np.argsort(step, kind="stable")
    ordered = step[order]
    last = order[np.append(ordered[1:] != ordered[:-1], True)]
    return Block(step[last], series.wall_time[last], series.value[last])
