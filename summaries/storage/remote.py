"""Writing to object stores, through fsspec: `s3://`, `gs://`, `memory://` and the rest; `object_store` reads.

An object cannot grow. Rewriting the whole file at each flush would make traffic quadratic in the amount of data; so
each flush creates a new object, which begins with the version record and sorts after the previous one. TensorBoard,
and our reader, read a run's files one after another. The names have a random part, and an object is only created where
there is none (`If-None-Match: *`), where the store knows that: no writer takes another's place.

What a store does not take until the process must end is kept on the disk, as the object that it was to be, in the cache
directory's `unsent`. The next writer of the same directory, by the same user on the same machine, sends it.
"""

from __future__ import annotations

import errno
import hashlib
import logging
import os
from contextlib import contextmanager, suppress
from functools import cache
from inspect import signature
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from summaries.storage.cache import CachedStorage, cache_directory, cache_root
from summaries.storage.credentials import Mask
from summaries.storage.deadlines import secs_for, within
from summaries.storage.durable import replaced, untrusted
from summaries.storage.local import LocalFile
from summaries.storage.names import is_event_file, join, part_name
from summaries.storage.object_store import ObjectStore, file_system
from summaries.storage.requests import LastingThreads, with_patience

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Iterator, Mapping

    from summaries.storage.files import Access
    from summaries.storage.protocols import Storage

__all__ = ["RemoteEventFile", "created", "is_vacant", "read_file", "storage_of", "with_temporary_cache", "write_file"]


_logger = logging.getLogger("summaries")


class RemoteEventFile:
    """A growing sequence of objects that together make up one event file.

    Args:
        directory: an address with a scheme.
        name: the objects' name, to which their numbers are appended.
        suffix: the end of their names.
        version: the record that each object begins with; the caller appends it to the first one.
        options: the options of the file system.

    Attributes:
        path: the address of the file: that of its objects without their numbers. Reading it reads them all.
        paths: the addresses of all objects that were written.
    """

    def __init__(self, directory: str, name: str, suffix: str, version: bytes, options: Mapping[str, object]) -> None:
        self._system, root = file_system(directory, options)
        if (loop := getattr(self._system, "loop", None)) is not None:
            _make_last(loop)
        self._mask = Mask(directory, options)
        self._directory, self._name, self._suffix = root.rstrip("/"), name, suffix
        self.path: str = self._address(name + suffix)
        self._version = version
        self.paths: list[str] = []
        self._size = 0

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
        path = self._address(self._part())
        _create(self._system, path, self._content(data), self._mask)
        self.paths.append(path)
        self._size = start + len(data)
        if len(self.paths) == 1:
            self._send_unsent()

    def keep(self, data: bytes) -> str:
        """Keep on the disk what cannot be appended; return the path of the file.

        Raises:
            OSError: it cannot be kept there, either.
        """
        directory = self._unsent()
        if reason := untrusted(directory):
            raise PermissionError(errno.EPERM, reason, directory)
        os.makedirs(directory, mode=0o700, exist_ok=True)
        path = os.path.join(directory, self._part())
        with replaced(path) as new, open(new, "wb") as file:
            file.write(self._content(data))
        return path

    def _part(self) -> str:
        """The name of the next object."""
        return part_name(self._name, len(self.paths), self._suffix)

    def _content(self, data: bytes | memoryview) -> bytes:
        return self._version + bytes(data) if self.paths else bytes(data)

    def _unsent(self) -> str:
        """Where on the disk is what was not sent to this directory."""
        place = str(self._system.unstrip_protocol(self._directory))
        return os.path.join(cache_root(), "unsent", hashlib.sha256(place.encode()).hexdigest()[:40])

    def _send_unsent(self) -> None:
        """Send what earlier writers of this directory could not; what fails is left for the next one."""
        directory = self._unsent()
        with suppress(OSError):
            if not os.path.isdir(directory) or untrusted(directory):
                return
            for name in filter(is_event_file, sorted(os.listdir(directory))):
                with LocalFile(path := os.path.join(directory, name)) as file:
                    _create(self._system, self._address(name), file.readall(), self._mask)
                os.unlink(path)
                _logger.info("what an earlier process could not send was sent: %s", self._mask(self._address(name)))

    def sync(self) -> None:
        """Do nothing: a written object is durable."""

    def cut(self, size: int) -> bool:
        """Do nothing: an object that could not be written is written again as a whole."""
        return size == self._size

    def discard(self) -> None:
        """Do nothing: there is no object until one has been written whole."""

    def _address(self, name: str) -> str:
        return str(self._system.unstrip_protocol(f"{self._directory}/{name}"))


