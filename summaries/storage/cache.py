"""A cache of remote files on the local disk: what was fetched once is fetched again only if it has changed.

There is one entry for each address:

    header: magic, SHA-256 of address and identity, size, CRC-32 of the bytes ─ then the file's bytes

A file of the same identity is read from its entry without a request. If the file has grown, only what is new is
fetched, provided that the bytes before it are still the same; any other file is fetched anew. An entry is written
elsewhere and renamed, so that several processes can share a directory; a damaged entry is ignored. The entries used
least recently are removed when there are too many bytes. Nothing of it is synced to the disk: after a loss of power,
the checksums tell what is whole, and the rest is fetched again.

A directory into which other users may write is not used: they could have us read what is no copy of the file.
"""

from __future__ import annotations

import errno
import hashlib
import logging
import os
import re
import struct
import sys
import zlib
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from summaries.storage.durable import remove_leftovers, replaced, untrusted
from summaries.storage.local import LocalFile
from summaries.storage.protocols import chunks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from summaries.storage.object_store import ObjectStore
    from summaries.storage.protocols import ReadableFile, StoredFile

__all__ = ["MOST_BYTES", "CachedFile", "CachedStorage", "cache_directory", "cache_root", "clear_cache"]

_logger = logging.getLogger("summaries")

MOST_BYTES = 10 << 30
_SWEEP_BYTES = 256 << 20  # after writing so many, the cache is made smaller if it is too large
_HEADER = struct.Struct("<8s32sQI12x")
_MAGIC = b"GLCACHE1"
_SUFFIX = ".events"
_NAME = re.compile(r"[0-9a-f]{40}\.events")
_SEAM_BYTES = 256  # a file continues an entry if this many bytes before the entry's end are the same


def cache_directory(cache: bool | str | os.PathLike[str]) -> str:
    """The directory that an argument `cache` stands for; True is GRADLEDGER_CACHE_DIR, or the user's cache."""
    if not isinstance(cache, bool):
        return os.fspath(cache)
    return os.path.join(cache_root(), "runs")


def clear_cache(directory: str) -> tuple[int, int]:
    """Remove all entries of a cache, and nothing else; return how many there were, and their bytes."""
    remove_leftovers(directory)
    entries = _entries(directory)
    for entry in entries:
        with suppress(OSError):
            os.unlink(entry.path)
    return len(entries), sum(entry.size for entry in entries)


def cache_root() -> str:
    """The directory for everything that we keep: GRADLEDGER_CACHE_DIR, or ours in the user's cache directory."""
    directory = os.environ.get("GRADLEDGER_CACHE_DIR")
    return directory or os.path.join(_user_cache(), "gradledger")


def _user_cache() -> str:
    home = os.path.expanduser("~")
    if home == "~":  # HOME is not set, and the system does not know the user: "~" would be a name in any directory
        home = os.path.join(os.path.abspath(os.sep), "nonexistent")
    if sys.platform == "win32":
        usual = os.environ.get("LOCALAPPDATA") or os.path.join(home, "AppData", "Local")
    elif sys.platform == "darwin":
        usual = os.path.join(home, "Library", "Caches")
    else:
        usual = os.path.join(home, ".cache")
    xdg = os.environ.get("XDG_CACHE_HOME", "")
    return xdg if os.path.isabs(xdg) else usual  # the XDG specification says to ignore a relative path


class _Entry(NamedTuple):
    used: int
    size: int
    path: str


def _entries(directory: str) -> list[_Entry]:
    """The entries of a cache, by the time of their last use: what has the name of one, and begins as one."""
    entries = []
    with suppress(FileNotFoundError), os.scandir(directory) as listed:
        for item in listed:
            with suppress(OSError):
                if _NAME.fullmatch(item.name) and item.is_file(follow_symlinks=False):
                    with CachedFile(item.path) as entry:
                        is_entry = entry.header() is not None
                    if is_entry:
                        status = item.stat()
                        entries.append(_Entry(status.st_mtime_ns, status.st_size, item.path))
    return sorted(entries)


