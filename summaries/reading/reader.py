"""The files of one run → what their records say, in stretches, and their faults, in order.

Strategy: `Reader` has each record read by protobuf, and defines what the bytes mean. `ScannedReader` gives the compiled
scanner a buffer at a time, and has protobuf read those records before which the scanner stops. Bytes that are not a
sound record go to the plain parser, which reads until no fault has occurred for a kilobyte, and until it has passed an
eighth of the bytes it looked at: so the work stays in proportion to the bytes, however lengths overlap. Then the
scanner resumes.
"""

from __future__ import annotations

from threading import local
from typing import TYPE_CHECKING

import numpy as np

from summaries.errors import Fault, FaultKind
from summaries.execution.sharing import helpers
from summaries.native.calls import address
from summaries.native.library import is_available
from summaries.reading.event_iterator import empty_file, no_event_file
from summaries.storage.protocols import chunks
from summaries.wire.compiled import state
from summaries.wire.compiled.scanner import Scanner, whole_records
from summaries.wire.index import Rows, Tags
from summaries.wire.layout import CAPACITY, EVENT, VALUE
from summaries.wire.records import FOOTER_BYTES, HEADER_BYTES, MAX_RECORD_BYTES, RecordParser

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from numpy.typing import NDArray

    from summaries.storage.protocols import ReadableFile, StoredFile
    from summaries.wire.index import Index

__all__ = ["Reader", "of_whole_file", "reader"]

_BUFFER_BYTES = 2 << 20  # what does not fit in is read plainly
_READ_BYTES = 1 << 20  # after each read, a thread waits for the interpreter's lock if others read, too
_PAGE_BYTES = 1 << 12
_STRETCH_BYTES = 1 << 16  # the most that is given to the plain parser or to protobuf at once
_FEW_BYTES = 1 << 7  # to call the scanner for so many takes as long as to have protobuf read them
_CALM_BYTES = 1 << 10  # to read so much plainly takes about as long as to call the scanner once more
_PASSED_SHARE = 8
_NO_ROWS = np.empty(0, EVENT), np.empty(0, VALUE)


def reader(*, events: bool = True, wanted: Callable[[str], bool] | None = None) -> Reader:
    """A reader for the files of one run, compiled where that can be; the result is the same, cut into other stretches.

    Args:
        events: whether its stretches tell of events, not only of values.
        wanted: whether a tag is wanted; None for every tag.
    """
    return (ScannedReader if is_available() else Reader)(Tags(wanted), events=events)


class Reader:
    """Reads the files of one run, one after another, record by record.

    Args:
        tags: the run's tags, which grow.
        events: whether its stretches tell of events, not only of values.

    Attributes:
        tags: the same.
        end: where the last file ended, in bytes.
    """

    def __init__(self, tags: Tags, *, events: bool) -> None:
        self.tags = tags
        self.end: int = 0
        self._own = _Workspace(CAPACITY) if events else None
        self._rows = Rows(tags, *_NO_ROWS)

    def read(self, file: StoredFile) -> Iterator[Index | Fault]:
        """Yield what a file's records say, in stretches, and its faults, which name it.

        The records of a stretch and those of the next follow one another unless a fault that loses bytes is between.

        Raises:
            OSError: the file cannot be read.
        """
        with file.open(0) as opened:
            yield from self.read_opened(opened, file.path)

    def read_opened(self, opened: ReadableFile, path: str) -> Iterator[Index | Fault]:
        """`read` for a file that is open, with the path that faults name."""
        is_empty = True
        for item in self.read_from(opened):
            is_empty = False
            yield of_whole_file(item, self.end, opened).located(path) if isinstance(item, Fault) else item
        if is_empty:
            yield empty_file().located(path)

    def read_from(self, opened: ReadableFile, start: int = 0, number: int = 0) -> Generator[Index | Fault]:
        """`read` for the rest of a file, with its faults as they are found.

        Args:
            opened: the file.
            start: where to begin, in bytes: where a record starts.
            number: the number of records before that.
        """
        # What is read may be kept for hours, until the file has grown, and then be read in another thread.
        space = self._own or _of_this_thread()
        self._rows = Rows(self.tags, space.events, space.values, lasting=self._own is None and helpers() > 0)
        yield from self._read(opened, start, number, space)
        if self._own is None:
            values = self._rows.values  # another thread may still read those of the last stretch
            space.values = values if len(values) == CAPACITY else np.zeros(CAPACITY, VALUE)
            _threads.workspace = space
        self._rows = Rows(self.tags, *_NO_ROWS)

    def _read(self, opened: ReadableFile, start: int, number: int, space: _Workspace) -> Iterator[Index | Fault]:
        parser = RecordParser(start, number)
        self.end = start
        for chunk in chunks(opened, start):
            self.end += len(chunk)
            parser.feed(chunk)
            yield from self._stretches(parser)
        parser.close()
        yield from self._stretches(parser)

    def _stretches(self, parser: RecordParser) -> Iterator[Index | Fault]:
        """What the bytes so far settle."""
        for item in parser.items():
            if isinstance(item, Fault):
                yield item
                continue
            buffer, rows = np.frombuffer(item.buffer, np.uint8), self._rows
            for i, (start, stop) in enumerate(zip(item.starts, item.stops, strict=True)):
                at = start - HEADER_BYTES
                if rows.add(item.buffer[start:stop], at, item.base + at, item.number + i):
                    yield from self._settled(buffer, item.base)
            yield from self._settled(buffer, item.base)

    def _settled(self, buffer: NDArray[np.uint8], base: int) -> Iterator[Index | Fault]:
        """The rows so far, and the faults of their records."""
        rows = self._rows
        faults, rows.faults = rows.faults, []
        index = rows.taken(buffer, base)
        if index.records:
            yield index
        yield from faults


