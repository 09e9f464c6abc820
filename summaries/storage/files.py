"""Event files in the file system: their names, appending to one, reading one; other files that a run has.

A file is opened for each batch that is appended and closed behind it. So a process can have any number of writers, a
forked child shares no handle with its parent, and a file that has been removed is noticed instead of being written to.
Where a path has a scheme (`s3://`, `gs://`, `memory://`, …), `summaries.storage.remote` does the same over fsspec.
"""

from __future__ import annotations

import errno
import importlib
import itertools
import os
import socket
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import FileIO
    from types import ModuleType

__all__ = [
    "EventFile",
    "LocalEventFile",
    "checked_suffix",
    "create_event_file",
    "event_file_name",
    "is_event_file",
    "is_remote",
    "join",
    "open_to_read",
    "read_chunks",
    "read_file",
    "write_file",
]

_counter = itertools.count()
_CHUNK_BYTES = 1 << 20
_BINARY = getattr(os, "O_BINARY", 0)  # Windows translates line ends without it


def event_file_name(secs: float, suffix: str = "") -> str:
    """A name for a new event file: ``events.out.tfevents.<secs>.<host>.<pid>.<counter><suffix>``.

    Args:
        secs: now, in seconds since the epoch; ten digits, so that a run's files sort by age. So do those of one
            second, by the counter.
        suffix: appended as it is; what sorts behind ends up behind.
    """
    host = socket.gethostname().replace(os.sep, "_")
    return f"events.out.tfevents.{int(secs):010d}.{host}.{os.getpid()}.{next(_counter):06d}{suffix}"


def checked_suffix(suffix: Any) -> str:
    """The end of an event file's name.

    Raises:
        TypeError: it is no string.
        ValueError: it names a directory.
    """
    if not isinstance(suffix, str):
        raise TypeError(f"filename_suffix must be a string, got {type(suffix).__name__}: {suffix!r}")
    if "/" in suffix or os.sep in suffix:
        raise ValueError(f"filename_suffix must be a part of a file's name, without separators, got {suffix!r}")
    return suffix


def is_event_file(name: str) -> bool:
    """Whether a file of this name is an event file, to TensorBoard and to us.

    >>> is_event_file("runs/a/events.out.tfevents.1795202364.vm"), is_event_file("tfevents/notes.txt")
    (True, False)
    """
    return "tfevents" in os.path.basename(name)


def is_remote(path: str) -> bool:
    """Whether a path names a file system of fsspec's.

    >>> is_remote("s3://bucket/run"), is_remote("runs/a")
    (True, False)
    """
    return "://" in path


def join(directory: str, *names: str) -> str:
    """The path of a file below a directory, remote or not."""
    return "/".join((directory.rstrip("/"), *names)) if is_remote(directory) else os.path.join(directory, *names)


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
    temporary = f"{path}.{os.getpid()}.{next(_counter)}.tmp"
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


class LocalEventFile:
    """A new file of this process's own, to which batches are appended.

    Args:
        directory: where to create it; made where it is missing.
        secs: now, in seconds since the epoch.
        suffix: the end of its name.

    Attributes:
        path: where it is.

    Raises:
        OSError: the file cannot be created there.
    """

    def __init__(self, directory: str, secs: float, suffix: str = "") -> None:
        os.makedirs(directory, exist_ok=True)
        while True:
            self.path = os.path.join(directory, event_file_name(secs, suffix))
            try:
                os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | _BINARY, 0o666))
            except FileExistsError:
                continue  # another container's process with our host name and pid: take the next number
            break

    def size(self) -> int:
        """The file's size in bytes."""
        return os.stat(self.path).st_size

    def append(self, data: bytes | memoryview, start: int) -> None:
        """Append what is still missing of `data`, whose first byte belongs at offset `start`.

        An earlier call that failed or was interrupted may have written a part of it: the file's size tells.

        Raises:
            OSError: the file does not hold all of `data` yet; the error names the file.
        """
        with self._opened() as fd:
            while (done := os.fstat(fd).st_size - start) < len(data):
                if done < 0:
                    raise OSError(errno.EIO, "the file was cut short by somebody else")
                os.write(fd, data[done:])

    def sync(self) -> None:
        """Return when all that was appended is on the disk, and the file's name too."""
        with self._opened() as fd:
            os.fsync(fd)
        if hasattr(os, "O_DIRECTORY"):
            directory = os.open(os.path.dirname(self.path) or os.curdir, os.O_RDONLY | os.O_DIRECTORY)
            try:
                os.fsync(directory)
            finally:
                os.close(directory)

    def discard(self) -> None:
        """Remove the file."""
        with suppress(OSError):
            os.unlink(self.path)

    @contextmanager
    def _opened(self) -> Iterator[int]:
        """The file's descriptor, for appending; an OSError in the block gets the file's name."""
        try:
            fd = os.open(self.path, os.O_WRONLY | os.O_APPEND | _BINARY)
            try:
                yield fd
            finally:
                os.close(fd)
        except OSError as error:
            message = error.strerror or str(error)
            raise OSError(error.errno or errno.EIO, message, self.path) from error


def open_to_read(path: str) -> FileIO:
    """The file, unbuffered, for reading anywhere in it."""
    return open(path, "rb", buffering=0)


def read_chunks(path: str, start: int = 0) -> Iterator[bytes]:
    """The bytes of a file from offset `start`, a chunk at a time, up to where it ends now."""
    with open_to_read(path) as file:
        file.seek(start)
        while chunk := file.read(_CHUNK_BYTES):
            yield chunk
