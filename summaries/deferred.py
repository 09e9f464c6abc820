"""A record whose bytes are computed later, by whoever needs them first."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Deferred", "resolved"]


class Deferred:
    """Work that the background thread takes off the caller's hands: make() gives a record's bytes, once."""

    def __init__(self, make: Callable[[], bytes]) -> None:
        self._make: Callable[[], bytes] | None = make
        self._record = b""
        self._lock = threading.Lock()

    def record(self) -> bytes:
        """The bytes; computed now, where nobody has asked before. Whatever make() raises is raised once; then b""."""
        with self._lock:
            make, self._make = self._make, None
            if make is not None:
                self._record = make()
            return self._record


def resolved(record: bytes | Deferred) -> bytes:
    """The bytes of a record, deferred or not."""
    return record if isinstance(record, bytes) else record.record()
