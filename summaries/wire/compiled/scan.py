"""The compiled scanner: a part of an event file → scalar rows and the places of all other values. Pure (no I/O).

Strategy: one pass over the bytes: frame, both checksums, the Event, its Summary, each Value's tag, the row. The scanner
handles only whole records in the form that every writer uses, with tags that it already knows. Before any other record
it stops and returns the reason; the caller has that record read by the plain parser and protobuf, and restarts the
scanner after it. So the scanner never decides anything differently from protobuf.

Needs numba, and is imported only to build.

References: protobuf's wire format, https://protobuf.dev/programming-guides/encoding/
"""

from __future__ import annotations

from typing import Any

import numpy as np

from summaries.native.source import compiled, unpacker
from summaries.wire.compiled import schema
from summaries.wire.compiled.fields import (
    event_fields,
    is_sound,
    scalar_tensor,
    span,
    value_fields,
    value_kind,
)
from summaries.wire.compiled.primitives import (
    checksum,
    copy_to,
    load_f32,
    load_f64,
    load_u8,
    load_u32,
    load_u64,
    varint,
)
from summaries.wire.compiled.state import ARGUMENTS, FULL, MORE, ODD, UNUSUAL
from summaries.wire.layout import CLASS_NONE, CLASS_SCALAR, CLASS_SKIPPED, PLACE_CAPACITY

__all__ = [
    "EXPORTS",
    "LEVELS",
    "enter",
    "enter_again",
    "group",
    "scalar_at",
    "scan",
    "spread",
    "tag_number",
]

_enter_arguments = unpacker(ARGUMENTS["enter"])
_enter_again_arguments = unpacker(ARGUMENTS["enter_again"])
_scan_arguments = unpacker(ARGUMENTS["scan"])
_group_arguments = unpacker(ARGUMENTS["group"])
_spread_arguments = unpacker(ARGUMENTS["spread"])
_MAX_LENGTH = np.uint64(2**31 - 1)
_SHORT = np.uint64(1 << 16)


@compiled
def tag_number(buffer: Any, start: Any, stop: Any, previous: Any, tags: Any) -> Any:
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
def enter(words: Any) -> Any:
    """Enter tags into the table, with numbers from `number` on. Their classes are unchanged.

    Args:
        words: the address of a row of words:
            number: the first tag's number.
            start: where it starts in the pool; the others follow without gaps.
            count: how many tags.
            lengths: int64[n], the length of each tag in bytes.
            tags: the table.
    """
    number, start, count, lengths, tags = _enter_arguments(words)
    entries = tags.entries
    for i in range(count):
        length = lengths[i]
        digest = _hash(tags.pool, start, start + length)
        entries[number, 0] = start
        entries[number, 1] = length
        entries[number, 2] = np.int64(digest)
        _occupy(number, digest, tags.slots)
        number += 1
        start += length


@compiled
def enter_again(words: Any) -> Any:
    """Enter the first `count` tags again, into slots that are all free.

    Args:
        words: the address of a row of words:
            count: int64.
            tags: the table.
    """
    count, tags = _enter_again_arguments(words)
    for number in range(count):
        _occupy(number, np.uint64(tags.entries[number, 2]), tags.slots)


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
def _summary(buffer: Any, base: Any, file: Any, event: Any, cursor: Any, tags: Any, found: Any, scratch: Any) -> Any:
    """Store the values of one Event in rows and places; return MORE if done, UNUSUAL or FULL."""
    _, wall_time, step, start, stop = event
    at, stack = scratch.at, scratch.stack
    rows, places = found.rows, found.places
    n_rows, n_places, previous = cursor[1], cursor[2], cursor[3]
    while start < stop:
        if load_u8(buffer, start) != 0x0A:
            return UNUSUAL
        first, last = span(buffer, start + 1, stop)
        if first < 0:
            return UNUSUAL
        start = last
        what = value_fields(buffer, first, last, at)
        if what <= 0:
            return UNUSUAL
        tag = tag_number(buffer, at[0], at[1], previous, tags)
        if tag < 0:
            return UNUSUAL
        kind = tags.entries[tag, 3]
        if at[5] > 0 and (kind == CLASS_NONE or not is_sound(buffer, at[4], at[5], schema.METADATA, stack)):
            return UNUSUAL
        previous = tag
        if kind == CLASS_SKIPPED:
            if what != 0x15 and value_kind(buffer, what, at, stack) < 0:
                return UNUSUAL
            continue
        if what == 0x15:
            value = np.float64(load_f32(buffer, at[2]))
        elif what == 0x42 and kind == CLASS_SCALAR:
            value, sound = scalar_tensor(buffer, at[2], at[3])
            if not sound:
                return UNUSUAL
        else:
            place = value_kind(buffer, what, at, stack)
            if place < 0:
                return UNUSUAL
            if n_places == PLACE_CAPACITY:
                return FULL
            row = places[n_places]
            row["tag"] = tag
            row["kind"] = place
            row["step"] = step
            row["wall_time"] = wall_time
            row["offset"] = base + first
            row["length"] = last - first
            row["file"] = file
            n_places += 1
            continue
        if n_rows == len(rows):
            return FULL
        row = rows[n_rows]
        row["tag"] = tag
        row["step"] = step
        row["wall_time"] = wall_time
        row["value"] = value
        n_rows += 1
    cursor[1], cursor[2], cursor[3] = n_rows, n_places, previous
    return MORE


