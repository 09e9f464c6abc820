"""Records in batches: the same items as from `RecordParser`, many at a time. Pure (no I/O).

Strategy: lengths are first taken on trust, so that one loop finds where the records of a chunk would be; then all
headers and checksums are compared at once, and everything after the first mismatch is discarded. From there the plain
parser continues until no fault has occurred for a while, because each switch between the two copies the rest of the
chunk. Only the plain parser decides what is a fault.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from functools import cached_property
from struct import Struct
from typing import TYPE_CHECKING

import numpy as np

from summaries.errors import Fault
from summaries.wire.crc32c import MASK_DELTA, crc32c
from summaries.wire.crc_columns import checksums
from summaries.wire.gather import equal, gathered
from summaries.wire.records import FOOTER_BYTES, HEADER_BYTES, Record, RecordParser, length_crc
from summaries.wire.resync import short_length_crcs
from summaries.words import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

__all__ = ["Batch", "BatchParser", "whole_records"]

_FRAME_BYTES = HEADER_BYTES + FOOTER_BYTES
_MAX_BATCH_RECORD_BYTES = 1 << 20  # the plain parser waits for larger records without rejoining bytes repeatedly
_CALM_BYTES = 1 << 16  # after this many bytes without a fault, the plain parser is no longer needed
_MANY = 512  # so many records of one length are checked together
_SHORT_BYTES = 256  # if they are not longer
_LENGTH = Struct("<Q")


class Batch:
    """Whole, undamaged records, in order.

    Args:
        number: the number of records before the first one.
        base: the offset of the buffer's first byte, in bytes from the start of the stream.
        buffer: bytes that the records are in.
        starts: int64[n]: where each record's data starts in the buffer.
        sizes: int64[n]: the length of each record's data in bytes.
        data: each record's data; None cuts it out of the buffer when it is asked for.

    Attributes:
        number, base, buffer, starts, sizes: the same.
    """

    def __init__(
        self,
        number: int,
        base: int,
        buffer: bytes,
        starts: NDArray[np.int64],
        sizes: NDArray[np.int64],
        data: list[bytes] | None = None,
    ) -> None:
        self.number = number
        self.base = base
        self.buffer = buffer
        self.starts = starts
        self.sizes = sizes
        self._data = data

    @classmethod
    def of(cls, number: int, records: Sequence[Record]) -> Batch:
        """Create from records that follow each other without a gap, of which there is at least one."""
        data = [record.data for record in records]
        sizes = np.array([len(one) for one in data], np.int64)
        ends = (sizes + _FRAME_BYTES).cumsum()
        buffer = bytes(HEADER_BYTES) + bytes(_FRAME_BYTES).join(data) + bytes(FOOTER_BYTES)
        return cls(number, records[0].offset, buffer, ends - FOOTER_BYTES - sizes, sizes, data)

    def __len__(self) -> int:
        return len(self.starts)

    def __repr__(self) -> str:
        return f"<Batch of {counted(len(self), 'record')} from {self.number} on>"

    @cached_property
    def offsets(self) -> list[int]:
        """Where each record's header starts, in bytes from the start of the stream."""
        offsets: list[int] = (self.starts + (self.base - HEADER_BYTES)).tolist()
        return offsets

    @cached_property
    def data(self) -> list[bytes]:
        """Each record's data."""
        return _cut(self.buffer, self.starts, self.sizes) if self._data is None else self._data

    @property
    def stop(self) -> int:
        """Where the last record ends, in bytes from the start of the stream."""
        return self.base + int(self.starts[-1] + self.sizes[-1]) + FOOTER_BYTES

    def part(self, first: int, last: int) -> Batch:
        """The records from `first` to before `last`."""
        starts, sizes = self.starts[first:last], self.sizes[first:last]
        data = None if self._data is None else self._data[first:last]
        return Batch(self.number + first, self.base, self.buffer, starts, sizes, data)


