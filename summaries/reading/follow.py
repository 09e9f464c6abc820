"""Following files that grow: new bytes, replaced files, files that a run adds.

The files are listed four times a second. One is opened only if its identity has changed, and closed behind it, so that
following many files takes no handles and a file that is replaced under its name is noticed.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from summaries.storage.files import storage_of
from summaries.storage.logdir import in_reading_order
from summaries.storage.protocols import chunks
from summaries.wire.batches import BatchParser

if TYPE_CHECKING:
    import threading
    from collections.abc import Iterator

    from summaries.errors import Fault
    from summaries.storage.protocols import ReadableFile, Storage, StoredFile
    from summaries.wire.batches import Batch

__all__ = ["follow_files"]

_POLL_SECS = 0.25
_SEAM_BYTES = 256  # so many bytes must be the same for a replaced file to be the old one, longer


def follow_files(
    path: str, stop: threading.Event | None = None, timeout_secs: float | None = None
) -> Iterator[tuple[str, Iterator[Batch | Fault]]]:
    """What is new in a file, or in every event file of a directory, as it comes.

    Args:
        path: a file or a directory; later it may vanish and come back.
        stop: ends the following when it is set.
        timeout_secs: ends it when nothing new came for so long.

    Returns:
        An iterator of (path of the file, batches of records and faults), each to be used up before the next. It raises
        OSError if a file is there and cannot be read.

    Raises:
        FileNotFoundError: there is no such path.
        OSError: it is neither a regular file nor a directory, or it cannot be listed.
    """
    storage = storage_of(path)
    return _follow(storage, path, storage.discover(path, recursive=False), stop, timeout_secs)


def _follow(
    storage: Storage,
    path: str,
    found: list[StoredFile],
    stop: threading.Event | None,
    timeout_secs: float | None,
) -> Iterator[tuple[str, Iterator[Batch | Fault]]]:
    known: dict[str, _Followed] = {}
    quiet_since = time.monotonic()
    while True:
        for file in in_reading_order(found):
            if stop is not None and stop.is_set():
                return
            followed = known.setdefault(file.path, _Followed())
            if followed.changed(file):
                quiet_since = time.monotonic()
                yield file.path, followed.items(file)
        if timeout_secs is not None and time.monotonic() - quiet_since >= timeout_secs:
            return
        if stop is None:
            time.sleep(_POLL_SECS)
        elif stop.wait(_POLL_SECS):
            return
        try:
            found = storage.discover(path, recursive=False)
        except FileNotFoundError:
            found = []


class _Followed:
    """One file: how far it was read, and how to tell that it is still the same."""

    def __init__(self) -> None:
        self._seen: StoredFile | None = None
        self._start_over()

    def _start_over(self) -> None:
        self._parser = BatchParser()
        self._read = 0
        self._seam = b""  # the last bytes before `_read`

    def changed(self, file: StoredFile) -> bool:
        """Whether the file may have something new."""
        empty = file.size == 0 and file.identity is not None
        before, self._seen = self._seen, file
        return not empty if before is None else file.identity != before.identity

    def items(self, file: StoredFile) -> Iterator[Batch | Fault]:
        """What the file has that was not read."""
        try:
            with file.open() as opened:
                if not self._is_same(opened):
                    yield from self._parser.close()
                    self._start_over()
                for chunk in chunks(opened, self._read):
                    self._read += len(chunk)
                    self._seam = (self._seam + chunk)[-_SEAM_BYTES:]
                    yield from self._parser.feed(chunk)
        except FileNotFoundError:
            return

    def _is_same(self, opened: ReadableFile) -> bool:
        """Whether the file still has what was read of it, as far as its last bytes tell."""
        if not self._seam:
            return True
        return opened.read_range(self._read - len(self._seam), len(self._seam)) == self._seam
