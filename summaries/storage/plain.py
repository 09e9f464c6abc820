"""Plain files, which are no event files: tables, and the files of other tools; a copy of one that is at an address."""

from __future__ import annotations

import os
import stat
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, BinaryIO, TextIO

from summaries.storage.credentials import without_credentials
from summaries.storage.durable import make_directories, walk
from summaries.storage.files import read_file
from summaries.storage.local import descriptor
from summaries.storage.names import is_remote

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator
    from typing import Unpack

    from summaries.storage.files import Access

__all__ = [
    "at_hand", "create_text", "exists", "files_below", "is_directory", "open_below", "open_bytes", "open_database",
    "open_text", "text_below", "text_of",
]  # fmt: skip


_places: list[str] = []  # what is being converted
_SQLITE = b"SQLite format 3\x00"
_READ_VERSION = 19  # the place of this byte in the header: 2 where there is a write-ahead log


@contextmanager
def at_hand(path: str, **access: Unpack[Access]) -> Iterator[str]:
    """Yield a local path; of an address, that of a copy of the file, which is removed at the end of the block.

    In the block, a file below that path is opened without following links: whoever may write there could put one in the
    place of what was listed, and have what it leads to read.

    Raises:
        FileNotFoundError: there is nothing.
        OSError: the file at the address cannot be read.
    """
    if not is_remote(path):
        if not exists(path):
            raise FileNotFoundError(f"no such file or directory: {path}")
        _places.append(path)
        try:
            yield path
        finally:
            _places.remove(path)
        return
    data = read_file(path, access.get("storage_options"))
    if data is None:
        raise FileNotFoundError(f"no such file: {without_credentials(path)}")
    with TemporaryDirectory(prefix="gradledger_") as directory:
        copy = os.path.join(directory, os.path.basename(path))
        with open(copy, "wb") as file:
            file.write(data)
        yield copy


def exists(path: str) -> bool:
    """Whether there is a local file or directory."""
    return os.path.exists(path)


def is_directory(path: str) -> bool:
    """Whether there is a local directory."""
    return os.path.isdir(path)


def files_below(
    directory: str, on_other: Callable[[str], object] = lambda _path: None
) -> Iterator[tuple[str, list[str], list[str]]]:
    """Yield (directory, names of directories in it, names of files in it) of a local directory and all below, sorted.

    Where the list of directories is cleared, nothing below is yielded. Links are not followed: whoever made the
    directory could have what they lead to read. `on_other` is called with the path of each, and of pipes and devices.
    """
    for folder, folders, names in walk(directory):
        folders.sort()
        files = []
        for name in sorted(names):
            path = os.path.join(folder, name)
            if stat.S_ISREG(os.lstat(path).st_mode):
                files.append(name)
            else:
                on_other(path)
        yield folder, folders, files


def _place_of(path: str) -> str:
    """What is being converted, if the path is below it, else ""."""
    return max((place for place in _places if path.startswith(os.path.join(place, ""))), key=len, default="")


def _opened(path: str, *, below: bool = False, place: str = "") -> int:
    """The descriptor of a regular file; of one below what is being converted, without following a link on the way."""
    place = place or _place_of(path)
    return descriptor(path, follow=not (below or place), place=place)


def open_text(path: str, newline: str | None = None) -> TextIO:
    """Open a local file of UTF-8 text; bytes that are none are escaped, and a mark of the byte order is left out.

    Raises:
        OSError: it cannot be opened.
    """
    file = _opened(path) if _place_of(path) else path  # which may be a pipe that a shell made
    return open(file, encoding="utf-8-sig", errors="backslashreplace", newline=newline)


def text_below(path: str) -> str:
    """The text of a file that `files_below` found, as of `open_text`.

    Raises:
        OSError: it cannot be read, or is a link, a pipe or a device.
    """
    with open(_opened(path, below=True), encoding="utf-8-sig", errors="backslashreplace") as file:
        return file.read()


def open_below(path: str, place: str = "") -> BinaryIO:
    """Open a file that `files_below` found, or one below another place.

    Raises:
        OSError: it cannot be opened, or is a link, a pipe or a device.
    """
    return open(_opened(path, below=True, place=place), "rb")


def text_of(path: str) -> str:
    """All text of a file, as of `open_text`.

    Raises:
        OSError: it cannot be read, or is no regular file.
    """
    with open(_opened(path), encoding="utf-8-sig", errors="backslashreplace") as file:
        return file.read()


@contextmanager
def open_database(path: str) -> Iterator[sqlite3.Connection]:
    """Open a local SQLite database to read it; what its schema defines is not trusted.

    Raises:
        ValueError: it is no SQLite database, or a broken one, which may show at any time in the block.
        OSError: it cannot be opened.
    """
    import sqlite3  # noqa: PLC0415 - takes long to import

    with open_bytes(path) as file:
        header = file.read(_READ_VERSION + 1)
        if not header.startswith(_SQLITE):
            raise ValueError(f"{path}: not an SQLite database, which begins with {_SQLITE!r}")
        opened = os.fstat(file.fileno())
    # SQLite makes a log and an index beside a database that had one. Where there is no log, nobody writes to it.
    is_closed = header[_READ_VERSION:] == b"\2" and not os.path.lexists(f"{path}-wal")
    options = "mode=ro&immutable=1" if is_closed else "mode=ro"
    try:
        with closing(sqlite3.connect(f"{Path(path).absolute().as_uri()}?{options}", uri=True)) as database:
            if not os.path.samestat(opened, os.stat(path)):  # SQLite has opened it once more, by its path
                raise ValueError(f"{path}: another file was put in its place")
            database.execute("PRAGMA trusted_schema = OFF")
            database.text_factory = _text
            yield database
    except (sqlite3.Error, UnicodeDecodeError) as error:  # the latter of an error that quotes the file
        raise ValueError(f"{path}: not a whole SQLite database: {error}") from None


def _text(data: bytes) -> str:
    return data.decode(errors="backslashreplace")


def open_bytes(path: str) -> BinaryIO:
    """Open a local file.

    Raises:
        OSError: it cannot be opened, or is no regular file.
    """
    return open(_opened(path), "rb")


def create_text(path: str) -> TextIO:
    """Create a local file of UTF-8 text, and its directory; what is no Unicode text is escaped, line ends stay.

    Raises:
        OSError: it cannot be created.
    """
    make_directories(os.path.dirname(path) or os.curdir)
    return open(path, "w", encoding="utf-8", errors="backslashreplace", newline="")
