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
from contextlib import suppress
from typing import TYPE_CHECKING

from summaries.storage.local import LOCAL, LocalEventFile
from summaries.storage.names import counter, event_file_name, is_remote
from summaries.storage.protocols import EventFile, Storage

if TYPE_CHECKING:
    from types import ModuleType

__all__ = ["EventFile", "create_event_file", "read_file", "storage_of", "write_file"]


def storage_of(path: str) -> Storage:
    """Return the storage that a path is read from.

    Raises:
        UnsupportedOperation: the path has a scheme. This is both an OSError and a ValueError.

    >>> storage_of("runs/a").discover("setup.missing")
    Traceback (most recent call last):
        ...
    FileNotFoundError: no such file or directory: setup.missing
    """
    return _remote().storage_of(path) if is_remote(path) else LOCAL


def create_event_file(directory: str, secs: float, suffix: str, version: bytes) -> EventFile:
    """Create an event file in a directory, and the directory if it does not exist.

    Args:
        directory: a local path, or an address with a scheme.
        secs: now, in seconds since the epoch.
        suffix: the end of the file's name.
        version: the record that each file begins with. The caller appends it to the first file. If files cannot grow,
            later data goes to further files, which get this record automatically.

    Raises:
        OSError: the file cannot be created.
        ImportError: the directory is remote, and fsspec is not installed.
    """
    if is_remote(directory):
        return _remote().RemoteEventFile(directory, event_file_name(secs), suffix, version)  # type: ignore[no-any-return]
    return LocalEventFile(directory, secs, suffix)


def write_file(path: str, data: bytes) -> None:
    """Write a whole file, and create its directory if needed. A reader sees either the old file or the new one."""
    if is_remote(path):
        _remote().write_file(path, data)
        return
    os.makedirs(os.path.dirname(path) or os.curdir, exist_ok=True)
    temporary = f"{path}.{os.getpid()}.{next(counter)}.tmp"
    try:
        with open(temporary, "wb") as file:
            file.write(data)
        os.replace(temporary, path)
    except OSError as error:
        with suppress(OSError):
            os.unlink(temporary)
        raise OSError(error.errno or errno.EIO, error.strerror or str(error), path) from error


def read_file(path: str) -> bytes | None:
    """Read a whole file; return None if it does not exist."""
    if is_remote(path):
        return _remote().read_file(path)  # type: ignore[no-any-return]
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None


def _remote() -> ModuleType:
    return importlib.import_module("summaries.storage.remote")  # fsspec is optional
