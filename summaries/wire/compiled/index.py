"""The compiled indexer: a part of an event file → the rows of an `Index`. Pure (no I/O).

Strategy: as in `scan`, of which this is a sibling: only whole records in the form that every writer uses, with tags
that are known; before any other it stops, and the caller has that record indexed by protobuf.

Needs numba, and is imported only to build.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from summaries.native.source import compiled, unpacker
from summaries.wire.compiled import schema
from summaries.wire.compiled.fields import event_fields, is_sound, scalar_tensor, span, value_fields, value_kind
from summaries.wire.compiled.primitives import checksum, load_f32, load_f64, load_u8, load_u32, load_u64
from summaries.wire.compiled.scan import scalar_at, tag_number
from summaries.wire.compiled.state import ARGUMENTS, FULL, MORE, ODD, UNUSUAL
from summaries.wire.index import KIND_NOTHING, KIND_SCALAR, OTHER, SCALAR, SUMMARY
from summaries.wire.layout import CLASS_NONE, CLASS_SCALAR

__all__ = ["EXPORTS", "LEVELS", "index"]

_arguments = unpacker(ARGUMENTS["index"])
_MAX_LENGTH = np.uint64(2**31 - 1)
_SHORT = np.uint64(1 << 16)


@compiled
def _step_bytes(step: Any) -> Any:
    """The number of bytes that a step takes with its key, as `scalars` writes it."""
    size = np.int64(0)
    while step > 0:
        size += 1
        step >>= 7
    return size + 1 if size else size


@compiled
def _values(buffer: Any, start: Any, stop: Any, cursor: Any, tags: Any, values: Any, scratch: Any) -> Any:
    """Store the values of one Summary in rows from cursor[2] on; return MORE if done, UNUSUAL or FULL."""
    at, stack = scratch.at, scratch.stack
    count, previous = cursor[2], cursor[3]
    while start < stop:
        if load_u8(buffer, start) != 0x0A:
            return UNUSUAL
        first, last = span(buffer, start + 1, stop)
        if first < 0:
            return UNUSUAL
        start = last
        what = value_fields(buffer, first, last, at)
        if what < 0:
            return UNUSUAL
        tag = tag_number(buffer, at[0], at[1], previous, tags)
        if tag < 0:
            return UNUSUAL
        kind = tags.entries[tag, 3]
        described = at[5] > 0
        if described and (kind == CLASS_NONE or not is_sound(buffer, at[4], at[5], schema.METADATA, stack)):
            return UNUSUAL
        if count == len(values):
            return FULL
        previous = tag
        value = 0.0
        what_kind = np.int64(KIND_SCALAR)
        if what == 0:
            what_kind = np.int64(KIND_NOTHING)
        elif what == 0x15:
            value = np.float64(load_f32(buffer, at[2]))
        else:
            what_kind = value_kind(buffer, what, at, stack)
            if what_kind < 0:
                return UNUSUAL
            if what == 0x42 and kind == CLASS_SCALAR:
                value, sound = scalar_tensor(buffer, at[2], at[3])
                if not sound:
                    return UNUSUAL
                what_kind = np.int64(KIND_SCALAR)
        row = values[count]
        row["value"] = value
        row["event"] = cursor[1]
        row["tag"] = tag
        row["kind"] = what_kind
        row["described"] = described
        count += 1
    cursor[2], cursor[3] = count, previous
    return MORE


@compiled
def index(words: Any) -> Any:
    """Index buffer[cursor[0] : end], record by record.

    Args:
        words: the address of a row of words:
            end: the number of bytes in the buffer that are filled.
            buffer: uint8[m].
            cursor: int64[4]: position in the buffer, events, values, previous tag; advanced.
            length_crcs: uint32[65536]: the stored checksum of each short length.
            tags: a TagTable.
            events: EVENT[n], filled from cursor[1] on.
            values: VALUE[k], filled from cursor[2] on.
            scratch: a Scratch.

    Returns:
        MORE, ODD, UNUSUAL or FULL, as `scan`; the cursor is then at the record concerned.
    """
    end, buffer, cursor, length_crcs, tags, events, values, scratch = _arguments(words)
    while True:
        pos = cursor[0]
        if end - pos < 16:
            return MORE
        if cursor[1] == len(events) or cursor[2] == len(values):
            return FULL
        length = load_u64(buffer, pos)
        if length > _MAX_LENGTH:
            return ODD
        want = length_crcs[length] if length < _SHORT else checksum(buffer, pos, pos + 8)
        if want != load_u32(buffer, pos + 8):
            return ODD
        start = pos + 12
        stop = start + np.int64(length)
        if stop + 4 > end:
            return MORE
        if checksum(buffer, start, stop) != load_u32(buffer, stop):
            return ODD
        first = cursor[2]
        what = np.int64(OTHER)
        step, tag_at = scalar_at(buffer, start, stop)
        wall_time = 0.0
        tag = np.int64(-1)
        if tag_at > 0:
            wall_time = load_f64(buffer, start + 1)
            tag = tag_number(buffer, tag_at, stop - 5, cursor[3], tags)
            if not np.isfinite(wall_time):
                tag = np.int64(-1)
        if tag >= 0:
            usual = tag_at - start == 15 + _step_bytes(step)
            what = np.int64(SCALAR) if usual else np.int64(SUMMARY)
            row = values[first]
            row["value"] = load_f32(buffer, stop - 4)
            row["event"] = cursor[1]
            row["tag"] = tag
            row["kind"] = KIND_SCALAR
            row["described"] = 0
            cursor[2] = first + 1
            cursor[3] = tag
        else:
            event = event_fields(buffer, start, stop)
            if not event[0]:
                return UNUSUAL
            wall_time, step = event[1], event[2]
            if event[3] > 0:
                what = np.int64(SUMMARY)
                status = _values(buffer, event[3], event[4], cursor, tags, values, scratch)
                if status != MORE:
                    return status
        row = events[cursor[1]]
        row["start"] = pos
        row["stop"] = stop + 4
        row["step"] = step
        row["wall_time"] = wall_time
        row["first"] = first
        row["count"] = cursor[2] - first
        row["what"] = what
        cursor[0] = stop + 4
        cursor[1] += 1


EXPORTS = {"index": index}
"""The functions that Python calls."""

LEVELS = ("v2", "v3", "v8")
"""The levels of the processor that they are compiled for: they gain nothing from AVX-512."""
