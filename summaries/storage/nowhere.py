"""An event file that is not written to disk: for writers that are told to log nothing. Pure (no I/O)."""

from __future__ import annotations

import os

__all__ = ["NowhereEventFile"]


class NowhereEventFile:
    """An `EventFile` that only counts its bytes.

    Args:
        path: its path, by which nothing is written.

    Attributes:
        path: the same.
        paths: the same.
    """

    def __init__(self, path: str = os.devnull) -> None:
        self.path: str = path
        self.paths: list[str] = [path]
        self._size = 0

    def size(self) -> int:
        """The number of bytes appended so far."""
        return self._size

    def append(self, data: bytes | memoryview, start: int) -> None:
        """Count the bytes."""
        self._size = start + len(data)

    def sync(self) -> None:
        """Do nothing."""

    def cut(self, size: int) -> bool:
        """Forget the bytes after the first `size`."""
        self._size = size
        return True

    def keep(self, data: bytes) -> str:
        """Keep nothing: nothing is lost."""
        return self.path

    def discard(self) -> None:
        """Do nothing."""
