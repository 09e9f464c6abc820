"""`Rows` with the compiled scanner, which takes the records that it recognizes; the caller gets the others.

Needs numba, and is imported only if the scanner is used. Bytes that are not a sound record go to the pure-Python
parser, which reads until no fault has occurred for a while; then the scanner resumes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from summaries.reading.columns import sorted_rows
from summaries.reading.rows import FEW_ROWS, Rows, room_for
from summaries.wire.batches import Batch, BatchParser, whole_records
from summaries.wire.compiled import scanner as compiled
from summaries.wire.compiled import state
from summaries.wire.layout import CAPACITY, PLACE_CAPACITY, ROW
from summaries.wire.records import HEADER_BYTES, Record

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from summaries.reading.rows import Take, Workspace
    from summaries.storage.protocols import ReadableFile

__all__ = ["ScannedRows", "Window"]

_STRETCH_BYTES = 1 << 16  # the pure-Python parser's chunk size
_SPREAD_ROWS = 64  # a tag: with fewer, copying takes less time than finding out where to
_FIRST_BYTES = 1 << 8  # of a run: most tags are new there, and starting the scanner takes as long as a few records
_MANY_BYTES = 1 << 12  # after this many bytes of unusual records, the scanner would only be in the way


class ScannedRows(Rows):
    """The rows and places of a run, read by the compiled scanner.

    Args:
        workspace: the scanner's rows, places and buffer; not shared while this object reads.
    """

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self._space = workspace
        self._scanner = compiled.Scanner()
        self._spread = compiled.spread
        self._found = state.Found(workspace.rows, workspace.places)  # larger rows while there are many tags
        self._cursor = self._scanner.cursor
        self._unusual = range(0)  # the offsets of the records that were last handed over, without a gap

    def read(
        self, opened: ReadableFile, file: int, take: Take, start: int = 0, number: int = 0, stop: int | None = None
    ) -> tuple[int, int]:
        """Read one file to its current end, or a part of it; see `Rows.read`."""
        window = Window(opened, self._space.buffer, stop)
        window.start_at(start)
        end = self._read(window, file, take, number)
        if self._room > CAPACITY:  # what is read may be kept for hours, until the file has grown
            self.flush()
            self._room = CAPACITY
            self._found = state.Found(self._space.rows, self._space.places)
        return end

    def add_tag(self, name: str) -> None:
        """Register the name of the next tag number."""
        self._scanner.add(name.encode())
        self._tags += 1

    def set_class(self, tag: int, tag_class: int) -> None:
        """Set a tag's class; see `Rows.set_class`."""
        self._scanner.set_class(tag, tag_class)

    def flush(self) -> None:
        """Move rows and places; see `Rows.flush`. The scanner's are older than those in the lists, and go first."""
        n_rows, n_places = self._cursor[1:3].tolist()
        if n_rows > FEW_ROWS:
            self._add(self._found.rows[:n_rows])
        elif n_rows:
            self.rows[:0] = self._found.rows[:n_rows].tolist()
        if n_places:
            self._settle_places(self._space.places[:n_places].copy())
        self._cursor[1:3] = 0
        super().flush()

    def _add(self, rows: NDArray[np.void]) -> None:
        # The compiled sort loops over all tags, however few rows there are.
        if len(rows) < self._tags:
            self.points.add(*sorted_rows(rows))
        else:
            fits = len(rows) <= CAPACITY and not self.points.keeps_blocks
            out = self._space.sorted if fits else room_for(len(rows))
            spread = self._spread if len(rows) >= _SPREAD_ROWS * self._tags else None
            self.points.add(*compiled.sorted_rows(rows, self._tags, out), spread)

    def _read(self, window: Window, file: int, take: Take, number: int) -> tuple[int, int]:
        cursor = self._cursor
        cursor[0], cursor[4] = 0, number
        self._unusual = range(0)
        window.refill(0)
        while True:
            self._settle_lists()
            status = self._scanner.scan(window.buffer, window.have, window.base, file, self._found)
            if status == state.FULL:
                if self._make_room():
                    continue
                stuck = not cursor[1:3].any()  # one event has more values than fit
                self.flush()
                status = state.UNUSUAL if stuck else status
            if status == state.UNUSUAL:
                self._hand_over(window, take)
            elif status == state.MORE:
                more = window.refill(int(cursor[0]))
                cursor[0] = 0
                if not window.have:  # the file or the part ends with a whole record
                    return window.base, int(cursor[4])
                status = state.MORE if more else state.ODD
            if status == state.ODD:
                offset, ended = self._read_plainly(window, window.base + int(cursor[0]), take)
                if ended:
                    return offset, int(cursor[4])
                window.start_at(offset)
                cursor[0] = 0

    def _settle_lists(self) -> None:
        """Append the caller's lists to the scanner's arrays, so that the scanner can continue."""
        if not self.rows and not self.places:
            return
        n_rows, n_places = self._cursor[1:3].tolist()
        more_rows, more_places = n_rows + len(self.rows), n_places + len(self.places)
        while more_rows > self._room and self._make_room():
            pass
        if more_rows > self._room or more_places > PLACE_CAPACITY:
            self.flush()
            return
        if self.rows:
            self._found.rows[n_rows:more_rows] = self.rows
            self.rows.clear()
        if self.places:
            self._space.places[n_places:more_places] = self.places
            self.places.clear()
        self._cursor[1:3] = more_rows, more_places

    def _make_room(self) -> bool:
        """Make room in the scanner's array; see `Rows._make_room`."""
        if not super()._make_room():
            return False
        n_rows = int(self._cursor[1])
        rows = np.empty(self._room, ROW)
        rows[:n_rows] = self._found.rows[:n_rows]
        self._found = self._found._replace(rows=rows)
        return True

    def _hand_over(self, window: Window, take: Take) -> None:
        """Pass the whole record at the cursor to the caller; at first and after a long row of them, several at once."""
        pos, _, _, _, number = self._cursor.tolist()
        start = window.base + pos
        if start != self._unusual.stop:
            self._unusual = range(start, start)
        more = len(self._unusual) if len(self._unusual) >= _MANY_BYTES else 0 if self._tags else _FIRST_BYTES
        batch = window.records(pos, more, number)
        take(batch)
        self._unusual = range(self._unusual.start, batch.stop)
        self._cursor[0] = batch.stop - window.base
        self._cursor[4] = number + len(batch)

    def _read_plainly(self, window: Window, offset: int, take: Take) -> tuple[int, bool]:
        """Read in pure Python until no fault has occurred for a while.

        Returns:
            The offset reached, and whether it is the end of the file or of the part to read.
        """
        parser = BatchParser(offset, int(self._cursor[4]), window.stop)
        end = offset
        ended = False
        while not ended and not (parser.calm and parser.settled > offset):
            chunk = window.file.read_range(end, _STRETCH_BYTES)
            end += len(chunk)
            ended = not chunk
            for item in parser.close() if ended else parser.feed(chunk):
                take(item)
            if parser.stopped is not None:
                end, ended = parser.stopped, True
        self._cursor[4] = parser.number
        return end if ended else parser.settled, ended


