"""The compiled scanner: a part of an event file → the rows of an `Index`. Pure (no I/O).

Strategy: one pass over the bytes: frame, both checksums, the Event, its Summary, each Value's tag, the rows. It
handles only whole records in the form that every writer uses, with tags that it already knows. Before any other record
it stops and returns the reason; the caller takes a scalar's new tag, or has that record read by the plain parser and
protobuf, and restarts the scanner. So the scanner never decides anything differently from protobuf.

Needs numba, and is imported only to build.

References: protobuf's wire format, https://protobuf.dev/programming-guides/encoding/
"""

from __future__ import annotations

from typing import Any

import numpy as np

from summaries.native.source import compiled, unpacker
from summaries.wire import layout
from summaries.wire.compiled import schema
from summaries.wire.compiled.fields import event_fields, is_sound, scalar_tensor, span, value_fields, value_kind
from summaries.wire.compiled.primitives import (
    checksum,
    load_f32,
    load_f64,
    load_u8,
    load_u32,
    load_u64,
    store_f64,
    store_i64,
    varint,
)
from summaries.wire.compiled.state import ARGUMENTS, FULL, MORE, NEW, ODD, UNUSUAL

__all__ = ["EXPORTS", "LEVELS", "frames", "scan", "scatter"]

_frames_arguments = unpacker(ARGUMENTS["frames"])
_scan_arguments = unpacker(ARGUMENTS["scan"])
_scatter_arguments = unpacker(ARGUMENTS["scatter"])
_FEWEST, _MOST = layout.USUAL_BYTES
_MAX_LENGTH = 2**31 - 1
_SHORT = np.uint64(1 << 16)


@compiled
def _stop_of(buffer: Any, pos: Any, end: Any, most: Any, length_crcs: Any) -> Any:
    """Where the data of the whole record at `pos` stops; -1 - MORE or -1 - ODD if there is none."""
    if end - pos < 16:
        return np.int64(-1 - MORE)
    length = load_u64(buffer, pos)
    if length > np.uint64(most):
        return np.int64(-1 - ODD)
    want = length_crcs[length] if length < _SHORT else checksum(buffer, pos, pos + 8)
    if want != load_u32(buffer, pos + 8):
        return np.int64(-1 - ODD)
    stop = pos + 12 + np.int64(length)
    if stop + 4 > end:
        return np.int64(-1 - MORE)
    if checksum(buffer, pos + 12, stop) != load_u32(buffer, stop):
        return np.int64(-1 - ODD)
    return stop


@compiled
def frames(words: Any) -> Any:
    """Find the whole records in buffer[pos : end].

    Args:
        words: the address of a row of words:
            pos: where the first one starts.
            end: the number of bytes in the buffer.
            most: a greater length, in bytes, is damage.
            buffer: uint8[m].
            length_crcs: uint32[65536]: the stored checksum of each short length.
            bounds: int64[n, 2], filled with where each record's data starts and stops.

    Returns:
        The number of records.
    """
    pos, end, most, buffer, length_crcs, bounds = _frames_arguments(words)
    found = np.int64(0)
    while found < len(bounds):
        stop = _stop_of(buffer, pos, end, most, length_crcs)
        if stop < 0:
            break
        bounds[found, 0] = pos + 12
        bounds[found, 1] = stop
        found += 1
        pos = stop + 4
    return found


@compiled
def _tag_number(buffer: Any, start: Any, stop: Any, previous: Any, tags: Any) -> Any:
    """The number of the tag buffer[start:stop], or -1 if it is unknown.

    Tags recur in the same order: the one that followed the previous tag last time is tried before the table.
    """
    slots, entries, following = tags.slots, tags.entries, tags.following
    guess = following[previous]
    if guess >= 0 and _same(buffer, start, stop, tags, guess):
        return np.int64(guess)
    digest = _hash(buffer, start, stop)
    limit = np.uint64(len(slots) - 1)
    slot = digest & limit
    while slots[slot] >= 0:
        number = slots[slot]
        if entries[number, 2] == np.int64(digest) and _same(buffer, start, stop, tags, number):
            following[previous] = number
            return np.int64(number)
        slot = (slot + np.uint64(1)) & limit
    return np.int64(-1)


@compiled
def _hash(buffer: Any, start: Any, stop: Any) -> Any:
    """FNV-1a of buffer[start:stop]."""
    digest = np.uint64(0xCBF29CE484222325)
    for i in range(start, stop):
        digest = (digest ^ np.uint64(load_u8(buffer, i))) * np.uint64(0x100000001B3)
    return digest


