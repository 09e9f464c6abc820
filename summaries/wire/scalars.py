"""Encodes scalar events in bulk: columns to records, without a protobuf object per event. Pure (no I/O).

The record of one scalar; only the parts in capitals differ between two points of a tag:

    length crc | 09 WALL_TIME | 10 STEP | 2a n | 0a n | 0a n tag | 15 VALUE | CRC
         8   4     1         8    1   0-10                                4     4

Strategy: records whose tags have the same length, and whose steps take the same number of bytes, have one shape. Their
rows are copied from a template per tag, and the varying bytes are written down the columns. CRC-32C is linear over
GF(2): the checksum is the template's, XORed with one table entry for each varying byte; the byte's distance from the
end selects the table. Small groups are encoded record by record; both ways produce the same bytes.

References: protobuf's wire format, https://protobuf.dev/programming-guides/encoding/
"""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING

import numpy as np

from summaries.wire.crc32c import crc32c, mask
from summaries.wire.crc_spans import byte_tables
from summaries.wire.protobuf import field, varint
from summaries.wire.records import FOOTER_BYTES, HEADER_BYTES, frame

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

__all__ = [
    "SCALAR_BYTES", "ScalarEncoder", "as_float32", "double_summary", "encode_scalar", "encode_summary_event",
    "scalar_summary",
]  # fmt: skip

SCALAR_BYTES = 64
"""The most bytes that the record of a scalar takes, besides its tag."""

_WALL_TIME = Struct("<Bd")
_VALUE = Struct("<Bf")
_FLOAT64 = Struct("<d")
_HEADER = Struct("<QI")
_MIN_BULK = 24  # for fewer records of one shape, one by one is faster (measured)
_MAX_BULK_TAG_BYTES = 1024  # a table of checksums is kept for every distance up to this and a little more
_MAX_STEP_BYTES = 10


def encode_scalar(tag: str, step: int, wall_time: float, value: float) -> bytes:
    """The framed Event of one scalar, as a simple_value.

    Args:
        tag: the tag.
        step: the step, an int64.
        wall_time: seconds since the epoch.
        value: the value; rounded to float32.
    """
    return encode_summary_event(scalar_summary(tag.encode(), as_float32(value)), step, wall_time)


def encode_summary_event(summary: bytes, step: int, wall_time: float) -> bytes:
    """The framed Event with an already serialized Summary.

    Args:
        summary: the Summary's bytes.
        step: the step, an int64.
        wall_time: seconds since the epoch.
    """
    step_field = b"\x10" + varint(step) if step else b""  # proto3: zero is left out
    head = _WALL_TIME.pack(0x09, wall_time) + step_field + bytes([_SUMMARY]) + varint(len(summary))
    return frame(head, summary)


class ScalarEncoder:
    """Encodes columns of scalars. Tags are registered once and then referred to by number.

    Args:
        double: store values as float64, in tensors; else as simple_values, which are float32.

    >>> encoder = ScalarEncoder()
    >>> loss = encoder.register("loss")
    >>> records, offsets = encoder.encode(np.array([loss, loss]), np.array([1, 2]), np.ones(2), np.ones(2))
    >>> offsets
    array([ 0, 42, 84])
    """

    def __init__(self, *, double: bool = False) -> None:
        self._tags: list[str] = []
        self._summary, self._dtype = (double_summary, "<f8") if double else (scalar_summary, "<f4")
        self._shapes: dict[int, _Shape] = {}
        self._tag_bytes = np.zeros(16, np.int64)  # by tag number
        self._rows = np.zeros(16, np.int64)  # by tag number: the tag's row in its shape's templates

    def register(self, tag: str) -> int:
        """The number of a new tag: 0, 1, 2, … in the order of registration."""
        number = len(self._tags)
        encoded = tag.encode()
        shape = self._shapes.setdefault(len(encoded), _Shape(self._summary))
        if number == len(self._rows):
            self._tag_bytes = np.concatenate((self._tag_bytes, np.zeros_like(self._tag_bytes)))
            self._rows = np.concatenate((self._rows, np.zeros_like(self._rows)))
        self._tag_bytes[number] = len(encoded)
        self._rows[number] = shape.add(encoded)
        self._tags.append(tag)
        return number

    def encode(
        self,
        tags: NDArray[np.integer],
        steps: NDArray[np.int64],
        wall_times: NDArray[np.float64],
        values: NDArray[np.floating],
    ) -> tuple[memoryview, NDArray[np.int64]]:
        """The records of n scalars, one after the other.

        Args:
            tags: integers[n], tag numbers.
            steps: int64[n].
            wall_times: float64[n], seconds since the epoch.
            values: floating[n]; rounded to float32, unless they are stored as float64.

        Returns:
            The bytes, and int64[n + 1]: where each record starts, and where the last one ends.
        """
        tag_bytes = self._tag_bytes[tags]
        step_bytes = _varint_sizes(steps)
        shapes = tag_bytes << 4 | step_bytes
        with np.errstate(over="ignore"):  # values beyond float32 become infinite, as in protobuf
            narrow = values.astype(self._dtype)
        pieces: list[tuple[NDArray[np.intp], NDArray[np.uint8]]] = []
        for members in _equal(shapes):
            columns = tags[members], steps[members], wall_times[members], narrow[members]
            width = int(tag_bytes[members[0]])
            if len(members) < _MIN_BULK or width > _MAX_BULK_TAG_BYTES:
                pieces += zip(members.reshape(-1, 1), self._one_by_one(*columns), strict=True)
            else:
                block = self._shapes[width].encode(int(step_bytes[members[0]]), self._rows[columns[0]], *columns[1:])
                pieces.append((members, block))
        return _interleave(pieces, len(tags))

    def _one_by_one(
        self,
        tags: NDArray[np.integer],
        steps: NDArray[np.int64],
        wall_times: NDArray[np.float64],
        values: NDArray[np.floating],
    ) -> Iterator[NDArray[np.uint8]]:
        """The same records, each uint8[1, length], encoded the simple way."""
        rows = zip(tags.tolist(), steps.tolist(), wall_times.tolist(), values.tolist(), strict=True)
        for tag, step, wall_time, value in rows:
            record = encode_summary_event(self._summary(self._tags[tag].encode(), value), step, wall_time)
            yield np.frombuffer(record, np.uint8).reshape(1, -1)


