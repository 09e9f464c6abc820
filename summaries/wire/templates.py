"""Scalars that equal one that protobuf has read in all but their numbers, many at a time. Pure (no I/O).

Strategy: a log repeats its records; only wall time, step and value differ. A record that protobuf has read becomes a
template: its bytes without those numbers. What equals a template byte for byte means the same, so only the numbers are
left to decode, column by column. Everything else, and every fault, is left to protobuf.

Records of one length are compared as columns of 8-byte words. A sum of the words, each times its own odd number, says
which template may be the same; then all words are compared, so that equal sums cost time, and are never believed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from google.protobuf.message import DecodeError

from summaries.wire.gather import equal, gathered
from summaries.wire.layout import ROW
from summaries.wire.pb import DT_DOUBLE, DT_FLOAT, Event
from summaries.wire.protobuf import members
from summaries.wire.records import FOOTER_BYTES
from summaries.wire.tensors import scalar_value

if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any

    from numpy.typing import NDArray

    from summaries.wire.batches import Batch

__all__ = ["UNKNOWN", "UNWANTED", "Template", "Templates", "template_of"]

UNKNOWN, UNWANTED = -1, -2
"""Instead of a tag's number: the record equals no template · it does, and its tag is not wanted."""

_WORD = 8
_FEWEST = 48  # in fewer records of one length, no template is looked for: that takes as long as reading them
_MAX_STEP_BYTES = 9  # a step of ten bytes is below zero
_WALL_TIME, _STEP, _SUMMARY = 0x09, 0x10, 0x2A  # the keys of Event,
_VALUE = 0x0A  # of Summary,
_TAG, _SIMPLE, _TENSOR, _METADATA = 0x0A, 0x15, 0x42, 0x4A  # of Summary.Value
_DTYPE, _SHAPE, _VERSION = 0x08, 0x12, 0x18  # and of TensorProto
_NUMBERS = {  # dtype, the key of the field that holds its one number → the number's dtype
    (DT_FLOAT, 0x22): "<f4",
    (DT_FLOAT, 0x2A): "<f4",
    (DT_FLOAT, 0x2D): "<f4",
    (DT_DOUBLE, 0x22): "<f8",
    (DT_DOUBLE, 0x31): "<f8",
    (DT_DOUBLE, 0x32): "<f8",
}


class _Form(NamedTuple):
    """Where a record's numbers are: offsets and lengths in bytes."""

    size: int  # of the record's data
    wall_time: int
    step: int
    step_bytes: int
    value: int
    dtype: str  # of the value

    def mask(self) -> int:
        """The bits, from the first byte's on, that are equal in all records of a template.

        Of a step's bytes these are the upper ones, which say whether another byte follows.
        """
        bits = bytearray(b"\xff" * self.size)
        bits[self.wall_time : self.wall_time + 8] = bytes(8)
        bits[self.step : self.step + self.step_bytes] = b"\x80" * self.step_bytes
        itemsize = np.dtype(self.dtype).itemsize
        bits[self.value : self.value + itemsize] = bytes(itemsize)
        return int.from_bytes(bits, "little")

    def fill(self, rows: NDArray[np.void], records: NDArray[np.uint8], tags: NDArray[np.int64]) -> None:
        """Fill in ROW[n] from records of this form, uint8[n, m], each of which ends with its footer."""
        lead = records.shape[1] - FOOTER_BYTES - self.size
        wall_times = _column(records, lead + self.wall_time, "<f8")
        steps = np.zeros(len(records), np.int64)
        for i in range(self.step_bytes):
            steps |= (records[:, lead + self.step + i] & np.uint8(0x7F)).astype(np.int64) << 7 * i
        rows["step"], rows["wall_time"] = steps, wall_times
        rows["value"] = _column(records, lead + self.value, self.dtype)
        rows["tag"] = np.where(np.isfinite(wall_times), tags, UNKNOWN)


def _column(records: NDArray[np.uint8], offset: int, dtype: str) -> NDArray[Any]:
    """The number at an offset of each of the records, uint8[n, m]."""
    return np.ndarray((len(records),), dtype, records, offset, (records.shape[1],))