@compiled
def _enter(count: Any, tags: Any) -> Any:
    """Enter the tags up to `count` that are not in the slots yet."""
    entries = tags.entries
    for number in range(tags.entered[0], count):
        start = entries[number, 0]
        digest = _hash(tags.pool, start, start + entries[number, 1])
        entries[number, 2] = np.int64(digest)
        _occupy(number, digest, tags.slots)
    tags.entered[0] = count


@compiled
def _occupy(number: Any, digest: Any, slots: Any) -> Any:
    limit = np.uint64(len(slots) - 1)
    slot = digest & limit
    while slots[slot] >= 0:
        slot = (slot + np.uint64(1)) & limit
    slots[slot] = number


@compiled
def _same(buffer: Any, start: Any, stop: Any, tags: Any, number: Any) -> Any:
    """Whether buffer[start:stop] is the tag of this number."""
    entries, pool = tags.entries, tags.pool
    length = stop - start
    if entries[number, 1] != length:
        return False
    first = entries[number, 0]
    i = 0
    while i + 8 <= length:
        if load_u64(buffer, start + i) != load_u64(pool, first + i):
            return False
        i += 8
    while i < length:
        if load_u8(buffer, start + i) != load_u8(pool, first + i):
            return False
        i += 1
    return True


@compiled
def _values(buffer: Any, base: Any, event: Any, cursor: Any, tags: Any, values: Any, scratch: Any) -> Any:
    """Store the values of one Event in rows from cursor[2] on; return MORE if done, UNUSUAL or FULL."""
    _, wall_time, step, start, stop = event
    at, stack = scratch.at, scratch.stack
    count, previous, places = cursor[2], cursor[3], cursor[4]
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
        tag = _tag_number(buffer, at[0], at[1], previous, tags)
        if tag < 0:
            return UNUSUAL
        tag_class = tags.entries[tag, 3]
        described = at[5] > 0
        if described and (tag_class == layout.CLASS_NONE or not is_sound(buffer, at[4], at[5], schema.METADATA, stack)):
            return UNUSUAL
        previous = tag
        value = 0.0
        kind = np.int64(layout.KIND_SCALAR)
        if what == 0x15:
            value = np.float64(load_f32(buffer, at[2]))
        elif what == 0:
            kind = np.int64(layout.KIND_NOTHING)
        elif what == 0x42 and tag_class == layout.CLASS_SCALAR:
            value, sound = scalar_tensor(buffer, at[2], at[3])
            if not sound:
                return UNUSUAL
        else:
            kind = value_kind(buffer, what, at, stack)
            if kind < 0:
                return UNUSUAL
        if tag_class == layout.CLASS_SKIPPED:
            continue
        if count == len(values):
            return FULL
        length = np.int64(0)
        if kind > layout.KIND_SCALAR:
            value, length = np.float64(base + first), last - first
            places += 1
        _set_value(values[count], value, step, wall_time, cursor[1], tag, length, kind, described)
        count += 1
    cursor[2], cursor[3], cursor[4] = count, previous, places
    return MORE


@compiled
def _scalar_at(buffer: Any, start: Any, stop: Any) -> Any:
    """Locate the one scalar of an Event whose fields are in the order that every writer uses.

    Returns:
        (the step, where the tag starts); or (0, -1). The tag ends 5 bytes before the end of the Event; the last 4 bytes
        are the value.
    """
    if stop - start < _FEWEST or stop - start > _MOST or load_u8(buffer, start) != 0x09:
        return np.int64(0), np.int64(-1)
    at = start + 9
    step = np.int64(0)
    if load_u8(buffer, at) == 0x10:
        number, at = varint(buffer, at + 1, stop)
        step = np.int64(number)
        if at < 0 or step < 0:
            return np.int64(0), np.int64(-1)
    size = stop - at  # 2a n 0a n 0a n tag 15 value
    if size < 11:
        return np.int64(0), np.int64(-1)
    heads = load_u64(buffer, at) & np.uint64(0x0000FFFFFFFFFFFF)
    want = np.uint64(0x2A | (size - 2) << 8 | 0x0A << 16 | (size - 4) << 24 | 0x0A << 32 | (size - 11) << 40)
    if heads != want or load_u8(buffer, stop - 5) != 0x15:
        return np.int64(0), np.int64(-1)
    return step, np.int64(at + 6)


@compiled
def _step_bytes(step: Any) -> Any:
    """The number of bytes that a step takes with its key, as `scalars` writes it."""
    size = np.int64(0)
    while step > 0:
        size += 1
        step >>= 7
    return size + 1 if size else size