class ScannedReader(Reader):
    """Reads the files of one run with the compiled scanner."""

    end: int

    def __init__(self, tags: Tags, *, events: bool) -> None:
        super().__init__(tags, events=events)
        self._scanner = Scanner(tags)
        self._unusual_stop = -_FEW_BYTES  # where the records that protobuf read last stop in the file
        self._unusual_bytes = 0  # so many of them are read together

    def _read(self, opened: ReadableFile, start: int, number: int, space: _Workspace) -> Iterator[Index | Fault]:
        rows = self._rows
        cursor = rows.cursor
        window = _Window(opened, space)
        cursor[0] = window.move(start)
        while window.end:
            status = self._scanner.scan(window.buffer, window.end, window.base, rows)
            pos, records, values, *_ = cursor.tolist()
            if status == state.FULL and rows.make_room():
                continue
            stuck = status == state.FULL and not values and not 0 < len(rows.events) == records
            if status == state.UNUSUAL or stuck:
                number = yield from self._by_protobuf(window.bytes, window.base, number)
                continue
            if len(rows.events) or status != state.MORE:  # what is told of events is in the buffer
                number += records
                yield from self._settled(window.bytes, window.base)
            if status == state.MORE and window.has_room(pos):
                has_more, cursor[0] = window.more(pos)
                if has_more:
                    continue
            number += int(cursor[1])
            yield from self._settled(window.bytes, window.base)
            if status in (state.MORE, state.ODD) and window.end:
                at, number, is_end = yield from self._plainly(opened, window.bytes, window.base, number)
                if is_end:  # what is added to the file from now on may begin amid a record
                    window.base, cursor[0] = at, 0
                    break
                if at < window.base + window.end:
                    cursor[0] = at - window.base
                    continue
                cursor[0] = window.move(at)
        self.end = window.base + int(cursor[0])
        self._scanner.forget()

    def _by_protobuf(self, buffer: NDArray[np.uint8], base: int, number: int) -> Generator[Index | Fault, None, int]:
        """Have protobuf read the record at the cursor, which is whole; close to another like it, also what follows.

        Args:
            buffer: the bytes.
            base: the offset of the first one in the file.
            number: the number of records before the rows so far.

        Returns:
            The same, of the rows that are left.
        """
        rows = self._rows
        pos = int(rows.cursor[0])
        size = HEADER_BYTES + int.from_bytes(buffer[pos : pos + 8].tobytes(), "little") + FOOTER_BYTES
        is_next = 0 <= base + pos - self._unusual_stop < _FEW_BYTES
        self._unusual_bytes = min(2 * self._unusual_bytes + size, _STRETCH_BYTES) if is_next else 0
        data = buffer[pos : pos + max(size, self._unusual_bytes)].tobytes()
        one = [HEADER_BYTES], [size - FOOTER_BYTES]
        starts, stops = whole_records(data, 0, MAX_RECORD_BYTES) if len(data) > size else one
        for start, stop in zip(starts, stops, strict=True):
            at = pos + start - HEADER_BYTES
            if rows.add(data[start:stop], at, base + at, number + int(rows.cursor[1])):
                number += int(rows.cursor[1])
                yield from self._settled(buffer, base)
        self._unusual_stop = base + int(rows.cursor[0])
        return number

    def _plainly(
        self, opened: ReadableFile, buffer: NDArray[np.uint8], base: int, number: int
    ) -> Generator[Index | Fault, None, tuple[int, int, bool]]:
        """Read plainly from the cursor until there is no fault any more, or to the end.

        Args:
            opened: the file.
            buffer: its bytes from `base` on, as far as they are at hand.
            base: the offset of the first one.
            number: the number of records before the cursor.

        Returns:
            The offset reached, the number of records before it, and whether the file ended there.
        """
        start = end = base + int(self._rows.cursor[0])
        parser, calm_from, size = RecordParser(start, number), start + 1, _CALM_BYTES
        while parser.skips or parser.offset < max(calm_from, start + (end - start) // _PASSED_SHARE):
            held = buffer[end - base : end - base + size].tobytes()
            chunk = held or opened.read_range(end, _STRETCH_BYTES)
            end, size = end + len(chunk), min(2 * size, _STRETCH_BYTES)
            self.end = end
            parser.feed(chunk)
            if not chunk:
                parser.close()
            for item in self._stretches(parser):
                if isinstance(item, Fault):
                    calm_from = parser.offset + _CALM_BYTES
                yield item
            if not chunk:
                return end, parser.number, True
        return parser.offset, parser.number, False


class _Workspace:
    """Memory to read with: rows and a buffer. One reader at a time uses it."""

    def __init__(self, events: int) -> None:
        self.events = np.zeros(events, EVENT)
        self.values = np.zeros(CAPACITY, VALUE)
        # Tools rewrite a stretch by many calls of NumPy: they want fewer and larger ones.
        self.buffer = _pages(2 * _BUFFER_BYTES if events else _BUFFER_BYTES)
        self.read_bytes = len(self.buffer) if events else _READ_BYTES


class _Window:
    """The part of a file that lies in a buffer, page by page.

    What is read lies as far into a page as it does in the file. A large new array begins 16 bytes into one; copied to
    there, a file takes five times as long: processors look only at an address's place in its page to tell whether they
    read what was just written.

    Attributes:
        buffer: the buffer, from the start of a page. What lies before the cursor may be anything.
        end: where what was read ends in it; 0 after the file's last byte.
        base: the offset of its first byte in the file.
    """

    def __init__(self, opened: ReadableFile, space: _Workspace) -> None:
        self.buffer: NDArray[np.uint8] = space.buffer
        self.end = self.base = 0
        self._opened, self._read_bytes = opened, space.read_bytes

    @property
    def bytes(self) -> NDArray[np.uint8]:
        """The buffer, to the end of what was read."""
        return self.buffer[: self.end]

    def move(self, at: int) -> int:
        """Begin again at an offset; return where in the buffer that is."""
        self.base, self.end = at, 0
        return self.more(0)[1]

    def has_room(self, pos: int) -> bool:
        """Whether more bytes fit in after those from `pos` on."""
        return pos >= _PAGE_BYTES or self.end < len(self.buffer)

    def more(self, pos: int) -> tuple[bool, int]:
        """Leave the bytes before `pos`, and get more after the others.

        Returns:
            Whether there are more in the file, and where in the buffer those from `pos` on begin now.
        """
        start, rest, at = (self.base + pos) % _PAGE_BYTES, self.end - pos, self.base + self.end
        stop = start + rest
        self.buffer[start:stop] = self.buffer[pos : self.end]
        got = self._opened.read_into(at, self.buffer.data[stop : stop + self._read_bytes])
        self.base, self.end = self.base + pos - start, stop + got if rest + got else 0
        return got > 0, start


def _pages(size: int) -> NDArray[np.uint8]:
    """New memory that begins with a page."""
    memory = np.empty(size + _PAGE_BYTES, np.uint8)
    start = -address(memory) % _PAGE_BYTES
    return memory[start : start + size]


_threads = local()


def _of_this_thread() -> _Workspace:
    """Memory for values, used for run after run, unless a read of one ends early: another thread may have its rows."""
    space: _Workspace | None = vars(_threads).pop("workspace", None)
    return _Workspace(0) if space is None else space


def of_whole_file(fault: Fault, end: int, opened: ReadableFile) -> Fault:
    """The fault to report of a file of `end` bytes, as `no_event_file` says it; its first bytes are looked at, too."""
    starts_here = fault.kind is FaultKind.UNFINISHED_TAIL and not fault.offset
    if starts_here and any(opened.read_range(4, 4)):  # no record is as long as its length says
        return Fault(FaultKind.NO_EVENT_FILE, "no record in the file", 0, end, fault.got, fault.want)
    return no_event_file(fault, end)
