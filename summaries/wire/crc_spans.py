r"""CRC-32C of many overlapping spans of a buffer, at the cost of reading the buffer once. Pure (no I/O).

A checksum is linear over GF(2): that of `a` followed by `b` is ``shift(crc(a), len(b)) ^ crc(b)``, where `shift`
multiplies by x^8 for each byte, modulo the CRC's polynomial. So a span's checksum follows from those of the prefixes
that end at its start and at its stop. Prefix checksums are kept every few hundred bytes.

References: zlib's crc32_combine.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from summaries.wire.crc32c import extend
from summaries.wire.crc_tables import byte_tables, mapped

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["SpanChecksums", "shifted"]

_STEP_BYTES = 512
_LENGTH_BITS = 32


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
