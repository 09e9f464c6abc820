"""The files of one run → columns, faults, and the places of all values that are not scalars.

Strategy: `_record` reads one record with protobuf, and defines what the bytes mean. `Rows` reads files. With the
compiled scanner, `ScannedRows` takes the rows and places that it recognizes, and only the other records come here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from google.protobuf.message import DecodeError

from summaries.errors import Fault, FaultKind
from summaries.reading.event_iterator import empty_file, no_event_file
from summaries.reading.rows import Rows
from summaries.wire.events import decode_event, value_spans
from summaries.wire.layout import (
    CLASS_NONE,
    CLASS_OTHER,
    CLASS_SCALAR,
    CLASS_SKIPPED,
    KIND_AUDIO,
    KIND_HISTOGRAM,
    KIND_IMAGE,
    KIND_OBSOLETE,
    KIND_TENSOR,
    PLACE_CAPACITY,
)
from summaries.wire.pb import DATA_CLASS_SCALAR, Event, SessionLog, SummaryMetadata
from summaries.wire.records import HEADER_BYTES
from summaries.wire.tensors import scalar_value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from summaries.reading.ranges import Part
    from summaries.reading.rows import Workspace
    from summaries.storage.protocols import StoredFile
    from summaries.wire.batches import Batch

    Read = Callable[["Collector", StoredFile, int], int]
    """Reads a file with `Collector.read_part` from an offset to its end, which it returns."""

__all__ = ["Collector", "NonSummaryEvent", "Tag", "is_scalars"]

_KINDS = {
    "image": KIND_IMAGE,
    "histo": KIND_HISTOGRAM,
    "audio": KIND_AUDIO,
    "tensor": KIND_TENSOR,
    "obsolete_old_style_histogram": KIND_OBSOLETE,
}
_PASSING = frozenset({FaultKind.UNFINISHED_TAIL, FaultKind.EMPTY_FILE, FaultKind.NO_EVENT_FILE})
"""Faults of a file that is still being written, which more bytes repair."""


@dataclass(slots=True)
class Tag:
    """A tag: its number, its name, and its first metadata."""

    number: int
    name: str
    metadata: SummaryMetadata | None = None
    tag_class: int = CLASS_NONE


class NonSummaryEvent(NamedTuple):
    """An event that carries something other than a summary: which field, and the position of its record."""

    what: str
    step: int
    wall_time: float
    file: int
    offset: int
    length: int


class Collector:
    """Reads the files of one run, one after another.

    Args:
        workspace: scratch memory, not shared while the collector reads.
        fast: whether to use the compiled scanner.
        wanted: whether a tag is wanted; None for every tag.
        read: reads a file, as whole or in parts; None reads it as a whole.

    Attributes:
        rows: the scalars and places.
        files: the files that were read, in order.
        tags: the wanted tags by name, in order of first appearance. The others have numbers too.
        non_summary_events: the events that do not carry a summary.
        session_logs: (step, wall_time, log) of each session log.
        starts: (mark, step) of each session log with status START. The mark separates the points before it from those
            after it.
        file_marks: for each file, the mark before its points.
        versions: for each file, the version in its first record, or "".
        records: for each file, its number of whole records.
        faults: all faults, in order.
        settled: how much of the last file was read, in bytes, without a record that has only begun.
    """

    def __init__(
        self,
        workspace: Workspace,
        *,
        fast: bool,
        wanted: Callable[[str], bool] | None = None,
        read: Read | None = None,
    ) -> None:
        self.rows = _rows(workspace, fast)
        self.fast = fast
        self._read = read or Collector.read_part
        self._add_row = self.rows.rows.append
        self.files: list[StoredFile] = []
        self.tags: dict[str, Tag] = {}
        self._wanted = wanted
        self._skipped: dict[str, int] = {}
        self.non_summary_events: list[NonSummaryEvent] = []
        self.session_logs: list[tuple[int, float, SessionLog]] = []
        self.starts: list[tuple[int, int]] = []
        self.file_marks: list[int] = []
        self.versions: list[str] = []
        self.records: list[int] = []
        self.faults: list[Fault] = []
        self.settled = 0

    def read(self, file: StoredFile) -> None:
        """Read one more file, to its current end.

        Raises:
            OSError: the file cannot be read.
        """
        self.begin(file)
        self.file_marks.append(self.rows.points.mark())
        self._read_from(file, 0)

    def begin(self, file: StoredFile) -> None:
        """Take what is read next for the contents of this file."""
        self.files.append(file)
        self.versions.append("")
        self.records.append(0)

    def read_more(self, file: StoredFile, start: int) -> None:
        """Read what was added to the last file since it was read.

        Args:
            file: the file, as it was listed now.
            start: where the part that was read ends, in bytes: `settled`.

        Raises:
            OSError: the file cannot be read.
        """
        self.files[-1] = file
        while self.faults and self.faults[-1].path == file.path and self.faults[-1].kind in _PASSING:
            self.faults.pop()
        self._read_from(file, start)

    def _read_from(self, file: StoredFile, start: int) -> None:
        before = len(self.faults)
        end = self._read(self, file, start)
        found = self.faults[before:] if end else [empty_file()]
        tails = [fault.offset for fault in found if fault.kind is FaultKind.UNFINISHED_TAIL]
        self.settled = min([end, *tails])
        if not self.records[-1]:
            found = [no_event_file(fault, end) for fault in found]
        self.faults[before:] = [fault.located(file.path) for fault in found]

    def read_part(self, file: StoredFile, start: int, stop: int | None = None) -> int:
        """Read the records and faults that begin in a part of the last file.

        Args:
            file: the file.
            start: where a record or a fault begins, in bytes.
            stop: where the part ends; None reads to the file's current end.

        Returns:
            Where the first record or fault behind the part begins, or the file's length in bytes.

        Raises:
            OSError: the file cannot be read.
        """
        with file.open(start, stop) as opened:
            number = len(self.files) - 1
            end, self.records[-1] = self.rows.read(opened, number, self._take, start, self.records[-1], stop)
        self.rows.flush()
        return end

    def names(self) -> list[str]:
        """The name of each tag number, wanted or not."""
        names = [""] * (len(self.tags) + len(self._skipped))
        for tag in self.tags.values():
            names[tag.number] = tag.name
        for name, number in self._skipped.items():
            names[number] = name
        return names

    def know(self, names: Iterable[str], metadata: Mapping[str, SummaryMetadata]) -> None:
        """Take these tags, and the first metadata of some, for what was read before."""
        for name in names:
            if name not in self.tags:
                self._new_tag(name)
        for name, first in metadata.items():
            if self.tags[name].metadata is None:
                self._describe(self.tags[name], first)

    def metadata(self) -> dict[str, SummaryMetadata]:
        """The first metadata of each wanted tag that has one."""
        return {tag.name: tag.metadata for tag in self.tags.values() if tag.metadata is not None}

    def absorb(self, part: Part) -> None:
        """Add what another collector read behind that which was read here; `part` loses its points."""
        self.know(part.names, part.metadata)
        numbers = [self.tags[name].number if name in self.tags else self._skipped[name] for name in part.names]
        file, marks, records = len(self.files) - 1, self.rows.points.marks, self.records[-1]
        self.rows.absorb(part.points, part.places, numbers, file)
        self.starts += [(mark + marks, step) for mark, step in part.starts]
        self.session_logs += part.session_logs
        self.non_summary_events += [event._replace(file=file) for event in part.non_summary_events]
        self.faults += [replace(fault, record=fault.record + records) for fault in part.faults]
        self.records[-1] += part.records
        if not records:
            self.versions[-1] = part.version

    def add(self, tag: str, step: int, wall_time: float, value: float) -> None:
        """Take a scalar that comes from no file."""
        known = self.tags.get(tag) or self._new_tag(tag)
        if known is not None:
            self.rows.points.append(known.number, step, wall_time, value)

    def _take(self, item: Batch | Fault) -> None:
        if isinstance(item, Fault):
            self.faults.append(item)
            return
        for i, data in enumerate(item.data):
            self._record(data, item.offsets[i], item.number + i)
        self.rows.flush_if_full()

    def _record(self, data: bytes, offset: int, number: int) -> None:
        """Take a record, with a fast path for the usual one: one simple_value of a known tag."""
        try:
            event = Event.FromString(data)
        except DecodeError:
            self._unusual(None, data, offset, number)
            return
        step, wall_time, values = event.step, event.wall_time, event.summary.value
        if step >= 0 and 0.0 < wall_time < math.inf and len(values) == 1:
            value = values[0]
            tag = self.tags.get(value.tag)
            if (
                tag is not None
                and value.WhichOneof("value") == "simple_value"
                and (tag.metadata is not None or not value.HasField("metadata"))
            ):
                self._add_row((step, wall_time, value.simple_value, tag.number))
                return
            if value.tag in self._skipped:
                return
        self._unusual(event, data, offset, number)

    def _unusual(self, event: Event | None, data: bytes, offset: int, number: int) -> None:
        """Take a record of any kind.

        Args:
            event: the data as parsed by protobuf; None if it does not parse.
            data: the record's data.
            offset: where the record starts, in bytes.
            number: the number of records before it.
        """
        if event is None or event.step < 0 or not math.isfinite(event.wall_time) or not (event.wall_time or event.step):
            event, faults = decode_event(data, offset, number)
            self.faults += faults
        if event is None:
            return
        what = event.WhichOneof("what")
        if what == "summary":
            self._summary(event, data, offset)
        elif what == "session_log":
            self._session_log(event)
        elif what == "file_version":
            if number == 0:
                self.versions[-1] = event.file_version
        elif what is not None:
            file = len(self.files) - 1
            self.non_summary_events.append(NonSummaryEvent(what, event.step, event.wall_time, file, offset, len(data)))

    def _summary(self, event: Event, data: bytes, offset: int) -> None:
        step, wall_time, values = event.step, event.wall_time, event.summary.value
        rows, file = self.rows, len(self.files) - 1
        spans: list[tuple[int, int]] = []
        for i, value in enumerate(values):
            name = value.tag
            tag = self.tags.get(name) or self._new_tag(name)
            if tag is None:
                continue
            what = value.WhichOneof("value")
            if tag.metadata is None and value.HasField("metadata"):
                self._describe(tag, SummaryMetadata.FromString(value.metadata.SerializeToString()))
            if what is None:
                continue
            if what == "simple_value":
                scalar: float | None = value.simple_value
            elif what == "tensor" and tag.tag_class == CLASS_SCALAR:
                scalar = scalar_value(value.tensor)
            else:
                scalar = None
            if scalar is not None:
                self._add_row((step, wall_time, scalar, tag.number))
            else:
                spans = spans or value_spans(data, len(values))
                start, length = spans[i]
                place = offset + HEADER_BYTES + start
                rows.places.append((step, wall_time, place, length, tag.number, file, _KINDS[what], 0))
            if i % PLACE_CAPACITY == 0:
                rows.flush_if_full()

    def _new_tag(self, name: str) -> Tag | None:
        """Number a tag that is new; None if it is not wanted."""
        if name in self._skipped:
            return None
        number = len(self.tags) + len(self._skipped)
        self.rows.add_tag(name)
        if self._wanted is not None and not self._wanted(name):
            self._skipped[name] = number
            self.rows.set_class(number, CLASS_SKIPPED)
            return None
        tag = self.tags[name] = Tag(number, name)
        return tag

    def _describe(self, tag: Tag, metadata: SummaryMetadata) -> None:
        """Keep a tag's first metadata; later metadata is ignored."""
        tag.metadata = metadata
        tag.tag_class = CLASS_SCALAR if is_scalars(metadata) else CLASS_OTHER
        self.rows.set_class(tag.number, tag.tag_class)

    def _session_log(self, event: Event) -> None:
        log = SessionLog.FromString(event.session_log.SerializeToString())
        self.session_logs.append((event.step, event.wall_time, log))
        if log.status == SessionLog.START:
            self.starts.append((self.rows.mark(), event.step))


def is_scalars(metadata: SummaryMetadata) -> bool:
    """Whether the tensors of a tag with this first metadata are scalars."""
    return metadata.plugin_data.plugin_name == "scalars" or metadata.data_class == DATA_CLASS_SCALAR


def _rows(workspace: Workspace, fast: bool) -> Rows:
    if not fast:
        return Rows()
    from summaries.reading.scanned_rows import ScannedRows  # noqa: PLC0415 - it needs numba

    return ScannedRows(workspace)
