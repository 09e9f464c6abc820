r"""CRC-32C of many overlapping spans of a buffer, at the cost of reading the buffer once. Pure (no I/O).

A checksum is linear over GF(2): that of `a` followed by `b` is ``shift(crc(a), len(b)) ^ crc(b)``, where `shift`
multiplies by x^8 for each byte, modulo the CRC's polynomial. So a span's checksum follows from those of the prefixes
that end at its start and at its stop. Prefix checksums are kept every few hundred bytes. For the same reason, tables
say what each byte adds to a checksum, for whole columns of messages at once.

References: zlib's crc32_combine.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from summaries.wire.crc32c import crc32c, extend

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["SpanChecksums", "byte_tables", "mapped", "shifted"]

_STEP_BYTES = 512
_LENGTH_BITS = 32
_SPARE = 64  # so many more tables are made than are asked for
_tables = np.array([[crc32c(bytes([b])) ^ crc32c(b"\0") for b in range(256)]], np.uint32)


class SpanChecksums:
    """The checksums of spans of a buffer that may grow at its end.

    >>> from summaries.wire.crc32c import crc32c
    >>> checksums = SpanChecksums()
    >>> checksums.of(b"123456789 123456789", np.array([0, 10]), np.array([9, 19])) == crc32c(b"123456789")
    array([ True,  True])
    """

    def __init__(self) -> None:
        self._prefixes = [0]  # the checksum of the buffer's first i * _STEP_BYTES bytes

    def of(self, buffer: bytes, starts: NDArray[np.int64], stops: NDArray[np.int64]) -> NDArray[np.uint32]:
        """uint32[n]: the checksum of each buffer[starts[i] : stops[i]].

        Args:
            buffer: the bytes: those of earlier calls, possibly followed by more.
            starts: int64[n], each at most its stop.
            stops: int64[n], each at most the buffer's length.
        """
        self._read(buffer, int(stops.max(initial=0)))
        return shifted(self._at(buffer, starts), stops - starts) ^ self._at(buffer, stops)

    def _read(self, buffer: bytes, stop: int) -> None:
        prefixes, crc = self._prefixes, self._prefixes[-1]
        for start in range((len(prefixes) - 1) * _STEP_BYTES, stop - _STEP_BYTES + 1, _STEP_BYTES):
            crc = extend(crc, buffer[start : start + _STEP_BYTES])
            prefixes.append(crc)

    def _at(self, buffer: bytes, ends: NDArray[np.int64]) -> NDArray[np.uint32]:
        """uint32[n]: the checksum of each buffer[: ends[i]]."""
        prefixes = self._prefixes
        crcs = [extend(prefixes[end // _STEP_BYTES], buffer[end - end % _STEP_BYTES : end]) for end in ends.tolist()]
        return np.array(crcs, np.uint32)


def shifted(crcs: NDArray[np.uint32], lengths: NDArray[np.int64]) -> NDArray[np.uint32]:
    """uint32[n]: what each checksum contributes to that of a span that continues for lengths[i] bytes, below 2**32.

    >>> from summaries.wire.crc32c import crc32c
    >>> int(shifted(np.array([crc32c(b"ab")], np.uint32), np.array([3]))[0]) ^ crc32c(b"cde") == crc32c(b"abcde")
    True
    """
    for bit in range(int(lengths.max(initial=0)).bit_length()):
        crcs = np.where(lengths >> bit & 1, mapped(_shifts()[bit], crcs), crcs)
    return crcs


@cache
def _shifts() -> NDArray[np.uint32]:
    """uint32[32, 4, 256]: shifting by 1, 2, 4, … bytes, as tables for each byte of a checksum."""
    byte = np.arange(256, dtype=np.uint32)
    shifts = [np.array([byte_tables(1)[0], byte, byte << 8, byte << 16], np.uint32)]
    while len(shifts) < _LENGTH_BITS:
        shifts.append(mapped(shifts[-1], shifts[-1]))
    return np.array(shifts)


def byte_tables(count: int) -> NDArray[np.uint32]:
    """uint32[count or more, 256]; table d: what a byte adds to the checksum if d more bytes follow it."""
    global _tables  # noqa: PLW0603 - replaced as a whole: threads may ask for more at once
    if len(_tables) < count:
        tables = list(_tables)
        while len(tables) < count + _SPARE:
            tables.append(tables[-1] >> np.uint32(8) ^ tables[0][tables[-1] & np.uint32(0xFF)])
        _tables = np.array(tables)
    return _tables


def mapped(tables: NDArray[np.uint32], numbers: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Each number under a linear map, given as uint32[4, 256]: the image of each of its bytes, the lowest first."""
    image: NDArray[np.uint32] = tables[0, numbers & 0xFF]
    for i in (1, 2, 3):
        image = image ^ tables[i, numbers >> np.uint32(8 * i) & 0xFF]
    return image
