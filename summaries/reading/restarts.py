"""Session starts, and which of them affect a tag: only those with points of the tag before them. Pure (no I/O)."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from summaries.wire.columns import Epochs

__all__ = ["SessionStarts"]


class SessionStarts:
    """The session starts of a run, in order.

    The files determine the number of starts and of tags, and a list of all starts for each tag would grow with their
    product. So starts without a point of the tag between them are reduced to one or two.

    Args:
        starts: (mark, step) of each: the number of its mark in the run's points, and the step the run returned to.
    """

    def __init__(self, starts: Iterable[tuple[int, int]]) -> None:
        self._marks: list[int] = []
        self._steps: list[int] = []
        for mark, step in starts:
            self._marks.append(mark)
            self._steps.append(step)
        self._lowest = self._steps.copy()  # of a start's step and all later ones
        for i in range(len(self._steps) - 2, -1, -1):
            self._lowest[i] = min(self._lowest[i], self._lowest[i + 1])

    def __len__(self) -> int:
        return len(self._marks)

    def restarts(self, epochs: Epochs) -> list[tuple[int, int]]:
        """(the number of the tag's points before the start, the step that the run returned to), in order.

        Starts before the first point are omitted. Several starts between the same two points are reduced to the lowest
        step that they or later ones returned to, followed by the last start.
        """
        if not self._marks:
            return []
        found: list[tuple[int, int]] = []
        first = bisect_left(self._marks, epochs.numbers[0])
        for before, mark in epochs.ends():
            last = len(self._marks) if mark is None else bisect_left(self._marks, mark, first)
            if last > first + 1:
                found.append((before, self._lowest[first]))
            if last > first:
                found.append((before, self._steps[last - 1]))
            first = last
        return found
