"""Index: what a stretch of records says, and where each of them lies, so that it can be left, cut or changed.

`Rows.add` reads one record after another with protobuf, and defines what the rows say; the compiled scanner adds those
that it recognizes to the same rows. Pure (no I/O).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from summaries.wire import layout
from summaries.wire.events import decode_event, escape_tags, value_spans
from summaries.wire.pb import DATA_CLASS_SCALAR, SessionLog, SummaryMetadata
from summaries.wire.records import FOOTER_BYTES, HEADER_BYTES
from summaries.wire.scalars import encode_scalar
from summaries.wire.tensors import scalar_value

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from summaries.errors import Fault
    from summaries.wire.pb import Event

__all__ = ["Index", "Other", "Rows", "Tags"]

# Splitting values takes 2 µs for each tag among them. With many tags, more are collected: up to 40 MB.
_VALUES_OF_A_TAG = 32
_MOST_VALUES = 1 << 20
_MANY_VALUES = 1 << 14  # for fewer, no other thread is worth waking


class Other(NamedTuple):
    """An event that carries something other than a summary: which field, where it lies, and how many are before it."""

    what: str
    event: Event
    offset: int
    length: int
    number: int


class Index(NamedTuple):
    """A stretch of whole records without a gap, and what they are.

    Attributes:
        buffer: uint8[m], valid until the next stretch is read.
        base: the offset of its first byte in the file.
        end: the offset of what follows the last record.
        records: the number of records.
        events: EVENT[n], n = records; n = 0 where only values are asked for; valid as long.
        values: VALUE[k], in the order of the events.
        sound: the data to write instead of the record's, for events whose tags are not text; by event.
        places: how many of the values are no scalars, so that the row says where it lies.
        others: the events that carry something other than a summary. A session's start ends the stretch.
        lasts: whether `values` are valid for a stretch longer than `events` and the buffer.
    """

    buffer: NDArray[np.uint8]
    base: int
    end: int
    records: int
    events: NDArray[np.void]
    values: NDArray[np.void]
    sound: Mapping[int, bytes]
    places: int
    others: Sequence[Other]
    lasts: bool

    def data(self, event: int) -> bytes:
        """The data of an event's record."""
        row = self.events[event]
        sound = self.sound.get(event)
        return (
            self.buffer[row["start"] + HEADER_BYTES : row["stop"] - FOOTER_BYTES].tobytes() if sound is None else sound
        )


class Tags:
    """The tags of one run, numbered in order of appearance.

    Args:
        wanted: whether a tag is wanted; None for every tag.

    Attributes:
        names: by number.
        numbers: by name.
        classes: by number: one of `layout.CLASS_…`, by the tag's first metadata.
        metadata: by number: the first metadata of the tags that have one, and are wanted.
        described: the numbers of tags whose class was set, in order.
    """

    def __init__(self, wanted: Callable[[str], bool] | None = None) -> None:
        self._wanted = wanted
        self.names: list[str] = []
        self.numbers: dict[str, int] = {}
        self.classes: list[int] = []
        self.metadata: dict[int, SummaryMetadata] = {}
        self.described: list[int] = []

    def number(self, name: str) -> int:
        """The number of a tag, which is added if it is new."""
        number = self.numbers.get(name)
        if number is None:
            number = self.numbers[name] = len(self.names)
            self.names.append(name)
            skipped = self._wanted is not None and not self._wanted(name)
            self.classes.append(layout.CLASS_SKIPPED if skipped else layout.CLASS_NONE)
            if skipped:
                self.described.append(number)
        return number

    def describe(self, number: int, metadata: SummaryMetadata) -> None:
        """Take a tag's metadata; only its first counts."""
        if self.classes[number] == layout.CLASS_NONE:
            # A copy: else the whole event would stay in memory.
            self.metadata[number] = SummaryMetadata.FromString(metadata.SerializeToString())
            scalars = metadata.plugin_data.plugin_name == "scalars" or metadata.data_class == DATA_CLASS_SCALAR
            self.classes[number] = layout.CLASS_SCALAR if scalars else layout.CLASS_OTHER
            self.described.append(number)


