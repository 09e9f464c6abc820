"""Calls of the compiled scanner, and its tag table between them. Pure (no I/O)."""

from __future__ import annotations

from operator import is_not
from typing import TYPE_CHECKING, Any

import numpy as np

from summaries.native.calls import Call
from summaries.native.library import function
from summaries.wire.compiled.state import NEW, UNUSUAL, Scratch, TagTable
from summaries.wire.resync import short_length_crcs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from summaries.wire.index import Rows, Tags

__all__ = ["Scanner", "scatter", "whole_records"]

_FEWEST_BYTES = 16  # of a record
_MOST_FOUND = 1 << 12  # records, for each call
# A copy takes a quarter of the time that np.full takes, which counts when thousands of small runs are read.
_NO_SLOTS = np.full(64, -1, np.int32)
_NO_FOLLOWING = np.full(16, -1, np.int32)


class Scanner:
    """Reads buffers of one run's bytes into rows.

    Args:
        tags: the run's tags, which grow while it is read.
    """

    def __init__(self, tags: Tags) -> None:
        self._tags = tags
        self._count = 0
        self._pool_used = 0
        self._scratch = Scratch(np.zeros(6, np.int64), np.zeros((2, 8), np.int64))
        self._call: Call | None = None  # with the arrays of the last one
        self._with: tuple[Any, ...] = ()
        self._table = TagTable(
            slots=_NO_SLOTS.copy(),
            entries=np.zeros((16, 4), np.int64),
            pool=np.zeros(1 << 10, np.uint8),
            following=_NO_FOLLOWING.copy(),
            entered=np.zeros(1, np.int64),
        )

    def scan(self, buffer: NDArray[np.uint8], end: int, base: int, rows: Rows) -> int:
        """Continue in buffer[:end] from the rows' cursor; as `scan.scan`, but it takes new tags itself."""
        while (status := self._scan(buffer, end, base, rows)) == NEW:
            start, stop = self._scratch.at[:2].tolist()
            try:
                self._tags.number(buffer[start:stop].tobytes().decode())
            except UnicodeDecodeError:
                return UNUSUAL
        return status

    def _scan(self, buffer: NDArray[np.uint8], end: int, base: int, rows: Rows) -> int:
        if self._count < len(self._tags.names) or self._tags.described:
            self._take_tags()
        arrays = (buffer, rows.cursor, self._table, rows.events, rows.values)
        if self._call is None or any(map(is_not, arrays, self._with)):
            self._with = arrays
            known = (*arrays[:2], short_length_crcs(), *arrays[2:], self._scratch)
            self._call = Call(function("scan"), (0, 0, 0, *known))
        words = self._call.words
        words[0], words[1], words[2] = end, base, self._count
        return self._call()

    def forget(self) -> None:
        """Let go of the buffer and the rows of the last call."""
        self._call, self._with = None, ()

    def _take_tags(self) -> None:
        """Take the tags that are new, and the classes that are."""
        tags = self._tags
        for name in tags.names[self._count :]:
            self._add(name.encode())
        for number in tags.described:
            self._table.entries[number, 3] = tags.classes[number]
        tags.described.clear()

    def _add(self, name: bytes) -> None:
        start, stop = self._pool_used, self._pool_used + len(name)
        if self._count == len(self._table.entries):
            self._grow()
        if stop > len(self._table.pool):
            self._table = self._table._replace(pool=np.concatenate((self._table.pool, np.zeros(stop, np.uint8))))
        self._table.pool.data[start:stop] = name
        self._table.entries[self._count, :2] = start, len(name)
        self._count, self._pool_used = self._count + 1, stop

    def _grow(self) -> None:
        """Double the capacity for tags; all are entered again."""
        entries, following = self._table.entries, self._table.following
        self._table = self._table._replace(
            slots=np.full(len(self._table.slots) * 2, -1, np.int32),
            entries=np.concatenate((entries, np.zeros_like(entries))),
            following=np.concatenate((following, np.full_like(following, -1))),
            entered=np.zeros(1, np.int64),
        )


def whole_records(buffer: bytes, pos: int, most: int) -> tuple[list[int], list[int]]:
    """Where the data of whole records from `pos` on starts, and stops; a length above `most` bytes is damage."""
    array, starts, stops = np.frombuffer(buffer, np.uint8), list[int](), list[int]()
    bounds = np.empty((min((len(buffer) - pos) // _FEWEST_BYTES, _MOST_FOUND), 2), np.int64)
    while True:
        count = function("frames")(pos, len(buffer), most, array, short_length_crcs(), bounds)
        starts += bounds[:count, 0].tolist()
        stops += bounds[:count, 1].tolist()
        if count < _MOST_FOUND:
            return starts, stops
        pos = stops[-1] + 4


def scatter(values: NDArray[np.void], start: int, tables: NDArray[np.int64]) -> int:
    """Append the scalars from row `start` on to the columns of their tags, up to one for which there is no room.

    Args:
        values: VALUE[n].
        start: the first row.
        tables: int64[t, 6], changed: each tag's columns.

    Returns:
        The row to go on with.
    """
    return function("scatter")(values, start, tables)
