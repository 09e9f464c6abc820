"""The compiled scanner's state between buffers: its tag table and its cursor. Pure (no I/O)."""

from __future__ import annotations

from operator import is_not
from typing import TYPE_CHECKING, Any

import numpy as np

from summaries.native.calls import Call
from summaries.native.library import function
from summaries.wire.compiled.state import Found, Scratch, TagTable
from summaries.wire.resync import short_length_crcs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from summaries.wire.layout import Block

__all__ = ["Scanner", "sorted_rows", "spread"]

# A copy takes a quarter of the time that np.full takes, which counts when thousands of small runs are read.
_NO_SLOTS = np.full(64, -1, np.int32)
_NO_FOLLOWING = np.full(16, -1, np.int32)


class Scanner:
    """Scans buffers of one run's bytes, file by file. Tags are numbered 0, 1, 2, … as they are added.

    Attributes:
        cursor: int64[5]: position in the buffer, rows, places, previous tag, records read.
    """

    def __init__(self) -> None:
        self.cursor = np.zeros(5, np.int64)
        self._scratch = Scratch(np.zeros(6, np.int64), np.zeros((2, 8), np.int64))
        self._new: list[bytes] = []
        self._new_classes: dict[int, int] = {}
        self._count = 0
        self._pool_used = 0
        self._enter: Call | None = None  # with the table as it is, and room for the lengths of tags
        self._call: Call | None = None  # with the buffer and the results of the last one
        self._with: tuple[Any, ...] = ()
        self._tags = TagTable(
            slots=_NO_SLOTS.copy(),
            entries=np.zeros((16, 4), np.int64),
            pool=np.zeros(1 << 10, np.uint8),
            following=_NO_FOLLOWING.copy(),
        )

    def add(self, tag: bytes) -> None:
        """Add the next tag."""
        self._new.append(tag)

    def set_class(self, number: int, tag_class: int) -> None:
        """Set a tag's class, which its first metadata determines: one of `layout.CLASS_…`."""
        if number < self._count:
            self._tags.entries[number, 3] = tag_class
        else:
            self._new_classes[number] = tag_class

    def _enter_new(self) -> None:
        """Enter the tags that were added since the last scan into the table, all at once."""
        names = b"".join(self._new)
        first, count = self._count, self._count + len(self._new)
        start, stop = self._pool_used, self._pool_used + len(names)
        while count > len(self._tags.entries):
            self._grow()
        if stop > len(self._tags.pool):
            pool = np.concatenate((self._tags.pool, np.zeros(stop, np.uint8)))
            self._tags = self._tags._replace(pool=pool)
            self._enter = None
        self._tags.pool[start:stop] = np.frombuffer(names, np.uint8)
        if self._enter is None:
            self._lengths = np.empty(len(self._tags.entries), np.int64)
            self._enter = Call(function("enter"), (0, 0, 0, self._lengths, self._tags))
        self._lengths[: len(self._new)] = [len(tag) for tag in self._new]
        words = self._enter.words
        words[0], words[1], words[2] = first, start, len(self._new)
        self._enter()
        self._count, self._pool_used = count, stop
        self._new.clear()
        for number, tag_class in self._new_classes.items():
            self._tags.entries[number, 3] = tag_class
        self._new_classes.clear()

    def _grow(self) -> None:
        """Double the capacity for tags."""
        entries, following = self._tags.entries, self._tags.following
        self._tags = self._tags._replace(
            slots=np.full(len(self._tags.slots) * 2, -1, np.int32),
            entries=np.concatenate((entries, np.zeros_like(entries))),
            following=np.concatenate((following, np.full_like(following, -1))),
        )
        function("enter_again")(self._count, self._tags)
        self._enter = None

    def scan(self, buffer: NDArray[np.uint8], end: int, base: int, file: int, found: Found) -> int:
        """Continue in buffer[:end] from the cursor; arguments and result as in `scan.scan`."""
        if self._new:
            self._enter_new()
        call = self._prepared("scan", 3, buffer, self.cursor, found)
        words = call.words
        words[0], words[1], words[2] = end, base, file
        return call()

    def index(self, buffer: NDArray[np.uint8], end: int, cursor: NDArray[np.int64], events: Any, values: Any) -> int:
        """Index buffer[:end] from the cursor; arguments and result as in `index.index`."""
        if self._new or self._new_classes:
            self._enter_new()
        call = self._prepared("index", 1, buffer, cursor, events, values)
        call.words[0] = end
        return call()

    def _prepared(self, name: str, integers: int, buffer: Any, cursor: Any, *results: Any) -> Call:
        """A call with so many integers, to be filled in, and these arrays; made anew if one of them is another."""
        arrays = (buffer, cursor, self._tags, *results)
        if self._call is None or any(map(is_not, arrays, self._with)):
            self._with = arrays
            crcs = short_length_crcs()
            arguments = (*[0] * integers, buffer, cursor, crcs, self._tags, *results, self._scratch)
            self._call = Call(function(name), arguments)
        return self._call


def sorted_rows(rows: NDArray[np.void], tags: int, out: Block) -> tuple[Block, NDArray[np.int64], NDArray[np.int64]]:
    """The same as `columns.sorted_rows`, compiled; writes the points to `out`, which must have room for them."""
    counts = np.empty(tags, np.int64)
    function("group")(rows, counts, np.empty(tags, np.int64), out)
    (present,) = counts.nonzero()
    return out, present, counts[present]


def spread(block: Block, counts: NDArray[np.int64], addresses: NDArray[np.int64]) -> None:
    """Copy columns that are sorted by tag to where those of each tag are; arguments as in `scan.spread`."""
    function("spread")(block, counts, addresses)
