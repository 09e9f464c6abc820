"""CRC-32C of many records of one length, down the columns of their bytes. Pure (no I/O).

CRC-32C is linear over GF(2): a checksum is that of as many zero bytes, XORed with one table entry for each byte; the
byte's distance from the end selects the table. For short records this is faster than a call for each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from summaries.wire.crc32c import crc32c

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["byte_tables", "checksums"]

_BLOCK = 2048  # so many records at a time, for the cache
_SPARE = 64  # so many more tables are made than are asked for

_tables = np.array([[crc32c(bytes([b])) ^ crc32c(b"\0") for b in range(256)]], np.uint32)


def byte_tables(count: int) -> NDArray[np.uint32]:
    """uint32[count or more, 256]; table d: what a byte adds to the checksum if d more bytes follow it."""
    global _tables  # noqa: PLW0603 - replaced as a whole: threads may ask for more at once
    if len(_tables) < count:
        tables = list(_tables)
        while len(tables) < count + _SPARE:
            tables.append(tables[-1] >> np.uint32(8) ^ tables[0][tables[-1] & np.uint32(0xFF)])
        _tables = np.array(tables)
    return _tables


def checksums(records: NDArray[np.uint8]) -> NDArray[np.uint32]:
    """uint32[n]: the checksum of each of the records, uint8[n, length].

    >>> checksums(np.frombuffer(b"onetwo", np.uint8).reshape(2, 3)) == [crc32c(b"one"), crc32c(b"two")]
    array([ True,  True])
    """
    count, length = records.shape
    tables = byte_tables(length)[:length].reshape(-1)
    at = np.arange(length - 1, -1, -1, dtype=np.intp)[:, None] << 8  # each byte's table
    found = np.full(count, crc32c(bytes(length)), np.uint32)
    for first in range(0, count, _BLOCK):
        columns = np.ascontiguousarray(records[first : first + _BLOCK].T)
        found[first : first + _BLOCK] ^= np.bitwise_xor.reduce(tables.take(columns + at, mode="clip"), axis=0)
    return found
