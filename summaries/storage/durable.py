"""Durable outputs: the one way in which a file or directory of ours appears, whole or not at all, and stays.

    scratch beside the target ── the caller writes in it ── synced ── renamed ── its directory and new ones above synced

The scratch is a directory with a random name, `.gradledger.….tmp`, made by the very call that finds the name free, and
closed to other users: nobody can put a link or a pipe in the way of what is written. The note in it says what it is.

Killed, a process leaves what was there before, and the scratch; after a loss of power it is the same, and once the
block has ended, the new output is on the disk. The next output beside it removes a scratch that is an hour old and
whose process is gone: both are told by the note, not by the scratch's name.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

try:
    import fcntl
except ImportError:  # Windows, where a file that is open cannot be removed
    fcntl = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "is_scratch",
    "make_directories",
    "remove_leftovers",
    "replaced",
    "scratch_beside",
    "sync",
    "sync_tree",
    "untrusted",
    "walk",
]

_PREFIX, _SUFFIX = ".gradledger.", ".tmp"
_NOTE = ".gradledger"
_TEXT = b"gradledger is writing here, or was killed while it did. What is an hour old may be removed.\n"
_STALE_SECS = 3600.0
_FULL = {errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)}
_MANY = 64  # so many files are sent to the disk together first, as one by one they wait for one another


@contextmanager
def replaced(path: str, *, durable: bool = True) -> Iterator[str]:
    """An empty file to write, which replaces the one at a path if the block succeeds, and is removed if not.

    Args:
        path: the file; its directory exists.
        durable: whether a loss of power after the block leaves the new file. If not, it may leave anything.

    Raises:
        OSError: it cannot be made, or not put there; the error names the file.
    """
    with scratch_beside(path) as scratch:
        new = os.path.join(scratch, os.path.basename(path))
        os.close(os.open(new, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
        yield new
        try:
            with suppress(FileNotFoundError):
                os.chmod(new, os.stat(path).st_mode & 0o7777)
            if durable:
                sync(new)
            os.replace(new, path)
            if durable:
                sync(os.path.dirname(path) or os.curdir)
        except OSError as error:
            raise OSError(error.errno or errno.EIO, error.strerror or str(error), path) from error


@contextmanager
def scratch_beside(path: str) -> Iterator[str]:
    """A directory for work in progress in that of a path; it is removed with all that is in it at the end.

    An error of the block that tells of a full disk, and names no file, names the path.

    Raises:
        OSError: it cannot be made; the error names the path.
    """
    import tempfile  # noqa: PLC0415 - it takes as long to import as all of storage

    beside = os.path.dirname(path) or os.curdir
    try:
        scratch = tempfile.mkdtemp(prefix=_PREFIX, suffix=_SUFFIX, dir=beside)
    except OSError as error:
        raise OSError(error.errno, error.strerror, path) from None
    try:
        with open(os.path.join(scratch, _NOTE), "xb") as note:
            note.write(_TEXT)
            note.flush()
            if fcntl is not None:
                with suppress(OSError):  # a file system without locks: then its age alone tells
                    fcntl.flock(note, fcntl.LOCK_SH)
            yield scratch
    except OSError as error:
        if error.errno in _FULL and error.filename is None:  # as a file that is open already tells it
            error.filename = path
        raise
    finally:
        _remove(scratch)


def is_scratch(name: str) -> bool:
    """Whether a directory of this name may be work in progress, which readers leave out."""
    return name.startswith(_PREFIX) and name.endswith(_SUFFIX)


def remove_leftovers(directory: str) -> None:
    """Remove what processes that were killed had not finished in a directory: an hour old, with our note, unlocked."""
    with suppress(OSError), os.scandir(directory) as found:
        for entry in found:
            if is_scratch(entry.name) and entry.is_dir(follow_symlinks=False):
                with suppress(OSError):
                    if _is_left(os.path.join(entry.path, _NOTE)):
                        _remove(entry.path)


def _remove(directory: str) -> None:
    """Remove a directory and all that is in it, as far as that is possible; it is ours, and closed to others."""
    tree = list(walk(directory))
    for folder, _, names in reversed(tree):
        for name in names:
            with suppress(OSError):
                os.unlink(os.path.join(folder, name))
        with suppress(OSError):
            os.rmdir(folder)


def _is_left(note: str) -> bool:
    """Whether nobody works any more where this note is.

    Raises:
        OSError: there is no note, or it cannot be read.
    """
    with open(os.open(note, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)), "rb") as file:
        status = os.fstat(file.fileno())
        if hasattr(os, "getuid") and not _is_private(os.path.dirname(note)):
            return False
        if file.read(len(_TEXT) + 1) != _TEXT or time.time() - status.st_mtime < _STALE_SECS:
            return False
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # BlockingIOError: its process is at work
    return True


def _is_private(directory: str) -> bool:
    """Whether it is this user's, and closed to others, who might put links into it while it is removed."""
    status = os.lstat(directory)
    return status.st_uid == os.getuid() and not status.st_mode & 0o077


