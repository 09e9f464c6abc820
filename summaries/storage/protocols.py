"""Protocols: a storage finds and opens event files, files are read in ranges, and a writer appends to a file.

    path ── discover ──▶ StoredFile: path, size, identity ── open ──▶ ReadableFile ── ranges ──▶ bytes

One listing returns the files with their sizes and identities, which need not be queried again: in an object store each
query is a request. Pure (no I/O): `local` implements the protocols for disks, `remote` for object stores.
"""

from __future__ import annotations

import errno
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from types import TracebackType
    from typing import Self

__all__ = [
    "EventFile",
    "LostFileError",
    "ReadableFile",
    "ReplacedError",
    "Storage",
    "StoredFile",
    "UnreachableError",
    "chunks",
    "expecting",
]

_CHUNK_BYTES = 1 << 20


class ReplacedError(OSError):
    """A file was replaced after it was listed, so that its parts would not fit together.

    Args:
        path: the file.
    """

    def __init__(self, path: str) -> None:
        super().__init__(errno.EAGAIN, "replaced by another file while it was being read", path)

    def __reduce__(self) -> tuple[type[ReplacedError], tuple[str]]:
        return ReplacedError, (self.filename,)


class LostFileError(OSError):
    """An event file is no longer what was written, or not safely on the disk: what is to be written goes to another.

    Args:
        path: the file.
        reason: what happened to it.
    """

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(errno.ESTALE, reason, path)

    def __reduce__(self) -> tuple[type[LostFileError], tuple[str, str]]:
        return LostFileError, (self.filename, str(self.strerror))


class UnreachableError(OSError):
    """A store cannot be reached at all, so that none of its files can be read."""


class EventFile(Protocol):
    """A new event file, local or remote, that only this process appends to.

    Attributes:
        path: its path or address.
        paths: the same; of one that is several objects of a store, the addresses of all that were written.
    """

    path: str
    paths: list[str]

    def size(self) -> int:
        """The number of bytes appended so far."""

    def append(self, data: bytes | memoryview, start: int) -> None:
        """Append the part of `data` that is not written yet; its first byte belongs at offset `start`.

        Raises:
            LostFileError: the file is no longer what was written; nothing is appended.
            OSError: not all of it could be written.
        """

    def sync(self) -> None:
        """Wait until everything appended would survive a power failure.

        Raises:
            LostFileError: it may not.
        """

    def cut(self, size: int) -> bool:
        """Leave out what comes after the first `size` bytes; return whether that was possible."""

    def keep(self, data: bytes) -> str:
        """Keep elsewhere what cannot be appended, since the process ends; return where.

        Raises:
            OSError: there is nowhere else.
        """

    def discard(self) -> None:
        """Remove the file, which contains no data of the user yet."""


class ReadableFile(Protocol):
    """An open file that is read in ranges; a context manager that closes it. Files may inherit from it."""

    def read_range(self, start: int, size: int) -> bytes:
        """Read `size` bytes from offset `start`; fewer only at the end of the file, and none after it.

        Raises:
            OSError: they cannot be read.
        """

    def read_into(self, start: int, buffer: memoryview) -> int:
        """Read bytes from offset `start` straight into a buffer.

        Args:
            start: in bytes from the start of the file.
            buffer: writable bytes, at least one.

        Returns:
            The number of bytes read: from 1 to the buffer's length; 0 only at or after the end of the file.

        Raises:
            OSError: they cannot be read.
        """
        data = self.read_range(start, len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        """Close the file; it can no longer be read."""

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        """Close it."""
        self.close()


class Storage(Protocol):
    """A place where event files are kept. It is picklable, so that worker processes can share it.

    Attributes:
        poll_secs: how long to wait between two listings when following, in seconds.
    """

    poll_secs: float

    def discover(
        self, path: str, *, recursive: bool = True, on_error: Callable[[OSError], object] | None = None
    ) -> list[StoredFile]:
        """Find event files with one listing, in no particular order.

        An entry that has the name of an event file but is not a regular file is skipped: a directory, a pipe, a
        socket, a device, or a link to one of these. So is a file that is removed meanwhile. A broken link, and a file
        that cannot be queried, are returned with size 0 and identity None: opening them raises the error.

        Args:
            path: a directory to search; or a file of any name.
            recursive: whether to search subdirectories too. Links to directories are followed to what was not
                found without them.
            on_error: called with the error of each directory that cannot be listed; its `filename` is the directory.
                The other directories are still listed. If None, the error is raised.

        Returns:
            The files, with paths that begin with `path`; for a file, itself, with `path` as its path; for one that a
            writer wrote to a store as several objects, these, sorted.

        Raises:
            FileNotFoundError: the file or directory does not exist.
            OSError: the path is neither a regular file nor a directory; or a directory cannot be listed.
        """

    def open(self, file: StoredFile | str, scan_from: int | None = None, scan_to: int | None = None) -> ReadableFile:
        """Open a file for reading.

        Args:
            file: a file returned by `discover`, which saves a store another query; or just a path.
            scan_from: the file will be read from this offset to its end, so that a store may fetch it ahead; None if
                only some ranges of it will be read.
            scan_to: the scan ends at about this offset, and others scan the rest of the file; None if it ends with the
                file.

        Raises:
            OSError: the file does not exist, is not a regular file, or cannot be read. A store may raise this, or
                `ReplacedError`, only when the file is read.
            ReplacedError: only a part is scanned, and the listed file was replaced by another one.
        """

    def expecting(self, files: Sequence[StoredFile]) -> AbstractContextManager[object]:
        """Declare which files will be scanned while this context lasts, so that a store may fetch them ahead.

        Args:
            files: files of this storage, in about the order in which they will be opened.
        """

    def exists(self, path: str) -> bool:
        """Whether the path exists, as a file, a directory, or a link, even a broken one."""


@dataclass(frozen=True, slots=True)
class StoredFile:
    """An event file, as it was when it was listed.

    Attributes:
        path: a local path, or an address with a scheme.
        size: in bytes; 0 if unknown.
        identity: stays equal as long as the file is neither written nor replaced; None if unknown.
        storage: where the file is kept.
    """

    path: str
    size: int
    identity: Hashable
    storage: Storage = field(repr=False, compare=False)

    def open(self, scan_from: int | None = None, scan_to: int | None = None) -> ReadableFile:
        """Open the file for reading; see `Storage.open`.

        Raises:
            OSError: the file no longer exists, is not a regular file, or cannot be read.
        """
        return self.storage.open(self, scan_from, scan_to)

    def as_it_is_now(self) -> StoredFile:
        """The file that has this path now.

        Raises:
            OSError: there is none any more.
        """
        return self.storage.discover(self.path)[0]


def expecting(files: Sequence[StoredFile]) -> AbstractContextManager[object]:
    """`Storage.expecting` for files that are all in one storage; a single file is as well fetched when it is opened."""
    return files[0].storage.expecting(files) if len(files) > 1 else nullcontext()


def chunks(file: ReadableFile, start: int = 0) -> Iterator[bytes]:
    """Yield the bytes of a file from offset `start` to its current end, in chunks."""
    while chunk := file.read_range(start, _CHUNK_BYTES):
        yield chunk
        start += len(chunk)
        if len(chunk) < _CHUNK_BYTES:  # the end of the file: spare a store another request
            return
