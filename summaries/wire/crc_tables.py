"""Tables of what bytes add to a CRC-32C, which is linear over GF(2), for whole columns at once. Pure (no I/O)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from summaries.wire.crc32c import crc32c

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["byte_tables", "mapped"]

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


def mapped(tables: NDArray[np.uint32], numbers: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Each number under a linear map, given as uint32[4, 256]: the image of each of its bytes, the lowest first."""
    found: NDArray[np.uint32] = tables[0, numbers & 0xFF]
    for i in (1, 2, 3):
        found = found ^ tables[i, numbers >> np.uint32(8 * i) & 0xFF]
    return found