_NO_TEMPLATES = 0, np.empty((0, 0), np.uint8), np.empty(0, np.uint32)


class _Shape:
    """The tags of one length in bytes: a template for each, and the encoding of many records at once."""

    def __init__(self, summary: Callable[[bytes, float], bytes]) -> None:
        self._summary = summary
        self._tags: list[bytes] = []
        # By the step's length: the number of tags with a template, the templates and their checksums.
        self._templates: dict[int, tuple[int, NDArray[np.uint8], NDArray[np.uint32]]] = {}

    def add(self, tag: bytes) -> int:
        """Add a tag; return its row in the templates."""
        self._tags.append(tag)
        return len(self._tags) - 1

    def encode(
        self,
        step_bytes: int,
        rows: NDArray[np.int64],
        steps: NDArray[np.int64],
        wall_times: NDArray[np.float64],
        values: NDArray[np.floating],
    ) -> NDArray[np.uint8]:
        """uint8[n, length]: the records of n scalars whose steps take `step_bytes` bytes each."""
        templates, template_crcs = self._templates_for(step_bytes)
        records = templates.take(rows, axis=0)
        crc = template_crcs.take(rows)
        end = records.shape[1] - FOOTER_BYTES
        for start, columns in (
            (HEADER_BYTES + _WALL_TIME_AT, _byte_columns(wall_times.astype("<f8", copy=False))),
            (HEADER_BYTES + _STEP_AT, _varint_columns(steps, step_bytes)),
            (end - values.itemsize, _byte_columns(values)),
        ):
            records[:, start : start + len(columns)] = columns.T
            tables = byte_tables(end)
            for i, column in enumerate(columns):
                crc ^= tables[end - 1 - start - i].take(column)
        records[:, end:] = _byte_columns(mask(crc).astype("<u4", copy=False)).T
        return records

    def _templates_for(self, step_bytes: int) -> tuple[NDArray[np.uint8], NDArray[np.uint32]]:
        """uint8[tags or more, length] and uint32[tags or more]: records with zeros in the varying bytes, checksums."""
        made, templates, crcs = self._templates.get(step_bytes, _NO_TEMPLATES)
        count = len(self._tags)
        if made < count:
            fresh, fresh_crcs = _templates([self._summary(tag, 0.0) for tag in self._tags[made:count]], step_bytes)
            if count > len(crcs):  # room for as many again, so that adding tags one by one costs little
                room, room_crcs = np.empty((2 * count, fresh.shape[1]), np.uint8), np.empty(2 * count, np.uint32)
                if made:
                    room[:made], room_crcs[:made] = templates[:made], crcs[:made]
                templates, crcs = room, room_crcs
            templates[made:count], crcs[made:count] = fresh, fresh_crcs
            self._templates[step_bytes] = count, templates, crcs
        return templates, crcs


