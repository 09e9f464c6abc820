"""Edits of one Event's bytes: values out, tags, metadata, step or time changed, every other byte as it was.

Unknown fields, the order of fields, and encodings that are longer than they need to be stay. Pure (no I/O).
"""

from __future__ import annotations

import itertools
from struct import Struct
from typing import TYPE_CHECKING

from summaries.wire.events import value_spans
from summaries.wire.protobuf import field, fields, members, read_varint, rewrite_field, varint

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["metadata_of", "moved", "with_metadata", "with_tag", "with_values"]

_WALL_TIME, _STEP = 0x09, 0x10  # keys of Event's wall_time and step
_SUMMARY, _VALUE = 5, 1  # fields of Event and of Summary
_TAG, _METADATA = 1, 9  # of Summary.Value
_DOUBLE = Struct("<d")


def with_values(data: bytes, count: int, change: Callable[[int, bytes], bytes | None]) -> bytes:
    """An Event's data with its values changed.

    Args:
        data: the Event.
        count: how many values it has. A Summary that a later graph or log replaces has none.
        change: called with the number of each value and its bytes; returns its new bytes, or None to remove it.
    """
    numbers = itertools.count(count - len(value_spans(data)))  # negative: of values that are replaced

    def changed(value: bytes) -> bytes | None:
        number = next(numbers)
        return value if number < 0 else change(number, value)

    return rewrite_field(data, _SUMMARY, lambda summary: rewrite_field(summary, _VALUE, changed))


def with_tag(value: bytes, tag: str) -> bytes:
    """A Summary.Value's bytes with another tag."""
    new = tag.encode()
    has_tag = any(number == _TAG for number, _, _ in fields(value, 0, len(value)))
    return rewrite_field(value, _TAG, lambda _: new) if has_tag else field(_TAG << 3 | 2, new) + value


def metadata_of(value: bytes) -> bytes:
    """The metadata in a Summary.Value's bytes; of several parts, which protobuf merges, one after the other."""
    return b"".join(value[start:stop] for number, start, stop in fields(value, 0, len(value)) if number == _METADATA)


def with_metadata(value: bytes, metadata: bytes) -> bytes:
    """A Summary.Value's bytes with this metadata in place of its own."""
    return rewrite_field(value, _METADATA, lambda _: None) + field(_METADATA << 3 | 2, metadata)


def moved(data: bytes, steps: int, seconds: float) -> bytes:
    """An Event's data with its step and its wall time moved on."""
    parts, has_step = list[bytes](), False
    for key, first, contents, stop in members(data, 0, len(data)):
        part = data[first:stop]
        if key == _WALL_TIME and seconds:
            (wall_time,) = _DOUBLE.unpack_from(data, contents)
            part = data[first:contents] + _DOUBLE.pack(wall_time + seconds)
        elif key == _STEP and steps:
            has_step = True
            number, _ = read_varint(data, contents, stop)
            step = (number + (1 << 63)) % (1 << 64) - (1 << 63) + steps
            part = _step_field(step) if step else b""
        parts.append(part)
    if steps and not has_step:
        parts.insert(data[:1] == bytes([_WALL_TIME]), _step_field(steps))
    return b"".join(parts)


def _step_field(step: int) -> bytes:
    return bytes([_STEP]) + varint(step)
