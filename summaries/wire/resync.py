"""Finding the next record in damaged bytes: which offsets hold a sound length? Pure (no I/O).

Every offset of the stretch is looked at, a block at a time. A length below 2**32 has four zero bytes in its upper
half, which rules out nearly every offset of ordinary data; of the rest the checksum decides. CRC-32C is linear over
GF(2), so that the checksum of a length is an exclusive or of one table entry for each of its lower four bytes.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from summaries.wire.crc32c import MASK_DELTA, crc32c

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["find_header", "is_zero", "short_length_crcs"]

_HEADER_BYTES = 12
_BLOCK_BYTES = 1 << 15  # small enough that the temporaries of a block stay in the cache


def find_header(buffer: bytes, start: int, stop: int, max_length: int) -> int:
    """The first offset in [start, stop) at which 12 bytes of `buffer` are a sound header; -1 where there is none.

    Args:
        buffer: the bytes.
        start: the first offset to look at.
        stop: the offset behind the last one to look at; the header itself may reach beyond it.
        max_length: a header that claims more bytes than this is not sound; below 2**32.
    """
    stop = min(stop, len(buffer) - _HEADER_BYTES + 1)
    for first in range(start, stop, _BLOCK_BYTES):
        count = min(_BLOCK_BYTES, stop - first)
        block = np.frombuffer(buffer, np.uint8, count + _HEADER_BYTES - 1, first)
        found = _sound_headers(block, max_length)
        if found.size:
            return first + int(found[0])
    return -1


def is_zero(buffer: bytes, start: int, stop: int) -> bool:
    """Whether buffer[start:stop] is all zero bytes."""
    return buffer.count(0, start, stop) == stop - start


def _sound_headers(block: NDArray[np.uint8], max_length: int) -> NDArray[np.intp]:
    """The offsets in `block` (uint8[n + 11]) at which a sound header starts."""
    zero = block == 0
    zero2 = zero[:-1] & zero[1:]
    zero4 = zero2[:-2] & zero2[2:]  # four zero bytes start here
    count = len(block) - _HEADER_BYTES + 1
    # A length of 0 has a checksum that is not 0, so that a stretch of zero bytes holds no header.
    candidates = np.flatnonzero(zero4[4 : 4 + count] & ~(zero4[:count] & zero4[8 : 8 + count]))
    if not candidates.size:
        return candidates
    tables = _length_crc_tables()
    crc = np.full(candidates.size, crc32c(bytes(8)), np.uint32)
    length = np.zeros(candidates.size, np.uint32)
    stored = np.zeros(candidates.size, np.uint32)
    for i in range(4):
        low = block[candidates + i]
        crc ^= tables[i, low]
        length |= low.astype(np.uint32) << np.uint32(8 * i)
        stored |= block[candidates + 8 + i].astype(np.uint32) << np.uint32(8 * i)
    masked = ((crc >> np.uint32(15)) | (crc << np.uint32(17))) + np.uint32(MASK_DELTA)
    sound: NDArray[np.intp] = candidates[(masked == stored) & (length <= max_length)]
    return sound


@cache
def _length_crc_tables() -> NDArray[np.uint32]:
    """uint32[4, 256]: what byte i of a length adds to the checksum of the length 0."""
    zero = crc32c(bytes(8))
    entries = [crc32c(bytes(i) + bytes([b]) + bytes(7 - i)) ^ zero for i in range(4) for b in range(256)]
    return np.array(entries, np.uint32).reshape(4, 256)


@cache
def short_length_crcs() -> NDArray[np.uint32]:
    """uint32[65536]: the stored checksum of each length below 65536."""
    tables = _length_crc_tables()
    lengths = np.arange(1 << 16)
    crc = tables[0, lengths & 0xFF] ^ tables[1, lengths >> 8] ^ np.uint32(crc32c(bytes(8)))
    masked: NDArray[np.uint32] = (crc >> np.uint32(15) | crc << np.uint32(17)) + np.uint32(MASK_DELTA)
    return masked