class Rows:
    """The rows of a stretch, filled record by record.

    Args:
        tags: the run's tags.
        events: EVENT[n], to be filled; n = 0 if only values are asked for.
        values: VALUE[k], to be filled; replaced by a longer one if it is full.
        lasting: whether many values are to be valid until the next stretch but one is read.

    Attributes:
        cursor: int64[5]: what was read of the buffer, in bytes; the records and the values so far; the previous tag;
            those of the values that are no scalars.
        tags, events, values: the same.
        faults: the faults of the records so far.

    >>> rows = Rows(Tags(), np.zeros(9, layout.EVENT), np.zeros(9, layout.VALUE))
    >>> rows.add(encode_scalar("loss", 7, 1.5, 0.25)[12:-4], 0, 0, 0)
    False
    >>> index = rows.taken(np.empty(0, np.uint8), 0)
    >>> index.events.tolist(), index.values.tolist()
    ([(0, 42, 7, 1.5, 0, 1, 3)], [(0.25, 7, 1.5, 0, 0, 0, 0, 0)])
    """

    def __init__(
        self, tags: Tags, events: NDArray[np.void], values: NDArray[np.void], *, lasting: bool = False
    ) -> None:
        self.tags = tags
        self.cursor: NDArray[np.int64] = np.zeros(5, np.int64)
        self.events = events
        self.values: NDArray[np.void] = values
        self._lasting = lasting
        self._spare: NDArray[np.void] | None = None  # filled in turns with `values`
        self.faults: list[Fault] = []
        self._sound: dict[int, bytes] = {}
        self._others: list[Other] = []

    def taken(self, buffer: NDArray[np.uint8], base: int) -> Index:
        """The rows so far."""
        pos, records, values, _, places = self.cursor.tolist()
        rows = self.events[:records], self.values[:values]
        lasts = self._lasting and values >= _MANY_VALUES
        index = Index(buffer, base, base + pos, records, *rows, self._sound, places, self._others, lasts)
        self.cursor[1] = self.cursor[2] = self.cursor[4] = 0
        self._sound, self._others = {}, []
        if lasts:
            self.values, self._spare = np.zeros_like(self.values) if self._spare is None else self._spare, self.values
        return index

    def add(self, data: bytes, start: int, offset: int, number: int) -> bool:
        """Add one record.

        Args:
            data: its data.
            start: where it starts in the buffer.
            offset: where it starts in the file.
            number: the number of records before it.

        Returns:
            Whether the stretch should end here: another record may not fit, or a session starts.
        """
        stop = start + HEADER_BYTES + len(data) + FOOTER_BYTES
        _, own, first, *_ = self.cursor.tolist()
        event, faults = decode_event(data, offset, number)
        self.faults += faults
        step, wall_time, what, last = 0, 0.0, layout.LOST, first
        if event is not None:
            step, wall_time = event.step, event.wall_time
            field = event.WhichOneof("what")
            if field == "summary":
                last = self._add_values(event, data, offset, own, first)
                what = layout.SCALAR if len(self.events) and _is_usual(event, data) else layout.SUMMARY
            else:
                what = _what(event)
                if field is not None:
                    self._others.append(Other(field, event, offset, len(data), number))
            if any(fault.kind.is_data_loss for fault in faults):
                self._sound[own] = escape_tags(data)[0]
        if len(self.events):
            self.events[own] = start, stop, step, wall_time, first, last - first, what
        cursor = self.cursor
        cursor[0], cursor[1], cursor[2] = stop, own + 1, last
        is_full = own + 1 == len(self.events) or (last == len(self.values) and not self.make_room())
        return is_full or what == layout.START

    def make_room(self) -> bool:
        """Make room for more values, where there are so many tags that splitting these takes long; False if not."""
        wanted = min(_VALUES_OF_A_TAG * len(self.tags.names), 8 * len(self.values), _MOST_VALUES)
        if len(self.events) or len(self.values) >= wanted:
            return False
        self.values = np.concatenate((self.values, np.zeros(wanted - len(self.values), layout.VALUE)))
        return True

    def _add_values(self, event: Event, data: bytes, offset: int, own: int, at: int) -> int:
        """Add the values of an event; return the number of values so far.

        A tensor is a scalar if it holds one number, and its tag says so.
        """
        step, wall_time, values, tags = event.step, event.wall_time, event.summary.value, self.tags
        kinds, with_events = layout.KINDS, len(self.events) > 0
        spans: list[tuple[int, int]] = []
        places = 0
        for i, value in enumerate(values):
            tag = tags.number(value.tag)
            described = value.HasField("metadata")
            if described:
                tags.describe(tag, value.metadata)
            kind = kinds[value.WhichOneof("value")]
            if kind == layout.KIND_NOTHING and not with_events:
                continue
            tag_class = tags.classes[tag]
            if tag_class == layout.CLASS_SKIPPED:
                continue
            number = value.simple_value if kind == layout.KIND_SCALAR else 0.0
            if kind == layout.KIND_TENSOR and tag_class == layout.CLASS_SCALAR:
                scalar = scalar_value(value.tensor)
                if scalar is not None:
                    kind, number = layout.KIND_SCALAR, scalar
            length = 0
            if kind > layout.KIND_SCALAR:
                spans = spans or value_spans(data, len(values))
                start, length = spans[i]
                number = float(offset + HEADER_BYTES + start)
                places += 1
            if at == len(self.values):
                self.values = np.concatenate((self.values, np.zeros_like(self.values)))
            self.values[at] = number, step, wall_time, own, tag, length, kind, described
            at += 1
        if places:
            self.cursor[4] += places
        return at


def _what(event: Event) -> int:
    """What an event without a summary is."""
    if event.session_log.status == SessionLog.START:
        return layout.START
    return layout.VERSION if event.HasField("file_version") else layout.OTHER


def _is_usual(event: Event, data: bytes) -> bool:
    """Whether an event has just the bytes that `scalars.ScalarEncoder` writes for it; a NaN's may differ."""
    fewest, most = layout.USUAL_BYTES
    if not fewest <= len(data) <= most or event.step < 0 or not math.isfinite(event.wall_time):
        return False
    if len(event.summary.value) != 1:
        return False
    value = event.summary.value[0]
    usual = encode_scalar(value.tag, event.step, event.wall_time, value.simple_value)
    return data[:-4] == usual[HEADER_BYTES : -FOOTER_BYTES - 4] and value.WhichOneof("value") == "simple_value"