@compiled
def scalar_at(buffer: Any, start: Any, stop: Any) -> Any:
    """Locate the one scalar of an Event whose fields are in the order that every writer uses.

    Returns:
        (the step, where the tag starts); or (0, -1). The tag ends 5 bytes before the end of the Event; the last 4 bytes
        are the value.
    """
    if stop - start < 20 or stop - start > 100 or load_u8(buffer, start) != 0x09:
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
def scan(words: Any) -> Any:
    """Scan buffer[cursor[0] : end], record by record.

    Args:
        words: the address of a row of words:
            end: the number of bytes in the buffer that are filled.
            base: the file offset of buffer[0].
            file: the number of the file, for places.
            buffer: uint8[m].
            cursor: int64[5]: position in the buffer, rows, places, previous tag, records read; advanced.
            length_crcs: uint32[65536]: the stored checksum of each short length.
            tags: a TagTable.
            found: a Found; rows are added from cursor[1] on, places from cursor[2] on.
            scratch: a Scratch.

    Returns:
        MORE, ODD, UNUSUAL or FULL; the cursor is then at the record concerned.
    """
    end, base, file, buffer, cursor, length_crcs, tags, found, scratch = _scan_arguments(words)
    rows = found.rows
    while True:
        pos = cursor[0]
        if end - pos < 16:
            return MORE
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
        step, tag_at = scalar_at(buffer, start, stop)
        if tag_at > 0 and cursor[1] < len(rows):
            wall_time = load_f64(buffer, start + 1)
            tag = tag_number(buffer, tag_at, stop - 5, cursor[3], tags)
            if tag >= 0 and np.isfinite(wall_time):
                row = rows[cursor[1]]
                row["tag"] = tag
                row["step"] = step
                row["wall_time"] = wall_time
                row["value"] = load_f32(buffer, stop - 4)
                cursor[0] = stop + 4
                cursor[1] += tags.entries[tag, 3] != CLASS_SKIPPED  # without a branch: else the row is overwritten
                cursor[3] = tag
                cursor[4] += 1
                continue
        event = event_fields(buffer, start, stop)
        if not event[0]:
            return UNUSUAL
        if event[4] > event[3]:
            status = _summary(buffer, base, file, event, cursor, tags, found, scratch)
            if status != MORE:
                return status
        cursor[0] = stop + 4
        cursor[4] += 1


@compiled
def group(words: Any) -> Any:
    """Sort rows into columns by tag with a counting sort, which is stable.

    Args:
        words: the address of a row of words:
            rows: ROW[n].
            counts: int64[t], filled with the number of rows of each tag.
            starts: int64[t], scratch.
            out: a Block with room for n points, filled.
    """
    rows, counts, starts, out = _group_arguments(words)
    steps, wall_times, values = out
    counts[:] = 0
    for i in range(len(rows)):
        counts[rows[i]["tag"]] += 1
    total = np.int64(0)
    for tag in range(len(counts)):
        starts[tag] = total
        total += counts[tag]
    for i in range(len(rows)):
        row = rows[i]
        at = starts[row["tag"]]
        starts[row["tag"]] = at + 1
        steps[at] = row["step"]
        wall_times[at] = row["wall_time"]
        values[at] = row["value"]


@compiled
def spread(words: Any) -> Any:
    """Copy columns that are sorted by tag to where those of each tag are, without the interpreter's lock.

    Args:
        words: the address of a row of words:
            block: a Block.
            counts: int64[t]: the number of points of each tag.
            addresses: int64[t, 3]: where its steps, wall times and values belong; there is room for them.
    """
    block, counts, addresses = _spread_arguments(words)
    steps, wall_times, values = block
    start = np.int64(0)
    for tag in range(len(counts)):
        stop = start + counts[tag]
        copy_to(addresses[tag, 0], steps, start, stop)
        copy_to(addresses[tag, 1], wall_times, start, stop)
        copy_to(addresses[tag, 2], values, start, stop)
        start = stop


EXPORTS = {"scan": scan, "enter": enter, "enter_again": enter_again, "group": group, "spread": spread}
"""The functions that Python calls."""

LEVELS = ("v2", "v3", "v8")
"""The levels of the processor that they are compiled for: they gain nothing from AVX-512."""
