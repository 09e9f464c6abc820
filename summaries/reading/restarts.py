"""Restarts of a run: which points still stand after them, and which session starts affect a tag. Pure (no I/O).

A point is superseded if a later point of its tag, or a later start of a session, has its step or a lower one.
"""

from __future__ import annotations

from bisect import bisect_left
from enum import IntEnum
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from summaries.reading.columns import Epochs


__all__ = ["Returns", "SessionStarts", "Standing", "standing"]

_MAX_STEP = np.iinfo(np.int64).max
_POSITION_BITS = 40  # for a trillion points, and eight million tags


class Standing(IntEnum):
    """Whether a point is still valid after restarts of the run."""

    STANDS = 0
    SESSION_RESTARTED = 1
    """According to a later session log, the run returned to this step or a lower one."""

    WRITTEN_AGAIN = 2
    """A later point of the same tag has this step or a lower one."""


def standing(
    step: NDArray[np.int64], restarts: Sequence[tuple[int, int]], *, keep_repeats: bool = False
) -> NDArray[np.uint8]:
    """uint8[n]: a `Standing` code for each of n points, in the order they were written.

    Args:
        step: int64[n].
        restarts: (number of points before it, the step that the run returned to) of each session start.
        keep_repeats: whether points with the same step all stand if no later one has a lower step; else only the last
            one does.
    """
    codes = np.zeros(len(step), np.uint8)  # Standing.STANDS
    if len(step) > 1:
        lowest_later = np.minimum.accumulate(step[:0:-1])[::-1]
        superseded = lowest_later < step[:-1] if keep_repeats else lowest_later <= step[:-1]
        codes[:-1][superseded] = Standing.WRITTEN_AGAIN
    last = max((before for before, _ in restarts), default=0)
    if last:
        come_back_to = np.full(last, _MAX_STEP)
        for before, start in restarts:
            if before:
                come_back_to[before - 1] = min(come_back_to[before - 1], start)
        lowest_start = np.minimum.accumulate(come_back_to[::-1])[::-1]
        codes[:last][lowest_start <= step[:last]] = Standing.SESSION_RESTARTED
    return codes


class Returns:
    """Where steps come back, by tag: tells the same as `standing`, of points that are too many to be kept.

    While a tag's steps rise, its first step is the lowest of those to come, so only the points at which they do not
    rise are added, in the order of their positions. Those with a higher step than a later one have no effect: they are
    dropped.

    >>> returns = Returns()
    >>> for position, step in [(4, 2), (6, 3), (9, 1)]:
    ...     returns.add(0, position, step)
    >>> returns.close()
    >>> len(returns), returns.supersede(np.zeros(3, int), np.array([0, 8, 9]), np.array([0, 1, 1]))
    (1, array([False,  True, False]))
    """

    def __init__(self) -> None:
        self._by_tag: dict[int, list[tuple[int, int]]] = {}

    def __len__(self) -> int:
        return sum(map(len, self._by_tag.values()))

    def add(self, tag: int, position: int, step: int) -> None:
        """Add a point, at a position after all others of its tag."""
        returns = self._by_tag.setdefault(tag, [])
        while returns and returns[-1][1] >= step:
            returns.pop()
        returns.append((position, step))

    def close(self) -> None:
        """All points were added."""
        rows = [
            (tag << _POSITION_BITS | position, step)
            for tag, own in sorted(self._by_tag.items())
            for position, step in own
        ]
        self._keys, self._steps = np.array(rows, np.int64).reshape(-1, 2).T

    def supersede(
        self, tags: NDArray[np.int64], positions: NDArray[np.int64], steps: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        """bool[n], for each of n points: whether a later one of its tag that was added has its step or a lower one."""
        if not len(self._keys):
            return np.zeros(len(steps), np.bool_)
        following = np.searchsorted(self._keys, tags << _POSITION_BITS | positions, side="right")
        exists = following < len(self._keys)
        following[~exists] = 0
        is_superseded: NDArray[np.bool_] = (
            exists & (self._keys[following] >> _POSITION_BITS == tags) & (self._steps[following] <= steps)
        )
        return is_superseded


class SessionStarts:
    """The session starts of a run, in order.

    The files determine the number of starts and of tags, and a list of all starts for each tag would grow with their
    product. So starts without a point of the tag between them are reduced to one or two.

    Args:
        starts: (mark, step) of each: the number of its mark in the run's points, and the step the run returned to.
    """

    def __init__(self, starts: Sequence[tuple[int, int]]) -> None:
        self._marks = tuple(mark for mark, _ in starts)
        self._steps = tuple(step for _, step in starts)
        self._lowest = tuple(accumulate(reversed(self._steps), min))[::-1]  # of a start's step and all later ones

    def __len__(self) -> int:
        return len(self._marks)

    def restarts(self, epochs: Epochs) -> Sequence[tuple[int, int]]:
        """(the number of the tag's points before the start, the step that the run returned to), in order.

        Starts before the first point are omitted. Several starts between the same two points are reduced to the lowest
        step that they or later ones returned to, followed by the last start.
        """
        if not self._marks:
            return ()
        restarts: list[tuple[int, int]] = []
        first = bisect_left(self._marks, epochs.numbers[0])
        for before, mark in epochs.ends():
            last = len(self._marks) if mark is None else bisect_left(self._marks, mark, first)
            if last > first + 1:
                restarts.append((before, self._lowest[first]))
            if last > first:
                restarts.append((before, self._steps[last - 1]))
            first = last
        return restarts
