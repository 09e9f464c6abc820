"""Records: the framing around every Event, both ways. Pure (no I/O).

    offset  bytes
         0      8  length of the data, unsigned little-endian
         8      4  masked CRC-32C of those 8 bytes
        12      n  data
    12 + n      4  masked CRC-32C of the data

Strategy: a parser is fed bytes as they arrive, and reports only what no later byte can change, so that the same bytes
yield the same records and faults however they are split into chunks. A length is trusted only if its checksum matches,
and even then nothing is allocated for it: the parser waits until the bytes have arrived. Where no record starts, it
searches for the next sound length; if a record's data is damaged, it also searches that data for a whole record,
because bytes lost there have shifted everything after them.
"""

from __future__ import annotations

from functools import lru_cache
from struct import Struct
from typing import TYPE_CHECKING, NamedTuple

from summaries.errors import Fault, FaultKind
from summaries.native.library import is_available
from summaries.wire.crc32c import crc32c, extend, mask, masked_crc32c
from summaries.wire.resync import Headers, is_zero
from summaries.words import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

__all__ = ["FOOTER_BYTES", "HEADER_BYTES", "MAX_RECORD_BYTES", "Batch", "RecordParser", "frame", "length_crc"]

HEADER_BYTES = 12
FOOTER_BYTES = 4
MAX_RECORD_BYTES = 2**31 - 1
"""The largest data that a parser accepts: protobuf's own limit for a message."""

_LARGE_BYTES = 1 << 15  # after a fault, data larger than this is checked by `Headers`
_CALM_BYTES = 1 << 16  # after so many bytes without a fault, there is no trouble any more
_LOOKS = 8  # inside damaged data, so often at most while its bytes double
_LENGTH = Struct("<Q")
_HEADER = Struct("<QI")
_FOOTER = Struct("<I")


class Batch(NamedTuple):
    """Whole, undamaged records that follow one another.

    Attributes:
        number: the number of records before the first one.
        base: the offset of the buffer's first byte, in bytes from the start of the stream.
        buffer: bytes that the records are in.
        starts, stops: where each record's data starts in the buffer, and where it stops.
    """

    number: int
    base: int
    buffer: bytes
    starts: Sequence[int]
    stops: Sequence[int]

    def offset(self, i: int) -> int:
        """Where a record's header starts, in bytes from the start of the stream."""
        return self.base + self.starts[i] - HEADER_BYTES

    @property
    def data(self) -> list[bytes]:
        """Each record's data."""
        return [self.buffer[start:stop] for start, stop in zip(self.starts, self.stops, strict=True)]


@lru_cache(maxsize=8192)
def length_crc(length: int) -> int:
    """The masked checksum of a record's length. Lengths repeat, hence the cache."""
    return masked_crc32c(_LENGTH.pack(length))


def frame(*parts: bytes) -> bytes:
    """Return the record that carries the concatenated `parts`.

    >>> frame(b"abc").hex()
    '0300000000000000b099490e6162636e57f121'
    """
    length, crc = 0, 0
    for part in parts:
        length += len(part)
        crc = extend(crc, part)
    return b"".join((_HEADER.pack(length, length_crc(length)), *parts, _FOOTER.pack(mask(crc))))