class Template(NamedTuple):
    """A record of one scalar.

    Attributes:
        form: where its numbers are.
        bits: all its other bits, as a number.
        tag: its tag.
        has_metadata: whether it describes the tag.
        is_tensor: whether the value is a tensor: a scalar only if the tag's first metadata says so.
    """

    form: _Form
    bits: int
    tag: bytes
    has_metadata: bool
    is_tensor: bool


def template_of(data: bytes) -> Template | None:
    """The template that a record gives; None if it is not the Event of one scalar, or has a field twice.

    >>> from summaries.wire.scalars import encode_scalar
    >>> template_of(encode_scalar("loss", 1, 2.5, 0.5)[12:-4]).tag
    b'loss'
    """
    try:
        event = Event.FromString(data)
    except DecodeError:
        return None
    parts = _only(data, (0, len(data)), {_WALL_TIME, _STEP, _SUMMARY})
    summary = _only(data, parts.get(_SUMMARY, _NOWHERE), {_VALUE})
    value = _only(data, summary.get(_VALUE, _NOWHERE), {_TAG, _SIMPLE, _TENSOR, _METADATA})
    step, end = parts.get(_STEP, _NOWHERE)
    if _WALL_TIME not in parts or end - step > _MAX_STEP_BYTES or (_SIMPLE in value) == (_TENSOR in value):
        return None
    if _SIMPLE in value:
        place, dtype = value[_SIMPLE][0], "<f4"
    else:
        found = _number_in(data, value[_TENSOR], event)
        if found is None:
            return None
        place, dtype = found
    form = _Form(len(data), parts[_WALL_TIME][0], step, end - step, place, dtype)
    first, last = value.get(_TAG, _NOWHERE)
    bits = int.from_bytes(data, "little") & form.mask()
    return Template(form, bits, data[first:last], _METADATA in value, _TENSOR in value)


_NOWHERE = 0, 0


def _only(data: bytes, span: tuple[int, int], keys: set[int]) -> dict[int, tuple[int, int]]:
    """Where the contents of each field of a sound message are, by its key; none if one is not of `keys`, or twice."""
    found: dict[int, tuple[int, int]] = {}
    for _, first, contents, stop in members(data, *span):
        key = data[first]
        if key not in keys or key in found:
            return {}
        found[key] = contents, stop
    return found


def _number_in(data: bytes, span: tuple[int, int], event: Event) -> tuple[int, str] | None:
    """Where the one number of a tensor is, and its dtype; None if it holds none, several, or one of another type."""
    tensor = event.summary.value[0].tensor
    keys = {key: dtype for (kind, key), dtype in _NUMBERS.items() if kind == tensor.dtype}
    parts = _only(data, span, {_DTYPE, _SHAPE, _VERSION, *keys})
    if scalar_value(tensor) is None or len(parts.keys() & keys) != 1:
        return None
    (key,) = parts.keys() & keys
    first, last = parts[key]
    return (first, keys[key]) if last - first == np.dtype(keys[key]).itemsize else None


