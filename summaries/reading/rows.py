"""Collects rows and places while a run is read: first in lists, in file order, then in columns by tag."""

from __future__ import annotations

from threading import local
from typing import TYPE_CHECKING

import numpy as np

from summaries.errors import Fault
from summaries.reading.alike import AlikeScalars
from summaries.reading.columns import Points, sorted_rows
from summaries.storage.protocols import chunks
from summaries.wire.batches import Batch, BatchParser
from summaries.wire.layout import CAPACITY, PLACE, PLACE_CAPACITY, ROW, Block

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from summaries.reading.columns import LaterPoints, Spread
    from summaries.storage.protocols import ReadableFile

    Row = tuple[int, float, float, int]
    """Step, wall time, value, tag number: a ROW."""

    Place = tuple[int, float, int, int, int, int, int, int]
    """A PLACE, in its fields' order."""

    Take = Callable[[Batch | Fault], None]

__all__ = ["FEW_ROWS", "Rows", "Workspace", "room_for", "workspace"]

_BUFFER_BYTES = 4 << 20  # after each, a thread waits for the interpreter's lock if others read, too
_SHORT_BLOCK = 64  # up to this many rows are kept in a list
# Splitting rows takes 2 µs for each tag among them. With many tags, more rows are collected: up to 32 MB.
_ROWS_OF_A_TAG = 32
_MOST_ROWS = 1 << 20
FEW_ROWS = 16
"""Up to this many rows, adding them one by one is faster than sorting."""


class Workspace:
    """Scratch memory for one thread, reused from run to run."""

    def __init__(self) -> None:
        self.rows = np.zeros(CAPACITY, ROW)
        self.places = np.zeros(PLACE_CAPACITY, PLACE)
        self.sorted = room_for(CAPACITY)
        self.buffer = np.empty(_BUFFER_BYTES, np.uint8)


def room_for(rows: int) -> Block:
    """A block for so many points, to be filled."""
    return Block(np.empty(rows, np.int64), np.empty(rows), np.empty(rows))


_threads = local()


def workspace() -> Workspace:
    """The scratch memory of this thread."""
    if not hasattr(_threads, "workspace"):
        _threads.workspace = Workspace()
    space: Workspace = _threads.workspace
    return space


class Rows:
    """The rows and places of a run, read in pure Python: the records that `AlikeScalars` leaves go to the caller.

    `ScannedRows` does the same with the compiled scanner.

    Attributes:
        rows: rows that were not moved into `points` yet; append to it.
        places: places that were not moved into `settled_places` yet; append to it.
        points: the scalars, by tag number.
        settled_places: PLACE[n] in pieces, in order.
    """

    _spread: Spread | None = None

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self._blocks: list[NDArray[np.void]] = []  # ROW[n], older than `rows`
        self._kept = 0  # rows in the blocks
        self._room = CAPACITY  # rows that are collected before they are sorted
        self._tags = 0
        self._alike = AlikeScalars()
        self.places: list[Place] = []
        self.points = Points()
        self.settled_places: list[NDArray[np.void]] = []

    def read(
        self, opened: ReadableFile, file: int, take: Take, start: int = 0, number: int = 0, stop: int | None = None
    ) -> tuple[int, int]:
        """Read one file to its current end, or a part of it.

        Args:
            opened: the file.
            file: its number, for places.
            take: called with each batch of records that are not handled here, and each fault, in order.
            start: where to begin, in bytes: where a record starts.
            number: the number of records before that.
            stop: read only records, and faults, that begin before this offset; None reads to the end.

        Returns:
            Where the rest of the file begins, or its length in bytes; and the number of records before that.

        Raises:
            OSError: the file cannot be read.
        """
        parser = BatchParser(start, number, stop)
        end = start
        for chunk in chunks(opened, start):
            end += len(chunk)
            for item in parser.feed(chunk):
                self._take(item, take)
            if parser.stopped is not None:
                return parser.stopped, parser.number
        for item in parser.close():
            self._take(item, take)
        return end if parser.stopped is None else parser.stopped, parser.number

    def _take(self, item: Batch | Fault, take: Take) -> None:
        """Take the scalars of a batch that equal earlier ones in all but their numbers; pass on what else there is."""
        if isinstance(item, Fault):
            take(item)
            return
        for part in self._alike.split(item):
            if isinstance(part, Batch):
                take(part)
            else:
                self._extend(part)

    def _extend(self, rows: NDArray[np.void]) -> None:
        """Append rows, which may be many."""
        wanted = rows["tag"] >= 0
        rows = rows if wanted.all() else rows[wanted]
        if len(rows) <= _SHORT_BLOCK:
            self.rows += rows.tolist()
        else:
            self._settle_rows()
            self._keep(rows)
        self.flush_if_full()

    def _settle_rows(self) -> None:
        if self.rows:
            self._keep(np.array(self.rows, ROW))
            self.rows.clear()

    def _keep(self, rows: NDArray[np.void]) -> None:
        self._blocks.append(rows)
        self._kept += len(rows)

    def add_tag(self, name: str) -> None:
        """Register the name of the next tag number."""
        self._alike.add_tag(name)
        self._tags += 1

    def set_class(self, tag: int, tag_class: int) -> None:
        """Set a tag's class, which its first metadata determines: one of `layout.CLASS_…`."""
        self._alike.set_class(tag, tag_class)

    def flush_if_full(self) -> None:
        """Flush if there is enough to make sorting worthwhile."""
        if len(self.rows) >= CAPACITY:
            self._settle_lists()
        full = len(self.rows) + self._kept >= self._room and not self._make_room()
        if full or len(self.places) >= PLACE_CAPACITY:
            self.flush()

    def _settle_lists(self) -> None:
        """Move the lists, which take much memory, into arrays."""
        self._settle_rows()

    def _make_room(self) -> bool:
        """Make room for at least twice as many rows, if there are so many tags that splitting these takes long."""
        wanted = min(_ROWS_OF_A_TAG * self._tags, _MOST_ROWS)
        if self._room >= wanted:
            return False
        self._room = 1 << (wanted - 1).bit_length()
        return True

    def flush(self) -> None:
        """Move rows into `points`, and places into `settled_places`."""
        if len(self.rows) <= FEW_ROWS and not self._blocks:
            for step, wall_time, value, tag in self.rows:
                self.points.append(tag, step, wall_time, value)
        else:
            self._settle_rows()
            self.points.add(*sorted_rows(np.concatenate(self._blocks)))
        if self.places:
            self._settle_places(np.array(self.places, PLACE))
        self.rows.clear()
        self._blocks.clear()
        self._kept = 0
        self.places.clear()

    def mark(self) -> int:
        """Separate what was read so far from what follows; return the mark's number, as in `Points`."""
        self.flush()
        return self.points.mark()

    def absorb(
        self, points: LaterPoints, places: Iterable[NDArray[np.void]], numbers: Sequence[int], file: int
    ) -> None:
        """Add the points and places of a later part of the run.

        Args:
            points: the points, which are moved.
            places: the places, in pieces; they are changed.
            numbers: for each tag of the part, its number here.
            file: the number of the file that the places are in.
        """
        for piece in places:
            piece["tag"] = np.array(numbers, np.int32)[piece["tag"]]
            piece["file"] = file
            piece["epoch"] += self.points.marks
            self.settled_places.append(piece)
        self.points.absorb(points, numbers, self._spread)

    def _settle_places(self, places: NDArray[np.void]) -> None:
        places["epoch"] = self.points.marks
        self.settled_places.append(places)
