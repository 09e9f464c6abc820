"""The files of one run → columns, faults, and the places of everything that is no scalar.

Strategy: `_record` reads one record, with protobuf, and is what every byte means. Where the compiled scanner is asked
for, it goes first, and `_record` gets what it stops at. Bytes that are no record go to the plain parser both ways.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from google.protobuf.message import DecodeError

from summaries.errors import Fault
from summaries.reading.event_reader import empty_file, no_event_file
from summaries.storage.protocols import chunks
from summaries.wire.batches import Batch, BatchParser
from summaries.wire.columns import (
    CAPACITY,
    CLASS_NONE,
    CLASS_OTHER,
    CLASS_SCALAR,
    KIND_AUDIO,
    KIND_EMPTY,
    KIND_HISTOGRAM,
    KIND_IMAGE,
    KIND_OBSOLETE,
    KIND_TENSOR,
    PLACE,
    PLACE_CAPACITY,
    ROW,
    Block,
    Points,
    sorted_rows,
)
from summaries.wire.events import decode_event, value_spans
from summaries.wire.pb import DATA_CLASS_SCALAR, Event, SessionLog, SummaryMetadata
from summaries.wire.records import FOOTER_BYTES, HEADER_BYTES
from summaries.wire.tensors import scalar_value

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from summaries.storage.protocols import ReadableFile, StoredFile
    from summaries.wire.compiled.scanner import Scanner

__all__ = ["Collector", "Moment", "SessionStart", "Tag", "Workspace"]

_BUFFER_BYTES = 1 << 20
_KINDS = {
    None: KIND_EMPTY,
    "image": KIND_IMAGE,
    "histo": KIND_HISTOGRAM,
    "audio": KIND_AUDIO,
    "tensor": KIND_TENSOR,
    "obsolete_old_style_histogram": KIND_OBSOLETE,
}


class Workspace:
    """Scratch memory for one thread's reading; a run after the other uses the same."""

    def __init__(self) -> None:
        self.rows = np.zeros(CAPACITY, ROW)
        self.places = np.zeros(PLACE_CAPACITY, PLACE)
        self.sorted = Block(np.empty(CAPACITY, np.int64), np.empty(CAPACITY), np.empty(CAPACITY))
        self.buffer = np.empty(_BUFFER_BYTES, np.uint8)


@dataclass(slots=True)
class Tag:
    """What is known of a tag: its number, its name, and the first metadata that came with it."""

    number: int
    name: str
    metadata: SummaryMetadata | None = None
    tag_class: int = CLASS_NONE


class Moment(NamedTuple):
    """An event that carries something else than a summary: which field, and where its record stands."""

    what: str
    step: int
    wall_time: float
    file: int
    offset: int
    length: int


class SessionStart(NamedTuple):
    """A SessionLog START: its step, where it stands, and how many points each tag (by number) had."""

    step: int
    file: int
    offset: int
    counts: list[int]


