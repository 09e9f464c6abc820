"""Event files on local disks: finding, reading and appending."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import contextmanager, nullcontext, suppress
from io import FileIO
from typing import TYPE_CHECKING

from summaries.storage.durable import is_scratch, make_directories, sync
from summaries.storage.names import event_file_name, is_event_file, not_before
from summaries.storage.protocols import LostFileError, ReplacedError, StoredFile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager

__all__ = ["LOCAL", "LocalEventFile", "LocalFile", "LocalStorage", "descriptor"]

_BINARY = getattr(os, "O_BINARY", 0)  # without it, Windows translates line endings
_NONBLOCK = getattr(os, "O_NONBLOCK", 0)  # without it, opening a pipe waits for a writer
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)  # without it, opening a link opens what it leads to


class LocalEventFile:
    """A new event file that only this process appends to.

    It is known by its device, inode and owner and by the bytes written, not by its path: nothing is written to what
    somebody else put there, be it a file, a link or a pipe.

    Args:
        directory: where to create it; created if it does not exist.
        secs: now, in seconds since the epoch. If that is before what is there, as after a clock was set back, the name
            has a later time: it sorts behind all others.
        suffix: the end of its name.

    Attributes:
        path: its path.
        paths: the same.

    Raises:
        OSError: the file cannot be created.
    """

    def __init__(self, directory: str, secs: float, suffix: str = "") -> None:
        self._unsynced = [*make_directories(directory), directory]  # their new names are not on the disk yet
        with suppress(PermissionError):  # it can be written to, and not be listed
            secs = not_before(secs, os.listdir(directory))  # a run is read in the order of its files' names
        while True:
            self.path: str = os.path.join(directory, event_file_name(secs, suffix))
            try:
                fd = os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | _BINARY, 0o666)
            except FileExistsError:
                continue  # another container's process with our host name and pid: take the next number
            break
        try:
            self._identity = _owned(os.fstat(fd))
        finally:
            os.close(fd)
        self.paths: list[str] = [self.path]
        self._size = 0
        self._end = b""  # the last bytes that were appended
        self._is_clean = True  # nothing was written after these

    def size(self) -> int:
        """The number of bytes appended so far."""
        return self._size

    def append(self, data: bytes | memoryview, start: int) -> None:
        """Append the part of `data` that is not written yet; its first byte belongs at offset `start`.

        An earlier call that failed or was interrupted may have written a part of it; the file's size shows how much.

        Raises:
            LostFileError: the file is not what was written, or no longer at its path; nothing is written.
            OSError: not all of `data` could be written; the error names the file.
        """
        with self._opened() as (fd, size):
            done = size - start
            if not (0 <= done <= len(data) and _ends_in(data[:done] if done else self._end, fd, size)):
                raise LostFileError(self.path, "it was cut short or written by others")
            self._is_clean = done >= len(data)
            while done < len(data):
                done += os.write(fd, data[done:])
        self._size, self._end, self._is_clean = start + len(data), bytes(data[-_END_BYTES:]), True

    def sync(self) -> None:
        """Wait until everything appended is on the disk, and so are the names of the file and of new directories.

        Raises:
            LostFileError: it may not be; what is written to the file from now on, neither.
        """
        with self._opened() as (fd, _size):
            try:
                os.fsync(fd)
                while self._unsynced:
                    sync(self._unsynced[-1])
                    self._unsynced.pop()
            except OSError as error:
                raise LostFileError(self.path, f"the disk did not take it: {error.strerror or error}") from error

    def cut(self, size: int) -> bool:
        """Leave out what comes after the first `size` bytes; return whether that was possible."""
        try:
            with self._opened() as (fd, present):
                if present > size:
                    os.ftruncate(fd, size)
        except OSError:
            return self._is_clean and size == self._size  # it is as it was
        self._size, self._end, self._is_clean = size, b"", True
        return True

    def keep(self, data: bytes) -> str:
        """Raise OSError: what one disk does not take is not put on another."""
        raise OSError(errno.EIO, "it is kept nowhere else", self.path)

    def discard(self) -> None:
        """Remove the file."""
        with suppress(OSError):
            if self._is_there():
                os.unlink(self.path)

    def _is_there(self) -> bool:
        """Whether the path is that of the file; yes, if that cannot be known."""
        try:
            return _owned(os.lstat(self.path)) == self._identity
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError:
            return True

    @contextmanager
    def _opened(self) -> Iterator[tuple[int, int]]:
        """Open the file to append; yield its descriptor and size; add the path to an OSError raised in the block."""
        try:
            fd = os.open(self.path, os.O_RDWR | os.O_APPEND | _BINARY | _NONBLOCK | _NOFOLLOW)
            try:
                status = os.fstat(fd)
                if _owned(status) != self._identity:
                    raise LostFileError(self.path, _REPLACED)
                yield fd, status.st_size
            finally:
                os.close(fd)
        except LostFileError:
            raise
        except OSError as error:
            if not self._is_there():
                raise LostFileError(self.path, _REPLACED) from error
            message = error.strerror or str(error)
            raise OSError(error.errno or errno.EIO, message, self.path) from error


_END_BYTES = 64  # more than a record's checksum, which no other file has at that place
_REPLACED = "it was removed, renamed or replaced"


def _ends_in(data: bytes | memoryview, fd: int, size: int) -> bool:
    """Whether these are the last bytes of a file of this size."""
    return _read_at(fd, len(data), size - len(data)) == data


def _read_at(fd: int, size: int, start: int) -> bytes:
    """Bytes from offset `start`, at most `size`; where it can be, without the position, which a forked child shares."""
    if hasattr(os, "pread"):
        return os.pread(fd, size, start)
    os.lseek(fd, start, os.SEEK_SET)
    return os.read(fd, size)


def _owned(status: os.stat_result) -> tuple[int, int, int, int]:
    """What a file is, whatever its path. Its inode may soon be another file's when it is gone: the bytes tell."""
    return stat.S_IFMT(status.st_mode), status.st_dev, status.st_ino, status.st_uid