class Templates:
    """Templates, with the number of the tag of each.

    >>> from summaries.wire.batches import whole_records
    >>> from summaries.wire.scalars import encode_scalar
    >>> batch = whole_records(b"".join(encode_scalar("loss", step, 2.5, step / 4) for step in range(1, 99)))
    >>> templates = Templates()
    >>> templates.add(template_of(batch.data[0]), 0)
    >>> rows = templates.rows(batch)
    >>> rows["step"][:3], rows["value"][:3], rows["tag"][:3]
    (array([1, 2, 3]), array([0.25, 0.5 , 0.75]), array([0, 0, 0]))
    """

    def __init__(self) -> None:
        self._tables: dict[int, dict[_Form, _Table]] = {}  # by the size of a record's data

    def __bool__(self) -> bool:
        return bool(self._tables)

    def knows(self, data: bytes) -> bool:
        """Whether a record equals a template."""
        bits = int.from_bytes(data, "little")
        return any(bits & table.mask in table.numbers for table in self._tables.get(len(data), {}).values())

    def add(self, template: Template, number: int) -> None:
        """Add a template, with the number of its tag, or UNWANTED."""
        tables = self._tables.setdefault(template.form.size, {})
        if template.form not in tables:
            tables[template.form] = _Table(template.form)
        tables[template.form].add(template.bits, number)

    def rows(self, batch: Batch) -> NDArray[np.void]:
        """ROW[n]: the scalar in each record; its tag is UNKNOWN if the record equals no template, or UNWANTED."""
        rows = np.empty(len(batch), ROW)
        rows["tag"] = UNKNOWN
        for at in equal(batch.sizes):
            tables = self._tables.get(int(batch.sizes[at[0]]))
            if tables and len(at) >= _FEWEST:
                self._fill(rows, batch, at, tables.values())
        return rows

    def _fill(self, rows: NDArray[np.void], batch: Batch, at: NDArray[np.intp], tables: Collection[_Table]) -> None:
        """Fill in the rows of those of the records, which are of one length, that equal a template."""
        size = int(batch.sizes[at[0]])
        stops = batch.starts[at] + (size + FOOTER_BYTES)
        records = gathered(batch.buffer, stops - _width(size), _width(size))
        words = np.ascontiguousarray(records.view(np.uint64).T)
        for table in tables:
            numbers = table.find(words)
            known = numbers != UNKNOWN
            if known.all() and len(at) == len(rows):  # in place, which is several times faster
                table.form.fill(rows, records, numbers)
            elif known.any():
                found = np.empty(np.count_nonzero(known), ROW)
                table.form.fill(found, records[known], numbers[known])
                rows[at[known]] = found


class _Table:
    """The templates of one form."""

    def __init__(self, form: _Form) -> None:
        self.form = form
        self.mask = form.mask()
        self._bits = bytearray()  # of the templates, as they lie in words that end with the record
        self.numbers: dict[int, int] = {}  # by a template's bits
        self._sorted: _Sorted | None = None

    def add(self, bits: int, number: int) -> None:
        if bits not in self.numbers:
            self._bits += self._in_words(bits)
        self.numbers[bits] = number
        self._sorted = None

    def find(self, words: NDArray[np.uint64]) -> NDArray[np.int64]:
        """int64[n]: the number of the template that each record, uint64[w, n], equals; UNKNOWN if it equals none."""
        known = self._sorted = self._sorted or self._sort()
        same = words & known.mask
        at = known.sums.searchsorted(_sums(same))
        at[at == len(known.sums)] = 0
        return np.where((same == known.words.take(at, axis=1)).all(axis=0), known.numbers[at], UNKNOWN)

    def _sort(self) -> _Sorted:
        words = self._words(self._bits)
        sums, first = np.unique(_sums(words), return_index=True)
        numbers = np.array(list(self.numbers.values()), np.int64)
        return _Sorted(self._words(self._in_words(self.mask)), sums, words[:, first], numbers[first])

    def _in_words(self, bits: int) -> bytes:
        """The bits of a record as they lie in words that end with the record."""
        width = _width(self.form.size)
        return (bits << 8 * (width - self.form.size - FOOTER_BYTES)).to_bytes(width, "little")

    def _words(self, bits: bytes | bytearray) -> NDArray[np.uint64]:
        """uint64[w, n]: the words of n records, which lie one after another."""
        return np.frombuffer(bytes(bits), np.uint64).reshape(-1, _width(self.form.size) // _WORD).T.copy()


class _Sorted(NamedTuple):
    """The bits that count, uint64[w, 1]; of t templates by their sums, all different.

    Shapes: uint64[w, 1], uint64[t], uint64[w, t], int64[t].
    """

    mask: NDArray[np.uint64]
    sums: NDArray[np.uint64]
    words: NDArray[np.uint64]
    numbers: NDArray[np.int64]


def _width(size: int) -> int:
    """The bytes of the words that hold a record's data and its footer; they begin in its header at the earliest."""
    return -(-(size + FOOTER_BYTES) // _WORD) * _WORD


def _sums(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """uint64[n]: for each record, uint64[w, n], the sum of its words, each times its own odd number."""
    odd = np.arange(len(words), dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C16) + np.uint64(0x9E3779B97F4A7C15)
    sums: NDArray[np.uint64] = (words * odd[:, None]).sum(axis=0, dtype=np.uint64)
    return sums
