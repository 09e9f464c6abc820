"""Archives of a run: a ZIP file, or a folder with the same files."""

from __future__ import annotations

import json
import os
import struct
import zipfile
import zlib
from contextlib import contextmanager
from lzma import LZMAError
from typing import TYPE_CHECKING, Any

from summaries.storage.plain import files_below, is_directory, open_below, open_bytes
from summaries.tools.formats.files import whole

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from typing import IO

    from summaries.tools.formats.points import LeftOut

__all__ = ["PATTERNS", "Archive", "archives", "has_members", "opened"]

PATTERNS = ("*.zip", "task.json", "experiment.json")
"""What the names of archives are like, and of a file that an unpacked one has."""

_ENDING = ".zip"
_CHUNK = 1 << 20  # bytes
# What zipfile and what it decompresses with raise for damage. NotImplementedError is its word for an unknown method of
# compression, RuntimeError for a member that is encrypted: bytes that are wrong may say either.
_BROKEN = (
    zipfile.BadZipFile, zlib.error, LZMAError, struct.error, EOFError, NotImplementedError, RuntimeError,
    UnicodeDecodeError,
)  # fmt: skip


class Archive:
    """The files of a run.

    Args:
        path: a ZIP file or a folder.
        names: the names of its files.
        source: the opened ZIP file; None of a folder.

    Attributes:
        path: as given.
        names: the names of the files; those in folders with slashes.
    """

    def __init__(self, path: str, names: Collection[str], source: zipfile.ZipFile | None) -> None:
        self.path: str = path
        self.names: frozenset[str] = frozenset(names)
        self._zip = source

    def open(self, name: str) -> IO[bytes]:
        """Open one of the files.

        Raises:
            OSError: it cannot be read.
        """
        return open_below(os.path.join(self.path, name)) if self._zip is None else self._zip.open(name)

    def object(self, name: str) -> dict[str, Any]:
        """The JSON object that is a file.

        Raises:
            ValueError: it is not there, or none.
        """
        if name not in self.names:
            raise ValueError(f"{self.path}: there must be a file {name}, got {', '.join(sorted(self.names)[:9])}")
        with self.open(name) as file:
            try:
                found = json.load(file)
            except (ValueError, RecursionError) as error:
                raise ValueError(f"{self.path}, {name}: not JSON: {error}") from None
        if not isinstance(found, dict):
            raise ValueError(f"{self.path}, {name}: there must be a JSON object, got {str(found)[:40]}")  # noqa: TRY004
        return found

    def rows(self, name: str, left_out: LeftOut) -> Iterator[dict[str, Any]]:
        """The JSON objects on the lines of a file, or in the list on a line; what is none of these is counted."""
        with self.open(name) as file:
            for line in file:
                try:
                    found = json.loads(line)
                except (ValueError, RecursionError):
                    left_out[f"lines of {name} that are not JSON"] += 1
                    continue
                for row in found if isinstance(found, list) else [found]:
                    if isinstance(row, dict):
                        yield row
                    else:
                        left_out[f"rows of {name} that are no objects"] += 1


@contextmanager
def opened(path: str) -> Iterator[Archive]:
    """Open a ZIP file or a folder.

    Raises:
        ValueError: it is no ZIP file, or a broken one.
        OSError: it cannot be read.
    """
    if is_directory(path):
        below = (os.path.join(folder, name) for folder, _, names in files_below(path) for name in names)
        yield Archive(path, [os.path.relpath(file, path).replace(os.sep, "/") for file in below], None)
        return
    try:
        with open_bytes(path) as file, zipfile.ZipFile(file) as source:
            yield Archive(path, source.namelist(), source)
    except OSError as error:
        if error.filename is not None:
            raise
        raise ValueError(f"{path}: not a whole ZIP file: {error}") from None  # its directory leads nowhere
    except _BROKEN as error:
        raise ValueError(f"{path}: not a whole ZIP file: {error}") from None


def has_members(path: str, members: Collection[str]) -> bool:
    """Whether a ZIP file, or the folder of another file, has these files.

    Raises:
        ValueError: it is no ZIP file, or a broken one.
        OSError: it cannot be read.
    """
    with opened(path if path.lower().endswith(_ENDING) else os.path.dirname(path)) as archive:
        return archive.names.issuperset(members)


def _is_whole(path: str, members: Collection[str]) -> bool:
    """Whether a ZIP file has these files, and they are sound; raises as `has_members` does."""
    with opened(path) as archive:
        for name in archive.names.intersection(members):
            with archive.open(name) as file:
                while file.read(_CHUNK):
                    pass
        return archive.names.issuperset(members)


def archives(path: str, members: Collection[str], left_out: LeftOut) -> list[str]:
    """The archives with these files: a path itself, or ZIP files and folders below it, sorted.

    Of a folder and the ZIP file of the same name beside it, the latter is taken.

    Args:
        path: the archive, or the directory.
        members: the names of files that an archive has.
        left_out: counts ZIP files of a directory without these; keeps those that are broken.

    Raises:
        FileNotFoundError: there is none.
        ValueError: there are, and all of them are broken.
    """
    if not is_directory(path):
        return [path]
    places: list[str] = []  # in the order in which they lie
    for folder, _, names in files_below(path):
        places += (os.path.join(folder, name) for name in names if name.lower().endswith(_ENDING))
        if set(names).issuperset(members):
            places.append(folder)
    zips = [place for place in places if place.lower().endswith(_ENDING)]
    found = whole(places, left_out, lambda place: place not in zips or _is_whole(place, members))
    found = [place for place in found if place in zips or place + _ENDING not in found]
    if not found:
        raise FileNotFoundError(f"no {_ENDING} file or folder with {' and '.join(members)} below {path}")
    left_out[f"{_ENDING} files without {' and '.join(members)}"] += len(set(zips) - set(found) - set(left_out.broken))
    return found
