"""Follows files that grow: new bytes, replaced files, files that a run adds.

The files are listed four times a second; those in a store, where each listing costs money, once a second. A file is
opened only if its identity has changed, and closed after reading, so that following many files holds no handles and a
replaced file is noticed.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from summaries.storage.files import place_of
from summaries.storage.logdir import in_reading_order
from summaries.storage.protocols import ReplacedError, chunks
from summaries.wire.records import RecordParser

if TYPE_CHECKING:
    import threading
    from collections.abc import Iterator
    from typing import Unpack

    from summaries.errors import Fault
    from summaries.storage.files import Access
    from summaries.storage.protocols import ReadableFile, Storage, StoredFile
    from summaries.wire.records import Batch

__all__ = ["follow_files"]

_SEAM_BYTES = 256  # a replaced file continues the old one if this many bytes before its end are the same


def follow_files(
    path: str, stop: threading.Event | None = None, timeout_secs: float | None = None, **access: Unpack[Access]
) -> Iterator[tuple[str, Iterator[Batch | Fault]]]:
    """Iterate over new data in a file, or in every event file of a directory, as it arrives.

    Args:
        path: a file or a directory; later it may disappear and reappear.
        stop: ends following when set.
        timeout_secs: ends following after this many seconds without new data.
        **access: how an address is accessed.

    Returns:
        An iterator of (path of the file, batches of records and faults); consume each before the next. It raises
        OSError if a file exists and cannot be read.

    Raises:
        FileNotFoundError: the path does not exist.
        OSError: the path is neither a regular file nor a directory, or it cannot be listed.
    """
    storage, path = place_of(path, **access)
    return _follow(storage, path, storage.discover(path, recursive=False), stop, timeout_secs)


def _follow(
    storage: Storage, path: str, files: list[StoredFile], stop: threading.Event | None, timeout_secs: float | None
) -> Iterator[tuple[str, Iterator[Batch | Fault]]]:
    followed: dict[str, _Followed] = {}
    quiet_since = time.monotonic()
    while True:
        for file in in_reading_order(files):
            if stop is not None and stop.is_set():
                return
            progress = followed.setdefault(file.path, _Followed())
            if progress.changed(file):
                quiet_since = time.monotonic()
                yield file.path, progress.items(file)
        if timeout_secs is not None and time.monotonic() - quiet_since >= timeout_secs:
            return
        if stop is None:
            time.sleep(storage.poll_secs)
        elif stop.wait(storage.poll_secs):
            return
        try:
            files = storage.discover(path, recursive=False)
        except FileNotFoundError:
            files = []


class _Followed:
    """One file: how far it was read, and its last bytes, to detect that it was replaced."""

    def __init__(self) -> None:
        self._seen: StoredFile | None = None
        self._start_over()

    def _start_over(self) -> None:
        self._parser = RecordParser()
        self._read = 0
        self._seam = b""  # the last bytes before `_read`

    def changed(self, file: StoredFile) -> bool:
        """Whether the file may have new data."""
        empty = file.size == 0 and file.identity is not None
        before, self._seen = self._seen, file
        return not empty if before is None else file.identity != before.identity

    def items(self, file: StoredFile) -> Iterator[Batch | Fault]:
        """Read what is new in the file."""
        try:
            with file.open(self._read - len(self._seam)) as opened:
                if not self._is_same(opened):
                    self._parser.close()
                    yield from self._parser.items()
                    self._start_over()
                for chunk in chunks(opened, self._read):
                    self._read += len(chunk)
                    self._seam = (self._seam + chunk)[-_SEAM_BYTES:]
                    self._parser.feed(chunk)
                    yield from self._parser.items()
        except (FileNotFoundError, ReplacedError):  # the next listing shows what is there now
            return

    def _is_same(self, opened: ReadableFile) -> bool:
        """Whether the file still contains the last bytes that were read."""
        if not self._seam:
            return True
        return opened.read_range(self._read - len(self._seam), len(self._seam)) == self._seam