def whole_records(buffer: bytes, base: int = 0, number: int = 0) -> Batch:
    """Find the whole records at the start of `buffer`, up to the first that needs a closer look.

    Args:
        buffer: the bytes.
        base: the offset of the first of them, in bytes from the start of the stream.
        number: the number of records before them.

    >>> from summaries.wire.records import frame
    >>> whole_records(frame(b"one") + frame(b"two") + b"...").data
    [b'one', b'two']
    """
    ends = _walk(buffer)
    starts = ends[:-1] + HEADER_BYTES
    sizes = np.diff(ends) - _FRAME_BYTES
    if not len(starts):
        return Batch(number, base, buffer, starts, sizes)
    # Overlapping 4-byte numbers, one for each offset.
    numbers = np.ndarray((len(buffer) - 3,), "<u4", buffer, strides=(1,))
    sound = numbers[starts - FOOTER_BYTES] == _length_crcs(sizes)
    crcs, data = _data_crcs(buffer, starts, sizes)
    sound &= numbers[starts + sizes] == _mask(crcs)
    batch = Batch(number, base, buffer, starts, sizes, data)
    return batch if sound.all() else batch.part(0, int(np.argmin(sound)))


def _data_crcs(
    buffer: bytes, starts: NDArray[np.int64], sizes: NDArray[np.int64]
) -> tuple[NDArray[np.uint32], list[bytes] | None]:
    """uint32[n]: the checksum of each record's data; and the data, if all of it was cut out for that."""
    groups = equal(sizes) if len(starts) >= _MANY else ()
    many = [at for at in groups if len(at) >= _MANY and sizes[at[0]] <= _SHORT_BYTES]
    if 2 * sum(map(len, many)) < len(starts):
        data = _cut(buffer, starts, sizes)
        return np.fromiter(map(crc32c, data), np.uint32, len(data)), data
    crcs, left = np.empty(len(starts), np.uint32), np.ones(len(starts), np.bool_)
    for at in many:
        crcs[at] = checksums(gathered(buffer, starts[at], int(sizes[at[0]])))
        left[at] = False
    crcs[left] = [crc32c(one) for one in _cut(buffer, starts[left], sizes[left])]
    return crcs, None


def _cut(buffer: bytes, starts: NDArray[np.int64], sizes: NDArray[np.int64]) -> list[bytes]:
    return [buffer[start:stop] for start, stop in zip(starts.tolist(), (starts + sizes).tolist(), strict=True)]


def _walk(buffer: bytes) -> NDArray[np.int64]:
    """int64[n + 1]: where records would start if every length were right; and where the last of them would end."""
    offsets: list[int] = []
    pos, end = 0, len(buffer)
    last = end - _FRAME_BYTES
    unpack, append = _LENGTH.unpack_from, offsets.append
    while pos <= last:
        (length,) = unpack(buffer, pos)
        following = pos + _FRAME_BYTES + length
        if following > end:
            break
        append(pos)
        pos = following
    append(pos)
    return np.array(offsets, np.int64)


def _length_crcs(lengths: NDArray[np.int64]) -> NDArray[np.uint32]:
    """uint32[n]: the stored checksum of each length."""
    short = short_length_crcs()
    if lengths.max() < len(short):
        return short[lengths]
    return np.array([length_crc(n) for n in lengths.tolist()], np.uint32)


def _mask(crcs: NDArray[np.uint32]) -> NDArray[np.uint32]:
    return (crcs >> np.uint32(15) | crcs << np.uint32(17)) + np.uint32(MASK_DELTA)


