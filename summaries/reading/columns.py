"""Rows as they are read → columns by tag. Pure (no I/O)."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from itertools import groupby
from struct import Struct
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
_NUMBER_BYTES = 8
_FEW_BYTES = 512
_STEP, _FLOAT = Struct("q"), Struct("d")


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
        self.numbers = array("q")
        self.firsts = array("q")
        self.length = 0

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
        self.marks = 0
        self._epochs: list[Epochs] = []
        # Steps, wall times and values, by tag: as bytes, which the garbage collector does not look at.
        self._columns: tuple[list[bytearray], ...] = ([], [], [])
        self._is_compiled = is_available()

    def mark(self) -> int:
        """Separate the points so far from those that follow; return the mark's number."""
        self.marks += 1
        return self.marks - 1

    def add(self, values: NDArray[np.void], tags: int) -> int:
        """Add the scalars among VALUE[n], in order; return how many there are.

        Args:
            values: the rows.
            tags: how many tags there are.
        """
        if not self._is_compiled or _FEW_ROWS * len(values) < max(tags, _FEW_ROWS**2):
            scalars = [row for row in values.tolist() if row[_KIND_AT] == KIND_SCALAR]
            for value, step, wall_time, _, tag, *_ in scalars:
                self.append(tag, step, wall_time, value)
            return len(scalars)
        block, present, counts = grouped(values, tags)
        self._make_room(int(present[-1]) + 1 if len(present) else 0)
        own = zip(self._columns, (column.data.cast("B") for column in block), strict=True)
        (steps, new_steps), (wall_times, new_wall_times), (numbers, new_numbers) = own
        start = 0
        for tag, count in zip(present.tolist(), counts.tolist(), strict=True):
            stop = start + _NUMBER_BYTES * count
            steps[tag] += new_steps[start:stop]
            wall_times[tag] += new_wall_times[start:stop]
            numbers[tag] += new_numbers[start:stop]
            self._epochs[tag].add(self.marks, count)
            start = stop
        return start // _NUMBER_BYTES

    def append(self, tag: int, step: int, wall_time: float, value: float) -> None:
        """Add one point."""
        self._make_room(tag + 1)
        steps, wall_times, values = self._columns
        steps[tag] += _STEP.pack(step)
        wall_times[tag] += _FLOAT.pack(wall_time)
        values[tag] += _FLOAT.pack(value)
        self._epochs[tag].add(self.marks, 1)

    def columns(self, *, copy: bool = False) -> list[Block]:
        """Each tag's points so far, by tag number; the list ends with the last tag that has points.

        Without a copy, they are handed over: no points can be added afterwards.
        """
        steps, wall_times, values = self._columns
        if not copy:
            self._columns = ([], [], [])
        return [
            Block(_array(step, np.int64, copy), _array(wall_time, np.float64, copy), _array(value, np.float64, copy))
            for step, wall_time, value in zip(steps, wall_times, values, strict=True)
        ]

    def epochs(self, tag: int) -> Epochs:
        """How a tag's points are distributed over the epochs."""
        return self._epochs[tag] if tag < len(self._epochs) else Epochs()

    def _make_room(self, tags: int) -> None:
        for _ in range(len(self._epochs), tags):
            self._epochs.append(Epochs())
            for column in self._columns:
                column.append(bytearray())


def _array(column: bytearray, dtype: type[Number], copy: bool) -> NDArray[Number]:
    """The numbers in a column. A view of them is two objects, which takes more memory than a copy of a few."""
    numbers = np.frombuffer(column, dtype)
    return numbers.copy() if copy or len(column) <= _FEW_BYTES else numbers