@compiled
def scan(words: Any) -> Any:
    """Read buffer[cursor[0] : end], record by record.

    Args:
        words: the address of a row of words:
            end: the number of bytes in the buffer that are filled.
            base: the file offset of buffer[0].
            count: the number of tags.
            buffer: uint8[m].
            cursor: int64[5]: position in the buffer, records, values, previous tag, values that are no scalars;
                advanced.
            length_crcs: uint32[65536]: the stored checksum of each short length.
            tags: a TagTable.
            events: EVENT[n], filled from cursor[1] on; n = 0 if only values are asked for.
            values: VALUE[k], filled from cursor[2] on.
            scratch: a Scratch.

    Returns:
        MORE, ODD, UNUSUAL, FULL or NEW; the cursor is then at the record concerned. After NEW, scratch.at[:2] tells
        where the tag lies.
    """
    end, base, count, buffer, cursor, length_crcs, tags, events, values, scratch = _scan_arguments(words)
    _enter(count, tags)
    with_events = len(events) > 0
    while True:
        pos, first = cursor[0], cursor[2]
        stop = _stop_of(buffer, pos, end, _MAX_LENGTH, length_crcs)
        if stop < 0:
            return -1 - stop
        if first == len(values) or (with_events and cursor[1] == len(events)):
            return FULL
        start = pos + 12
        wall_time = 0.0
        tag = np.int64(-1)
        step, tag_at = _scalar_at(buffer, start, stop)
        if tag_at > 0:
            wall_time = load_f64(buffer, start + 1)
            tag = _tag_number(buffer, tag_at, stop - 5, cursor[3], tags)
            if tag < 0 and np.isfinite(wall_time):
                scratch.at[0], scratch.at[1] = tag_at, stop - 5
                return NEW
        if tag >= 0 and np.isfinite(wall_time):
            value = np.float64(load_f32(buffer, stop - 4))
            _set_value(values[first], value, step, wall_time, cursor[1], tag, 0, layout.KIND_SCALAR, False)
            cursor[2] = first + (tags.entries[tag, 3] != layout.CLASS_SKIPPED)  # if not, it is overwritten
            cursor[3] = tag
            what = np.int64(layout.SCALAR)
            if with_events and tag_at - start != 15 + _step_bytes(step):
                what = np.int64(layout.SUMMARY)
        else:
            event = event_fields(buffer, start, stop)
            if not event[0]:
                return UNUSUAL
            wall_time, step = event[1], event[2]
            what = np.int64(layout.OTHER)
            if event[3] > 0:
                what = np.int64(layout.SUMMARY)
                status = _values(buffer, base, event, cursor, tags, values, scratch)
                if status != MORE:
                    return status
        if with_events:
            _set_event(events[cursor[1]], pos, stop + 4, step, wall_time, first, cursor[2] - first, what)
        cursor[0] = stop + 4
        cursor[1] += 1


@compiled
def _set_value(
    row: Any, value: Any, step: Any, wall_time: Any, event: Any, tag: Any, length: Any, kind: Any, described: Any
) -> Any:
    row["value"] = value
    row["step"] = step
    row["wall_time"] = wall_time
    row["event"] = event
    row["tag"] = tag
    row["length"] = length
    row["kind"] = kind
    row["described"] = described


@compiled
def _set_event(row: Any, start: Any, stop: Any, step: Any, wall_time: Any, first: Any, count: Any, what: Any) -> Any:
    row["start"] = start
    row["stop"] = stop
    row["step"] = step
    row["wall_time"] = wall_time
    row["first"] = first
    row["count"] = count
    row["what"] = what


@compiled
def scatter(words: Any) -> Any:
    """Append scalars to the columns of their tags, up to one for which there is no room.

    Args:
        words: the address of a row of words:
            values: VALUE[n].
            start: the first row.
            tables: int64[t, 6], whose counts are changed: `layout.COUNT` and the others say what is where.

    Returns:
        The row to go on with.
    """
    values, start, tables = _scatter_arguments(words)
    for i in range(start, len(values)):
        row = values[i]
        if row["kind"] == layout.KIND_SCALAR:
            table = tables[row["tag"]]
            count = table[layout.COUNT]
            if count >= table[layout.ROOM]:
                return i
            at = 8 * count
            store_i64(table[layout.STEPS] + at, row["step"])
            store_f64(table[layout.WALL_TIMES] + at, row["wall_time"])
            store_f64(table[layout.NUMBERS] + at, row["value"])
            table[layout.COUNT] = count + 1
    return len(values)


EXPORTS = {"frames": frames, "scan": scan, "scatter": scatter}
"""The functions that Python calls."""

LEVELS = ("v2", "v3", "v8")
"""The levels of the processor that they are compiled for: they gain nothing from AVX-512."""
