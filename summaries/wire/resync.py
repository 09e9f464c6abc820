"""Finds the next record in damaged bytes: the offsets of sound lengths, and of whole records. Pure (no I/O).

Every offset is examined once, a block at a time. A length below 2**32 has four zero bytes in its upper half, which
rules out nearly every offset of ordinary data; for the rest the checksum decides. CRC-32C is linear over GF(2), so the
checksum of a length is the exclusive or of one table entry for each of its lower four bytes.

Sound lengths may be so close together that the data they claim overlaps. All those of a block are checked at once, by
`SpanChecksums`, and the results are kept, so that the work grows with the number of bytes, not with what they claim.
"""

from __future__ import annotations

from bisect import bisect_left
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from summaries.wire.crc32c import crc32c, mask
from summaries.wire.crc_spans import SpanChecksums, byte_tables, mapped

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Claim", "Headers", "is_zero", "short_length_crcs"]

_HEADER_BYTES = 12
_FOOTER_BYTES = 4
_BLOCK_BYTES = 1 << 15  # small enough for a block's temporaries to stay in the cache


class Claim(NamedTuple):
    """Where a record starts and stops if its length is right, in bytes from the start of the stream."""

    start: int
    stop: int


class Headers:
    """The sound headers in a stream, and which of them start a whole record.

    The stream is passed as a buffer and `base`, the stream offset of the buffer's first byte. A later buffer may start
    later, and may have more bytes at its end. Query in stream order: only the results of the last block are kept.

    Args:
        max_length: a header that claims more bytes than this is not sound; below 2**32.
    """

    def __init__(self, max_length: int) -> None:
        self._max_length = max_length
        self._block = _Block(0, 0, [])
        self._checksums = SpanChecksums()
        self._base = 0  # of the buffer that `_checksums` has read

    def first(self, buffer: bytes, base: int, start: int, stop: int) -> int:
        """The first offset in [start, stop) of a sound header in the buffer; -1 if there is none.

        The header itself may extend beyond `stop`.
        """
        while self._find_block(buffer, base, start, stop):
            claim = _first_from(self._block.claims, start)
            if claim is not None:
                return claim.start if claim.start < stop else -1
            start = self._block.stop
        return -1

    def first_open(self, buffer: bytes, base: int, start: int, stop: int) -> Claim | None:
        """The first claim in [start, stop) that is a whole record or extends beyond the buffer; None if there is none.

        Its header must be in the buffer.
        """
        while self._find_block(buffer, base, start, stop):
            self._check(buffer, base)
            claim = _first_from(self._block.open, start)
            if claim is not None:
                return claim if claim.start < stop else None
            start = self._block.stop
        return None

    def _find_block(self, buffer: bytes, base: int, start: int, stop: int) -> bool:
        """Make `_block` contain `start`; return False if no header in the buffer can start in [start, stop)."""
        count = base + len(buffer) - _HEADER_BYTES + 1 - start
        if start >= stop or count <= 0:
            return False
        if not self._block.start <= start < self._block.stop:
            count = min(_BLOCK_BYTES, count)
            block = np.frombuffer(buffer, np.uint8, count + _HEADER_BYTES - 1, start - base)
            offsets, lengths = _sound_headers(block, self._max_length)
            stops = offsets + lengths + (_HEADER_BYTES + _FOOTER_BYTES)
            claims = list(map(Claim, (offsets + start).tolist(), (stops + start).tolist()))
            self._block = _Block(start, start + count, claims)
        return True

    def _check(self, buffer: bytes, base: int) -> None:
        """Keep only those of the block's claims open that are whole records or extend beyond the buffer."""
        due = self._block.due(base, base + len(buffer))
        if not due:
            return
        if base != self._base:
            self._base, self._checksums = base, SpanChecksums()
        claims = np.array(due, np.int64) - base
        footers = claims[:, 1] - _FOOTER_BYTES
        crcs = self._checksums.of(buffer, claims[:, 0] + _HEADER_BYTES, footers)
        stored = np.ndarray((len(buffer) - 3,), "<u4", buffer, strides=(1,))[footers]
        self._block.close(
            [claim for claim, whole in zip(due, (mask(crcs) == stored).tolist(), strict=True) if not whole]
        )


class _Block:
    """A stretch of the stream, and all sound headers in it.

    Attributes:
        start: its first offset.
        stop: the offset after its last one.
        claims: its sound headers, in order.
        open: the claims that are not known to be damaged.
    """

    def __init__(self, start: int, stop: int, claims: list[Claim]) -> None:
        self.start = start
        self.stop = stop
        self.claims = claims
        self.open = claims
        self._checked = 0  # open claims that stop here or before are whole

    def due(self, start: int, stop: int) -> list[Claim]:
        """The unchecked claims that the bytes [start, stop) are enough to check."""
        if stop == self._checked:
            return []
        checked, self._checked = self._checked, stop
        return [claim for claim in self.open if claim.start >= start and checked < claim.stop <= stop]

    def close(self, damaged: list[Claim]) -> None:
        """Remove damaged claims from the open ones."""
        gone = set(damaged)
        self.open = [claim for claim in self.open if claim not in gone]


def _first_from(claims: list[Claim], start: int) -> Claim | None:
    """The first of the sorted claims that starts at or after `start`."""
    at = bisect_left(claims, (start, 0))
    return claims[at] if at < len(claims) else None


def is_zero(buffer: bytes, start: int, stop: int) -> bool:
    """Whether buffer[start:stop] is all zero bytes."""
    return not np.frombuffer(buffer, np.uint8)[start:stop].any()  # a tenth of the time of `count`


def _sound_headers(block: NDArray[np.uint8], max_length: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The offsets in `block` (uint8[n + 11]) at which a sound header starts, and the length that each claims."""
    if not block.any():  # a file system may leave gigabytes of zeros; the checksum of the length 0 is not 0
        return np.empty(0, np.int64), np.empty(0, np.int64)
    zero = block == 0
    zero2 = zero[:-1] & zero[1:]
    zero4 = zero2[:-2] & zero2[2:]  # four zero bytes start here
    count = len(block) - _HEADER_BYTES + 1
    # The checksum of the length 0 is not 0, so a stretch of zero bytes contains no header.
    candidates = np.flatnonzero(zero4[4 : 4 + count] & ~(zero4[:count] & zero4[8 : 8 + count])).astype(np.int64)
    if not candidates.size:
        return candidates, candidates
    words = np.ndarray((count + 8,), "<u4", block, strides=(1,))
    lengths = words[candidates]
    sound = (mask(_length_crcs(lengths)) == words[candidates + 8]) & (lengths <= max_length)
    return candidates[sound], lengths[sound].astype(np.int64)


def _length_crcs(lengths: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """The checksum of each length below 2**32."""
    return mapped(byte_tables(8)[7:3:-1], lengths) ^ np.uint32(crc32c(bytes(8)))


@cache
def short_length_crcs() -> NDArray[np.uint32]:
    """uint32[65536]: the stored checksum of each length below 65536."""
    return mask(_length_crcs(np.arange(1 << 16, dtype=np.uint32)))