@cache
def _make_last(loop: asyncio.AbstractEventLoop) -> None:
    """Let fsspec's event loop, which all its file systems share, serve writers that are closed at exit."""
    loop.call_soon_threadsafe(loop.set_default_executor, LastingThreads())


def storage_of(path: str, options: Mapping[str, object], cache: bool | str | os.PathLike[str]) -> Storage:
    """Return the storage that an address is read from; see `files.place_of`."""
    store = ObjectStore(path, options)
    return store if cache is False else CachedStorage(store, cache_directory(cache))


@contextmanager
def with_temporary_cache(access: Access) -> Iterator[Access]:
    """The same access with a cache that is removed at the end of the block."""
    with TemporaryDirectory(prefix="gradledger_") as directory:
        yield {**access, "cache": directory}


def write_file(path: str, data: bytes, options: Mapping[str, object]) -> None:
    """Write one object."""
    system, inside = file_system(path, options)
    _pipe(system, inside, data, path, Mask(path, options))


def _create(system: Any, path: str, data: bytes, mask: Mask) -> None:
    """Create an object; an attempt that seemed to fail may have done so already."""
    try:
        _pipe(system, path, data, path, mask, **_only_if_there_is_none(system, "pipe_file"))
    except FileExistsError:
        if within(secs_for(len(data)), lambda: system.cat_file(path)) != data:
            raise


def _only_if_there_is_none(system: Any, method: str) -> dict[str, str]:
    """The argument with which a method of a file system creates an object only if there is none; {} if it has none."""
    taken = signature(getattr(system, f"_{method}", None) or getattr(system, method)).parameters
    return {"mode": "create"} if "mode" in taken else {}


def _pipe(system: Any, inside: str, data: bytes, path: str, mask: Mask, **how: str) -> None:
    def pipe() -> None:
        if getattr(system, "auto_mkdir", None) is False:  # `file://`: it has directories, and does not make them
            system.makedirs(inside.rpartition("/")[0], exist_ok=True)
        system.pipe_file(inside, data, **how)

    try:
        within(secs_for(len(data)), pipe)
    except FileExistsError:
        raise
    except Exception as error:  # noqa: BLE001 - each store raises its own errors
        raise _unwritten(error, path, mask) from None  # its text may contain credentials


def _unwritten(error: Exception, path: str, mask: Mask) -> OSError:
    text = getattr(error, "strerror", None) or str(error)
    return OSError(getattr(error, "errno", None) or 0, f"could not be written: {mask(text)}", mask(path))


def read_file(path: str, options: Mapping[str, object]) -> bytes | None:
    """Read one object; return None if it does not exist."""
    system, inside = file_system(path, options)
    mask = Mask(path, options)
    try:
        return bytes(with_patience(lambda: system.cat_file(inside), mask(path), mask))
    except FileNotFoundError:
        return None


def is_vacant(path: str, options: Mapping[str, object]) -> bool:
    """Whether there is nothing at an address; or a directory with nothing in it, as some stores have."""
    system, inside = file_system(path, options)
    mask = Mask(path, options)
    system.invalidate_cache()
    try:
        names = with_patience(lambda: system.ls(inside, detail=False), mask(path), mask)
    except FileNotFoundError:
        return True
    return all(str(name).strip("/") == inside.strip("/") and system.isdir(inside) for name in names)


@contextmanager
def created(path: str, options: Mapping[str, object], *, new: bool = False) -> Iterator[str]:
    """Yield the path of a local file to write, which becomes the object at the end; not if the block raises.

    Args:
        path: the address.
        options: the options of the file system.
        new: whether there may be no such object yet, not even one that has come meanwhile, where the store knows that.
    """
    system, inside = file_system(path, options)
    mask = Mask(path, options)
    with TemporaryDirectory(prefix="gradledger_") as directory:
        local = join(directory, "object")
        yield local
        how = _only_if_there_is_none(system, "put_file") if new else {}
        try:
            with_patience(lambda: _put(system, local, inside, how), mask(path), mask, size=os.path.getsize(local))
        except OSError as error:
            raise _unwritten(error, path, mask) from None


def _put(system: Any, local: str, inside: str, how: Mapping[str, str]) -> None:
    """Send a file; an attempt that seemed to fail may have done so already."""
    try:
        system.put_file(local, inside, **how)
    except FileExistsError:
        with open(local, "rb") as file:
            if system.size(inside) != os.path.getsize(local) or system.cat_file(inside) != file.read():
                raise FileExistsError(errno.EEXIST, "another process has put an object there meanwhile") from None