class _Header(NamedTuple):
    key: bytes
    size: int
    crc: int


class _UnwritableError(Exception):
    """The cache cannot be written, because the disk is full, for example, or has no use for what was fetched."""


class CachedFile(LocalFile):
    """A `ReadableFile` that is an entry of the cache.

    Args:
        path: the entry.

    Raises:
        OSError: it cannot be read, or is another user's.
    """

    def __init__(self, path: str) -> None:
        super().__init__(path)
        if hasattr(os, "getuid") and os.fstat(self.fileno()).st_uid != os.getuid():
            self.close()
            raise PermissionError(errno.EPERM, "it belongs to another user", path)

    def read_range(self, start: int, size: int) -> bytes:
        """Read `size` bytes from offset `start` of the cached file; fewer only at its end."""
        return super().read_range(start + _HEADER.size, size)

    def read_into(self, start: int, buffer: memoryview) -> int:
        """Read bytes from offset `start` of the cached file into a buffer; return how many."""
        return super().read_into(start + _HEADER.size, buffer)

    def header(self) -> _Header | None:
        """What the entry says of the file; None if it is not an entry."""
        data = super().read_range(0, _HEADER.size)
        if len(data) < _HEADER.size:
            return None
        magic, key, size, crc = _HEADER.unpack(data)
        return _Header(key, size, crc) if magic == _MAGIC else None

    def is_sound(self, header: _Header) -> bool:
        """Whether all bytes are there, as they were written."""
        size = crc = 0
        for chunk in chunks(self):
            size, crc = size + len(chunk), zlib.crc32(chunk, crc)
        return (size, crc) == (header.size, header.crc)


