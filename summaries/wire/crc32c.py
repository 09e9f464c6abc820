"""CRC-32C (Castagnoli), and the mask that event files apply to it. Pure (no I/O).

A checksum stored next to the data it covers is masked first, because a CRC over bytes that contain their own CRC is
weak: ``mask(c) = rotate_right(c, 15) + 0xa282ead8  (mod 2^32)``.

References: RFC 3720, appendix B.4 (test vectors); LevelDB's log format (the mask).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from google_crc32c import extend
from google_crc32c import value as crc32c

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["MASK_DELTA", "crc32c", "extend", "mask", "masked_crc32c", "unmask"]

MASK_DELTA = 0xA282EAD8
_U32 = 0xFFFFFFFF
Crc = TypeVar("Crc", int, "NDArray[np.uint32]")


def mask(crc: Crc) -> Crc:
    """The stored form of the checksum `crc`, or of each one in an array.

    >>> hex(mask(crc32c(bytes([24, 0, 0, 0, 0, 0, 0, 0]))))
    '0x224b7fa3'
    """
    return (((crc >> 15) | (crc << 17)) + MASK_DELTA) & _U32  # type: ignore[return-value]  # uint32 stays uint32


def unmask(masked: int) -> int:
    """The checksum with the stored form `masked`: the inverse of `mask`.

    >>> hex(unmask(mask(0x8A9136AA)))
    '0x8a9136aa'
    """
    rotated = (masked - MASK_DELTA) & _U32
    return ((rotated >> 17) | (rotated << 15)) & _U32


def masked_crc32c(data: bytes) -> int:
    """The stored checksum of `data`.

    >>> hex(crc32c(bytes(32))), hex(masked_crc32c(bytes([24, 0, 0, 0, 0, 0, 0, 0])))
    ('0x8a9136aa', '0x224b7fa3')
    """
    crc: int = crc32c(data)
    return mask(crc)
