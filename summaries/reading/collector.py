"""The files of one run → columns, faults, and the locations of all values that are not scalars."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from summaries.errors import Fault, FaultKind
from summaries.reading.columns import ScalarColumns
from summaries.reading.event_iterator import empty_file
from summaries.reading.reader import of_whole_file, reader
from summaries.wire.layout import CLASS_SKIPPED, KIND_SCALAR, PLACE
from summaries.wire.pb import SessionLog

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from summaries.storage.protocols import StoredFile
    from summaries.wire.index import Index, Other
    from summaries.wire.pb import SummaryMetadata


__all__ = ["Collector", "NonSummaryEvent"]


class NonSummaryEvent(NamedTuple):
    """An event that carries something other than a summary: which field, and where its record lies."""

    what: str
    file: int
    offset: int
    length: int


class Collector:
    """Reads the files of one run, one after another.

    Args:
        wanted: whether a tag is wanted; None for every tag.

    Attributes:
        points: the scalars, by tag number.
        locations: PLACE[n] in pieces, in order.
        files: the files that were read, in order.
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

    def __init__(self, wanted: Callable[[str], bool] | None = None) -> None:
        self._reader = reader(events=False, wanted=wanted)
        self.points: ScalarColumns = ScalarColumns()
        self.locations: list[NDArray[np.void]] = []
        self.files: list[StoredFile] = []
        self.non_summary_events: list[NonSummaryEvent] = []
        self.session_logs: list[tuple[int, float, SessionLog]] = []
        self.starts: list[tuple[int, int]] = []
        self.file_marks: list[int] = []
        self.versions: list[str] = []
        self.records: list[int] = []
        self.faults: list[Fault] = []
        self.settled: int = 0

    @property
    def tags(self) -> dict[str, int]:
        """The wanted tags' numbers, in order of first appearance."""
        tags = self._reader.tags
        return {name: i for i, name in enumerate(tags.names) if tags.classes[i] != CLASS_SKIPPED}

    @property
    def metadata(self) -> dict[str, SummaryMetadata]:
        """The first metadata of each wanted tag that has one, in the order of tags."""
        tags = self._reader.tags
        return {tags.names[i]: tags.metadata[i] for i in sorted(tags.metadata)}

    def read(self, file: StoredFile) -> None:
        """Read one more file, to its current end.

        Raises:
            OSError: the file cannot be read.
        """
        self.files.append(file)
        self.versions.append("")
        self.records.append(0)
        self.file_marks.append(self.points.mark())
        self._read_from(file, 0)

    def read_more(self, file: StoredFile, start: int) -> None:
        """Read what was added to the last file since it was read.

        Args:
            file: the file, as it was listed now.
            start: where the part that was read ends, in bytes: `settled`.

        Raises:
            OSError: the file cannot be read.
        """
        self.files[-1] = file
        while self.faults and self.faults[-1].path == file.path and self.faults[-1].kind.may_pass:
            self.faults.pop()
        self._read_from(file, start)

    def add(self, tag: str, step: int, wall_time: float, value: float) -> None:
        """Take a scalar that comes from no file."""
        self.points.append(self._reader.tags.number(tag), step, wall_time, value)

    def _read_from(self, file: StoredFile, start: int) -> None:
        faults: list[Fault] = []
        try:
            with file.open(start) as opened:
                for item in self._reader.read_from(opened, start, self.records[-1]):
                    if isinstance(item, Fault):
                        faults.append(of_whole_file(item, self._reader.end, opened))
                    else:
                        self._take(item)
        finally:
            self.points.wait()  # whatever happens: this thread's next file is read into the same memory
        end = self._reader.end
        faults = faults if end else [empty_file()]
        tails = [fault.offset for fault in faults if fault.kind is FaultKind.UNFINISHED_TAIL]
        self.settled = min([end, *tails])
        self.faults += [fault.located(file.path) for fault in faults]

    def _take(self, index: Index) -> None:
        self.records[-1] += index.records
        if len(index.values):
            self._take_values(index)
        for other in index.others:
            self._other(other)

    def _take_values(self, index: Index) -> None:
        values, growth = index.values, self.files[-1].size / max(index.end, 1)
        self.points.add(values, len(self._reader.tags.names), growth, lasts=index.lasts)
        if index.places:
            self.locations.append(self._locations(values[values["kind"] > KIND_SCALAR]))

    def _locations(self, values: NDArray[np.void]) -> NDArray[np.void]:
        locations = np.empty(len(values), PLACE)
        for name in ("step", "wall_time", "length", "tag", "kind"):
            locations[name] = values[name]
        locations["offset"] = values["value"]
        locations["file"], locations["epoch"] = len(self.files) - 1, self.points.marks
        return locations

    def _other(self, other: Other) -> None:
        event, file = other.event, len(self.files) - 1
        if other.what == "file_version":
            if other.number == 0:
                self.versions[-1] = event.file_version
        elif other.what == "session_log":
            log = SessionLog.FromString(event.session_log.SerializeToString())
            self.session_logs.append((event.step, event.wall_time, log))
            if log.status == SessionLog.START:
                self.starts.append((self.points.mark(), event.step))
        else:
            self.non_summary_events.append(NonSummaryEvent(other.what, file, other.offset, other.length))