class CachedStorage:
    """A `Storage` of addresses whose files are kept on the disk when they are read from start to end.

    Args:
        storage: the storage that is asked for what is not there.
        directory: where the entries are; created if it does not exist, closed to other users.
        most_bytes: the size at which the entries used least recently are removed.
    """

    def __init__(self, storage: ObjectStore, directory: str, most_bytes: int = MOST_BYTES) -> None:
        self._storage = storage
        self._directory = directory
        self._most_bytes = most_bytes
        self._used = not (reason := untrusted(directory))
        if reason:
            _logger.warning("files are not kept in %s: %s", directory, reason)
        self._written = _SWEEP_BYTES  # the first file that is written shows whether there are too many
        self.poll_secs: float = storage.poll_secs

    def discover(
        self, path: str, *, recursive: bool = True, on_error: Callable[[OSError], object] | None = None
    ) -> list[StoredFile]:
        """Find event files, with a listing of the store; see `Storage.discover`."""
        files = self._storage.discover(path, recursive=recursive, on_error=on_error)
        return [replace(file, storage=self) for file in files]

    def exists(self, path: str) -> bool:
        """Whether the path exists in the store."""
        return self._storage.exists(path)

    def open(self, file: StoredFile | str, scan_from: int | None = None, scan_to: int | None = None) -> ReadableFile:
        """Open a file for reading; see `Storage.open`.

        A file that will be scanned is put into the cache; one that is scanned in parts, with its first part.
        """
        if isinstance(file, str) and scan_from is not None:
            listed = self._storage.discover(file, recursive=False)
            file = listed[0] if [stored.path for stored in listed] == [file] else file
        if isinstance(file, str) or file.identity is None or not self._used:
            return self._storage.open(file, scan_from, scan_to)
        is_later_part = scan_to is not None and scan_from != 0
        if cached := self._cached(file, check=not is_later_part):
            return cached
        if scan_from is None or is_later_part:
            return self._storage.open(file, scan_from, scan_to)
        try:
            self._fill(file)
        except _UnwritableError:
            return self._storage.open(file, scan_from, scan_to)
        return self._cached(file) or self._storage.open(file, scan_from, scan_to)

    @contextmanager
    def expecting(self, files: Sequence[StoredFile]) -> Iterator[None]:
        """Fetch ahead what is not in the cache; see `Storage.expecting`."""
        missing, starts = [], []
        for file in files:
            header = self._header(file)
            if header is None or header.key != _key(file):
                missing.append(file)
                starts.append(_seam(header, file))
        with self._storage.expecting(missing, starts):
            yield

    def _path(self, file: StoredFile) -> str:
        return os.path.join(self._directory, hashlib.sha256(file.path.encode()).hexdigest()[:40] + _SUFFIX)

    def _header(self, file: StoredFile) -> _Header | None:
        """The header of the entry for a file's address, whatever its identity."""
        try:
            with CachedFile(self._path(file)) as entry:
                return entry.header()
        except OSError:
            return None

    def _cached(self, file: StoredFile, *, check: bool = True) -> CachedFile | None:
        """The entry of a file, if it has one; `check` reads it as a whole to see whether it is sound."""
        if not self._used:
            return None
        try:
            entry = CachedFile(path := self._path(file))
        except OSError:
            return None
        header = entry.header()
        if header is None or header.key != _key(file) or (check and not entry.is_sound(header)):
            entry.close()
            return None
        with suppress(OSError):
            os.utime(path)
        return entry

    def _fill(self, file: StoredFile) -> None:
        """Fetch a file, or what is new of it, and write its entry.

        Raises:
            OSError: the file cannot be read.
            _UnwritableError: the entry cannot be written.
        """
        if start := _seam(self._header(file), file):
            with self._storage.open(file, start) as opened:
                before = self._before(file, opened)
                if before is not None:
                    with before:
                        self._write(file, chain(chunks(before), chunks(opened, start + _SEAM_BYTES)))
                    return
        with self._storage.open(file, 0) as opened:
            self._write(file, chunks(opened))

    def _before(self, file: StoredFile, opened: ReadableFile) -> CachedFile | None:
        """The entry that a file continues; None if the file was replaced."""
        try:
            entry = CachedFile(self._path(file))
        except OSError:
            return None
        header = entry.header()
        if header is not None and entry.is_sound(header) and (start := _seam(header, file)):
            seam = entry.read_range(start, _SEAM_BYTES)
            if opened.read_range(start, _SEAM_BYTES) == seam:
                return entry
        entry.close()
        return None

    def _write(self, file: StoredFile, content: Iterator[bytes]) -> None:
        """Write the entry of a file; not if it has another size than it should."""
        with ExitStack() as stack:
            with _writing():
                os.makedirs(self._directory, mode=0o700, exist_ok=True)
                new = stack.enter_context(replaced(self._path(file), durable=False))
                entry = stack.enter_context(open(new, "wb"))
                entry.seek(_HEADER.size)
            size = crc = 0
            for chunk in content:
                size, crc = size + len(chunk), zlib.crc32(chunk, crc)
                with _writing():
                    entry.write(chunk)
            if size != file.size:
                raise _UnwritableError
            with _writing():
                entry.seek(0)
                entry.write(_HEADER.pack(_MAGIC, _key(file), size, crc))
                stack.close()
        self._sweep(size)

    def _sweep(self, size: int) -> None:
        """Remove the entries used least recently, if there are too many bytes."""
        self._written += size
        if self._written < _SWEEP_BYTES and self._written < self._most_bytes:
            return
        self._written = 0
        remove_leftovers(self._directory)
        entries = _entries(self._directory)
        total = sum(entry.size for entry in entries)
        for entry in entries:
            if total <= self._most_bytes:
                break
            with suppress(OSError):
                os.unlink(entry.path)
            total -= entry.size


@contextmanager
def _writing() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise _UnwritableError from error


def _key(file: StoredFile) -> bytes:
    return hashlib.sha256(repr((file.path, file.size, file.identity)).encode()).digest()


def _seam(header: _Header | None, file: StoredFile) -> int:
    """From where to read a file of whose beginning there may be an entry: 256 bytes before the entry's end, or 0."""
    return header.size - _SEAM_BYTES if header is not None and _SEAM_BYTES < header.size < file.size else 0