class Window:
    """The part of a file that is in the buffer.

    Attributes:
        file: the open file.
        buffer: uint8[m].
        stop: the file offset at which the part to read ends, and of the first byte that never is in the buffer; None if
            it ends with the file.
        base: the file offset of the buffer's first byte.
        have: the number of bytes in the buffer that are filled.
    """

    def __init__(self, file: ReadableFile, buffer: NDArray[np.uint8], stop: int | None = None) -> None:
        self.file = file
        self.buffer = buffer
        self.stop = stop
        self.base = self.have = 0

    def refill(self, pos: int) -> bool:
        """Drop the bytes before `pos`, and read more.

        Returns:
            False if nothing was read: the file or the part ends here, or the record at `pos` is larger than the buffer.
        """
        if pos == 0 and self.have == len(self.buffer):
            return False
        rest = self.have - pos
        self.buffer[:rest] = self.buffer[pos : self.have]
        self.base += pos
        room = len(self.buffer) if self.stop is None else min(len(self.buffer), self.stop - self.base)
        got = self.file.read_into(self.base + rest, self.buffer.data[rest:room]) if rest < room else 0
        self.have = rest + got
        return got > 0

    def records(self, pos: int, size: int, number: int) -> Batch:
        """The record at `pos`, which is whole, and whole ones after it in the next `size` bytes."""
        view, start = self.buffer.data, self.base + pos
        batch = whole_records(bytes(view[pos : min(pos + size, self.have)]), start, number)
        if len(batch):
            return batch
        length = int.from_bytes(view[pos : pos + 8], "little")
        return Batch.of(number, [Record(start, bytes(view[pos + HEADER_BYTES : pos + HEADER_BYTES + length]))])

    def start_at(self, offset: int) -> None:
        """Drop everything, and continue reading at `offset`."""
        self.base, self.have = offset, 0
