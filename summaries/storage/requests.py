"""Requests to a store: repeated while that may help, with errors that name the address and the reason.

A store is asked again after throttling, a timeout, a lost connection or a body that is too short; never after an answer
that would stay the same, such as that an object does not exist or that the credentials have expired.
"""

from __future__ import annotations

import errno
import os
import random
import re
import time
from typing import TYPE_CHECKING, Any, TypeVar

from summaries.storage.protocols import ReplacedError

if TYPE_CHECKING:
    from collections.abc import Callable

    from summaries.storage.credentials import Mask

__all__ = ["PATIENCE_SECS", "ShortBodyError", "is_conditional", "read_range", "with_patience"]

PATIENCE_SECS = 30.0
"""For so long a failing request is repeated; many stores' libraries repeat it a few times themselves, too."""

_FIRST_PAUSE_SECS = 0.1
_LONGEST_PAUSE_SECS = 5.0
# What another attempt would not change: there is no such file, the library lacks this (NotImplementedError), or it was
# called wrongly. Libraries for stores raise these before they send anything, or translate an answer to them.
_FINAL = (
    FileNotFoundError, PermissionError, IsADirectoryError, NotADirectoryError, FileExistsError, NotImplementedError,
    ValueError, TypeError, LookupError, ImportError, ReplacedError,
)  # fmt: skip
_FINAL_NUMBERS = {errno.EINVAL, errno.ENOSYS, errno.EPERM, errno.EACCES, errno.ENOENT}
_DENIED = re.compile(r"Credential|Auth|Token|Profile|ParamValidation|Forbidden")  # in names of libraries' own errors
_NOT_AS_LISTED = 412  # HTTP's "precondition failed"

Result = TypeVar("Result")


class ShortBodyError(OSError):
    """A store returned fewer bytes than it was asked for."""


def with_patience(request: Callable[[], Result], path: str, mask: Mask) -> Result:
    """Make a request, and repeat it with growing pauses while that may help.

    Args:
        request: what makes the request.
        path: the address, for errors.
        mask: hides credentials in errors.

    Raises:
        OSError: the request failed; `filename` is the address. The kinds for missing files and permissions are kept.
    """
    until = time.monotonic() + PATIENCE_SECS
    pause = _FIRST_PAUSE_SECS
    while True:
        try:
            return request()
        except Exception as error:  # noqa: BLE001 - each store raises its own errors
            wait = pause * random.uniform(0.5, 1.0)  # noqa: S311 - so that requests do not return together
            if _is_final(error) or time.monotonic() + wait > until:
                raise _translated(error, path, mask) from None  # its text may contain credentials
        time.sleep(wait)
        pause = min(2 * pause, _LONGEST_PAUSE_SECS)


def _is_final(error: Exception) -> bool:
    if isinstance(error, _FINAL) or _DENIED.search(type(error).__name__):
        return True
    return isinstance(error, OSError) and error.errno in _FINAL_NUMBERS


def _translated(error: Exception, path: str, mask: Mask) -> OSError:
    if isinstance(error, ReplacedError):
        return error
    if isinstance(error, FileNotFoundError):
        return FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
    text = (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__
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


def read_range(system: Any, inside: str, start: int, stop: int, identity: Any) -> bytes:
    """Read a part of an object with one request.

    Args:
        system: an fsspec file system.
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
        data = system.cat_file(inside, start=start, end=stop)
    elif identity[0] == "ETag":
        data = _read_s3(system, inside, start, stop, identity[1])
    else:
        data = system.cat_file(inside, start=start, end=stop, generation=identity[1])
    if len(data) != stop - start:
        raise ShortBodyError(errno.EIO, f"the store returned {len(data)} of {stop - start} bytes")
    return bytes(data)


def _read_s3(system: Any, inside: str, start: int, stop: int, etag: str) -> Any:
    from fsspec.asyn import sync  # noqa: PLC0415 - an extra

    bucket, key, version = system.split_path(inside)
    wanted = {"Bucket": bucket, "Key": key, "Range": f"bytes={start}-{stop - 1}", "IfMatch": etag}
    if version:
        wanted["VersionId"] = version

    async def body() -> Any:
        answer = await system._call_s3("get_object", **wanted)  # noqa: SLF001 - `call_s3` would wait for it apart
        async with answer["Body"] as stream:
            return await stream.read()

    try:
        return sync(system.loop, body)
    except OSError as error:
        response = getattr(error.__cause__, "response", None) or {}
        if response.get("ResponseMetadata", {}).get("HTTPStatusCode") == _NOT_AS_LISTED:
            raise ReplacedError(inside) from None
        raise
