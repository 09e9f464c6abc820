"""`Indexer` with the compiled indexer, which takes the records that it recognizes; protobuf gets the others.

Needs numba, and is imported only if it is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from summaries.reading.indexed import Indexer, Pieces
from summaries.reading.scanned_rows import Window
from summaries.wire.batches import BatchParser
from summaries.wire.compiled import scanner as compiled
from summaries.wire.compiled import state
from summaries.wire.index import EVENT, VALUE, Index

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from summaries.errors import Fault
    from summaries.storage.protocols import ReadableFile

__all__ = ["ScannedIndexer"]

_BUFFER_BYTES = 1 << 20
_EVENTS = 1 << 15
_VALUES = 1 << 15
_STRETCH_BYTES = 1 << 16  # the pure-Python parser's chunk size


class ScannedIndexer(Indexer):
    """Indexes the files of one run with the compiled indexer."""

    def __init__(self) -> None:
        super().__init__()
        self._scanner = compiled.Scanner()
        self._cursor = np.zeros(4, np.int64)  # position in the buffer, events, values, previous tag
        self._events = np.zeros(_EVENTS, EVENT)
        self._values = np.zeros(_VALUES, VALUE)
        self._buffer = np.empty(_BUFFER_BYTES, np.uint8)
        self._entered = 0  # how many tags the scanner knows
        self._sound: dict[int, bytes] = {}
        self._noted: list[Fault] = []

    def _items(self, opened: ReadableFile) -> Iterator[Index | Fault]:
        window = Window(opened, self._buffer)
        cursor, records = self._cursor, 0  # records before the rows
        cursor[:3] = 0
        window.refill(0)
        while True:
            self._enter_tags()
            status = self._scanner.index(window.buffer, window.have, cursor, self._events, self._values)
            pos, count = cursor[:2].tolist()
            if status in (state.UNUSUAL, state.FULL):
                if status == state.UNUSUAL and self._add(window, pos, records + count):
                    continue
                yield from self._settle(window)
                records += count
                if not count:  # one event has more values than there is room for
                    yield from self._alone(window, pos, records)
                    records += 1
                continue
            yield from self._settle(window)
            records += count
            if status == state.MORE:
                more = window.refill(pos)
                cursor[0] = 0
                if not window.have:  # the file ends with a whole record
                    return
                status = state.MORE if more else state.ODD
            if status == state.ODD:
                offset, records, ended = yield from self._troubled(window, records)
                if ended:
                    return
                window.start_at(offset)
                cursor[0] = 0

    def _enter_tags(self) -> None:
        """Tell the scanner the tags that protobuf read, and what their first metadata says."""
        names = self.tags.names
        while self._entered < len(names):
            self._scanner.add(names[self._entered].encode())
            self._entered += 1
        for number in self.tags.described:
            self._scanner.set_class(number, self.tags.classes[number])
        self.tags.described.clear()

    def _index_one(self, window: Window, pos: int, number: int) -> list[Fault]:
        """Index the whole record at `pos` with protobuf."""
        self._indexing.clear()
        (data,) = window.records(pos, 0, number).data
        return self._indexing.add(data, pos, window.base + pos, number)

    def _add(self, window: Window, pos: int, number: int) -> bool:
        """Add the record at `pos` to the rows; return False if there is no room for it."""
        noted = self._index_one(window, pos, number)
        event, first = self._cursor[1:3].tolist()
        values = self._indexing.values
        if event == _EVENTS or first + len(values) > _VALUES:
            return False
        start, stop, step, wall_time, _, count, what = self._indexing.events[0]
        self._events[event] = start, stop, step, wall_time, first, count, what
        for i, (value, _, tag, kind, described) in enumerate(values, first):
            self._values[i] = value, event, tag, kind, described
        if self._indexing.sound:
            self._sound[event] = self._indexing.sound[0]
        self._noted += noted
        self._cursor[:3] = stop, event + 1, first + count
        return True

    def _alone(self, window: Window, pos: int, number: int) -> Iterator[Index | Fault]:
        """The record at `pos` as an index of its own."""
        noted = self._index_one(window, pos, number)
        index = self._indexing.index(window.buffer, window.base)
        yield index
        yield from noted
        self._cursor[0] = index.events["stop"][0]

    def _settle(self, window: Window) -> Iterator[Index | Fault]:
        """Yield the rows so far, and the faults of their records."""
        events, values = self._cursor[1:3].tolist()
        if events:
            yield Index(window.buffer, window.base, self._events[:events], self._values[:values], self._sound)
        yield from self._noted
        self._sound, self._noted = {}, []
        self._cursor[1:3] = 0

    def _troubled(self, window: Window, number: int) -> Generator[Index | Fault, None, tuple[int, int, bool]]:
        """Read plainly from the cursor until no fault has occurred for a while.

        Returns:
            The offset reached, the number of records before it, and whether it is the end of the file.
        """
        offset = end = window.base + int(self._cursor[0])
        parser, pieces = BatchParser(offset, number), Pieces(offset)
        ended = False
        self._indexing.clear()
        while not ended and not (parser.calm and parser.settled > offset):
            chunk = window.file.read_range(end, _STRETCH_BYTES)
            end += len(chunk)
            ended = not chunk
            pieces.add(chunk)
            yield from self._batches(parser.close() if ended else parser.feed(chunk), pieces)
            pieces.drop(parser.settled)
        return (end if ended else parser.settled), parser.number, ended
