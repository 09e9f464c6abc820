"""The files of one run → their events as indexes, and their faults, in order: what rewriting works on.

A stretch of about a megabyte is in memory at a time, and the names of the run's tags.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from summaries.errors import Fault, FaultKind
from summaries.reading.event_iterator import empty_file, no_event_file
from summaries.storage.protocols import chunks
from summaries.wire.batches import BatchParser
from summaries.wire.index import Indexing, Tags

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from summaries.storage.protocols import ReadableFile, StoredFile
    from summaries.wire.batches import Batch
    from summaries.wire.index import Index

__all__ = ["Indexer", "Pieces", "indexer"]

_HEADER_BYTES = 12
_FEW = 64  # up to so many records, one by one is faster


def indexer(*, fast: bool) -> Indexer:
    """An indexer for the files of one run.

    Args:
        fast: whether to use the compiled one, which needs numba. The result is the same, cut into other stretches.
    """
    if not fast:
        return Indexer()
    from summaries.reading.scanned_index import ScannedIndexer  # noqa: PLC0415 - it needs numba

    return ScannedIndexer()


class Indexer:
    """Indexes the files of one run, one after another, in pure Python.

    Attributes:
        tags: the run's tags so far.
    """

    def __init__(self) -> None:
        self.tags = Tags()
        self._indexing = Indexing(self.tags)

    def read(self, file: StoredFile) -> Iterator[Index | Fault]:
        """Yield the events of one file, in stretches, and its faults.

        The records of an index and those of the next follow one another unless a fault that loses bytes is between.

        Raises:
            OSError: the file cannot be read.
        """
        with file.open(0) as opened:
            yield from self.read_opened(opened, file.path)

    def read_opened(self, opened: ReadableFile, path: str) -> Iterator[Index | Fault]:
        """`read` for a file that is open, with the path that faults name."""
        records, held = 0, list[Fault]()
        for item in self._items(opened):
            if isinstance(item, Fault):
                held.append(item)
            else:
                records += len(item.events)
            if records:
                yield from (fault.located(path) for fault in held)
                held.clear()
            if not isinstance(item, Fault):
                yield item
        if held:
            begins = opened.read_range(0, _HEADER_BYTES)
            end = held[-1].offset + held[-1].length
            yield from (_of_no_records(fault, end, begins).located(path) for fault in held)
        elif not records:
            yield empty_file().located(path)

    def _items(self, opened: ReadableFile) -> Iterator[Index | Fault]:
        yield from self._plainly(BatchParser(), chunks(opened), 0)

    def _plainly(self, parser: BatchParser, pieces: Iterable[bytes], base: int) -> Iterator[Index | Fault]:
        """Index a stream that starts at offset `base` of the file with the plain parser."""
        window = Pieces(base)
        for piece in pieces:
            window.add(piece)
            yield from self._batches(parser.feed(piece), window)
            window.drop(parser.settled)
        yield from self._batches(parser.close(), window)

    def _batches(self, items: Iterator[Batch | Fault], window: Pieces) -> Iterator[Index | Fault]:
        """Turn what the parser yields for one piece into indexes, as few as there can be."""
        indexing = self._indexing
        noted: list[Fault] = []
        for item in items:
            if isinstance(item, Fault):
                yield from self._flush(window, noted)
                yield item
                continue
            if len(item.data) > _FEW:
                noted += indexing.add_all(item, np.frombuffer(window.joined(), np.uint8), window.base)
                continue
            for i, data in enumerate(item.data):
                offset = item.offsets[i]
                noted += indexing.add(data, offset - window.base, offset, item.number + i)
        yield from self._flush(window, noted)

    def _flush(self, window: Pieces, noted: list[Fault]) -> Iterator[Index | Fault]:
        if self._indexing.filled:
            yield self._indexing.index(np.frombuffer(window.joined(), np.uint8), window.base)
            self._indexing.clear()
        yield from noted
        noted.clear()


class Pieces:
    """The bytes of a stream that are not settled yet, joined only when they are needed.

    Args:
        base: the offset of the first byte in the file.

    Attributes:
        base: the same, of what was not dropped.
    """

    def __init__(self, base: int) -> None:
        self.base = base
        self._pieces: list[bytes] = []

    def add(self, piece: bytes) -> None:
        """Append the next bytes."""
        self._pieces.append(piece)

    def joined(self) -> bytes:
        """All bytes."""
        if len(self._pieces) > 1:
            self._pieces = [b"".join(self._pieces)]
        return self._pieces[0]

    def drop(self, offset: int) -> None:
        """Drop the bytes before this offset in the file."""
        while self._pieces and self.base + len(self._pieces[0]) <= offset:
            self.base += len(self._pieces.pop(0))
        if self._pieces and self.base < offset:
            self._pieces[0] = self._pieces[0][offset - self.base :]
            self.base = offset


def _of_no_records(fault: Fault, end: int, begins: bytes) -> Fault:
    """A fault of a file of `end` bytes without a record, of which the first few are given."""
    if fault.kind is FaultKind.UNFINISHED_TAIL and any(begins[4:8]):  # no record is as long as its length says
        reason = "no record in the file"
        return Fault(FaultKind.NO_EVENT_FILE, reason, 0, end, fault.got, fault.want)
    return no_event_file(fault, end)
