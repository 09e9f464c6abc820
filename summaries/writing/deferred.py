"""A record whose bytes are computed later, by whoever needs them first."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Deferred", "resolved"]


class Deferred:
    """Work that the background thread takes off the caller's hands.

    No lock is held while it is done: a finalizer may run in the middle of it, and log and flush itself. Two threads
    that want the bytes at once may both work, and the first to be done is whose bytes they are.

    Args:
        make: gives the record's bytes.
        release: called once the bytes are there; what a make() that goes on gives then does not count.
    """

    def __init__(self, make: Callable[[], bytes], release: Callable[[], object] = bool) -> None:
        self._make, self._release = make, release
        self._made: dict[str, tuple[bytes]] = {}

    def record(self) -> bytes:
        """The bytes; computed now, where nobody has asked before. Whatever make() raises is raised once; then b""."""
        if "record" not in self._made:
            error = None
            try:
                made = (self._make(),)
            except Exception as problem:  # noqa: BLE001 - raised below
                made, error = (b"",), problem
            # An interrupt up to here leaves the work to the next who asks. setdefault is atomic: one is the first.
            if self._made.setdefault("record", made) is made:
                self._release()
                if error is not None:
                    raise error
        return self._made["record"][0]


def resolved(record: bytes | Deferred) -> bytes:
    """The bytes of a record, deferred or not."""
    return record if isinstance(record, bytes) else record.record()
