"""The `Storage` of addresses: any file system that fsspec knows, found with one listing and read in ranges."""

from __future__ import annotations

import asyncio
import errno
import os
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from summaries.optional import needs
from summaries.storage.credentials import Mask, without_credentials
from summaries.storage.forks import never_close_in_children
from summaries.storage.names import is_event_file, whole_name
from summaries.storage.prefetch import REQUESTS, Prefetcher, ScannedFile
from summaries.storage.protocols import ReadableFile, ReplacedError, StoredFile
from summaries.storage.requests import (
    InThreads,
    ShortBodyError,
    contact_with,
    is_conditional,
    patiently,
    read_range,
    with_patience,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
    from concurrent.futures import Future

__all__ = ["ObjectFile", "ObjectStore", "file_system"]

# What changes when an object is written again, the surest first; each store tells some of these.
_IDENTITIES = (
    "generation", "ETag", "etag", "version_id", "blob_id", "md5", "mtime", "LastModified", "last_modified", "modified",
    "updated", "created",
)  # fmt: skip

_EXTRAS = {"s3fs": "s3", "gcsfs": "gcs", "adlfs": "azure"}
_SCHEMES = {"s3": ("s3", "s3a"), "gcs": ("gs", "gcs"), "azure": ("az", "abfs", "abfss")}
_EXTRAS_OF_SCHEMES = {scheme: extra for extra, schemes in _SCHEMES.items() for scheme in schemes}

Result = TypeVar("Result")


def file_system(address: str, options: Mapping[str, object]) -> tuple[Any, str]:
    """Return the file system of an address, and the path in it.

    Raises:
        ImportError: fsspec or the file system is not installed.
        OSError: the file system cannot be used.
        ValueError: there is no such scheme, or the address is of one version of an object.
    """
    if (at := address.find("?versionId=")) >= 0:
        shown = without_credentials(address)
        raise ValueError(f"reads what is there now, not an earlier version: leave out {address[at:]!r}, got {shown}")
    try:
        scheme = address.partition("://")[0]
        system, inside = needs("fsspec.core", _EXTRAS_OF_SCHEMES.get(scheme, "remote")).url_to_fs(address, **options)
    except ImportError as error:
        library = next((name for name in _EXTRAS if name in str(error)), None)
        if library is not None:
            extra = _EXTRAS[library]
            raise ImportError(f"this needs {library}: pip install 'gradledger[{extra}]'", name=library) from error
        if not isinstance(error, ModuleNotFoundError):
            raise  # it says what to install
        package = str(error.name).partition(".")[0]
        raise ImportError(f"this needs {package}: pip install {package}", name=package) from error
    except OSError as error:  # hdfs:// tells of every place where it looked for Java
        reason = Mask(address, options)(str(error).partition("\n")[0])
        raise OSError(error.errno or errno.EIO, reason, without_credentials(address)) from None
    never_close_in_children(system)
    return system, str(inside)


class ObjectStore:
    """The storage of an address and of all that is below it.

    An object's identity is (what identifies it, its value, its size), for example its ETag.

    Args:
        address: an address with a scheme, or several chained ones, as fsspec takes them.
        options: the options of the file system.

    Raises:
        ImportError: fsspec or the file system is not installed.
        ValueError: there is no such scheme.
    """

    poll_secs: float = 1.0  # each listing costs money

    def __init__(self, address: str, options: Mapping[str, object]) -> None:
        self._address, self._options = address, dict(options)
        self._mask = Mask(address, options)
        self._connect()
        shown = without_credentials(address).rstrip("/")
        self._shown = shown + "/" if shown.endswith(":") else shown  # of memory://, one slash is the path's

    def _connect(self) -> None:
        """Make what belongs to this process: a forked child has neither the threads nor the connections."""
        self._process = os.getpid()
        self._system, inside = file_system(self._address, self._options)
        self._inside = inside.rstrip("/")
        self._contact = contact_with(self._system)
        self._source = _with_coroutines(self._system, chained="::" in self._address)
        self._slots = asyncio.Semaphore(REQUESTS)
        self._prefetcher = Prefetcher(self._start, self._confirm)

    def __reduce__(self) -> tuple[type[ObjectStore], tuple[str, dict[str, object]]]:
        return ObjectStore, (self._address, self._options)

    def discover(
        self, path: str, *, recursive: bool = True, on_error: Callable[[OSError], object] | None = None
    ) -> list[StoredFile]:
        """Find event files; see `Storage.discover`. A thousand of a store's objects take one request."""
        inside = self._inner(path)
        if is_event_file(path) and (files := self._file_or_parts(path, inside)):
            return files
        entries = self._listed(path, inside, recursive)
        if any(self._same(entry["name"], inside) for entry in entries):  # some stores list a file as itself
            return [self._stored(path, entry) for entry in entries if self._same(entry["name"], inside)]
        if not entries:
            file = self._file(path, inside)
            if file is None and not self.exists(path):
                raise FileNotFoundError(f"no such file or directory: {path}")
            return [file] if file else []
        return [
            self._stored(self._outer(entry["name"]), entry)
            for entry in entries
            if entry["type"] == "file" and is_event_file(entry["name"])
        ]

    def open(self, file: StoredFile | str, scan_from: int | None = None, scan_to: int | None = None) -> ReadableFile:
        """Open a file for reading; see `Storage.open`. A listed file is opened without a request."""
        if self._process != os.getpid():
            self._connect()
        if isinstance(file, str):
            listed = self._file(file, self._inner(file))
            if listed is None:
                error = errno.EISDIR if self.exists(file) else errno.ENOENT
                raise OSError(error, os.strerror(error), file)
            file = listed
        if scan_from is None:
            return ObjectFile(self._start, file)
        return ScannedFile(self._prefetcher, file, scan_from, scan_to)

    @contextmanager
    def expecting(self, files: Sequence[StoredFile], starts: Iterable[int] | None = None) -> Iterator[None]:
        """Fetch these files ahead; see `Storage.expecting`.

        Args:
            files: files of this storage.
            starts: for each, the offset from which it will be read; None means 0.
        """
        self._prefetcher.plan(zip(files, starts or [0] * len(files), strict=True))
        try:
            yield
        finally:
            self._prefetcher.forget(files)

    def exists(self, path: str) -> bool:
        """Whether the path exists."""
        self._system.invalidate_cache()
        return bool(self._request(path, partial(self._system.exists, self._inner(path))))

    def _request(self, path: str, request: Callable[[], Result]) -> Result:
        return with_patience(request, path, self._mask, self._contact)

    def _listed(self, path: str, inside: str, recursive: bool) -> list[dict[str, Any]]:
        """All entries below a path, or those directly in it; none if there is no such directory."""
        system = self._system
        system.invalidate_cache()  # what an earlier listing said
        try:
            if recursive:
                return list(self._request(path, partial(system.find, inside, detail=True)).values())
            return list(self._request(path, partial(system.ls, inside, detail=True)))
        except FileNotFoundError:
            return []

    def _file(self, path: str, inside: str) -> StoredFile | None:
        """The file at a path, or None if it is a directory or does not exist."""
        self._system.invalidate_cache()
        try:
            entry = self._request(path, partial(self._system.info, inside))
        except FileNotFoundError:
            return None
        return self._stored(path, entry) if entry["type"] == "file" else None

    def _file_or_parts(self, path: str, inside: str) -> list[StoredFile]:
        """The file at a path; or the objects that a writer wrote it as, if this is the name of the whole."""
        if whole := self._file(path, inside):
            return [whole]
        directory, _, name = path.rpartition("/")
        if not name.startswith("events.out."):
            return []
        beside = self._listed(directory, self._inner(directory), recursive=False)
        named = {f"{directory}/{entry['name'].rpartition('/')[2]}": entry for entry in beside}
        return [self._stored(part, named[part]) for part in sorted(named) if whole_name(part) == path != part]

    def _stored(self, path: str, entry: Mapping[str, Any]) -> StoredFile:
        size = entry.get("size")
        if size is None:
            raise OSError(f"the store does not tell the size of {path}")
        return StoredFile(path, int(size), _identity(entry, int(size)), self)

    def _start(self, file: StoredFile, start: int, stop: int) -> Future[bytes]:
        """Start to read a part of a file, as it was listed.

        The result raises:
            ReplacedError: it is another one now.
            OSError: it cannot be read.
        """
        return asyncio.run_coroutine_threadsafe(self._fetch(file, start, stop), self._source.loop)

    async def _fetch(self, file: StoredFile, start: int, stop: int) -> bytes:
        inside = self._inner(file.path)

        async def request() -> bytes:
            try:
                return await read_range(self._source, inside, start, stop, file.identity)
            except ReplacedError:
                raise ReplacedError(file.path) from None
            except (FileNotFoundError, ShortBodyError):
                await asyncio.to_thread(self._compare, file)
                raise

        async with self._slots:
            return await patiently(request, file.path, self._mask, self._contact, stop - start)

    def _confirm(self, file: StoredFile) -> None:
        """Raise ReplacedError if parts of a file may be of different objects."""
        if not is_conditional(self._source, file.identity):
            self._compare(file)

    def _compare(self, file: StoredFile) -> None:
        """Ask the store whether a file is still the listed one; raise ReplacedError if not."""
        now = self._file(file.path, self._inner(file.path))
        if now is not None and now.identity != file.identity is not None:
            raise ReplacedError(file.path)

    def _inner(self, path: str) -> str:
        """The path in the file system of an address."""
        shown = self._shown.rstrip("/")
        if path == shown or path.startswith(shown + "/"):
            return self._inside + path.removeprefix(self._shown).rstrip("/")
        return str(self._system._strip_protocol(path))  # noqa: SLF001 - what fsspec's own functions call

    def _outer(self, inside: str) -> str:
        """The address of a path in the file system."""
        if self._inside.startswith("/") and not inside.startswith("/"):  # as some of Arrow's file systems list it
            inside = "/" + inside
        return self._shown + inside.removeprefix(self._inside)

    def _same(self, name: str, inside: str) -> bool:
        return name.strip("/") == inside.strip("/")


def _with_coroutines(system: Any, *, chained: bool) -> Any:
    """The file system, or what reads from it in threads."""
    if chained:  # such as fsspec's caches: not for several threads at once
        return InThreads(system, 1)
    # One that contains another, such as `dir://`, claims to have coroutines even if the other one has none.
    return system if system.async_impl and not hasattr(system, "fs") else InThreads(system, REQUESTS)


def _identity(entry: Mapping[str, Any], size: int) -> Hashable:
    for name in _IDENTITIES:
        if value := entry.get(name):
            return name, str(value), size
    return None


class ObjectFile(ReadableFile):
    """A `ReadableFile` of which only some ranges are read: each takes one request.

    Args:
        start: starts to fetch the bytes of a file from one offset to another.
        file: the file as it was listed; it is read up to the size that it had then.
    """

    def __init__(self, start: Callable[[StoredFile, int, int], Future[bytes]], file: StoredFile) -> None:
        self._start = start
        self._file = file

    def read_range(self, start: int, size: int) -> bytes:
        """Read `size` bytes from offset `start`; fewer only at the end of the file."""
        stop = min(start + size, self._file.size)
        return self._start(self._file, start, stop).result() if start < stop else b""

    def close(self) -> None:
        """Do nothing: there is no connection."""
