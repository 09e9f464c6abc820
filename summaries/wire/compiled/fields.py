"""Parsing of the messages inside a record, compiled: validity and field positions. Needs numba. Pure (no I/O).

These functions may reject what protobuf accepts, and protobuf then decides. They accept nothing that protobuf rejects.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from summaries.native.source import compiled
from summaries.wire.compiled import schema
from summaries.wire.compiled.primitives import load_f32, load_f64, load_u8, load_u32, load_u64, varint
from summaries.wire.layout import KIND_AUDIO, KIND_HISTOGRAM, KIND_IMAGE, KIND_TENSOR

__all__ = ["event_fields", "is_sound", "scalar_tensor", "span", "value_fields", "value_kind"]

_SCHEMA = schema.SCHEMA


@compiled
def _ascii(buffer: Any, start: Any, stop: Any) -> Any:
    bits = 0
    for i in range(start, stop):
        bits |= load_u8(buffer, i)
    return bits < 0x80


@compiled
def _utf8(buffer: Any, start: Any, stop: Any) -> Any:
    """Whether buffer[start:stop] is text: no character longer than it need be, no half of a surrogate pair."""
    if _ascii(buffer, start, stop):
        return True
    while start < stop:
        character = load_u8(buffer, start)
        start += 1
        if character < 0x80:
            continue
        if character < 0xC2 or character > 0xF4:
            return False
        more = np.int64(1) + (character >= 0xE0) + (character >= 0xF0)
        if stop - start < more:
            return False
        character &= 0x3F >> more
        for _ in range(more):
            byte = load_u8(buffer, start)
            if byte & 0xC0 != 0x80:
                return False
            character = character << 6 | byte & 0x3F
            start += 1
        if character >> (5 * more + 1) == 0 or character > 0x10FFFF or 0xD800 <= character < 0xE000:
            return False
    return True


@compiled
def _packed(buffer: Any, start: Any, stop: Any, code: Any) -> Any:
    """Whether buffer[start:stop] is a valid length-delimited field of this code."""
    if code == schema.BYTES:
        return True
    if code == schema.STRING:
        return _utf8(buffer, start, stop)
    if code == schema.PACKED64:
        return (stop - start) & 7 == 0
    if code == schema.PACKED32:
        return (stop - start) & 3 == 0
    if code != schema.PACKED_VARINT:
        return False
    while start < stop:
        _, start = varint(buffer, start, stop)
        if start < 0:
            return False
    return True


@compiled
def _number(buffer: Any, offset: Any, stop: Any, wire: Any, code: Any) -> Any:
    """The offset after a number of wire type `wire`, or -1 if that does not match the field."""
    if wire == 0 and (code == schema.VARINT or code == schema.PACKED_VARINT):
        return varint(buffer, offset, stop)[1]
    if wire == 1 and (code == schema.FIXED64 or code == schema.PACKED64) and stop - offset >= 8:
        return offset + 8
    if wire == 5 and (code == schema.FIXED32 or code == schema.PACKED32) and stop - offset >= 4:
        return offset + 4
    return np.int64(-1)


@compiled
def _short_varint(buffer: Any, offset: Any, stop: Any) -> Any:
    """`varint` for keys and lengths: protobuf takes no more than 5 bytes for one."""
    return varint(buffer, offset, min(stop, offset + 5))


@compiled
def span(buffer: Any, offset: Any, stop: Any) -> Any:
    """(start, stop) of a length-delimited field's bytes, whose length is at `offset`; (-1, -1) if invalid."""
    length, start = _short_varint(buffer, offset, stop)
    if start < 0 or length > np.uint64(stop - start):
        return np.int64(-1), np.int64(-1)
    return start, start + np.int64(length)


@compiled
def is_sound(buffer: Any, start: Any, stop: Any, message: Any, stack: Any) -> Any:
    """Whether buffer[start:stop] is a valid message of this number, including all submessages."""
    ends, messages = stack[0], stack[1]
    ends[0], messages[0] = stop, message
    depth = 0
    offset = start
    while True:
        while offset == ends[depth]:
            if depth == 0:
                return True
            depth -= 1
        key, offset = _short_varint(buffer, offset, ends[depth])
        field = np.int64(key >> np.uint64(3))
        if offset < 0 or field < 1 or field >= _SCHEMA.shape[1]:
            return False
        code = np.int64(_SCHEMA[messages[depth], field])
        wire = np.int64(key & np.uint64(7))
        if wire != 2:
            offset = _number(buffer, offset, ends[depth], wire, code)
            if offset < 0:
                return False
            continue
        first, last = span(buffer, offset, ends[depth])
        if first < 0:
            return False
        if code < schema.SUBMESSAGE:
            if not _packed(buffer, first, last, code):
                return False
            offset = last
            continue
        depth += 1
        ends[depth], messages[depth] = last, code - schema.SUBMESSAGE
        offset = first


