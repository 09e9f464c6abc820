"""Requests to a store: repeated while that may help, with errors that name the address and the reason.

Ranges are read by coroutines in fsspec's event loop, so that many are in flight without a thread for each. A store is
asked again after throttling, a timeout, a lost connection or a body that is too short; never after an answer that would
stay the same, such as that an object does not exist or that the credentials have expired.
"""

from __future__ import annotations

import asyncio
import errno
import os
import random
import re
import time
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from inspect import signature
from socket import gaierror
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakKeyDictionary

from summaries.optional import needs
from summaries.storage.deadlines import secs_for, within
from summaries.storage.protocols import ReplacedError, UnreachableError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from summaries.storage.credentials import Mask

__all__ = [
    "PATIENCE_SECS",
    "Contact",
    "InThreads",
    "LastingThreads",
    "ShortBodyError",
    "contact_with",
    "is_conditional",
    "patiently",
    "read_range",
    "with_patience",
]

_random = random.Random()  # noqa: S311 - one of our own: a user's seed gives the same numbers whatever we do
PATIENCE_SECS = 30.0
"""For so long a failing request is repeated; many stores' libraries repeat it a few times themselves, too."""

_FIRST_PAUSE_SECS = 0.1
_LONGEST_PAUSE_SECS = 5.0
# What another attempt would not change: there is no such file, the library lacks this (NotImplementedError), or it was
# called wrongly. Libraries for stores raise these before they send anything, or translate an answer to them.
_FINAL = (
    FileNotFoundError, PermissionError, IsADirectoryError, NotADirectoryError, FileExistsError, NotImplementedError,
    ValueError, TypeError, AttributeError, LookupError, ImportError, ReplacedError,
)  # fmt: skip
_FINAL_NUMBERS = {errno.EINVAL, errno.ENOSYS, errno.EPERM, errno.EACCES, errno.ENOENT}
_DENIED = re.compile(r"Credential|Auth|Token|Profile|ParamValidation|Forbidden")  # in names of libraries' own errors
_NOT_AS_LISTED = 412  # HTTP's "precondition failed"

_LOST_SECS = 10.0  # for so long after that, no request is made to a store that could not be reached
_UNCONNECTED = re.compile(r"EndpointConnection|ConnectTimeout|ConnectorError|NewConnection|NameResolution")  # likewise

Result = TypeVar("Result")


class ShortBodyError(OSError):
    """A store returned fewer bytes than it was asked for."""


class Contact:
    """Whether a store can be reached: what one request finds out, the others need not wait for."""

    def __init__(self) -> None:
        self._lost_until = 0.0
        self._reason = ""

    def lose(self, reason: str) -> None:
        """Remember, for ten seconds, that the store cannot be reached."""
        self._reason, self._lost_until = reason, time.monotonic() + _LOST_SECS

    def check(self, path: str) -> None:
        """Raise UnreachableError if the store could not be reached a moment ago."""
        if time.monotonic() < self._lost_until:
            raise UnreachableError(errno.EHOSTUNREACH, f"the store cannot be reached ({self._reason})", path)


_contacts: WeakKeyDictionary[Any, Contact] = WeakKeyDictionary()


def contact_with(system: Any) -> Contact:
    """What this process knows of a file system's store; fsspec makes one file system for the same options."""
    return _contacts.setdefault(system, Contact())


def with_patience(
    request: Callable[[], Result], path: str, mask: Mask, contact: Contact | None = None, size: int = 0
) -> Result:
    """Make a request, and repeat it with growing pauses while that may help.

    Args:
        request: what makes the request.
        path: the address, for errors.
        mask: hides credentials in errors.
        contact: with the store; None knows nothing of it.
        size: how many bytes it sends.

    Raises:
        UnreachableError: the store cannot be reached, or could not a moment ago.
        OSError: the request failed; `filename` is the address. The kinds for missing files and permissions are kept.
    """
    patience = _Patience(path, mask, contact or Contact())
    while True:
        try:
            return within(secs_for(size), request)
        except Exception as error:  # noqa: BLE001 - each store raises its own errors
            pause = patience.pause_after(error)
        time.sleep(pause)


async def patiently(
    request: Callable[[], Awaitable[Result]], path: str, mask: Mask, contact: Contact | None = None, size: int = 0
) -> Result:
    """`with_patience` for a request that is a coroutine."""
    patience = _Patience(path, mask, contact or Contact())
    while True:
        try:
            return await asyncio.wait_for(request(), secs_for(size))
        except Exception as error:  # noqa: BLE001 - each store raises its own errors
            pause = patience.pause_after(error)
        await asyncio.sleep(pause)


class _Patience:
    """How long a request is repeated, and how long to wait between two attempts.

    Args:
        path: the address, for errors.
        mask: hides credentials in errors.
        contact: with the store.

    Raises:
        UnreachableError: the store could not be reached a moment ago.
    """

    def __init__(self, path: str, mask: Mask, contact: Contact) -> None:
        contact.check(path)
        self._path, self._mask, self._contact = path, mask, contact
        self._begun = time.monotonic()  # the latest attempt
        self._until = self._begun + min(PATIENCE_SECS, secs_for())
        self._pause = _FIRST_PAUSE_SECS

    def pause_after(self, error: Exception) -> float:
        """The seconds to wait after an attempt that failed.

        Raises:
            OSError: another attempt would not help.
        """
        pause = self._pause * _random.uniform(0.5, 1.0)  # so that requests do not return together
        now = time.monotonic()
        ends = now + pause + (now - self._begun) > self._until  # another attempt takes as long as this one
        self._begun = now + pause
        if _is_unconnected(error):
            if ends:
                self._contact.lose(self._mask(str(error)))
            self._contact.check(self._path)
        if ends or _is_final(error):
            raise _translated(error, self._path, self._mask) from None  # its text may contain credentials
        self._pause = min(2 * self._pause, _LONGEST_PAUSE_SECS)
        return pause


