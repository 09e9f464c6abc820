"""One record's data → its Event and its faults. Pure (no I/O).

protobuf decides what is an Event. Three things are checked besides: whether a message that protobuf accepts has any
field of an Event (a file of other records parses as empty Events), whether a tag that is not UTF-8 is all that is
wrong, and whether step and wall time make sense. `value_spans` finds where in the data each Summary.Value
stands, so that a value can be read later without its event.
"""

from __future__ import annotations

import math

from google.protobuf.message import DecodeError

from summaries.errors import Fault, FaultKind
from summaries.wire.pb import Event, Summary
from summaries.wire.protobuf import fields, rewrite_field
from summaries.wire.records import FOOTER_BYTES, HEADER_BYTES

__all__ = ["WALL_TIME_KEY", "decode_event", "decode_value", "value_spans"]

WALL_TIME_KEY = b"\x09"
"""What the data of nearly every Event starts with: the key of its wall time."""

_SUMMARY, _VALUE, _TAG = 5, 1, 1  # fields of Event, Summary and Summary.Value


def decode_event(data: bytes, offset: int = 0, record: int = 0) -> tuple[Event | None, list[Fault]]:
    """The Event that a record carries, and its faults.

    Args:
        data: the record's data.
        offset: where the record starts, in bytes from the start of the file.
        record: how many records came before it.

    Returns:
        The event, or None if the data is not one; faults that name this record.

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
        escaped, bad = _escape_tags(data)
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
    """One Summary.Value; bytes in its tag that are not text are escaped as in `decode_event`.

    Raises:
        DecodeError: it is not one.
    """
    try:
        return Summary.Value.FromString(data)
    except DecodeError:
        return Summary.Value.FromString(_escape_value(data, []))


def value_spans(data: bytes, count: int) -> list[tuple[int, int]]:
    """(start, length) in an Event's data of each of its `count` values, in order."""
    spans = [
        (start, stop - start)
        for field, first, last in fields(data, 0, len(data))
        if field == _SUMMARY
        for value, start, stop in fields(data, first, last)
        if value == _VALUE
    ]
    # A later member of Event's oneof replaces what a Summary before it said.
    return spans[len(spans) - count :]


def _has_known_field(event: Event, data: bytes) -> bool:
    """Whether there is any field of an Event in its data; a wall time of zero at its start is one."""
    if event.wall_time or event.step or data[:1] == WALL_TIME_KEY:
        return True
    return event.WhichOneof("what") is not None or event.HasField("source_metadata")


def _escape_tags(data: bytes) -> tuple[bytes, list[bytes]]:
    """The same Event with every tag made text, and the tags that were not; nothing is raised."""
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