class LocalFile(FileIO):
    """A `ReadableFile` on a local disk, by its path: unbuffered, for one thread at a time.

    Raises:
        OSError: the file does not exist, is not a regular file, or cannot be read.
    """

    def __init__(self, path: str) -> None:
        super().__init__(descriptor(path), "rb")

    def read_range(self, start: int, size: int) -> bytes:
        """Read `size` bytes from offset `start`; fewer only at the end of the file."""
        data = _read_at(self.fileno(), size, start)
        while len(data) < size and (more := _read_at(self.fileno(), size - len(data), start + len(data))):
            data += more
        return data

    def read_into(self, start: int, buffer: memoryview) -> int:
        """Read bytes from offset `start` into a buffer; return how many, 0 only at or after the end of the file."""
        if hasattr(os, "preadv"):  # a child after a fork shares the position
            return os.preadv(self.fileno(), [buffer], start)
        self.seek(start)
        return self.readinto(buffer)


class LocalStorage:
    """The `Storage` of local paths.

    A file's identity is its device, inode, size and modification time.
    """

    poll_secs: float = 0.25

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
                return  # it was removed after its parent was listed
            if on_error is None:
                raise error
            on_error(error)

        return list(filter(None, map(self._found, _event_files(path, recursive, unlisted))))

    def open(self, file: StoredFile | str, scan_from: int | None = None, scan_to: int | None = None) -> LocalFile:
        """Open a file for reading; see `Storage.open`."""
        opened = LocalFile(file if isinstance(file, str) else file.path)
        if scan_to is not None and not isinstance(file, str) and not _is_listed(opened, file):
            opened.close()
            raise ReplacedError(file.path)
        return opened

    def expecting(self, files: Sequence[StoredFile]) -> AbstractContextManager[object]:
        """Do nothing: the system reads ahead."""
        return nullcontext()

    def exists(self, path: str) -> bool:
        """Whether the path exists."""
        return os.path.lexists(path)

    def _found(self, path: str) -> StoredFile | None:
        """The file of a listed path; None if it is not a regular file, or no longer exists."""
        try:
            status = os.stat(path)  # not DirEntry.stat(): on Windows its size is outdated while a file is being written
        except FileNotFoundError:
            return StoredFile(path, 0, None, self) if os.path.islink(path) else None
        except OSError:
            return StoredFile(path, 0, None, self)
        return self._stored(path, status) if stat.S_ISREG(status.st_mode) else None

    def _stored(self, path: str, status: os.stat_result) -> StoredFile:
        identity = status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns
        return StoredFile(path, status.st_size, identity, self)


LOCAL = LocalStorage()