def _is_final(error: Exception) -> bool:
    if isinstance(error, _FINAL) or _DENIED.search(type(error).__name__):
        return True
    return isinstance(error, OSError) and error.errno in _FINAL_NUMBERS


def _is_unconnected(error: Exception) -> bool:
    """Whether there was no connection to the store, which is no matter of a single file."""
    if isinstance(error, (ConnectionRefusedError, gaierror)):
        return True
    return any(_UNCONNECTED.search(kind.__name__) for kind in type(error).__mro__)


def _translated(error: Exception, path: str, mask: Mask) -> OSError:
    if isinstance(error, ReplacedError):
        return error
    if isinstance(error, FileNotFoundError):
        return FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
    text = (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__
    if isinstance(error, (TypeError, AttributeError)):  # from passing on the options: nothing else depends on the user
        return OSError(errno.EINVAL, f"the file system does not take these storage options: {mask(text)}", path)
    if isinstance(error, PermissionError):
        return PermissionError(error.errno or errno.EACCES, mask(text), path)
    if isinstance(error, TimeoutError):
        return TimeoutError(errno.ETIMEDOUT, f"the store did not answer in time ({mask(text)})", path)
    number = getattr(error, "errno", None)
    return OSError(number if isinstance(number, int) else errno.EIO, mask(text), path)


def is_conditional(system: Any, identity: Any) -> bool:
    """Whether `read_range` tells when an object is not the listed one: S3 compares the ETag, Google the generation."""
    name = identity[0] if identity else ""
    return name == "generation" or (name == "ETag" and hasattr(system, "_call_s3"))


class InThreads:
    """A file system whose reads are coroutines, though the library's own are not: each blocks a thread.

    Args:
        system: an fsspec file system.
        threads: how many reads at a time.

    Attributes:
        loop: the event loop to run them in.
    """

    def __init__(self, system: Any, threads: int) -> None:
        self.loop: Any = needs("fsspec.asyn", "remote").get_loop()
        self._system = system
        # Arrow's file systems open a stream for a range from 0, and then fail to seek in it, if they are not told to.
        self._seekable = {"seekable": True} if "seekable" in signature(system._open).parameters else {}  # noqa: SLF001
        self._pool = ThreadPoolExecutor(threads, "gradledger-fetch")

    async def _cat_file(self, inside: str, **wanted: object) -> Any:
        read = partial(self._system.cat_file, inside, **self._seekable, **wanted)
        return await asyncio.get_running_loop().run_in_executor(self._pool, read)


class LastingThreads(ThreadPoolExecutor):
    """Threads for an event loop that is used until the process ends.

    Python ends all executors when the main thread has ended, before it calls what is registered with atexit. From then
    on, a call is made at once, in the thread that submits it: otherwise the loop could not even look up a host's name.
    """

    def submit(self, function: Callable[..., Result], /, *args: Any, **kwargs: Any) -> Future[Result]:
        """Call a function in a thread, or at once if there are no threads any more."""
        try:
            return super().submit(function, *args, **kwargs)
        except RuntimeError:
            future: Future[Result] = Future()
        try:
            future.set_result(function(*args, **kwargs))
        except Exception as error:  # noqa: BLE001 - for whoever waits for the result
            future.set_exception(error)
        return future


async def read_range(system: Any, inside: str, start: int, stop: int, identity: Any) -> bytes:
    """Read a part of an object with one request.

    Args:
        system: an fsspec file system with coroutines, or an `InThreads`.
        inside: the path in it.
        start: the first byte.
        stop: the byte after the last; greater than `start`.
        identity: (the name of what identifies it, its value, the size), as listed; or None.

    Raises:
        ReplacedError: it is another object now, and the store can tell; see `is_conditional`.
        ShortBodyError: fewer bytes came.
        Exception: any other error, which depends on the store.
    """
    if not is_conditional(system, identity):
        data = await system._cat_file(inside, start=start, end=stop)  # noqa: SLF001 - fsspec's name of its coroutine
    elif identity[0] == "ETag":
        data = await _read_s3(system, inside, start, stop, identity[1])
    else:
        data = await system._cat_file(inside, start=start, end=stop, generation=identity[1])  # noqa: SLF001
    if len(data) != stop - start:
        raise ShortBodyError(errno.EIO, f"the store returned {len(data)} of {stop - start} bytes")
    return bytes(data)


async def _read_s3(system: Any, inside: str, start: int, stop: int, etag: str) -> Any:
    bucket, key, version = system.split_path(inside)
    wanted = {"Bucket": bucket, "Key": key, "Range": f"bytes={start}-{stop - 1}", "IfMatch": etag}
    if version:
        wanted["VersionId"] = version
    try:
        answer = await system._call_s3("get_object", **wanted)  # noqa: SLF001 - `_cat_file` takes no condition
        async with answer["Body"] as stream:
            return await stream.read()
    except OSError as error:
        response = getattr(error.__cause__, "response", None) or {}
        if response.get("ResponseMetadata", {}).get("HTTPStatusCode") == _NOT_AS_LISTED:
            raise ReplacedError(inside) from None
        raise