def untrusted(directory: str) -> str:
    """Why others may have put something into a directory of ours, as sshd's StrictModes has it; "" if they may not.

    The directory and all above it must belong to this user or to root, and be closed to the writing of all others; a
    directory such as /tmp, in which nobody removes what is another's, may only be above.
    """
    if not hasattr(os, "getuid"):
        return ""
    whole = at = os.path.realpath(directory)
    while not os.path.lexists(at):
        at = os.path.dirname(at)
    while True:
        status = os.stat(at)
        if status.st_uid not in {0, os.getuid()}:
            return f"{at} belongs to another user"
        is_shared = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
        if is_shared and (at == whole or not status.st_mode & stat.S_ISVTX):
            return f"others may write to {at}"
        if at == os.path.dirname(at):
            return ""
        at = os.path.dirname(at)


def make_directories(path: str) -> list[str]:
    """Make a directory and its parents where they are missing; return those that got a new name, which is not synced.

    Raises:
        OSError: one cannot be made, or the path is a file.
    """
    grown = []
    at = os.path.abspath(path)
    missing = []
    while not os.path.isdir(at) and (parent := os.path.dirname(at)) != at:
        grown.append(parent)
        missing.append(at)
        at = parent
    for directory in reversed(missing):  # os.makedirs calls itself for each, and so fails where there are a thousand
        try:
            os.mkdir(directory)
        except FileExistsError:
            if not os.path.isdir(directory):
                raise
    return grown


def walk(top: str) -> Iterator[tuple[str, list[str], list[str]]]:
    """Yield (directory, names of directories in it, names of all else in it) of a directory and of all below.

    As os.walk, from above, but at any depth: that of Python 3.11 calls itself. A link is no directory. What is left out
    of the list of directories is not entered, and they are entered in its order.
    """
    left = [top]
    while left:
        folder = left.pop()
        folders, names = list[str](), list[str]()
        try:
            with os.scandir(folder) as found:
                for entry in found:
                    (folders if entry.is_dir(follow_symlinks=False) else names).append(entry.name)
        except OSError:
            continue
        yield folder, folders, names
        left += (os.path.join(folder, name) for name in reversed(folders))


def sync_tree(directory: str) -> None:
    """Return when a directory and all that is below it are on the disk.

    Raises:
        OSError: they may not be.
    """
    tree = [(folder, files) for folder, _, files in walk(directory)]
    if sum(len(files) for _, files in tree) > _MANY and hasattr(os, "sync"):
        os.sync()  # it tells no errors, so each is synced once more
    for folder, files in tree:
        for name in files:
            sync(os.path.join(folder, name))
        sync(folder)


def sync(path: str) -> None:
    """Return when the bytes of a file, or the names in a directory, are on the disk.

    Raises:
        OSError: they may not be.
    """
    posix = hasattr(os, "O_DIRECTORY")
    if not posix and os.path.isdir(path):
        return  # Windows cannot open a directory, and writes names by itself
    descriptor = os.open(path, os.O_RDONLY if posix else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