def _templates(summaries: list[bytes], step_bytes: int) -> tuple[NDArray[np.uint8], NDArray[np.uint32]]:
    """uint8[tags, length] and uint32[tags]: records with zeros in the varying bytes, and their checksums."""
    placeholder = b"\x10" + bytes(step_bytes) if step_bytes else b""
    head = _WALL_TIME.pack(0x09, 0.0) + placeholder
    payloads = [head + field(_SUMMARY, summary) for summary in summaries]
    records = np.frombuffer(b"".join(map(frame, payloads)), np.uint8).reshape(len(payloads), -1)
    return records, np.array([crc32c(payload) for payload in payloads], np.uint32)


_SUMMARY, _VALUES, _TAG = 0x2A, 0x0A, 0x0A  # keys of Event.summary, Summary.value, Summary.Value.tag
_DOUBLE = bytes.fromhex("4a0b 0a09 0a07") + b"scalars" + bytes.fromhex("420e 0802 1200 2208")
"""Of a Summary.Value, the metadata (plugin "scalars"), and a tensor of DT_DOUBLE and rank 0 up to its content."""
_WALL_TIME_AT, _STEP_AT = 1, 10  # where an Event's varying parts start


def scalar_summary(tag: bytes, value: float) -> bytes:
    """The Summary of one simple_value, whose float32 is its last four bytes."""
    return field(_VALUES, field(_TAG, tag) + _VALUE.pack(0x15, value))


def double_summary(tag: bytes, value: float) -> bytes:
    """The Summary of one tensor of rank 0, whose float64 is its last eight bytes."""
    return field(_VALUES, field(_TAG, tag) + _DOUBLE + _FLOAT64.pack(value))


def as_float32(value: float) -> float:
    """The nearest float32, as a float; infinite if out of range, as in protobuf."""
    with np.errstate(over="ignore"):
        return float(np.float32(value))


def _varint_sizes(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """int64[n]: the number of bytes of each step, without its key; 0 for step 0, which is not written."""
    sizes: NDArray[np.int64] = (numbers != 0).astype(np.int64)
    unsigned = numbers.astype(np.uint64)
    largest = int(unsigned.max(initial=0))
    for i in range(1, _MAX_STEP_BYTES):
        if largest >> (7 * i) == 0:
            break
        sizes += unsigned >= np.uint64(1 << (7 * i))
    return sizes


def _varint_columns(numbers: NDArray[np.int64], size: int) -> NDArray[np.uint8]:
    """uint8[size, n] or, for size 0, uint8[0, n]: the varint bytes, without their key."""
    unsigned = numbers.astype(np.uint64)
    columns = np.empty((size, len(numbers)), np.uint8)
    for i in range(size):
        more = 0x80 if i < size - 1 else 0
        columns[i] = (unsigned >> np.uint64(7 * i)) & np.uint64(0x7F) | np.uint64(more)
    return columns


def _byte_columns(numbers: NDArray[np.floating] | NDArray[np.uint32]) -> NDArray[np.uint8]:
    """uint8[itemsize, n]: the bytes of little-endian numbers, contiguous by position."""
    return np.ascontiguousarray(numbers.view(np.uint8).reshape(len(numbers), -1).T)


_NARROW = 1 << 16  # NumPy sorts numbers of two bytes by their digits, which is many times faster


def _equal(numbers: NDArray[np.int64]) -> Iterator[NDArray[np.intp]]:
    """The indices of each distinct number, none of which is below zero, ascending."""
    if not len(numbers):
        return
    if (numbers == numbers[0]).all():
        yield np.arange(len(numbers))
        return
    order = np.argsort(numbers.astype(np.uint16) if numbers.max() < _NARROW else numbers, kind="stable")
    yield from np.split(order, np.flatnonzero(np.diff(numbers[order])) + 1)


def _interleave(
    pieces: list[tuple[NDArray[np.intp], NDArray[np.uint8]]], count: int
) -> tuple[memoryview, NDArray[np.int64]]:
    """Join the pieces, uint8[n, length] each, with every record at its index's place among `count`."""
    offsets = np.zeros(count + 1, np.int64)
    for indices, block in pieces:
        offsets[indices + 1] = block.shape[1]
    np.cumsum(offsets, out=offsets)
    if len(pieces) == 1:
        return pieces[0][1].reshape(-1).data, offsets
    out = np.empty(offsets[-1], np.uint8)
    for indices, block in pieces:
        length = block.shape[1]
        # Every offset is the start of one overlapping item of `length` bytes, which NumPy copies as a whole.
        items = np.ndarray((len(out) - length + 1,), f"V{length}", out, strides=(1,))
        items[offsets[indices]] = block.view(f"V{length}").reshape(-1)
    return out.data, offsets