def _is_listed(opened: LocalFile, file: StoredFile) -> bool:
    """Whether this is the file that was listed, though it may have grown."""
    status = os.fstat(opened.fileno())
    return not isinstance(file.identity, tuple) or file.identity[:2] == (status.st_dev, status.st_ino)


def _event_files(top: str, recursive: bool, on_error: Callable[[OSError], object]) -> Iterator[str]:
    """Yield the paths below a directory that have the name of an event file and are not directories.

    Links to directories are followed last, and only to what was not found without them: a link to one of the runs, such
    as `latest`, adds nothing, and a circle ends.
    """
    walked: list[str] = []
    links: list[str] = []
    yield from _walk(top, recursive, on_error, walked, links)
    if links:
        seen = set(map(_identity, [*walked, *_above(os.path.realpath(top))]))
        for link in links:  # to which the walk adds
            yield from _walk(link, True, on_error, walked, links, seen)


def _walk(
    top: str,
    recursive: bool,
    on_error: Callable[[OSError], object],
    walked: list[str],
    links: list[str],
    seen: set[tuple[int, int] | str] | None = None,
) -> Iterator[str]:
    """Yield paths as `_event_files` does; add the directories to `walked`, and links to directories to `links`.

    os.walk does the same in twice the time, since it queries each directory again.
    """
    directories = [top]
    for directory in directories:
        if seen is not None and _identity(directory) in seen:
            continue
        try:
            with os.scandir(directory) as listed:
                entries = [entry for entry in listed if not is_scratch(entry.name)]
        except OSError as error:
            on_error(error)
            continue
        walked.append(directory)
        if seen is not None:
            seen.add(_identity(directory))
        linked = []
        for entry in entries:
            if _is_directory(entry):
                directories.append(entry.path)
            elif entry.is_symlink() and os.path.isdir(entry.path):
                linked.append(entry.path)
            elif is_event_file(entry.name):
                yield entry.path
        if not recursive:
            return
        links += sorted(linked)


def _above(path: str) -> Iterator[str]:
    """Yield the directories that contain an absolute path."""
    while (parent := os.path.dirname(path)) != path:
        yield parent
        path = parent


def _identity(directory: str) -> tuple[int, int] | str:
    """What a directory is, whatever its path; the path if that cannot be known."""
    try:
        status = os.stat(directory)
    except OSError:
        return directory
    return status.st_dev, status.st_ino


def _is_directory(entry: os.DirEntry[str]) -> bool:
    """Whether it is a directory, not a link to one."""
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


def descriptor(path: str, *, follow: bool = True, place: str = "") -> int:
    """Open a regular file for reading. Reject anything else, without waiting for a pipe's writer.

    Args:
        path: the file.
        follow: whether the path may be a link.
        place: a directory that the file is below, if no link between the two is followed, either.

    Raises:
        OSError: it cannot be opened, or is no regular file.
    """
    flags = os.O_RDONLY | _BINARY | _NONBLOCK | (0 if follow else _NOFOLLOW)
    above = _directory_of(path, place) if place and os.open in os.supports_dir_fd else None
    try:
        fd = os.open(path if above is None else os.path.basename(path), flags, dir_fd=above)
    except OSError as error:
        if error.errno == errno.ENXIO:  # a socket
            _check_regular(path, os.stat(path))
        raise OSError(error.errno, error.strerror, path) from None
    finally:
        if above is not None:
            os.close(above)
    try:
        _check_regular(path, os.fstat(fd))
    except OSError:
        os.close(fd)
        raise
    return fd


def _directory_of(path: str, place: str) -> int:
    """Open the directory of a file below a place, one directory after the other, none of them through a link."""
    at = os.open(place, os.O_RDONLY | os.O_DIRECTORY)
    for part in os.path.dirname(os.path.relpath(path, place)).split(os.sep):
        try:
            below = os.open(part or os.curdir, os.O_RDONLY | os.O_DIRECTORY | _NOFOLLOW, dir_fd=at)
        except OSError as error:
            raise OSError(error.errno, error.strerror, path) from None
        finally:
            os.close(at)
        at = below
    return at


def _check_regular(path: str, status: os.stat_result) -> None:
    """Raise OSError if this is not a regular file."""
    mode = status.st_mode
    if stat.S_ISREG(mode):
        return
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    what = "a named pipe" if stat.S_ISFIFO(mode) else "a socket" if stat.S_ISSOCK(mode) else "a device"
    raise OSError(errno.EINVAL, f"it must be a regular file, got {what}", path)
