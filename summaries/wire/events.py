"""One record's data → its Event and its faults. Pure (no I/O).

protobuf decides what is an Event. Three more things are checked: whether a message that protobuf accepts has any field
of an Event (a file of other records parses as empty Events), whether a tag that is not UTF-8 is the only error, and
whether step and wall time make sense. `value_spans` finds the position of each Summary.Value in the data, so that a
value can be read later without its event.
"""

from __future__ import annotations

import math

from google.protobuf.message import DecodeError

from summaries.errors import Fault, FaultKind
from summaries.wire.pb import Event, Summary
from summaries.wire.protobuf import fields, rewrite_field
from summaries.wire.records import FOOTER_BYTES, HEADER_BYTES

__all__ = ["WALL_TIME_KEY", "decode_event", "decode_value", "escape_tags", "value_spans"]

WALL_TIME_KEY = b"\x09"
"""The key of the wall time, with which the data of nearly every Event starts."""

_SUMMARY, _VALUE, _TAG = 5, 1, 1  # fields of Event, Summary and Summary.Value


def decode_event(data: bytes, offset: int = 0, record: int = 0) -> tuple[Event | None, list[Fault]]:
    """Decode a record's data.

    Args:
        data: the record's data.
        offset: where the record starts, in bytes from the start of the file.
        record: the number of records before it.

    Returns:
        The event, or None if the data is not an Event; and the record's faults.

    >>> event, faults = decode_event(Event(step=-3).SerializeToString())
    >>> event.step, str(faults[0])
    (-3, 'step below zero: got -3, want 0 or more - at record 0, offset 0 (27 bytes)')
    """
    size = HEADER_BYTES + len(data) + FOOTER_BYTES
    faults: list[Fault] = []

    def note(kind: FaultKind, reason: str, got: str, want: str) -> None:
        faults.append(Fault(kind, reason, offset, size, got, want, record))

    try:
        event = Event.FromString(data)
    except DecodeError as error:
        escaped, bad = escape_tags(data)
        try:
            if not bad:
                raise
            event = Event.FromString(escaped)
        except DecodeError:
            note(FaultKind.UNDECODABLE, "data is not an Event", str(error), "a serialized Event")
            return None, faults
        note(FaultKind.UNDECODABLE_TEXT, "tag is not UTF-8", repr(bad[0]), "UTF-8 text")
    if data and not _has_known_field(event, data):
        note(FaultKind.UNDECODABLE, "data is not an Event", "no field of an Event", "a serialized Event")
        return None, faults
    if event.step < 0:
        note(FaultKind.NEGATIVE_STEP, "step below zero", str(event.step), "0 or more")
    if not math.isfinite(event.wall_time):
        reason = "wall time is not finite"
        note(FaultKind.NON_FINITE_WALL_TIME, reason, str(event.wall_time), "seconds since the epoch")
    return event, faults


def decode_value(data: bytes) -> Summary.Value:
    """Decode one Summary.Value; bytes in its tag that are not UTF-8 are escaped, as in `decode_event`.

    Raises:
        DecodeError: the data is not a Summary.Value.
    """
    try:
        return Summary.Value.FromString(data)
    except DecodeError:
        return Summary.Value.FromString(_escape_value(data, []))


def value_spans(data: bytes, count: int | None = None) -> list[tuple[int, int]]:
    """(start, length) of each value in an Event's data, in order: of the last `count`, which are those it has.

    A later member of Event's oneof replaces an earlier Summary, whose values come before them.
    """
    spans = [
        (start, stop - start)
        for field, first, last in fields(data, 0, len(data))
        if field == _SUMMARY
        for value, start, stop in fields(data, first, last)
        if value == _VALUE
    ]
    return spans if count is None else spans[len(spans) - count :]


def _has_known_field(event: Event, data: bytes) -> bool:
    """Whether the data contains any field of an Event; a wall time of zero at its start counts."""
    if event.wall_time or event.step or data[:1] == WALL_TIME_KEY:
        return True
    return event.WhichOneof("what") is not None or event.HasField("source_metadata")


def escape_tags(data: bytes) -> tuple[bytes, list[bytes]]:
    """The same Event with every tag escaped to UTF-8, and the tags that were not UTF-8; never raises."""
    bad: list[bytes] = []
    try:
        return rewrite_field(data, _SUMMARY, lambda s: rewrite_field(s, _VALUE, lambda v: _escape_value(v, bad))), bad
    except DecodeError:
        return data, []


def _escape_value(data: bytes, bad: list[bytes]) -> bytes:
    def escape(tag: bytes) -> bytes:
        text = tag.decode(errors="backslashreplace").encode()
        if text != tag:
            bad.append(tag)
        return text

    return rewrite_field(data, _TAG, escape)
