"""Index: where each event of a stretch of bytes lies, and each value in it, so that it can be left, cut or changed.

`Indexing` reads one record after another with protobuf, and defines what the rows say; `compiled.index` does the same
for the records that it recognizes. Pure (no I/O).
"""

from __future__ import annotations

import math
from itertools import pairwise
from struct import Struct
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from google.protobuf.message import DecodeError

from summaries.wire.events import WALL_TIME_KEY, decode_event, escape_tags
from summaries.wire.layout import (
    CLASS_NONE,
    CLASS_OTHER,
    CLASS_SCALAR,
    KIND_AUDIO,
    KIND_HISTOGRAM,
    KIND_IMAGE,
    KIND_OBSOLETE,
    KIND_TENSOR,
)
from summaries.wire.pb import DATA_CLASS_SCALAR, SessionLog
from summaries.wire.protobuf import read_varint, varint
from summaries.wire.records import FOOTER_BYTES, HEADER_BYTES
from summaries.wire.scalars import scalar_summary
from summaries.wire.tensors import scalar_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from summaries.errors import Fault
    from summaries.wire.batches import Batch
    from summaries.wire.pb import Event, SummaryMetadata

__all__ = [
    "EVENT",
    "KIND_NOTHING",
    "KIND_SCALAR",
    "LOST",
    "OTHER",
    "SCALAR",
    "START",
    "SUMMARY",
    "VALUE",
    "VERSION",
    "Index",
    "Indexing",
    "Tags",
]

EVENT = np.dtype(
    [
        ("start", "<i8"),
        ("stop", "<i8"),
        ("step", "<i8"),
        ("wall_time", "<f8"),
        ("first", "<i8"),
        ("count", "<i4"),
        ("what", "<i4"),
    ]
)
"""One record: its first byte and the byte after it in the buffer; its values are `count` rows from `first` on."""

VALUE = np.dtype([("value", "<f8"), ("event", "<i4"), ("tag", "<i4"), ("kind", "<i4"), ("described", "<i4")])
"""One Summary.Value: a scalar's value; its event and tag, by number; its kind; whether it has metadata."""

LOST, OTHER, SUMMARY, SCALAR, VERSION, START = range(6)
"""What a record is: not an Event, or one whose tag is no text · an event without a summary · a summary · one scalar in
the form that `scalars.ScalarEncoder` writes · the file's version · a session's start."""

KIND_SCALAR = 0
KIND_NOTHING = -1
"""Kinds of a value beside `layout.KIND_…`: a scalar · no value, only a tag and metadata."""

_KINDS = {
    None: KIND_NOTHING,
    "simple_value": KIND_SCALAR,
    "image": KIND_IMAGE,
    "histo": KIND_HISTOGRAM,
    "audio": KIND_AUDIO,
    "tensor": KIND_TENSOR,
    "obsolete_old_style_histogram": KIND_OBSOLETE,
}
_WALL_TIME = Struct("<d")
_VALUE = Struct("<f")
_FEWEST_BYTES = 20  # of the data of a scalar in the usual form
_STEP_KEY = 0x10
_MOST_STEP_BYTES = 9  # of a step that is not negative
_FIRST_BULK, _FEWEST_BULK = 64, 16  # records: of the first block that is looked at in bulk; of a run that is added so


class Index(NamedTuple):
    """A stretch of whole records without a gap, and what they are.

    Attributes:
        buffer: uint8[m], valid until the next stretch is read.
        base: the offset of its first byte in the file.
        events: EVENT[n].
        values: VALUE[k], in the order of the events.
        sound: the data to write instead of the record's, for events whose tags are not text; by event.
    """

    buffer: NDArray[np.uint8]
    base: int
    events: NDArray[np.void]
    values: NDArray[np.void]
    sound: Mapping[int, bytes]

    def data(self, event: int) -> bytes:
        """The data of an event's record."""
        row = self.events[event]
        found = self.sound.get(event)
        return (
            self.buffer[row["start"] + HEADER_BYTES : row["stop"] - FOOTER_BYTES].tobytes() if found is None else found
        )


