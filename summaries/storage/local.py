"""Event files on disks: appending to one, finding them, reading one."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import contextmanager, suppress
from io import FileIO
from typing import TYPE_CHECKING

from summaries.storage.names import event_file_name, is_event_file
from summaries.storage.protocols import StoredFile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["LOCAL", "LocalEventFile", "LocalFile", "LocalStorage"]

_BINARY = getattr(os, "O_BINARY", 0)  # Windows translates line ends without it
_NONBLOCK = getattr(os, "O_NONBLOCK", 0)  # opening a pipe waits for its writer without it


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


class LocalFile(FileIO):
    """A `ReadableFile` on a disk, unbuffered: one thread reads it at a time.

    Args:
        path: where it is.

    Raises:
        OSError: there is no such file, it is not a regular file, or it cannot be read.
    """

    def __init__(self, path: str) -> None:
        super().__init__(path, "rb", opener=_descriptor)

    def read_range(self, start: int, size: int) -> bytes:
        """The `size` bytes from offset `start`; fewer only where the file ends."""
        self.seek(start)
        data = self.read(size)
        while len(data) < size and (more := self.read(size - len(data))):
            data += more
        return data

    def read_into(self, start: int, buffer: memoryview) -> int:
        """Read bytes from offset `start` into a buffer; returns how many, 0 only from the file's end on."""
        self.seek(start)
        return self.readinto(buffer)


class LocalStorage:
    """The `Storage` of local paths.

    A file's identity is its device, inode, size and time of change.
    """

    def discover(
        self, path: str, *, recursive: bool = True, on_error: Callable[[OSError], object] | None = None
    ) -> list[StoredFile]:
        """Find event files; see `Storage.discover`."""
        try:
            status = os.stat(path)
        except (FileNotFoundError, NotADirectoryError):
            raise FileNotFoundError(f"no such file or directory: {path}") from None
        if not stat.S_ISDIR(status.st_mode):
            _check_regular(path, status)
            return [self._stored(path, status)]

        def unlisted(error: OSError) -> None:
            if isinstance(error, FileNotFoundError):
                return  # it vanished since its parent was listed
            if on_error is None:
                raise error
            on_error(error)

        files: list[StoredFile] = []
        for directory, _, names in os.walk(path, onerror=unlisted):
            candidates = (os.path.join(directory, name) for name in names if is_event_file(name))
            files += filter(None, map(self._found, candidates))
            if not recursive:
                break
        return files

    def open(self, file: StoredFile | str) -> LocalFile:
        """Open a file to read it; see `Storage.open`."""
        return LocalFile(file if isinstance(file, str) else file.path)

    def exists(self, path: str) -> bool:
        """Whether anything has this path."""
        return os.path.lexists(path)

    def _found(self, path: str) -> StoredFile | None:
        """What a listing named; None if it is not a regular file, or gone."""
        try:
            status = os.stat(path)  # not DirEntry's: on Windows that has an old size for a file that is being written
        except FileNotFoundError:
            return StoredFile(path, 0, None, self) if os.path.islink(path) else None
        except OSError:
            return StoredFile(path, 0, None, self)
        return self._stored(path, status) if stat.S_ISREG(status.st_mode) else None

    def _stored(self, path: str, status: os.stat_result) -> StoredFile:
        identity = status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns
        return StoredFile(path, status.st_size, identity, self)


LOCAL = LocalStorage()


def _descriptor(path: str, flags: int) -> int:
    """Open a regular file. Anything else is refused, without waiting for somebody to write to a pipe."""
    try:
        fd = os.open(path, flags | _NONBLOCK)
    except OSError as error:
        if error.errno == errno.ENXIO:  # a socket
            _check_regular(path, os.stat(path))
        raise
    try:
        _check_regular(path, os.fstat(fd))
    except OSError:
        os.close(fd)
        raise
    return fd


def _check_regular(path: str, status: os.stat_result) -> None:
    """Raise OSError if this is not a regular file."""
    mode = status.st_mode
    if stat.S_ISREG(mode):
        return
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    what = "a named pipe" if stat.S_ISFIFO(mode) else "a socket" if stat.S_ISSOCK(mode) else "a device"
    raise OSError(errno.EINVAL, f"an event file must be a regular file, got {what}", path)