class Collector:
    """Reads the files of one run, one after the other.

    Args:
        workspace: scratch memory, this collector's own for as long as it reads.
        fast: whether to use the compiled scanner.

    Attributes:
        files: the files that were read, in order.
        tags: by name, in the order in which they were met.
        points: the scalars, by tag number.
        places: PLACE[n] in pieces, in order.
        moments: events that carry no summary.
        session_logs: (step, wall_time, log) of each.
        starts: those of them that say START.
        file_counts: for each file, how many points each tag (by number) had before it.
        versions: for each file, the version that its first record tells, or "".
        records: for each file, how many whole records it has.
        faults: everything that was wrong, in order.
    """

    def __init__(self, workspace: Workspace, *, fast: bool) -> None:
        self.files: list[StoredFile] = []
        self.tags: dict[str, Tag] = {}
        self.points = Points()
        self.places: list[NDArray[np.void]] = []
        self.moments: list[Moment] = []
        self.session_logs: list[tuple[int, float, SessionLog]] = []
        self.starts: list[SessionStart] = []
        self.file_counts: list[list[int]] = []
        self.versions: list[str] = []
        self.records: list[int] = []
        self.faults: list[Fault] = []
        self._space = workspace
        self._by_number: list[Tag] = []
        self._scanner: Scanner | None = None
        self._cursor = np.zeros(5, np.int64)
        if fast:
            from summaries.wire.compiled import scanner as compiled  # noqa: PLC0415 - it needs numba

            self._scanner = compiled.Scanner()
            self._cursor = self._scanner.cursor
        self._n_rows = self._n_places = 0
        self._pending: list[tuple[int, float, float, int]] = []  # rows, where there is no scanner

    def read(self, file: StoredFile) -> None:
        """Read one more file, to its present end.

        Raises:
            OSError: it cannot be read.
        """
        self.files.append(file)
        self.file_counts.append(self.points.counts)
        self.versions.append("")
        before = len(self.faults)
        with file.open() as opened:
            if self._scanner is None:
                end, records = self._read_plainly(opened)
            else:
                end, records = self._read_fast(opened, self._scanner)
        self.flush()
        self.records.append(records)
        found = self.faults[before:] if end else [empty_file()]
        if not records:
            found = [no_event_file(fault, end) for fault in found]
        self.faults[before:] = [fault.located(file.path) for fault in found]

    def flush(self) -> None:
        """Move rows and places out of the workspace, to where they stay."""
        n_rows, n_places = self._counts()
        if self._pending:
            self.points.add(*self._sorted(np.array(self._pending, ROW)))
            self._pending.clear()
        if n_rows:
            self.points.add(*self._sorted(self._space.rows[:n_rows]))
        if n_places:
            self.places.append(self._space.places[:n_places].copy())
        self._set_counts(0, 0)

    def _sorted(self, rows: NDArray[np.void]) -> tuple[Block, NDArray[np.int64]]:
        if self._scanner is None:
            return sorted_rows(rows, len(self._by_number))
        from summaries.wire.compiled import scanner  # noqa: PLC0415 - it needs numba

        return scanner.sorted_rows(rows, len(self._by_number), self._space.sorted)

    def _counts(self) -> tuple[int, int]:
        """How many rows and places are in the workspace."""
        if self._scanner is None:
            return self._n_rows, self._n_places
        return int(self._cursor[1]), int(self._cursor[2])

    def _set_counts(self, n_rows: int, n_places: int) -> None:
        self._n_rows, self._n_places = n_rows, n_places
        self._cursor[1], self._cursor[2] = n_rows, n_places

    def _read_plainly(self, file: ReadableFile) -> tuple[int, int]:
        """Returns the file's length in bytes, and how many records it has."""
        parser = BatchParser()
        end = 0
        for chunk in chunks(file):
            end += len(chunk)
            self._take(parser.feed(chunk))
        self._take(parser.close())
        return end, parser.number

    def _take(self, items: Iterable[Batch | Fault]) -> None:
        for item in items:
            if isinstance(item, Fault):
                self.faults.append(item)
                continue
            for i, data in enumerate(item.data):
                if self._scanner is not None or not self._usual(data):
                    self._record(data, item.offsets[i], item.number + i)
            if len(self._pending) >= CAPACITY:
                self.flush()

    def _usual(self, data: bytes) -> bool:
        """Take what most records are, one simple_value of a known tag, by the shortest way; False: it is not that."""
        try:
            event = Event.FromString(data)
        except DecodeError:
            return False
        step, wall_time, values = event.step, event.wall_time, event.summary.value
        if step < 0 or not 0.0 < wall_time < math.inf or len(values) != 1:
            return False
        value = values[0]
        tag = self.tags.get(value.tag)
        if tag is None or value.WhichOneof("value") != "simple_value":
            return False
        if tag.metadata is None and value.HasField("metadata"):
            return False
        self._pending.append((step, wall_time, value.simple_value, tag.number))
        return True

    def _read_fast(self, file: ReadableFile, scanner: Scanner) -> tuple[int, int]:
        """The same as `_read_plainly`, by the scanner."""
        from summaries.wire.compiled import scan  # noqa: PLC0415 - it needs numba

        buffer, cursor = self._space.buffer, self._cursor
        base = have = 0
        cursor[0] = cursor[4] = 0
        number = len(self.files) - 1
        while True:
            status = scanner.scan(buffer, have, base, number, self._space.rows, self._space.places)
            pos = int(cursor[0])
            if status == scan.FULL:
                stuck = self._counts() == (0, 0)
                self.flush()
                status = scan.UNUSUAL if stuck else status
            if status == scan.UNUSUAL:
                cursor[0] = pos = self._one(buffer, pos, base)
            elif status == scan.MORE and pos + len(buffer) > have > 0 == pos and have == len(buffer):
                status = scan.ODD  # larger than the buffer: the plain parser waits for all of it
            elif status == scan.MORE:
                buffer[: have - pos] = buffer[pos:have]
                base, have, cursor[0] = base + pos, have - pos, 0
                got = file.read_into(base + have, buffer.data[have:])
                have += got
                if not got:
                    status = scan.ODD
            if status == scan.ODD:
                base = self._plain_stretch(file, base + int(cursor[0]))
                have = cursor[0] = 0
                if base < 0:
                    return -1 - base, int(cursor[4])

    def _one(self, buffer: NDArray[np.uint8], pos: int, base: int) -> int:
        """Read the one record at `pos`, which is whole; returns the position behind it."""
        length = int.from_bytes(buffer[pos : pos + 8].tobytes(), "little")
        stop = pos + HEADER_BYTES + length
        self._record(buffer[pos + HEADER_BYTES : stop].tobytes(), base + pos, int(self._cursor[4]))
        self._cursor[4] += 1
        return stop + FOOTER_BYTES

    def _plain_stretch(self, file: ReadableFile, offset: int) -> int:
        """Read plainly up to and with the next record; returns the offset behind it, or -1 - n: the file ends at n."""
        parser = BatchParser(offset, int(self._cursor[4]))
        end = offset
        for chunk in chunks(file, offset):
            end += len(chunk)
            for item in parser.feed(chunk):
                self._take([item])
                if isinstance(item, Batch):
                    last = item.offsets[-1] + HEADER_BYTES + len(item.data[-1]) + FOOTER_BYTES
                    self._cursor[4] = item.number + len(item.data)
                    return last
        self._take(parser.close())
        self._cursor[4] = parser.number
        return -1 - end

    def _record(self, data: bytes, offset: int, number: int) -> None:
        """One record: what it means, whoever read it."""
        try:
            event: Event | None = Event.FromString(data)
        except DecodeError:
            event = None
        if event is None or event.step < 0 or not math.isfinite(event.wall_time) or not (event.wall_time or event.step):
            event, faults = decode_event(data, offset, number)
            self.faults += faults
        if event is None:
            return
        what = event.WhichOneof("what")
        if what == "summary":
            self._summary(event, data, offset)
        elif what == "session_log":
            self._session_log(event, offset)
        elif what == "file_version":
            if number == 0:
                self.versions[-1] = event.file_version
        elif what is not None:
            moment = Moment(what, event.step, event.wall_time, len(self.files) - 1, offset, len(data))
            self.moments.append(moment)

    def _summary(self, event: Event, data: bytes, offset: int) -> None:
        step, wall_time, values = event.step, event.wall_time, event.summary.value
        spans: list[tuple[int, int]] = []
        for i, value in enumerate(values):
            tag = self.tags.get(value.tag) or self._new_tag(value.tag)
            what = value.WhichOneof("value")
            if tag.metadata is None and value.HasField("metadata"):
                self._describe(tag, value.metadata)
            if what == "simple_value":
                scalar: float | None = value.simple_value
            elif what == "tensor" and tag.tag_class == CLASS_SCALAR:
                scalar = scalar_value(value.tensor)
            else:
                scalar = None
            if scalar is not None:
                self._add_row(tag.number, step, wall_time, scalar)
                continue
            spans = spans or value_spans(data, len(values))
            start, length = spans[i]
            place = (step, wall_time, offset + HEADER_BYTES + start, length, tag.number, len(self.files) - 1)
            self._add_place((*place, _KINDS[what], 0))

    def _add_row(self, tag: int, step: int, wall_time: float, value: float) -> None:
        if self._scanner is None:
            self._pending.append((step, wall_time, value, tag))
            if len(self._pending) == CAPACITY:
                self.flush()
            return
        n_rows, n_places = self._counts()
        if n_rows == CAPACITY:
            self.flush()
            n_rows = n_places = 0
        self._space.rows[n_rows] = step, wall_time, value, tag
        self._set_counts(n_rows + 1, n_places)

    def _add_place(self, place: tuple[int, float, int, int, int, int, int, int]) -> None:
        n_rows, n_places = self._counts()
        if n_places == PLACE_CAPACITY:
            self.flush()
            n_rows = n_places = 0
        self._space.places[n_places] = place
        self._set_counts(n_rows, n_places + 1)

    def _new_tag(self, name: str) -> Tag:
        tag = self.tags[name] = Tag(len(self._by_number), name)
        self._by_number.append(tag)
        if self._scanner is not None:
            self._scanner.add(name.encode())
        return tag

    def _describe(self, tag: Tag, metadata: SummaryMetadata) -> None:
        """Keep a tag's first metadata: no later one counts."""
        tag.metadata = SummaryMetadata.FromString(metadata.SerializeToString())
        scalars = metadata.plugin_data.plugin_name == "scalars" or metadata.data_class == DATA_CLASS_SCALAR
        tag.tag_class = CLASS_SCALAR if scalars else CLASS_OTHER
        if self._scanner is not None:
            self._scanner.set_class(tag.number, tag.tag_class)

    def _session_log(self, event: Event, offset: int) -> None:
        log = SessionLog.FromString(event.session_log.SerializeToString())
        self.session_logs.append((event.step, event.wall_time, log))
        if log.status == SessionLog.START:
            self.flush()
            self.starts.append(SessionStart(event.step, len(self.files) - 1, offset, self.points.counts))
