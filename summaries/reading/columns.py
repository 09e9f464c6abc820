"""Rows as they are read → columns by tag. Pure (no I/O)."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from itertools import groupby
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from summaries.native.library import is_available
from summaries.wire.compiled.scanner import grouped
from summaries.wire.layout import KIND_SCALAR, VALUE, Block

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

__all__ = ["Epochs", "ScalarColumns"]

Number = TypeVar("Number", np.int64, np.float64)
_FEW_ROWS = 16  # so many, or one for so many tags, are added one by one faster than they are sorted
_KIND_AT = VALUE.names.index("kind")  # type: ignore[union-attr]  # it has names
_FEW_POINTS = 64
_LEAST_GROWTH = 1.5  # so that many points that are added one by one are not copied each time
_MOST_GROWTH = 128  # what a file begins with may be all that it has of a tag
_SLACK = 1.03  # tags do not come quite evenly
_NO_POINTS = Block(np.empty(0, np.int64), np.empty(0), np.empty(0))


class Epochs:
    """How a tag's points are distributed over the epochs of a run. Epoch i lies between the marks i - 1 and i.

    Only epochs with points are kept, so there are never more of them than points.

    Attributes:
        numbers: the epochs that have points.
        firsts: for each of them, the number of points before it.
        length: the number of points.

    >>> epochs = Epochs()
    >>> for number, count in [(0, 5), (3, 1), (3, 1)]:
    ...     epochs.add(number, count)
    >>> [epochs.before(mark) for mark in range(5)], list(epochs.ends())
    ([5, 5, 5, 7, 7], [(5, 3), (7, None)])
    """

    __slots__ = ("firsts", "length", "numbers")

    def __init__(self) -> None:
        self.numbers: array[int] = array("q")
        self.firsts: array[int] = array("q")
        self.length: int = 0

    @classmethod
    def of(cls, column: NDArray[np.int32]) -> Epochs:
        """Create from the epoch of each point, in order."""
        epochs = cls()
        for number, points in groupby(column.tolist()):
            epochs.add(number, sum(1 for _ in points))
        return epochs

    def add(self, epoch: int, count: int) -> None:
        """Add points to an epoch: the last one or a later one."""
        if not self.length or self.numbers[-1] != epoch:
            self.numbers.append(epoch)
            self.firsts.append(self.length)
        self.length += count

    def before(self, mark: int) -> int:
        """The number of points before a mark."""
        i = bisect_right(self.numbers, mark)
        return self.firsts[i] if i < len(self.firsts) else self.length

    def ends(self) -> Iterator[tuple[int, int | None]]:
        """For each epoch: the number of points up to its end, and the next epoch, or None after the last."""
        if len(self.numbers) > 1:
            yield from zip(self.firsts[1:], self.numbers[1:], strict=True)
        yield self.length, None


class ScalarColumns:
    """All points of a run, with separate columns for each tag, and marks between them.

    Attributes:
        marks: the number of marks.

    >>> points = ScalarColumns()
    >>> rows = np.zeros(3, VALUE)
    >>> rows["step"], rows["value"], rows["tag"] = [1, 1, 2], [3.0, 4.0, 5.0], [1, 0, 1]
    >>> points.add(rows, tags=2)
    3
    >>> mark = points.mark()
    >>> points.append(1, 3, 0.7, 6.0)
    >>> points.columns()[1].value, points.epochs(1).before(mark)
    (array([3., 5., 6.]), 2)
    """

    def __init__(self) -> None:
        self.marks: int = 0
        self._epochs: list[Epochs] = []
        self._columns: list[Block] = []  # by tag, with room for more points
        self._is_compiled = is_available()

    def mark(self) -> int:
        """Separate the points so far from those that follow; return the mark's number."""
        self.marks += 1
        return self.marks - 1

    def add(self, values: NDArray[np.void], tags: int, growth: float = 1.0) -> int:
        """Add the scalars among VALUE[n], in order; return how many there are.

        Args:
            values: the rows.
            tags: how many tags there are.
            growth: how many times as many points are expected in the end, for which room is made.
        """
        if not self._is_compiled or _FEW_ROWS * len(values) < max(tags, _FEW_ROWS**2):
            scalars = [row for row in values.tolist() if row[_KIND_AT] == KIND_SCALAR]
            for value, step, wall_time, _, tag, *_ in scalars:
                self.append(tag, step, wall_time, value)
            return len(scalars)
        block, present, counts = grouped(values, tags)
        start = 0
        for tag, count in zip(present.tolist(), counts.tolist(), strict=True):
            stop = start + count
            own, columns = self._room_for(tag, count, growth)
            columns.step[own] = block.step[start:stop]
            columns.wall_time[own] = block.wall_time[start:stop]
            columns.value[own] = block.value[start:stop]
            start = stop
        return start

    def append(self, tag: int, step: int, wall_time: float, value: float) -> None:
        """Add one point."""
        own, columns = self._room_for(tag, 1)
        columns.step[own], columns.wall_time[own], columns.value[own] = step, wall_time, value

    def columns(self, *, copy: bool = False) -> list[Block]:
        """Each tag's points so far, by tag number; the list ends with the last tag that has points.

        Without a copy, they are handed over: no points can be added afterwards.
        """
        columns = self._columns
        if not copy:
            self._columns = []
        return [
            Block(
                _of_length(block.step, epochs.length, copy),
                _of_length(block.wall_time, epochs.length, copy),
                _of_length(block.value, epochs.length, copy),
            )
            for block, epochs in zip(columns, self._epochs, strict=True)
        ]

    def epochs(self, tag: int) -> Epochs:
        """How a tag's points are distributed over the epochs."""
        return self._epochs[tag] if tag < len(self._epochs) else Epochs()

    def _room_for(self, tag: int, count: int, growth: float = 1.0) -> tuple[slice, Block]:
        """Count more points of a tag; return where in its columns they belong, and the columns."""
        for _ in range(len(self._epochs), tag + 1):
            self._epochs.append(Epochs())
            self._columns.append(_NO_POINTS)
        epochs, columns = self._epochs[tag], self._columns[tag]
        start = epochs.length
        epochs.add(self.marks, count)
        if epochs.length > len(columns.step):
            # Memory that is never written to takes no room, and to copy columns as they grow takes long.
            times = 1.0 if growth <= 1 and not start else max(_SLACK * min(growth, _MOST_GROWTH), _LEAST_GROWTH)
            size = int(times * epochs.length)
            columns = Block(np.empty(size, np.int64), np.empty(size), np.empty(size))
            for column, before in zip(columns, self._columns[tag], strict=True):
                column[:start] = before[:start]
            self._columns[tag] = columns
        return slice(start, epochs.length), columns


def _of_length(column: NDArray[Number], length: int, copy: bool) -> NDArray[Number]:
    """The first numbers of a column. A view of them is two objects, which takes more memory than a copy of a few."""
    if length == len(column) and not copy:
        return column
    numbers = column[:length]
    return numbers.copy() if copy or length <= _FEW_POINTS else numbers