class BatchParser:
    """Turns bytes, fed in chunks, into batches of records and faults: a faster `RecordParser`.

    Args:
        offset: where the bytes start, in bytes from the start of the stream.
        number: the number of records before them.
        stop: yield only what begins before this offset; None yields everything.

    Attributes:
        number: the number of records so far.
        stopped: where the first record or fault begins that does not begin before `stop`; None until that is known.

    >>> from summaries.wire.records import frame
    >>> parser = BatchParser()
    >>> [*parser.feed(frame(b"one") + frame(b"two") + b"..."), *parser.close()]
    [<Batch of 2 records from 0 on>, Fault(kind=<FaultKind.UNFINISHED_TAIL...
    >>> parser = BatchParser(stop=10)
    >>> [batch.data for batch in parser.feed(frame(b"one") + frame(b"two"))], parser.stopped
    ([[b'one']], 19)
    """

    def __init__(self, offset: int = 0, number: int = 0, stop: int | None = None) -> None:
        self.number = number
        self.stopped = offset if stop is not None and offset >= stop else None
        self._stop = stop
        self._offset = offset  # of the first byte of `_rest`
        self._rest = b""
        self._fed: list[bytes] = []  # not yet joined to the rest
        self._missing = 0  # so many more bytes are needed to continue
        self._plain: RecordParser | None = None
        self._calm_since = 0  # the offset after the last fault

    @property
    def settled(self) -> int:
        """The stream offset up to which all bytes were yielded, or are being skipped."""
        return self._plain.offset if self._plain else self._offset

    @property
    def calm(self) -> bool:
        """Whether no fault has occurred for a while."""
        return self._plain is None

    def feed(self, data: bytes) -> Iterator[Batch | Fault]:
        """Append the next bytes; yield what they settle."""
        return self._feed(data) if self._stop is None else self._before(self._stop, self._feed(data))

    def close(self) -> Iterator[Batch | Fault]:
        """Declare the end of the stream; yield what that settles."""
        return self._close() if self._stop is None else self._before(self._stop, self._close())

    def _before(self, stop: int, items: Iterator[Batch | Fault]) -> Iterator[Batch | Fault]:
        """Yield the items that begin before an offset."""
        while self.stopped is None and (item := next(items, None)) is not None:
            if isinstance(item, Fault):
                following = item.offset + item.length
            else:
                count = bisect_left(item.offsets, stop)
                if count < len(item):
                    item = item.part(0, count)
                    self.number = item.number + count
                following = item.stop
            if following >= stop:
                self.stopped = following
            yield item

    def _feed(self, data: bytes) -> Iterator[Batch | Fault]:
        if self._plain is not None:
            self._plain.feed(data)
            yield from self._plainly()
        else:
            self._fed.append(data)
            self._missing -= len(data)
        if self._missing <= 0:
            yield from self._quickly()

    def _close(self) -> Iterator[Batch | Fault]:
        if self._plain is None:
            self._hand_over()
        plain = self._plain
        assert plain is not None
        plain.close()
        yield from self._plainly(math.inf)

    def _quickly(self) -> Iterator[Batch | Fault]:
        while self._plain is None:
            self._join()
            batch = whole_records(self._rest, self._offset, self.number)
            if len(batch):
                self.number += len(batch)
                self._rest = self._rest[batch.stop - self._offset :]
                self._offset = batch.stop
                yield batch
            if self._waiting():
                return
            self._hand_over()
            yield from self._plainly()

    def _join(self) -> None:
        if self._fed:
            self._rest = b"".join((self._rest, *self._fed))
            self._fed.clear()

    def _waiting(self) -> bool:
        """Whether the rest may be the start of a record of moderate size, whose end is then waited for."""
        rest = self._rest
        if len(rest) < HEADER_BYTES:
            self._missing = HEADER_BYTES - len(rest)
            return True
        (length,) = _LENGTH.unpack_from(rest)
        if length > _MAX_BATCH_RECORD_BYTES or length_crc(length).to_bytes(4, "little") != rest[8:HEADER_BYTES]:
            return False
        self._missing = length + _FRAME_BYTES - len(rest)
        return self._missing > 0

    def _hand_over(self) -> None:
        """Switch to the plain parser."""
        self._join()
        self._plain = RecordParser(self._offset, self.number)
        self._plain.feed(self._rest)
        self._calm_since = self._offset
        self._rest = b""
        self._missing = 0

    def _plainly(self, calm_bytes: float = _CALM_BYTES) -> Iterator[Batch | Fault]:
        """Yield what the plain parser finds, until no fault has occurred for so many bytes."""
        plain = self._plain
        assert plain is not None
        row: list[Record] = []  # since the last fault
        for item in plain.items():
            if isinstance(item, Fault):
                yield from self._counted(row)
                row.clear()
                self._calm_since = plain.offset
                yield item
                continue
            row.append(item)
            if plain.offset - self._calm_since >= calm_bytes:
                self._rest, self._offset = plain.rest(), plain.offset
                self._plain = None
                break
        yield from self._counted(row)

    def _counted(self, row: list[Record]) -> Iterator[Batch]:
        if row:
            self.number += len(row)
            yield Batch.of(self.number - len(row), row)
