"""Logs of LevelDB's format, as W&B and SwanLab keep their records in, after 7 bytes that say whose they are.

    block    32,768 bytes: fragments, then zeros where not even the head of a fragment fits
    fragment crc32 of type and data, uint32 | length, uint16 | type, uint8: 1 whole, 2 first, 3 middle, 4 last | data

References: https://github.com/google/leveldb/blob/main/doc/log_format.md
"""

from __future__ import annotations

from contextlib import contextmanager
from struct import Struct
from typing import TYPE_CHECKING
from zlib import crc32

from summaries.storage.plain import open_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

    from summaries.tools.formats.points import LeftOut

__all__ = ["opened_log", "records"]

_MAGIC_BYTES = 7
_BLOCK_BYTES = 1 << 15
_FRAGMENT = Struct("<IHB")
_WHOLE, _FIRST, _LAST = 1, 2, 4


@contextmanager
def opened_log(path: str, magic: bytes, what: str) -> Iterator[BinaryIO]:
    """Open a log.

    Args:
        path: the file.
        magic: what it begins with.
        what: what it is then, for the error.

    Raises:
        ValueError: it begins with something else.
        OSError: it cannot be opened.
    """
    with open_bytes(path) as file:
        if file.read(_MAGIC_BYTES) != magic:
            raise ValueError(f"{path}: not a {what}, which begins with {magic!r}")
        yield file


def records(file: BinaryIO, left_out: LeftOut) -> Iterator[bytes]:
    """The data of each whole record; after damage, which is counted, reading goes on with the next block."""
    start = file.seek(0)
    parts: list[bytes] | None = None
    while block := file.read(_BLOCK_BYTES):
        at = _MAGIC_BYTES if start == 0 else 0
        start += len(block)
        while at + _FRAGMENT.size <= len(block):
            crc, length, kind = _FRAGMENT.unpack_from(block, at)
            data = block[at + _FRAGMENT.size : at + _FRAGMENT.size + length]
            if (crc, length, kind) == (0, 0, 0):  # space that was reserved and not used
                break
            if len(data) < length or crc32(data, crc32(bytes([kind]))) != crc:
                left_out["damaged fragments"] += 1
                parts = None
                break
            at += _FRAGMENT.size + length
            if kind in {_WHOLE, _FIRST}:
                parts = []
            if parts is not None:
                parts.append(data)
                if kind in {_WHOLE, _LAST}:
                    yield b"".join(parts)
                    parts = None