class Tags:
    """The tags of one run, numbered in order of appearance.

    Attributes:
        names: by number.
        numbers: by name.
        classes: by number: one of `layout.CLASS_…`, by the tag's first metadata.
        described: the numbers of tags whose class was set, in order.
    """

    def __init__(self) -> None:
        self.names: list[str] = []
        self.numbers: dict[str, int] = {}
        self.classes: list[int] = []
        self.described: list[int] = []

    def number(self, name: str) -> int:
        """The number of a tag, which is added if it is new."""
        found = self.numbers.get(name)
        if found is None:
            found = self.numbers[name] = len(self.names)
            self.names.append(name)
            self.classes.append(CLASS_NONE)
        return found

    def describe(self, number: int, metadata: SummaryMetadata) -> None:
        """Take a tag's metadata; only its first counts."""
        if self.classes[number] == CLASS_NONE:
            scalars = metadata.plugin_data.plugin_name == "scalars" or metadata.data_class == DATA_CLASS_SCALAR
            self.classes[number] = CLASS_SCALAR if scalars else CLASS_OTHER
            self.described.append(number)


class Indexing:
    """Collects the rows of an index, record by record.

    Args:
        tags: the run's tags.

    Attributes:
        events: the rows of EVENT so far.
        values: the rows of VALUE so far.
        sound: as in `Index`.

    >>> from summaries.wire.scalars import encode_scalar
    >>> indexing = Indexing(Tags())
    >>> indexing.add(encode_scalar("loss", 7, 1.5, 0.25)[12:-4], 0, 0, 0)
    []
    >>> indexing.events, indexing.values
    ([(0, 42, 7, 1.5, 0, 1, 3)], [(0.25, 0, 0, 0, 0)])
    """

    def __init__(self, tags: Tags) -> None:
        self.tags = tags
        self._usual: dict[bytes, int] = {}  # what precedes the value in the usual form of a scalar → the tag's number
        self.clear()

    def clear(self) -> None:
        """Forget the rows, but not the tags."""
        self.events: list[tuple[int, int, int, float, int, int, int]] = []
        self.values: list[tuple[float, int, int, int, int]] = []
        self.sound: dict[int, bytes] = {}
        self._blocks: list[tuple[NDArray[np.void], NDArray[np.void]]] = []  # rows before those in the lists
        self._counts = 0, 0  # of events and values in the blocks

    def index(self, buffer: NDArray[np.uint8], base: int) -> Index:
        """The rows so far, as arrays; there must be some."""
        self._put(np.array(self.events, EVENT), np.array(self.values, VALUE))
        self.events, self.values = [], []
        events, values = zip(*self._blocks, strict=True)
        return Index(buffer, base, np.concatenate(events), np.concatenate(values), self.sound)

    def _put(self, events: NDArray[np.void], values: NDArray[np.void]) -> None:
        self._blocks.append((events, values))
        self._counts = self._counts[0] + len(events), self._counts[1] + len(values)

    def add_all(self, batch: Batch, buffer: NDArray[np.uint8], base: int) -> list[Fault]:
        """Add many records, the usual scalars among them in bulk, and return their faults.

        Args:
            batch: the records.
            buffer: the bytes that they are in.
            base: the offset of the buffer's first byte in the file.
        """
        faults: list[Fault] = []
        first, size = 0, _FIRST_BULK
        while first < len(batch.data):  # in blocks that grow: tags are known only when they were met
            data = batch.data[first : first + size]
            starts = np.array(batch.offsets[first : first + size], np.int64) - base
            usual = self._usual_rows(data, buffer, starts)
            for begin, end, is_usual in _runs(usual.tags >= 0):
                if is_usual and end - begin >= _FEWEST_BULK:
                    self._add_bulk(usual, begin, end)
                    continue
                for i in range(begin, end):
                    number = first + i
                    faults += self.add(data[i], int(starts[i]), batch.offsets[number], batch.number + number)
            first, size = first + size, size * 4
        return faults

    def _usual_rows(self, data: list[bytes], buffer: NDArray[np.uint8], starts: NDArray[np.int64]) -> _Usual:
        """The columns of records, as far as these are usual scalars of known tags; the tag of any other is -1."""
        stops = starts + (HEADER_BYTES + FOOTER_BYTES) + np.fromiter(map(len, data), np.int64, len(data))
        long_enough = stops - starts >= _FEWEST_BYTES + HEADER_BYTES + FOOTER_BYTES
        at = np.where(long_enough, starts + HEADER_BYTES, 0)
        steps, heads, sound = _steps(buffer, at + 9)
        heads -= at
        tags = np.array([self._usual.get(one[head:-4], -1) for one, head in zip(data, heads.tolist(), strict=True)])
        wall_times = np.ndarray((len(buffer) - 7,), "<f8", buffer, strides=(1,))[at + 1]
        sound &= long_enough & (buffer[at] == WALL_TIME_KEY[0]) & np.isfinite(wall_times)
        values = np.ndarray((len(buffer) - 3,), "<f4", buffer, strides=(1,))[stops - FOOTER_BYTES - 4]
        return _Usual(np.where(sound, tags, -1), starts, stops, steps, wall_times, values)

    def _add_bulk(self, usual: _Usual, begin: int, end: int) -> None:
        """Add usual scalars."""
        if self.events:
            self._put(np.array(self.events, EVENT), np.array(self.values, VALUE))
            self.events, self.values = [], []
        tags, starts, stops, steps, wall_times, numbers = (column[begin:end] for column in usual)
        events, values = np.zeros(end - begin, EVENT), np.zeros(end - begin, VALUE)
        events["start"], events["stop"], events["step"], events["wall_time"] = starts, stops, steps, wall_times
        events["first"] = np.arange(end - begin) + self._counts[1]
        events["count"], events["what"] = 1, SCALAR
        values["event"] = np.arange(end - begin) + self._counts[0]
        values["tag"], values["value"] = tags, numbers
        self._put(events, values)

    def add(self, data: bytes, start: int, offset: int, number: int) -> list[Fault]:
        """Add one record, and return its faults.

        Args:
            data: its data.
            start: where it starts in the buffer.
            offset: where it starts in the file.
            number: the number of records before it.
        """
        stop = start + HEADER_BYTES + len(data) + FOOTER_BYTES
        if self._add_usual(data, start, stop):
            return []
        event, faults = decode_event(data, offset, number)
        if event is None:
            self.events.append((start, stop, 0, 0.0, self._next_value, 0, LOST))
            return faults
        if any(fault.kind.is_data_loss for fault in faults):
            data = self.sound[self._next_event] = escape_tags(data)[0]
        what = event.WhichOneof("what")
        if what == "summary":
            self._add_summary(event, data, start, stop)
            return faults
        kind = OTHER
        if what == "file_version":
            kind = VERSION
        elif what == "session_log" and event.session_log.status == SessionLog.START:
            kind = START
        self.events.append((start, stop, event.step, event.wall_time, self._next_value, 0, kind))
        return faults

    @property
    def filled(self) -> bool:
        """Whether there are rows."""
        return self._next_event > 0

    @property
    def _next_event(self) -> int:
        return self._counts[0] + len(self.events)

    @property
    def _next_value(self) -> int:
        return self._counts[1] + len(self.values)

    def _add_usual(self, data: bytes, start: int, stop: int) -> bool:
        """Add a scalar of a known tag, if it is in the usual form."""
        if len(data) < _FEWEST_BYTES or data[:1] != WALL_TIME_KEY:
            return False
        step, at = 0, 9
        if data[9] == _STEP_KEY:
            try:
                step, at = read_varint(data, 10, len(data))
            except DecodeError:
                return False
            if at != 10 + (step.bit_length() + 6) // 7 or step >> 63:
                return False
        tag = self._usual.get(data[at:-4])
        (wall_time,) = _WALL_TIME.unpack_from(data, 1)
        if tag is None or not math.isfinite(wall_time):
            return False
        (value,) = _VALUE.unpack_from(data, len(data) - 4)
        event = self._next_event
        self.events.append((start, stop, step, wall_time, self._next_value, 1, SCALAR))
        self.values.append((value, event, tag, KIND_SCALAR, 0))
        return True

    def _add_summary(self, event: Event, data: bytes, start: int, stop: int) -> None:
        own, first = self._next_event, self._next_value
        for value in event.summary.value:
            tag = self.tags.number(value.tag)
            described = value.HasField("metadata")
            if described:
                self.tags.describe(tag, value.metadata)
            what = value.WhichOneof("value")
            kind, number = _KINDS[what], 0.0
            if what == "simple_value":
                number = value.simple_value
                if not described:
                    self._usual.setdefault(_usual_head(value.tag), tag)
            elif what == "tensor" and self.tags.classes[tag] == CLASS_SCALAR:
                scalar = scalar_value(value.tensor)
                if scalar is not None:
                    kind, number = KIND_SCALAR, scalar
            self.values.append((number, own, tag, kind, int(described)))
        count = self._next_value - first
        usual = count == 1 and len(data) >= _FEWEST_BYTES and _is_usual(event, data)
        self.events.append((start, stop, event.step, event.wall_time, first, count, SCALAR if usual else SUMMARY))


