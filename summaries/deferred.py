"""A record whose bytes are computed later, by whoever needs them first."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Deferred", "resolved"]


class Deferred:
    """Work that the background thread takes off the caller's hands.

    Args:
        make: gives the record's bytes.
        release: called once the bytes are there, and make will not be called again.
    """

    def __init__(self, make: Callable[[], bytes], release: Callable[[], object] = bool) -> None:
        self._make: Callable[[], bytes] | None = make
        self._release = release
        self._record = b""
        self._lock = threading.RLock()

    def record(self) -> bytes:
        """The bytes; computed now, where nobody has asked before. Whatever make() raises is raised once; then b""."""
        with self._lock:
            make = self._make
            if make is None:
                return self._record
            try:
                record = make()
            except Exception:
                self._make = None
                raise
            # An interrupt up to here leaves the work to the next who asks, or a signal handler has done it all.
            if self._make is not None:
                self._record, self._make = record, None
                self._release()
            return self._record


def resolved(record: bytes | Deferred) -> bytes:
    """The bytes of a record, deferred or not."""
    return record if isinstance(record, bytes) else record.record()
