"""Following files that grow: new bytes, replaced files, files that a run adds.

A file is looked at four times a second, opened only where it has changed, and closed behind it, so that following
many files takes no handles and a file that is replaced under its name is noticed.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from summaries.storage.local import open_to_read, read_chunks
from summaries.storage.names import is_event_file
from summaries.wire.batches import BatchParser

if TYPE_CHECKING:
    import threading
    from collections.abc import Iterator

    from summaries.errors import Fault
    from summaries.wire.batches import Batch

__all__ = ["follow_files"]

_POLL_SECS = 0.25
_SEAM_BYTES = 256  # so many bytes must be the same for a replaced file to be the old one, longer


def follow_files(
    path: str, stop: threading.Event | None = None, timeout_secs: float | None = None
) -> Iterator[tuple[str, Iterator[Batch | Fault]]]:
    """What is new in a file, or in every event file of a directory, as it comes.

    Args:
        path: a file or a directory; it may vanish and come back.
        stop: ends the following when it is set.
        timeout_secs: ends it when nothing new came for so long.

    Yields:
        (the file, batches of records and faults), each to be used up before the next.

    Raises:
        OSError: a file is there and cannot be read.
    """
    files: dict[str, _Followed] = {}
    quiet_since = time.monotonic()
    while True:
        for name in _names(path):
            if stop is not None and stop.is_set():
                return
            followed = files.setdefault(name, _Followed(name))
            if followed.changed():
                quiet_since = time.monotonic()
                yield name, followed.items()
        if timeout_secs is not None and time.monotonic() - quiet_since >= timeout_secs:
            return
        if stop is None:
            time.sleep(_POLL_SECS)
        elif stop.wait(_POLL_SECS):
            return


def _names(path: str) -> list[str]:
    if not os.path.isdir(path):
        return [path]
    try:
        return [os.path.join(path, name) for name in sorted(filter(is_event_file, os.listdir(path)))]
    except FileNotFoundError:
        return []


class _Followed:
    """One file: how far it was read, and how to tell that it is still the same."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._state: tuple[int, int, int, int] | None = None
        self._start_over()

    def _start_over(self) -> None:
        self._parser = BatchParser()
        self._read = 0
        self._seam = b""  # the last bytes before `_read`

    def changed(self) -> bool:
        """Whether there may be something new."""
        try:
            found = os.stat(self._path)
        except FileNotFoundError:
            return False
        state = found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns
        changed = state != self._state and not (self._state is None and not found.st_size)
        self._state = state if changed else self._state
        return changed

    def items(self) -> Iterator[Batch | Fault]:
        """What the file has that was not read."""
        try:
            if not self._same():
                yield from self._parser.close()
                self._start_over()
            for chunk in read_chunks(self._path, self._read):
                self._read += len(chunk)
                self._seam = (self._seam + chunk)[-_SEAM_BYTES:]
                yield from self._parser.feed(chunk)
        except FileNotFoundError:
            return

    def _same(self) -> bool:
        """Whether the file still has what was read of it, as far as its last bytes tell."""
        if not self._seam:
            return True
        with open_to_read(self._path) as file:
            file.seek(self._read - len(self._seam))
            return file.read(len(self._seam)) == self._seam
