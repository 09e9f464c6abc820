"""Event files in the file system: their names, appending to one, reading one; other files that a run has.

A file is opened for each batch that is appended and closed behind it. So a process can have any number of writers, a
forked child shares no handle with its parent, and a file that has been removed is noticed instead of being written to.
Where a path has a scheme (`s3://`, `gs://`, `memory://`, …), `summaries.storage.remote` does the same over fsspec.
"""

from __future__ import annotations

import errno
import importlib
import os
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from types import ModuleType
from summaries.storage.local import LocalEventFile
from summaries.storage.names import counter, event_file_name, is_remote

__all__ = ["EventFile", "create_event_file", "read_file", "write_file"]


class EventFile(Protocol):
    """A new event file of this process's own, wherever it is.

    Attributes:
        path: where it is.
    """

    path: str

    def size(self) -> int:
        """How many bytes were appended so far."""

    def append(self, data: bytes | memoryview, start: int) -> None:
        """Append what is still missing of `data`, whose first byte belongs at offset `start`; all of it, or OSError."""

    def sync(self) -> None:
        """Return when all that was appended will survive a loss of power."""

    def discard(self) -> None:
        """Remove the file, in which nothing of anybody's is yet."""


def create_event_file(directory: str, secs: float, suffix: str, version: bytes) -> EventFile:
    """A new event file in a directory, which is made where it is missing.

    Args:
        directory: where; a path, or an address with a scheme.
        secs: now, in seconds since the epoch.
        suffix: the end of the file's name.
        version: the record that each file begins with. The caller appends it; but where files cannot grow, what is
            appended later goes to more files, which begin with it too.

    Raises:
        OSError: the file cannot be created there.
        ImportError: the directory is remote, and fsspec is not installed.
    """
    if is_remote(directory):
        return _remote().RemoteEventFile(directory, event_file_name(secs), suffix, version)  # type: ignore[no-any-return]
    return LocalEventFile(directory, secs, suffix)


def write_file(path: str, data: bytes) -> None:
    """Write a whole file, and its directory where it is missing. A reader sees the old file or the new one."""
    if is_remote(path):
        _remote().write_file(path, data)
        return
    os.makedirs(os.path.dirname(path) or os.curdir, exist_ok=True)
    temporary = f"{path}.{os.getpid()}.{next(counter)}.tmp"
    try:
        with open(temporary, "wb") as file:
            file.write(data)
        os.replace(temporary, path)
    except OSError as error:
        with suppress(OSError):
            os.unlink(temporary)
        raise OSError(error.errno or errno.EIO, error.strerror or str(error), path) from error


def read_file(path: str) -> bytes | None:
    """A whole file; None where there is none."""
    if is_remote(path):
        return _remote().read_file(path)  # type: ignore[no-any-return]
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None


def _remote() -> ModuleType:
    return importlib.import_module("summaries.storage.remote")  # only who needs it has fsspec
