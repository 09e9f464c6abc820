"""Event files in the file system: their names, appending to one, reading one.

A file is opened for each batch that is appended and closed behind it. So a process can have any number of writers, a
forked child shares no handle with its parent, and a file that has been removed is noticed instead of being written to.
"""

from __future__ import annotations

import errno
import itertools
import os
import socket
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import FileIO

__all__ = ["EventFile", "event_file_name", "is_event_file", "open_to_read", "read_chunks"]

_counter = itertools.count()
_CHUNK_BYTES = 1 << 20
_BINARY = getattr(os, "O_BINARY", 0)  # Windows translates line ends without it


def event_file_name(secs: float, suffix: str = "") -> str:
    """A name for a new event file: ``events.out.tfevents.<secs>.<host>.<pid>.<counter><suffix>``.

    Args:
        secs: now, in seconds since the epoch; ten digits, so that a run's files sort by age.
        suffix: appended as it is; what sorts behind ends up behind.
    """
    host = socket.gethostname().replace(os.sep, "_")
    return f"events.out.tfevents.{int(secs):010d}.{host}.{os.getpid()}.{next(_counter)}{suffix}"


def is_event_file(name: str) -> bool:
    """Whether a file of this name is an event file, to TensorBoard and to us.

    >>> is_event_file("runs/a/events.out.tfevents.1795202364.vm"), is_event_file("tfevents/notes.txt")
    (True, False)
    """
    return "tfevents" in os.path.basename(name)


class EventFile:
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

    def append(self, data: memoryview, start: int) -> None:
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
