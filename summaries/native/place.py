"""The directory for compiled code: code is loaded only from where nobody but this user, or root, can have written."""

from __future__ import annotations

import atexit
import logging
import os
import shutil
import sys
import tempfile
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from stat import S_ISDIR
from time import monotonic, sleep
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["alone", "code_directory", "is_ours", "is_trusted", "sizes", "writable_directory", "write"]

_logger = logging.getLogger("summaries")


def code_directory() -> str:
    """The directory for compiled code, which need not be there, nor be writable: in an image, root filled it."""
    from summaries.storage.cache import cache_root  # noqa: PLC0415

    return os.path.join(cache_root(), "compiled")


def writable_directory() -> str:
    """`code_directory`, created; or a temporary directory if it cannot be trusted or written to, with one warning."""
    return _usable(code_directory())


@cache
def _usable(wanted: str) -> str:
    with suppress(OSError):
        os.makedirs(wanted, mode=0o755, exist_ok=True)
    if is_trusted(wanted) and os.access(wanted, os.W_OK):
        return wanted
    temporary = tempfile.mkdtemp(prefix="gradledger_compiled_")
    atexit.register(_remove, temporary, os.getpid())
    _logger.warning("compiled code cannot be kept in %s, so each process compiles for itself", wanted)
    return temporary


def sizes() -> dict[str, int]:
    """The files that hold compiled code, by path, in bytes."""
    found = (os.path.join(folder, name) for folder, _, names in os.walk(code_directory()) for name in names)
    return {path: os.path.getsize(path) for path in found}


def _remove(directory: str, process: int) -> None:
    if process == os.getpid():  # a forked child must not remove its parent's
        shutil.rmtree(directory, ignore_errors=True)


def is_trusted(directory: str) -> bool:
    """Whether nobody but this user and root can write to a directory; False if it is not there."""
    try:
        state = os.stat(directory)
    except OSError:
        return False
    return is_ours(state) and S_ISDIR(state.st_mode)


def is_ours(state: os.stat_result) -> bool:
    """Whether nobody but this user and root can write to a file or a directory, of which this is the state."""
    return not hasattr(os, "getuid") or (state.st_uid in (0, os.getuid()) and not state.st_mode & 0o022)


def write(path: str, data: bytes) -> None:
    """Write a file as a whole or not at all: another process may be reading it, or writing the same."""
    descriptor, temporary = tempfile.mkstemp(dir=os.path.dirname(path), suffix=".tmp")
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
        os.chmod(temporary, 0o644)  # in an image, root writes what others read
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


@contextmanager
def alone(path: str, patience: float = 60.0) -> Iterator[None]:
    """Hold a lock while the block runs, so that processes which want the same do it once.

    The system releases the lock of a process that dies. Where a file cannot be created or locked, or another process
    holds the lock for too long, the block runs all the same: work is done twice, and the result is right.

    Args:
        path: the lock's file, which is created and stays.
        patience: how long to wait for another process, in seconds.
    """
    with ExitStack() as stack:
        with suppress(OSError):  # the disk is full, or another user's file is there
            file = stack.enter_context(open(path, "ab"))
            end = monotonic() + patience
            while not _locked(file.fileno()) and monotonic() < end:
                sleep(0.05)
        yield


if sys.platform == "win32":
    import msvcrt

    def _locked(descriptor: int) -> bool:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except PermissionError:
            return False
        except OSError:
            return True
        return True

else:
    import fcntl

    def _locked(descriptor: int) -> bool:
        """False if another process has the lock. A forked child does not inherit this kind."""
        try:
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):
            return False
        except OSError:  # a file system without locks
            return True
        return True
