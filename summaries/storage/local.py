"""Event files on disks: appending to one, reading one."""

from __future__ import annotations

import errno
import os
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import FileIO
from summaries.storage.names import event_file_name

__all__ = ["LocalEventFile", "open_to_read", "read_chunks"]

_CHUNK_BYTES = 1 << 20
_BINARY = getattr(os, "O_BINARY", 0)  # Windows translates line ends without it


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
