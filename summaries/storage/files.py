"""All access to files by path: the storage of a path, new event files, and a run's other files.

A path with a scheme (`s3://`, `gs://`, `memory://`, …) goes to `summaries.storage.remote`, any other to
`summaries.storage.local`. A local event file is opened for each batch that is appended and closed again afterwards. So
a process can have any number of writers, a forked child shares no handle with its parent, and a file that has been
removed is noticed instead of being written to.
"""

from __future__ import annotations

import errno
import importlib
import os
from contextlib import nullcontext
from typing import TYPE_CHECKING, TypedDict

from summaries.storage.credentials import without_credentials
from summaries.storage.durable import is_scratch, make_directories, replaced, sync
from summaries.storage.local import LOCAL, LocalEventFile
from summaries.storage.names import event_file_name, is_remote
from summaries.storage.protocols import EventFile, Storage

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextlib import AbstractContextManager
    from types import ModuleType
    from typing import Unpack

__all__ = [
    "Access",
    "EventFile",
    "create_event_file",
    "created",
    "is_replaceable",
    "is_vacant",
    "place_of",
    "read_file",
    "remembering",
    "write_file",
    "write_temporary",
]


class Access(TypedDict, total=False):
    """How an address is accessed; a local path needs nothing of this.

    Attributes:
        storage_options: the options of the file system, as fsspec takes them.
        cache: whether to keep what is fetched in a directory on the disk, or which one.
    """

    storage_options: Mapping[str, object] | None
    cache: bool | str | os.PathLike[str]


def place_of(path: str | os.PathLike[str], **access: Unpack[Access]) -> tuple[Storage, str]:
    """Return the storage that a path is read from, and the path as it is shown: without credentials.

    Raises:
        ImportError: the path is an address, and what reads it is not installed.
        ValueError: fsspec does not know its scheme.

    >>> storage, path = place_of("runs/a")
    >>> storage.discover("setup.missing")
    Traceback (most recent call last):
        ...
    FileNotFoundError: no such file or directory: setup.missing
    """
    path = os.fspath(path)
    if not is_remote(path):
        return LOCAL, path
    storage = _remote().storage_of(path, access.get("storage_options") or {}, access.get("cache", False))
    return storage, without_credentials(path)


def remembering(path: str | os.PathLike[str], **access: Unpack[Access]) -> AbstractContextManager[Access]:
    """How to access a path again and again: with a cache, which is a temporary one if there is none."""
    if not is_remote(os.fspath(path)) or access.get("cache", False) is not False:
        return nullcontext(access)
    return _remote().with_temporary_cache(access)  # type: ignore[no-any-return]


def create_event_file(
    directory: str, secs: float, suffix: str, version: bytes, storage_options: Mapping[str, object] | None = None
) -> EventFile:
    """Create an event file in a directory, and the directory if it does not exist.

    Args:
        directory: a local path, or an address with a scheme.
        secs: now, in seconds since the epoch.
        suffix: the end of the file's name.
        version: the record that each file begins with. The caller appends it to the first file. If files cannot grow,
            later data goes to further files, which get this record automatically.
        storage_options: for an address, the options of its file system.

    Raises:
        OSError: the file cannot be created.
        ImportError: the directory is remote, and fsspec is not installed.
    """
    if is_remote(directory):
        name = event_file_name(secs, unique=True)
        return _remote().RemoteEventFile(directory, name, suffix, version, storage_options or {})  # type: ignore[no-any-return]
    return LocalEventFile(directory, secs, suffix)


def write_file(path: str, data: bytes, storage_options: Mapping[str, object] | None = None) -> None:
    """Write a whole file, and create its directory if needed. Whatever happens, there is the old file or the new one.

    On a disk, it is there when this returns, even after a loss of power.
    """
    if is_remote(path):
        _remote().write_file(path, data, storage_options or {})
        return
    grown = make_directories(os.path.dirname(path) or os.curdir)
    try:
        whole = replaced(path) if is_replaceable(path) else nullcontext(path)
        with whole as new, open(new, "wb") as file:
            file.write(data)
        for directory in grown:
            sync(directory)
    except OSError as error:
        raise OSError(error.errno or errno.EIO, error.strerror or str(error), path) from error


def write_temporary(name: str, data: bytes) -> str:
    """Write a file of this name in a new temporary directory, which stays; return its address, `file://…`."""
    import pathlib  # noqa: PLC0415 - with tempfile, it takes as long to import as all of storage
    import tempfile  # noqa: PLC0415

    path = pathlib.Path(tempfile.mkdtemp(prefix="gradledger-"), name)
    path.write_bytes(data)
    return path.as_uri()


def read_file(path: str, storage_options: Mapping[str, object] | None = None) -> bytes | None:
    """Read a whole file; return None if it does not exist."""
    if is_remote(path):
        return _remote().read_file(path, storage_options or {})  # type: ignore[no-any-return]
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None


def is_vacant(path: str, storage_options: Mapping[str, object] | None = None) -> bool:
    """Whether there is nothing at a path or an address, or an empty directory; work in progress is nothing."""
    if is_remote(path):
        return _remote().is_vacant(path, storage_options or {})  # type: ignore[no-any-return]
    return not os.path.lexists(path) or (os.path.isdir(path) and all(map(is_scratch, os.listdir(path))))


def created(
    path: str, storage_options: Mapping[str, object] | None = None, *, new: bool = False
) -> AbstractContextManager[str]:
    """The path of a new file to write in a `with` block, which then takes the place of this file or address.

    If the block fails, what was there is still there; after it, what is new is on the disk, or in the store. What is
    not a regular file, such as a pipe, is written itself. At an address, `new` refuses an object that is there by then.

    Raises:
        OSError: the path is a directory; or, at the end of the block, the file could not be put there.
    """
    if is_remote(path):
        return _remote().created(path, storage_options or {}, new=new)  # type: ignore[no-any-return]
    if os.path.isdir(path):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    return replaced(os.path.realpath(path)) if is_replaceable(path) else nullcontext(path)


def is_replaceable(path: str) -> bool:
    """Whether a new file may take the place of a local path: nothing is there, a regular file or a directory.

    A pipe or a device would be gone, and who reads from it would wait for ever.
    """
    return not os.path.exists(path) or os.path.isfile(path) or os.path.isdir(path)


def _remote() -> ModuleType:
    return importlib.import_module("summaries.storage.remote")  # fsspec is optional
