"""Edits of one Event's bytes: values out, tags, metadata, step or time changed, every other byte as it was.

Unknown fields, the order of fields, and encodings that are longer than they need to be stay. Pure (no I/O).
"""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING

from summaries.wire.protobuf import members, read_varint, varint

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["metadata_of", "moved", "with_metadata", "with_tag", "with_values"]

_WALL_TIME, _STEP, _SUMMARY = 1, 2, 5  # fields of Event
_VALUE = 1  # of Summary
_TAG, _METADATA = 1, 9  # of Summary.Value
_DOUBLE = Struct("<d")


def with_values(data: bytes, count: int, change: Callable[[int, bytes], bytes | None]) -> bytes:
    """An Event's data with its values changed.

    Args:
        data: the Event.
        count: how many values it has. A Summary that a later graph or log replaces has none.
        change: called with the number of each value and its bytes; returns its new bytes, or None to remove it.
    """
    summaries = [
        (first, contents, stop, [value for value in members(data, contents, stop) if value[0] == _VALUE])
        for field, first, contents, stop in members(data, 0, len(data))
        if field == _SUMMARY
    ]
    number = count - sum(len(values) for *_, values in summaries)  # negative: values that are replaced
    edits: list[tuple[int, int, bytes]] = []
    for first, at, stop, values in summaries:
        inside: list[tuple[int, int, bytes]] = []
        for _, start, contents, end in values:
            if number >= 0:
                old = data[contents:end]
                new = change(number, old)
                if new is None:
                    inside.append((start, end, b""))
                elif new != old:
                    inside.append((start, end, _field(_VALUE, new)))
            number += 1
        if inside:
            edits.append((first, stop, _field(_SUMMARY, _patched(data, at, stop, inside))))
    return _patched(data, 0, len(data), edits)


def with_tag(value: bytes, tag: str) -> bytes:
    """A Summary.Value's bytes with another tag."""
    new = _field(_TAG, tag.encode())
    edits = [(first, stop, new) for field, first, _, stop in members(value, 0, len(value)) if field == _TAG]
    return _patched(value, 0, len(value), edits) if edits else new + value


def metadata_of(value: bytes) -> bytes:
    """The metadata in a Summary.Value's bytes; of several parts, which protobuf merges, one after the other."""
    return b"".join(value[at:stop] for field, _, at, stop in members(value, 0, len(value)) if field == _METADATA)


def with_metadata(value: bytes, metadata: bytes) -> bytes:
    """A Summary.Value's bytes with this metadata in place of its own."""
    edits = [(first, stop, b"") for field, first, _, stop in members(value, 0, len(value)) if field == _METADATA]
    return _patched(value, 0, len(value), edits) + _field(_METADATA, metadata)


def moved(data: bytes, steps: int, seconds: float) -> bytes:
    """An Event's data with its step and its wall time moved on."""
    edits = []
    has_step = False
    for field, first, contents, stop in members(data, 0, len(data)):
        if field == _WALL_TIME and seconds:
            (wall_time,) = _DOUBLE.unpack_from(data, contents)
            edits.append((contents, stop, _DOUBLE.pack(wall_time + seconds)))
        elif field == _STEP and steps:
            has_step = True
            number, _ = read_varint(data, contents, stop)
            step = (number + (1 << 63)) % (1 << 64) - (1 << 63) + steps
            edits.append((first, stop, b"\x10" + varint(step) if step else b""))
    data = _patched(data, 0, len(data), edits)
    if steps and not has_step:
        at = 9 if data[:1] == b"\x09" else 0
        data = data[:at] + b"\x10" + varint(steps) + data[at:]
    return data


def _field(number: int, contents: bytes) -> bytes:
    """A length-delimited field."""
    return bytes([number << 3 | 2]) + varint(len(contents)) + contents


def _patched(data: bytes, start: int, stop: int, edits: list[tuple[int, int, bytes]]) -> bytes:
    """data[start:stop] with new bytes in some places, which are in order."""
    out = []
    for first, last, new in edits:
        out += [data[start:first], new]
        start = last
    return b"".join((*out, data[start:stop]))
