"""Event files in object stores, by fsspec: `s3://`, `gs://`, `memory://` and the rest.

An object cannot grow. Writing the whole file again at each flush would make traffic grow with the square of what is
logged; so each flush makes an object of its own, which begins with the version record and sorts behind the one before.
TensorBoard, and our reader, read a run's files one after the other.
"""

from __future__ import annotations

from io import UnsupportedOperation
from typing import TYPE_CHECKING, Any

from summaries.optional import needs

if TYPE_CHECKING:
    from summaries.storage.protocols import Storage

__all__ = ["RemoteEventFile", "read_file", "storage_of", "write_file"]


class RemoteEventFile:
    """A growing row of objects, which together are one event file.

    Args:
        directory: an address with a scheme.
        name: the objects' name, to which their numbers are appended.
        suffix: the end of their names.
        version: the record that each begins with; the first object's is appended by the caller.
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
        """The latest object, or the one to come."""
        return self._path(max(0, self._objects - 1))

    def size(self) -> int:
        """How many bytes were appended so far, without the version records that each further object begins with."""
        return self._size

    def append(self, data: bytes | memoryview, start: int) -> None:
        """Make the next object. It is written whole or not at all; a second attempt writes the same one again.

        Raises:
            OSError: it could not be written; the error names the object.
        """
        if self._size > start:  # an attempt that was interrupted had come to its end
            return
        path = self._path(self._objects)
        content = bytes(data) if self._objects == 0 else self._version + bytes(data)
        _pipe(self._system, path, content, path)
        self._objects += 1
        self._size = start + len(data)

    def sync(self) -> None:
        """An object that was written stays."""

    def discard(self) -> None:
        """There is none before one was written whole."""

    def _path(self, number: int) -> str:
        return str(self._system.unstrip_protocol(f"{self._prefix}.{number:06d}{self._suffix}"))


def storage_of(path: str) -> Storage:
    """The storage to read an address from.

    Raises:
        UnsupportedOperation: always, so far.
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
    except Exception as error:  # each store has errors of its own
        raise OSError(getattr(error, "errno", None) or 0, f"could not be written: {error}", path) from error


def read_file(path: str) -> bytes | None:
    """One object; None where there is none."""
    system, path = _system(path)
    try:
        return bytes(system.cat_file(path))
    except FileNotFoundError:
        return None


def _system(path: str) -> tuple[Any, str]:
    """The file system of an address, and the path in it."""
    system, inside = needs("fsspec.core", "remote").url_to_fs(path)
    return system, str(inside)
