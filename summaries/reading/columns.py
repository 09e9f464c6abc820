"""Rows as they are read → columns by tag. Pure (no I/O)."""

from __future__ import annotations

import mmap
import sys
from array import array
from bisect import bisect_right
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from summaries.native.calls import address
from summaries.native.library import is_available
from summaries.wire.compiled.scanner import grouped, spread
from summaries.wire.layout import KIND_SCALAR, VALUE, Block

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

__all__ = ["Epochs", "Points"]

_FEW_ROWS = 16  # so many are added one by one faster than they are sorted
_SPREAD_ROWS = 64  # a tag: with fewer, copying takes less time than finding out where to
_KIND_AT = VALUE.names.index("kind")  # type: ignore[union-attr]  # it has names
_MIN_ROWS = 32
_MAP_ROWS = 1 << 15  # columns of at least this many rows (256 kB) are mapped
_MAX_MAPS = 30_000  # Linux allows a process 65,530


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


class Points:
    """All points of a run, with separate columns for each tag, and marks between them.

    Attributes:
        marks: the number of marks.

    >>> points = Points()
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
        self._tags: list[_Columns] = []
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
        if len(values) <= _FEW_ROWS:
            scalars = [row for row in values.tolist() if row[_KIND_AT] == KIND_SCALAR]
            for value, step, wall_time, _, tag, *_ in scalars:
                self.append(tag, step, wall_time, value)
            return len(scalars)
        # The compiled sort loops over all tags, however few rows there are.
        is_compiled = self._is_compiled and len(values) >= tags
        block, present, counts = grouped(values, tags) if is_compiled else _grouped(values)
        pairs = zip(present.tolist(), counts.tolist(), strict=True)
        if is_compiled and len(values) >= _SPREAD_ROWS * len(present):
            rooms = [self._columns(tag).room_for(n, self.marks) for tag, n in pairs]
            spread(block, counts, np.array(rooms, np.int64).reshape(-1, 3))
        else:
            first = 0
            for tag, n in pairs:
                self._columns(tag).extend(block, first, first + n, self.marks)
                first += n
        return int(counts.sum())

    def append(self, tag: int, step: int, wall_time: float, value: float) -> None:
        """Add one point."""
        self._columns(tag).append(step, wall_time, value, self.marks)

    def columns(self, *, copy: bool = False) -> list[Block]:
        """Each tag's points so far, by tag number.

        Without a copy, no points can be added afterwards. The list ends with the last tag that has points.
        """
        blocks = [tag.block() for tag in self._tags]
        return [Block(one.step.copy(), one.wall_time.copy(), one.value.copy()) for one in blocks] if copy else blocks

    def epochs(self, tag: int) -> Epochs:
        """How a tag's points are distributed over the epochs."""
        return self._tags[tag].epochs if tag < len(self._tags) else Epochs()

    def _columns(self, tag: int) -> _Columns:
        while len(self._tags) <= tag:
            self._tags.append(_Columns())
        return self._tags[tag]


class _Columns:
    """Three growing columns. Large ones are mapped: growing moves their pages in the page table, not their bytes."""

    __slots__ = ("_arrays", "_maps", "_room", "epochs")
    _open_maps = 0

    def __init__(self) -> None:
        self._arrays: list[NDArray[Any]] = _NO_ARRAYS
        self._maps: Sequence[mmap.mmap] = ()
        self._room = 0
        self.epochs = Epochs()

    def extend(self, block: Block, first: int, last: int, epoch: int) -> None:
        start, stop = self.epochs.length, self.epochs.length + last - first
        if not start and stop < _MAP_ROWS:  # most tags of small runs: all of their points come at once
            self._arrays = [column[first:last].copy() for column in block]
            self._room = stop
        else:
            if stop > self._room:
                self._grow(max(stop, 2 * self._room, _MIN_ROWS))
            for own, column in zip(self._arrays, block, strict=True):
                own[start:stop] = column[first:last]
        self.epochs.add(epoch, last - first)

    def room_for(self, count: int, epoch: int) -> list[int]:
        """Add points without their contents; return the address of the first one in each column."""
        start, stop = self.epochs.length, self.epochs.length + count
        if stop > self._room:
            self._grow(max(stop, 2 * self._room, _MIN_ROWS))
        self.epochs.add(epoch, count)
        return [address(column) + 8 * start for column in self._arrays]

    def append(self, step: int, wall_time: float, value: float, epoch: int) -> None:
        at = self.epochs.length
        if at == self._room:
            self._grow(max(2 * self._room, _MIN_ROWS))
        steps, wall_times, values = self._arrays
        steps[at], wall_times[at], values[at] = step, wall_time, value
        self.epochs.add(epoch, 1)

    def block(self) -> Block:
        length = self.epochs.length
        return Block(*(self._arrays if length == self._room else [column[:length] for column in self._arrays]))

    def _grow(self, rows: int) -> None:
        old = self._arrays
        if self._maps and _RESIZABLE:
            self._arrays = old = []  # a map with views cannot be moved
            for memory in self._maps:
                memory.resize(8 * rows)
            self._arrays = self._views()
        elif rows >= _MAP_ROWS and _Columns._open_maps < _MAX_MAPS:
            _Columns._open_maps += 3
            self._maps = [_private_map(8 * rows) for _ in _DTYPES]
            self._arrays = self._views()
        else:
            self._arrays = [np.empty(rows, dtype) for dtype in _DTYPES]
        length = self.epochs.length
        for new, column in zip(self._arrays, old, strict=False):
            new[:length] = column[:length]
        self._room = rows

    def _views(self) -> list[NDArray[Any]]:
        return [np.frombuffer(memory, dtype) for memory, dtype in zip(self._maps, _DTYPES, strict=True)]

    def __del__(self) -> None:
        _Columns._open_maps -= len(self._maps)


def _private_map(size: int) -> mmap.mmap:
    """Map zeroed memory. A shared map, Python's default, must not be accessed beyond its original size."""
    if _RESIZABLE:
        return mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    return mmap.mmap(-1, size)


_DTYPES = (np.int64, np.float64, np.float64)
_NO_ARRAYS: list[NDArray[Any]] = [np.empty(0, dtype) for dtype in _DTYPES]
_RESIZABLE = sys.platform == "linux"  # macOS and Windows cannot resize an anonymous map


def _grouped(values: NDArray[np.void]) -> tuple[Block, NDArray[np.int64], NDArray[np.int64]]:
    """The scalars among the rows, by tag, stably; int64[t]: the tags, and int64[t]: how many of each there are."""
    scalars = values[values["kind"] == KIND_SCALAR]
    scalars = scalars[np.argsort(scalars["tag"], kind="stable")]
    tags, counts = np.unique(scalars["tag"], return_counts=True)
    return Block(*(np.ascontiguousarray(scalars[name]) for name in Block._fields)), tags, counts
