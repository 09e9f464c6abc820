"""Event files in object stores, through fsspec: `s3://`, `gs://`, `memory://` and the rest.

An object cannot grow. Rewriting the whole file at each flush would make traffic quadratic in the amount of data; so
each flush creates a new object, which begins with the version record and sorts after the previous one. TensorBoard,
and our reader, read a run's files one after another.
"""

from __future__ import annotations

from io import UnsupportedOperation
from typing import TYPE_CHECKING, Any

from summaries.optional import needs

if TYPE_CHECKING:
    from summaries.storage.protocols import Storage

__all__ = ["RemoteEventFile", "read_file", "storage_of", "write_file"]


class RemoteEventFile:
    """A growing sequence of objects that together make up one event file.

    Args:
        directory: an address with a scheme.
        name: the objects' name, to which their numbers are appended.
        suffix: the end of their names.
        version: the record that each object begins with; the caller appends it to the first one.
    """

    def __init__(self, directory: str, name: str, suffix: str, version: bytes) -> None:
        self._system, root = _system(directory)
        self._prefix = f"{root.rstrip('/')}/{name}"
        self._suffix = suffix
        self._version = version
        self._objects = 0
        self._size = 0

    @property
    def path(self) -> str:
        """The address of the latest object, or of the first one before it is written."""
        return self._path(max(0, self._objects - 1))

    def size(self) -> int:
        """The number of bytes appended so far, not counting the version records of objects after the first."""
        return self._size

    def append(self, data: bytes | memoryview, start: int) -> None:
        """Create the next object. It is written whole or not at all; a retry writes the same object again.

        Raises:
            OSError: the object could not be written; the error names it.
        """
        if self._size > start:  # an interrupted attempt had already written it
            return
        path = self._path(self._objects)
        content = bytes(data) if self._objects == 0 else self._version + bytes(data)
        _pipe(self._system, path, content, path)
        self._objects += 1
        self._size = start + len(data)

    def sync(self) -> None:
        """Do nothing: a written object is durable."""

    def discard(self) -> None:
        """Do nothing: there is no object until one has been written whole."""

    def _path(self, number: int) -> str:
        return str(self._system.unstrip_protocol(f"{self._prefix}.{number:06d}{self._suffix}"))


def storage_of(path: str) -> Storage:
    """Return the storage that an address is read from.

    Raises:
        UnsupportedOperation: always; reading is not implemented yet.
    """
    raise UnsupportedOperation(
        f"reading event files from {path} is not supported yet: copy them to a local directory, and read that"
    )


def write_file(path: str, data: bytes) -> None:
    """Write one object."""
    system, inside = _system(path)
    _pipe(system, inside, data, path)


def _pipe(system: Any, inside: str, data: bytes, path: str) -> None:
    try:
        system.pipe_file(inside, data)
    except Exception as error:  # each store raises its own errors
        raise OSError(getattr(error, "errno", None) or 0, f"could not be written: {error}", path) from error


def read_file(path: str) -> bytes | None:
    """Read one object; return None if it does not exist."""
    system, path = _system(path)
    try:
        return bytes(system.cat_file(path))
    except FileNotFoundError:
        return None


def _system(path: str) -> tuple[Any, str]:
    """Return the file system of an address, and the path in it."""
    system, inside = needs("fsspec.core", "remote").url_to_fs(path)
    return system, str(inside)
