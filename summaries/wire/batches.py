"""Records in batches: the same items as from `RecordParser`, many at a time. Pure (no I/O).

Strategy: lengths are first taken on trust, so that one loop finds where the records of a chunk would be; then all
headers and checksums are compared at once, and everything after the first mismatch is discarded. From there the plain
parser continues until no fault has occurred for a while, because each switch between the two copies the rest of the
chunk. Only the plain parser decides what is a fault.
"""

from __future__ import annotations

from bisect import bisect_left
from struct import Struct
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from summaries.errors import Fault
from summaries.wire.crc32c import MASK_DELTA, crc32c
from summaries.wire.records import FOOTER_BYTES, HEADER_BYTES, Record, RecordParser, length_crc
from summaries.wire.resync import short_length_crcs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

__all__ = ["Batch", "BatchParser", "whole_records"]

_FRAME_BYTES = HEADER_BYTES + FOOTER_BYTES
_MAX_BATCH_RECORD_BYTES = 1 << 20  # the plain parser waits for larger records without rejoining bytes repeatedly
_CALM_BYTES = 1 << 16  # after this many bytes without a fault, the plain parser is no longer needed
_LENGTH = Struct("<Q")


class Batch(NamedTuple):
    """Whole, undamaged records, in order.

    Attributes:
        number: the number of records before the first one.
        offsets: where each record's header starts, in bytes from the start of the stream.
        data: each record's data.
    """

    number: int
    offsets: list[int]
    data: list[bytes]


def whole_records(buffer: bytes) -> tuple[list[int], list[bytes]]:
    """Find the whole records at the start of `buffer`, up to the first that needs a closer look.

    Returns:
        Each record's offset in the buffer, and its data. The rest of the buffer starts after the last of them.

    >>> from summaries.wire.records import frame
    >>> whole_records(frame(b"one") + frame(b"two") + b"...")
    ([0, 19], [b'one', b'two'])
    """
    offsets, pos = _walk(buffer)
    if not offsets:
        return [], []
    starts = np.array(offsets, np.int64)
    sizes = np.diff(starts, append=pos) - _FRAME_BYTES
    # Overlapping 4-byte numbers, one for each offset.
    numbers = np.ndarray((len(buffer) - 3,), "<u4", buffer, strides=(1,))
    sound = numbers[starts + 8] == _length_crcs(sizes)
    first = starts + HEADER_BYTES
    data = [buffer[a:b] for a, b in zip(first.tolist(), (first + sizes).tolist(), strict=True)]
    crcs = np.fromiter(map(crc32c, data), np.uint32, len(data))
    sound &= numbers[first + sizes] == _mask(crcs)
    if not sound.all():
        count = int(np.argmin(sound))
        return offsets[:count], data[:count]
    return offsets, data


def _walk(buffer: bytes) -> tuple[list[int], int]:
    """Where records would start if every length were right; and where the last of them would end."""
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
    return offsets, pos


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
    [Batch(number=0, offsets=[0, 19], data=[b'one', b'two']), Fault(kind=<FaultKind.UNFINISHED_TAIL...
    >>> parser = BatchParser(stop=10)
    >>> list(parser.feed(frame(b"one") + frame(b"two"))), parser.stopped
    ([Batch(number=0, offsets=[0], data=[b'one'])], 19)
    """

    def __init__(self, offset: int = 0, number: int = 0, stop: int | None = None) -> None:
        self.number = number
        self.stopped = offset if stop is not None and offset >= stop else None
        self._stop = stop
        self._offset = offset  # of the first byte of `_rest`
        self._rest = b""
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
                if count < len(item.offsets):
                    following = item.offsets[count]
                    item = Batch(item.number, item.offsets[:count], item.data[:count])
                    self.number = item.number + count
                else:
                    following = item.offsets[-1] + len(item.data[-1]) + _FRAME_BYTES
            if following >= stop:
                self.stopped = following
            yield item

    def _feed(self, data: bytes) -> Iterator[Batch | Fault]:
        if self._plain is not None:
            self._plain.feed(data)
            yield from self._plainly()
        else:
            self._rest += data
        yield from self._quickly()

    def _close(self) -> Iterator[Batch | Fault]:
        if self._plain is None:
            self._hand_over()
        plain = self._plain
        assert plain is not None
        plain.close()
        for item in plain.items():
            yield self._counted(item)

    def _quickly(self) -> Iterator[Batch | Fault]:
        while self._plain is None:
            offsets, data = whole_records(self._rest)
            if data:
                end = offsets[-1] + _FRAME_BYTES + len(data[-1])
                base, number = self._offset, self.number
                self.number += len(data)
                self._offset += end
                self._rest = self._rest[end:]
                yield Batch(number, [base + offset for offset in offsets] if base else offsets, data)
            if self._waiting():
                return
            self._hand_over()
            yield from self._plainly()

    def _waiting(self) -> bool:
        """Whether the rest may be the start of a record of moderate size."""
        rest = self._rest
        if len(rest) < HEADER_BYTES:
            return True
        (length,) = _LENGTH.unpack_from(rest)
        return (
            length <= _MAX_BATCH_RECORD_BYTES
            and len(rest) < length + _FRAME_BYTES
            and length_crc(length).to_bytes(4, "little") == rest[8:HEADER_BYTES]
        )

    def _hand_over(self) -> None:
        """Switch to the plain parser."""
        self._plain = RecordParser(self._offset, self.number)
        self._plain.feed(self._rest)
        self._calm_since = self._offset
        self._rest = b""

    def _plainly(self) -> Iterator[Batch | Fault]:
        """Yield the plain parser's items until no fault has occurred for a while."""
        plain = self._plain
        assert plain is not None
        for item in plain.items():
            yield self._counted(item)
            if isinstance(item, Fault):
                self._calm_since = plain.offset
            elif plain.offset - self._calm_since >= _CALM_BYTES:
                self._rest, self._offset = plain.rest(), plain.offset
                self._plain = None
                return

    def _counted(self, item: Record | Fault) -> Batch | Fault:
        if isinstance(item, Fault):
            return item
        self.number += 1
        return Batch(self.number - 1, [item.offset], [item.data])
