"""A record whose bytes are computed later, by the first thread that needs them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Deferred", "resolved"]


class Deferred:
    """A record that the background thread computes instead of the caller.

    No lock is held during the work: a finalizer may run in the middle of it, and log and flush itself. If two threads
    want the bytes at once, both may compute them; the first to finish provides them.

    Args:
        make: returns the record's bytes.
        release: called once the bytes are there; the result of a make() that is still running is then ignored.
    """

    def __init__(self, make: Callable[[], bytes], release: Callable[[], object] = bool) -> None:
        self._make, self._release = make, release
        self._made: dict[str, tuple[bytes]] = {}

    def record(self) -> bytes:
        """The bytes, computed on the first call. Whatever make() raises is raised once; from then on, b""."""
        if "record" not in self._made:
            error = None
            try:
                made = (self._make(),)
            except Exception as problem:  # noqa: BLE001 - raised below
                made, error = (b"",), problem
            # An interrupt up to here leaves the work to the next caller. setdefault is atomic: only one is the first.
            if self._made.setdefault("record", made) is made:
                self._release()
                if error is not None:
                    raise error
        return self._made["record"][0]


def resolved(record: bytes | Deferred) -> bytes:
    """The bytes of a record, deferred or not."""
    return record if isinstance(record, bytes) else record.record()
