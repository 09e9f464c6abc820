"""Rows as they are read → columns by tag. Pure (no I/O)."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections import defaultdict
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from summaries.execution.sharing import Job
from summaries.native.calls import address
from summaries.native.library import is_available
from summaries.wire.compiled.scanner import scatter
from summaries.wire.layout import COUNT, KIND_SCALAR, NUMBERS, ROOM, SETTLED, STEPS, WALL_TIMES, Block

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    _Columns = tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]

__all__ = ["Epochs", "ScalarColumns"]

_FEW_ROWS = 16  # so many are added one by one as fast
_WORDS = NUMBERS + 1  # of a tag's table
_FEW_POINTS = 64
_LEAST_GROWTH = 1.5  # so that many points that are added one by one are not copied each time
_MOST_GROWTH = 128  # what a file begins with may be all that it has of a tag
_SLACK = 1.03  # tags do not come quite evenly
_NO_POINTS = np.empty(0, np.int64), np.empty(0), np.empty(0)


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

    While another thread adds many rows, the caller may go on; whatever else is asked of the points waits for it.

    Attributes:
        marks: the number of marks.

    >>> from summaries.wire.layout import VALUE
    >>> points = ScalarColumns()
    >>> rows = np.zeros(3, VALUE)
    >>> rows["step"], rows["value"], rows["tag"] = [1, 1, 2], [3.0, 4.0, 5.0], [1, 0, 1]
    >>> points.add(rows, tags=2)
    >>> mark = points.mark()
    >>> points.append(1, 3, 0.7, 6.0)
    >>> points.columns()[1].value, points.epochs(1).before(mark)
    (array([3., 5., 6.]), 2)
    """

    def __init__(self) -> None:
        self.marks: int = 0
        self._epochs: defaultdict[int, Epochs] = defaultdict(Epochs)  # by tag
        # By tag, with room for more points. In plain tuples, which the garbage collector does not look at again.
        self._columns: list[_Columns] = []
        self._tables = array("q")  # a row of words for each tag: `layout.COUNT` and those after it
        self._is_compiled = is_available()
        self._is_behind = False  # whether epochs lack points
        self._adding: Job[NDArray[np.void], None] | None = None

    def mark(self) -> int:
        """Separate the points so far from those that follow; return the mark's number."""
        if self._is_behind:
            self._settle()
        self.marks += 1
        return self.marks - 1

    def add(self, values: NDArray[np.void], tags: int, growth: float = 1.0, *, lasts: bool = False) -> None:
        """Add the scalars among VALUE[n], in order.

        Args:
            values: the rows.
            tags: how many tags there are.
            growth: how many times as many points are expected in the end, for which room is made.
            lasts: whether the rows stay as they are until the next call, or `wait`.
        """
        if not self._is_compiled or len(values) < _FEW_ROWS:
            for value, step, wall_time, _, tag, _, kind, _ in values.tolist():
                if kind == KIND_SCALAR:
                    self.append(tag, step, wall_time, value)
            return
        self.wait()
        self._know(tags)
        self._is_behind = True
        if lasts:
            self._adding = Job(partial(self._scatter, growth=growth), [values])
            self._adding.begin(1)
        else:
            self._scatter(values, growth)

    def wait(self) -> None:
        """Return when all rows are added.

        Raises:
            MemoryError: there is too little for them.
        """
        if self._adding is not None:
            try:
                self._adding.results()
            except Exception:  # it has ended; after an interrupt, it may not have
                self._adding = None
                raise
            self._adding = None

    def append(self, tag: int, step: int, wall_time: float, value: float) -> None:
        """Add one point."""
        if self._adding is not None:
            self.wait()
        if tag >= len(self._columns):
            self._know(tag + 1)
        tables, at = self._tables, tag * _WORDS
        count = tables[at + COUNT]
        steps, wall_times, values = self._columns[tag]
        if count == len(steps):
            steps, wall_times, values = self._lengthen(tag, count + 1)
        steps[count], wall_times[count], values[count] = step, wall_time, value
        tables[at + COUNT] = count + 1  # beyond the room, perhaps: compiled code then asks for more
        self._epochs[tag].add(self.marks, 1)  # others of this epoch may not be counted yet
        tables[at + SETTLED] += 1

    def columns(self, *, copy: bool = False) -> list[Block]:
        """Each tag's points so far, by tag number; the list ends with the last tag that has points.

        Without a copy, they are handed over: no points can be added afterwards.
        """
        self.wait()
        counts, columns = self._tables[COUNT::_WORDS], self._columns
        while counts and not counts[-1]:
            counts.pop()
        if not copy:
            self._columns = []
        return [_first(own, count, copy) for own, count in zip(columns, counts, strict=False)]

    def epochs(self, tag: int) -> Epochs:
        """How a tag's points are distributed over the epochs."""
        self.wait()
        tables, at = self._tables, tag * _WORDS
        if at < len(tables) and (new := tables[at + COUNT] - tables[at + SETTLED]):  # not all tags: each is asked for
            self._epochs[tag].add(self.marks, new)
            tables[at + SETTLED] = tables[at + COUNT]
        return self._epochs[tag]

    def _table(self) -> NDArray[np.int64]:
        """The tables as int64[t, 6]. No tag may come while this array is at hand."""
        return np.frombuffer(self._tables, np.int64).reshape(-1, _WORDS)

    def _know(self, tags: int) -> None:
        """Begin the columns of tags that are new."""
        new = tags - len(self._columns)
        if new > 0:
            # First the table: an interrupt may leave it too long, never too short.
            self._tables.frombytes(bytes(8 * _WORDS * new))
            self._columns += [_NO_POINTS] * new

    def _settle(self) -> None:
        """Count the points since the last mark into the epoch that ends."""
        self.wait()
        table = self._table()
        for tag in np.flatnonzero(table[:, COUNT] != table[:, SETTLED]).tolist():
            self._epochs[tag].add(self.marks, int(table[tag, COUNT] - table[tag, SETTLED]))
        table[:, SETTLED] = table[:, COUNT]
        self._is_behind = False

    def _scatter(self, values: NDArray[np.void], growth: float) -> None:
        start = 0
        if not any(self._tables[ROOM::_WORDS]):  # at first: most runs have no more than this
            self._make_room(values, growth)
        while (start := scatter(values, start, self._table())) < len(values):
            self._make_room(values[start:], growth)

    def _make_room(self, values: NDArray[np.void], growth: float) -> None:
        """Let the columns of all tags have room for these rows, and for as many more as are expected."""
        tables = self._tables
        for tag, new in enumerate(np.bincount(values["tag"][values["kind"] == KIND_SCALAR]).tolist()):
            count, room = tables[tag * _WORDS + COUNT], tables[tag * _WORDS + ROOM]
            if new and count + new > room:
                # Memory that is never written to takes no room, and to copy columns as they grow takes long.
                is_all = growth <= 1 and not count
                self._grow(tag, count + new, 1.0 if is_all else _SLACK * min(growth, _MOST_GROWTH))

    def _grow(self, tag: int, least: int, times: float = 1.0) -> None:
        """Give a tag longer columns, and tell compiled code where they are."""
        columns = self._lengthen(tag, least, times)
        at = tag * _WORDS
        self._tables[at + STEPS], self._tables[at + WALL_TIMES], self._tables[at + NUMBERS] = map(address, columns)
        self._tables[at + ROOM] = len(columns[0])

    def _lengthen(self, tag: int, least: int, times: float = 1.0) -> _Columns:
        """Give a tag longer columns, in which compiled code has no room yet."""
        tables, at, before = self._tables, tag * _WORDS, self._columns[tag]
        count = tables[at + ROOM] = tables[at + COUNT]  # until compiled code is told of the new ones
        size = int(least * (max(times, _LEAST_GROWTH) if count else times))
        columns = np.empty(size, np.int64), np.empty(size), np.empty(size)
        if count:
            for column, old in zip(columns, before, strict=True):
                column[:count] = old[:count]
        self._columns[tag] = columns
        return columns


def _first(columns: _Columns, length: int, copy: bool) -> Block:
    """The first points. A view of numbers is two objects, which takes more memory than a copy of a few."""
    steps, wall_times, values = columns
    if length < len(steps):
        steps, wall_times, values = steps[:length], wall_times[:length], values[:length]
        copy = copy or length <= _FEW_POINTS
    return Block(steps.copy(), wall_times.copy(), values.copy()) if copy else Block(steps, wall_times, values)
