"""What a storage is: it finds event files and opens them, to be read in ranges; and the file that a writer appends to.

    path ── discover ──▶ StoredFile: path, size, identity ── open ──▶ ReadableFile ── ranges ──▶ bytes

One listing finds the files with their sizes and identities, so that nobody asks for these again: in an object store
each question is a request. Pure (no I/O): `local` is the storage of disks, `remote` that of object stores.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator
    from types import TracebackType
    from typing import Self

__all__ = ["EventFile", "ReadableFile", "Storage", "StoredFile", "chunks"]

_CHUNK_BYTES = 1 << 20


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


class ReadableFile(Protocol):
    """An open file, which is read in ranges. It is a context manager that closes it."""

    def read_range(self, start: int, size: int) -> bytes:
        """The `size` bytes from offset `start`; fewer only where the file ends, and none from its end on.

        Raises:
            OSError: they cannot be read.
        """

    def read_into(self, start: int, buffer: memoryview) -> int:
        """Read bytes from offset `start` straight into a buffer.

        Args:
            start: in bytes from the start of the file.
            buffer: writable bytes, at least one.

        Returns:
            How many bytes were read: at least one, at most the buffer's length; 0 only from the file's end on.

        Raises:
            OSError: they cannot be read.
        """

    def close(self) -> None:
        """Close the file; it cannot be read any more."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None: ...


class Storage(Protocol):
    """Somewhere event files are kept. It is picklable: processes that share work share their storage."""

    def discover(
        self, path: str, *, recursive: bool = True, on_error: Callable[[OSError], object] | None = None
    ) -> list[StoredFile]:
        """Find event files, in no particular order: one listing.

        What is named like an event file and is not a regular file is passed over: a directory, a pipe, a socket, a
        device, or a link to one of these. So is what vanishes meanwhile. A link to nowhere, and a file of which
        nothing can be learned, are found, with size 0 and identity None: opening one says what is wrong with it.

        Args:
            path: a directory, whose event files are found; or a file, which is found whatever its name is.
            recursive: whether to look in the directories below too. Links to directories are not followed.
            on_error: called with the error of each directory that cannot be listed, whose `filename` it is; the
                others are listed all the same. If None, the error is raised.

        Returns:
            The files, whose paths begin with `path`; of a file, itself, with `path` as its path.

        Raises:
            FileNotFoundError: there is no such file or directory.
            OSError: the path is neither a regular file nor a directory; or a directory cannot be listed.
        """

    def open(self, file: StoredFile | str) -> ReadableFile:
        """Open a file to read it.

        Args:
            file: as `discover` found it, which tells a store what it need not ask again; or just its path.

        Raises:
            OSError: there is no such file, it is not a regular file, or it cannot be read.
        """

    def exists(self, path: str) -> bool:
        """Whether anything has this path: a file, a directory, or a link, even to nowhere."""


@dataclass(frozen=True, slots=True)
class StoredFile:
    """An event file, as it was when it was found.

    Attributes:
        path: a local path, or an address with a scheme.
        size: in bytes; 0 if it is unknown.
        identity: equal for as long as the file was neither written nor replaced; None if it is unknown.
        storage: where the file is kept.
    """

    path: str
    size: int
    identity: Hashable
    storage: Storage = field(repr=False, compare=False)

    def open(self) -> ReadableFile:
        """Open the file to read it.

        Raises:
            OSError: it is gone, it is not a regular file, or it cannot be read.
        """
        return self.storage.open(self)


def chunks(file: ReadableFile, start: int = 0) -> Iterator[bytes]:
    """The bytes of a file from offset `start`, a chunk at a time, up to where it ends now."""
    while chunk := file.read_range(start, _CHUNK_BYTES):
        yield chunk
        start += len(chunk)
        if len(chunk) < _CHUNK_BYTES:  # this was its end: do not ask a store for what is behind it
            return