@compiled
def scalar_tensor(buffer: Any, start: Any, stop: Any) -> Any:
    """(value, True) for a rank-0 tensor of float, double, int32 or int64; (0, False) for any other message."""
    dtype = np.int64(0)
    field = np.int64(0)
    first = last = np.int64(0)
    while start < stop:
        key = load_u8(buffer, start)
        start += 1
        if key == 0x08 or key == 0x18:  # dtype, version_number
            number, start = varint(buffer, start, stop)
            if start < 0:
                return 0.0, False
            if key == 0x08:
                dtype = np.int64(number) if number < np.uint64(16) else np.int64(-1)
        elif key == 0x12:  # tensor_shape, empty for rank 0
            shape, start = span(buffer, start, stop)
            if shape != start:
                return 0.0, False
        elif field == 0 and (key == 0x22 or key == 0x2A or key == 0x32 or key == 0x3A or key == 0x52):
            field = key >> 3  # content, or the packed values of a type
            first, last = span(buffer, start, stop)
            start = last
        elif field == 0 and key == 0x2D and stop - start >= 4:
            field = np.int64(5)
            first = start
            start = last = first + 4
        elif field == 0 and key == 0x31 and stop - start >= 8:
            field = np.int64(6)
            first = start
            start = last = first + 8
        else:
            return 0.0, False
        if start < 0:
            return 0.0, False
    size = last - first
    if dtype == 1 and (field == 4 or field == 5) and size == 4:
        return np.float64(load_f32(buffer, first)), True
    if dtype == 2 and (field == 4 or field == 6) and size == 8:
        return load_f64(buffer, first), True
    if dtype == 9 and field == 4 and size == 8:
        return np.float64(np.int64(load_u64(buffer, first))), True
    if dtype == 3 and field == 4 and size == 4:
        return np.float64(np.int32(load_u32(buffer, first))), True
    if (dtype == 3 and field == 7) or (dtype == 9 and field == 10):
        number, end = varint(buffer, first, last)
        if end == last:
            return np.float64(np.int32(number)) if dtype == 3 else np.float64(np.int64(number)), True
    return 0.0, False


@compiled
def value_fields(buffer: Any, start: Any, stop: Any, at: Any) -> Any:
    """Find the fields of one Summary.Value; return the key of its value (0: no value), or -1 if it is unusual.

    at: int64[8], filled with the spans of tag, value and metadata: start, stop, start, stop, start, stop.
    """
    at[0] = at[1] = at[4] = at[5] = 0
    what = np.int64(0)
    while start < stop:
        key = load_u8(buffer, start)
        start += 1
        if key == 0x15:  # simple_value
            if what != 0 or stop - start < 4:
                return np.int64(-1)
            what = key
            at[2] = start
            start += 4
            continue
        first, last = span(buffer, start, stop)
        if first < 0:
            return np.int64(-1)
        start = last
        if key == 0x0A and at[1] == 0:
            at[0], at[1] = first, last
        elif what == 0 and (key == 0x22 or key == 0x2A or key == 0x32 or key == 0x42):  # image, histo, audio, tensor
            what = key
            at[2], at[3] = first, last
        elif key == 0x4A and at[5] == 0:
            at[4], at[5] = first, last
        elif key != 0x3A or not _utf8(buffer, first, last):  # node_name
            return np.int64(-1)
    return what


@compiled
def value_kind(buffer: Any, what: Any, at: Any, stack: Any) -> Any:
    """The kind of a value that is not a scalar, or -1 if its message is not valid."""
    if what == 0x22:
        kind, message = KIND_IMAGE, schema.IMAGE
    elif what == 0x2A:
        kind, message = KIND_HISTOGRAM, schema.HISTOGRAM
    elif what == 0x32:
        kind, message = KIND_AUDIO, schema.AUDIO
    else:
        kind, message = KIND_TENSOR, schema.TENSOR
    return np.int64(kind) if is_sound(buffer, at[2], at[3], message, stack) else np.int64(-1)


@compiled
def event_fields(buffer: Any, start: Any, stop: Any) -> Any:
    """(valid, wall_time, step, Summary's start, its stop); start and stop are 0 for an Event without a Summary."""
    wall_time = 0.0
    step = np.int64(0)
    seen = 0
    empty = start == stop
    first = last = np.int64(0)
    while start < stop:
        key = load_u8(buffer, start)
        start += 1
        if key == 0x09 and not seen & 1 and stop - start >= 8:
            seen |= 1
            wall_time = load_f64(buffer, start)
            start += 8
        elif key == 0x10 and not seen & 2:
            seen |= 2
            number, start = varint(buffer, start, stop)
            step = np.int64(number)
        elif key == 0x2A and not seen & 4:
            seen |= 4
            first, last = span(buffer, start, stop)
            start = last
        else:
            start = np.int64(-1)
        if start < 0:
            return False, wall_time, step, first, last
    says_something = seen & 4 or wall_time != 0.0 or step != 0 or empty
    return says_something and np.isfinite(wall_time) and step >= 0, wall_time, step, first, last