class _Usual(NamedTuple):
    """Columns of records that may be usual scalars."""

    tags: NDArray[np.int64]
    starts: NDArray[np.int64]
    stops: NDArray[np.int64]
    steps: NDArray[np.int64]
    wall_times: NDArray[np.float64]
    values: NDArray[np.float32]


def _steps(
    buffer: NDArray[np.uint8], at: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
    """The steps whose key may be at `at`, the offsets after them, and whether each is as short as it can be."""
    steps, ends = np.zeros(len(at), np.int64), at.copy()
    more = buffer[at] == _STEP_KEY
    ends += more
    last = np.ones(len(at), np.uint8)
    for i in range(_MOST_STEP_BYTES):
        if not more.any():
            break
        byte = buffer[np.minimum(ends, len(buffer) - 1)]
        steps |= np.where(more, (byte & 0x7F).astype(np.int64) << (7 * i), 0)
        last = np.where(more, byte, last)
        ends += more
        more = more & (byte > 0x7F)  # noqa: PLR2004 - the continuation bit
    return steps, ends, ~more & (last != 0)


def _runs(mask: NDArray[np.bool_]) -> Iterator[tuple[int, int, bool]]:
    """(begin, end, whether it is True) of each run of equal entries."""
    bounds = [0, *(np.flatnonzero(np.diff(mask)) + 1).tolist(), len(mask)]
    return ((begin, end, bool(mask[begin])) for begin, end in pairwise(bounds))


def _usual_head(tag: str) -> bytes:
    """What an Event of one scalar has between its step and its value."""
    summary = scalar_summary(tag.encode(), 0.0)
    return b"\x2a" + varint(len(summary)) + summary[:-4]


def _is_usual(event: Event, data: bytes) -> bool:
    """Whether an event of one value has just the bytes that `scalars.ScalarEncoder` writes for it."""
    value = event.summary.value[0]
    if value.WhichOneof("value") != "simple_value" or value.HasField("metadata"):
        return False
    step = b"\x10" + varint(event.step) if event.step else b""
    if event.step < 0 or not math.isfinite(event.wall_time):
        return False
    return data[:-4] == WALL_TIME_KEY + _WALL_TIME.pack(event.wall_time) + step + _usual_head(value.tag)