class RecordParser:
    r"""Turns bytes, fed in chunks of any size, into records and faults.

    Args:
        offset: where the bytes start, in bytes from the start of the stream.
        number: the number of records before them.
        max_record_bytes: a greater length is damage, even if its checksum matches; below 2**32.

    Attributes:
        number: the number of records so far.

    >>> parser = RecordParser()
    >>> stream = frame(b"one") + frame(b"two")
    >>> parser.feed(stream[:25])
    >>> [batch.data for batch in parser.items()]
    [[b'one']]
    >>> parser.feed(stream[25:] + b"\x05")
    >>> [(batch.number, batch.offset(0), batch.data) for batch in parser.items()]
    [(1, 19, [b'two'])]
    >>> parser.close()
    >>> [str(fault) for fault in parser.items()]
    ['the bytes end inside a record: got 1 byte, want 12 bytes - at record 2, offset 38 (1 byte)']
    """

    def __init__(self, offset: int = 0, number: int = 0, *, max_record_bytes: int = MAX_RECORD_BYTES) -> None:
        if not 0 < max_record_bytes < 2**32:
            raise ValueError(f"max_record_bytes must be positive and below 2**32, got {max_record_bytes}")
        self._max_record_bytes = max_record_bytes
        self._buffer = b""
        self._base = offset  # stream offset of the buffer's first byte
        self._pos = 0  # everything before it in the buffer is settled
        self._fed: list[bytes] = []  # chunks not yet joined to the buffer
        self._fed_bytes = 0
        self._need = HEADER_BYTES  # bytes needed from _pos to continue
        self._lost: _Lost | None = None  # bytes being skipped until a sound length is found
        self._closed = False
        self.number: int = number
        self._headers = Headers(max_record_bytes)
        self._looked = offset  # no whole record starts between the position and here
        self._calm_from = offset  # the offset from which on no fault has occurred for a while
        self._find = _compiled() if is_available() else None

    @property
    def offset(self) -> int:
        """The number of settled bytes of the stream: reported as records and faults, or being skipped."""
        return self._base + self._pos

    @property
    def skips(self) -> bool:
        """Whether bytes are being skipped."""
        return self._lost is not None

    @property
    def calm(self) -> bool:
        """Whether no bytes are being skipped, and no fault has occurred for a while."""
        return self._lost is None and self.offset >= self._calm_from

    @property
    def unsettled_bytes(self) -> int:
        """The number of fed bytes that are not part of a record or a fault yet."""
        return len(self._buffer) - self._pos + self._fed_bytes

    def feed(self, data: bytes | bytearray | memoryview) -> None:
        """Append the next bytes of the stream.

        Raises:
            ValueError: the parser was closed.
        """
        if self._closed:
            raise ValueError("feed() after close(): a closed parser takes no more bytes; make a new one")
        chunk = bytes(data)
        self._fed.append(chunk)
        self._fed_bytes += len(chunk)

    def close(self) -> None:
        """Declare the end of the stream: a record that is unfinished stays so. `items` then yields the last faults."""
        self._closed = True

    def items(self) -> Iterator[Batch | Fault]:
        """Yield the records and faults that the bytes so far settle, in stream order. Call it after each feed."""
        while True:
            self._join()
            starts, stops = ([], []) if self._lost is not None else self._whole_records()
            if stops:
                batch = Batch(self.number, self._base, self._buffer, starts, stops)
                self._pos = stops[-1] + FOOTER_BYTES
                self._need = HEADER_BYTES
                self.number += len(stops)
                yield batch
            if self._fed:
                if self.unsettled_bytes >= self._need or self._closed:
                    continue
                return
            item = self._settle()
            if item is not None:
                yield item
            elif not self._fed:
                return

    def _join(self) -> None:
        """Move the fed bytes into the buffer, once there are enough to continue."""
        if self._fed and (self.unsettled_bytes >= self._need or self._closed):
            self._base += self._pos
            self._buffer = b"".join((self._buffer[self._pos :], *self._fed))
            self._pos = 0
            self._fed.clear()
            self._fed_bytes = 0

    def _whole_records(self) -> tuple[list[int], list[int]]:
        """Where whole records' data starts, and stops, in the buffer, up to the first that needs a closer look."""
        if self._find is not None and self.calm:
            return self._find(self._buffer, self._pos, self._max_record_bytes)
        buffer, pos, end = self._buffer, self._pos, len(self._buffer)
        starts, stops = list[int](), list[int]()
        while end - pos >= HEADER_BYTES:
            length, stored_length_crc = _HEADER.unpack_from(buffer, pos)
            start, stop = pos + HEADER_BYTES, pos + HEADER_BYTES + length
            if stop + FOOTER_BYTES > end or length > self._max_record_bytes or length_crc(length) != stored_length_crc:
                break
            if length > _LARGE_BYTES and not self.calm and not self._is_whole(pos):
                break
            if mask(crc32c(buffer[start:stop])) != _FOOTER.unpack_from(buffer, stop)[0]:
                break
            starts.append(start)
            stops.append(stop)
            pos = stop + FOOTER_BYTES
        return starts, stops

    def _is_whole(self, pos: int) -> bool:
        """Whether the record at `pos`, which is entirely in the buffer, is undamaged.

        After a fault, overlapping lengths may claim the same bytes many times: `Headers` reads them once.
        """
        at = self._base + pos
        return self._headers.first_open(self._buffer, self._base, at, at + 1) is not None

    def _settle(self) -> Fault | None:
        """The fault at the position, where there is no whole record; None if more bytes are needed."""
        if self._lost is not None:
            return self._search()
        have = len(self._buffer) - self._pos
        if have < HEADER_BYTES:
            if self._closed and have:
                return self._tail(HEADER_BYTES)
            self._need = HEADER_BYTES
            return None
        length, stored = _HEADER.unpack_from(self._buffer, self._pos)
        if length_crc(length) != stored:
            wanted = length_crc(length)
            return self._lose("length checksum mismatch", f"0x{stored:08x}", f"0x{wanted:08x}")
        if length > self._max_record_bytes:
            return self._lose("length too large", f"{length} bytes", f"at most {self._max_record_bytes} bytes")
        if have < HEADER_BYTES + length + FOOTER_BYTES:
            if self._closed:
                return self._cut(length)
            self._need = HEADER_BYTES + length + FOOTER_BYTES
            return None
        return self._damaged(length)

    def _tail(self, want: int) -> Fault:
        """The fault of the bytes that are left if the stream ends inside a record."""
        have = len(self._buffer) - self._pos
        return self._passed(FaultKind.UNFINISHED_TAIL, "the bytes end inside a record", have, want)

    def _cut(self, length: int) -> Fault:
        """The fault of a record that the stream's end cuts off: unfinished, unless whole records start inside it."""
        want = HEADER_BYTES + length + FOOTER_BYTES
        start = self._find_whole(len(self._buffer) - self._pos)
        return self._tail(want) if start < 0 else self._interrupted(start - self.offset, want)

    def _damaged(self, length: int) -> Fault | None:
        """The fault of a record with a sound length, and all bytes present, whose data fails its checksum."""
        size = HEADER_BYTES + length + FOOTER_BYTES
        start = self._find_whole(size)
        if start == _UNKNOWN:
            return None
        if start >= 0:
            return self._interrupted(start - self.offset, size)
        data = self._buffer[self._pos + HEADER_BYTES : self._pos + HEADER_BYTES + length]
        (stored,) = _FOOTER.unpack_from(self._buffer, self._pos + HEADER_BYTES + length)
        got, want = f"0x{stored:08x}", f"0x{masked_crc32c(data):08x}"
        fault = Fault(FaultKind.DAMAGED_PAYLOAD, "data checksum mismatch", self.offset, size, got, want, self.number)
        self._advance(size)
        return fault

    def _interrupted(self, have: int, want: int) -> Fault:
        """The fault of a record that ends early because another one starts inside it."""
        return self._passed(FaultKind.DAMAGED_PAYLOAD, "a whole record starts inside another's data", have, want)

    def _find_whole(self, size: int) -> int:
        """Where the first whole record in the next `size` bytes starts; _NOWHERE; _UNKNOWN if more bytes are needed."""
        end, stop = self._base + len(self._buffer), self.offset + size
        start = max(self.offset + 1, self._looked)
        while (claim := self._headers.first_open(self._buffer, self._base, start, stop)) is not None:
            if claim.stop <= end:
                return claim.start
            if not self._closed:
                self._looked = claim.start
                # Claims may end so close together that looking after each would take longer the more there are.
                have = end - self.offset
                self._need = max(claim.stop - self.offset, have + have // _LOOKS)
                return _UNKNOWN
            start = claim.start + 1
        if not self._closed and stop + HEADER_BYTES - 1 > end:
            # A header may start in the last bytes of the span and end after the bytes present.
            self._looked = max(start, end - HEADER_BYTES + 1)
            self._need = size + HEADER_BYTES - 1
            return _UNKNOWN
        return _NOWHERE

    def _lose(self, reason: str, got: str, want: str) -> Fault | None:
        """No record starts here: remember why, and search for the next sound length."""
        self._lost = _Lost(self.offset, reason, got, want)
        return self._search()

    def _search(self) -> Fault | None:
        """Skip to the next sound length; the skipped bytes are one fault."""
        lost = self._lost
        assert lost is not None
        end = len(self._buffer)
        # Do not find the rejected length again.
        start = self._pos + 1 if self.offset == lost.offset else self._pos
        header = self._headers.first(self._buffer, self._base, self._base + start, self._base + end) - self._base
        if header < 0 and not self._closed:
            # Drop all but the last bytes: a header that starts in them may still be completed.
            settled = max(start, end - HEADER_BYTES + 1)
            lost.zero = lost.zero and is_zero(self._buffer, self._pos, settled)
            self._advance(settled - self._pos)
            return None
        skipped = (end if header < 0 else header) - self._pos
        lost.zero = lost.zero and is_zero(self._buffer, self._pos, self._pos + skipped)
        self._advance(skipped)
        self._lost = None
        length = self.offset - lost.offset
        if lost.zero:
            kind, reason, got, want = FaultKind.ZERO_FILLED, "zero bytes", f"{length} of them", "a record"
        else:
            kind, reason, got, want = FaultKind.DAMAGED_LENGTH, lost.reason, lost.got, lost.want
        return Fault(kind, reason, lost.offset, length, got, want, self.number)

    def _passed(self, kind: FaultKind, reason: str, have: int, want: int) -> Fault:
        """Pass the next `have` bytes, where there should be `want`; return their fault."""
        fault = Fault(kind, reason, self.offset, have, counted(have, "byte"), counted(want, "byte"), self.number)
        self._advance(have)
        return fault

    def _advance(self, count: int) -> None:
        self._pos += count
        self._calm_from = self.offset + _CALM_BYTES
        self._need = HEADER_BYTES


def _compiled() -> Callable[[bytes, int, int], tuple[list[int], list[int]]]:
    from summaries.wire.compiled.scanner import whole_records  # noqa: PLC0415 - a writer only frames records

    return whole_records


_NOWHERE = -1
_UNKNOWN = -2


class _Lost:
    """A stretch without a record, while its end is being searched for."""

    __slots__ = ("got", "offset", "reason", "want", "zero")

    def __init__(self, offset: int, reason: str, got: str, want: str) -> None:
        self.offset = offset
        self.reason = reason
        self.got = got
        self.want = want
        self.zero = True  # nothing but zero bytes so far
