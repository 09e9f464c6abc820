"""The same as `Rows`, by the compiled scanner: it takes what it knows, and the caller gets the records that are left.

Needs numba, and is imported only where that is wanted. Bytes that are not a sound record go to the plain parser, which
reads on until no fault has come for a while; then the scanner goes on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from summaries.reading.rows import FEW_ROWS, Rows
from summaries.wire.batches import Batch, BatchParser
from summaries.wire.columns import CAPACITY, PLACE_CAPACITY, sorted_rows
from summaries.wire.compiled import scan
from summaries.wire.compiled import scanner as compiled
from summaries.wire.records import FOOTER_BYTES, HEADER_BYTES

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from summaries.reading.rows import Take, Workspace
    from summaries.storage.protocols import ReadableFile

__all__ = ["ScannedRows"]

_STRETCH_BYTES = 1 << 16  # what the plain parser is given at a time


class ScannedRows(Rows):
    """What was read of a run, from files that the scanner goes through.

    Args:
        workspace: the scanner's rows, places and buffer; this object's own for as long as it reads.
    """

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self._space = workspace
        self._scanner = compiled.Scanner()
        self._found = scan.Found(workspace.rows, workspace.places)
        self._cursor = self._scanner.cursor
        self._tags = 0

    def read(self, opened: ReadableFile, file: int, take: Take) -> tuple[int, int]:
        """Read one file to its present end; see `Rows.read`."""
        return self._read(_Window(opened, self._space.buffer), file, take)

    def add_tag(self, name: str) -> None:
        """Take the name of the next tag number."""
        self._scanner.add(name.encode())
        self._tags += 1

    def set_class(self, tag: int, tag_class: int) -> None:
        """Say what a tag's first metadata makes of it."""
        self._scanner.set_class(tag, tag_class)

    def flush(self) -> None:
        """Move rows and places to where they stay: first the scanner's, which are older than those in the lists."""
        n_rows, n_places = self._cursor[1:3].tolist()
        if n_rows > FEW_ROWS:
            self._add(self._space.rows[:n_rows])
        elif n_rows:
            self.rows[:0] = self._space.rows[:n_rows].tolist()
        if n_places:
            self._settle_places(self._space.places[:n_places].copy())
        self._cursor[1:3] = 0
        super().flush()

    def _add(self, rows: NDArray[np.void]) -> None:
        # The compiled sort goes through all tags, however few rows there are.
        if len(rows) < self._tags:
            self.points.add(*sorted_rows(rows))
        else:
            self.points.add(*compiled.sorted_rows(rows, self._tags, self._space.sorted))

    def _read(self, window: _Window, file: int, take: Take) -> tuple[int, int]:
        cursor = self._cursor
        cursor[0] = cursor[4] = 0
        while True:
            self._settle_lists()
            status = self._scanner.scan(window.buffer, window.have, window.base, file, self._found)
            if status == scan.FULL:
                stuck = not cursor[1:3].any()  # one event has more than there is room for
                self.flush()
                status = scan.UNUSUAL if stuck else status
            if status == scan.UNUSUAL:
                self._hand_over_record(window, take)
            elif status == scan.MORE:
                status = scan.MORE if window.refill(int(cursor[0])) else scan.ODD
                cursor[0] = 0
            if status == scan.ODD:
                offset, ended = self._read_plainly(window.file, window.base + int(cursor[0]), take)
                if ended:
                    return offset, int(cursor[4])
                window.start_at(offset)
                cursor[0] = 0

    def _settle_lists(self) -> None:
        """Move what the caller has put into the lists behind what the scanner has found, so that it can go on."""
        if not self.rows and not self.places:
            return
        n_rows, n_places = self._cursor[1:3].tolist()
        more_rows, more_places = n_rows + len(self.rows), n_places + len(self.places)
        if more_rows > CAPACITY or more_places > PLACE_CAPACITY:
            self.flush()
            return
        if self.rows:
            self._space.rows[n_rows:more_rows] = self.rows
            self.rows.clear()
        if self.places:
            self._space.places[n_places:more_places] = self.places
            self.places.clear()
        self._cursor[1:3] = more_rows, more_places

    def _hand_over_record(self, window: _Window, take: Take) -> None:
        """Give the caller the record at the cursor, which is whole."""
        pos, _, _, _, number = self._cursor.tolist()
        view = window.buffer.data
        start = pos + HEADER_BYTES
        stop = start + int.from_bytes(view[pos : pos + 8], "little")
        take(Batch(number, [window.base + pos], [bytes(view[start:stop])]))
        self._cursor[0] = stop + FOOTER_BYTES
        self._cursor[4] = number + 1

    def _read_plainly(self, file: ReadableFile, offset: int, take: Take) -> tuple[int, bool]:
        """Read plainly until no fault has come for a while; returns the offset reached, and whether the file ends."""
        parser = BatchParser(offset, int(self._cursor[4]))
        end = offset
        ended = False
        while not ended and not (parser.calm and parser.settled > offset):
            chunk = file.read_range(end, _STRETCH_BYTES)
            end += len(chunk)
            ended = not chunk
            for item in parser.close() if ended else parser.feed(chunk):
                take(item)
        self._cursor[4] = parser.number
        return end if ended else parser.settled, ended


class _Window:
    """The stretch of a file that is in the buffer.

    Attributes:
        file: the open file.
        buffer: uint8[m].
        base: the offset in the file of the buffer's first byte.
        have: how many bytes of the buffer are filled.
    """

    def __init__(self, file: ReadableFile, buffer: NDArray[np.uint8]) -> None:
        self.file = file
        self.buffer = buffer
        self.base = self.have = 0

    def refill(self, pos: int) -> bool:
        """Drop what is before `pos`, and read on.

        Returns:
            False if no byte came: the file ends here, or the record at `pos` is larger than the buffer.
        """
        if pos == 0 and self.have == len(self.buffer):
            return False
        rest = self.have - pos
        self.buffer[:rest] = self.buffer[pos : self.have]
        self.base += pos
        got = self.file.read_into(self.base + rest, self.buffer.data[rest:])
        self.have = rest + got
        return got > 0

    def start_at(self, offset: int) -> None:
        """Drop everything; the next bytes are those from `offset` on."""
        self.base, self.have = offset, 0
