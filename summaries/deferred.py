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
        self._lock = threading.RLock()

    def record(self) -> bytes:
        """The bytes; computed now, where nobody has asked before. Whatever make() raises is raised once; then b""."""
        with self._lock:
            if self._make is not None:
                try:
                    self._record = self._make()
                except Exception:
                    self._make = None
                    raise
                self._make = None  # an interrupt before this line leaves the work to the next who asks
            return self._record


def resolved(record: bytes | Deferred) -> bytes:
    """The bytes of a record, deferred or not."""
    return record if isinstance(record, bytes) else record.record()
