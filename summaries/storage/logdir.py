"""A directory → its event files, in reading order."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from summaries.storage.names import is_event_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

__all__ = ["event_files", "run_directories"]


def event_files(paths: Iterable[str | os.PathLike[str]]) -> Iterator[str]:
    """Every event file that the paths name: a file is itself, a directory all event files below it, sorted.

    Raises:
        FileNotFoundError: there is no such path, or no event file below a directory.
    """
    for path in paths:
        if not os.path.isdir(path):
            if not os.path.exists(path):
                raise FileNotFoundError(f"no such file or directory: {path}")
            yield os.fspath(path)
            continue
        found = False
        for files in _walk(path):
            found = True
            yield from files
        if not found:
            raise _nothing_below(path)


def run_directories(
    path: str | os.PathLike[str], on_error: Callable[[OSError], object] | None = None
) -> dict[str, list[str]]:
    """The event files of every run below a directory, by the run's name: its path below it, with slashes, or ".".

    Args:
        path: the directory.
        on_error: called with the error of each directory that cannot be read, whose `filename` it is; the others are
            read all the same. Where None, the error is raised.

    Raises:
        FileNotFoundError: there is no such directory, or no event file below it.
        OSError: a directory cannot be read.
    """
    if not os.path.isdir(path):
        raise FileNotFoundError(f"no such directory: {path}")
    walked = _walk(path, on_error or _raise)
    runs = {os.path.relpath(os.path.dirname(files[0]), path).replace(os.sep, "/"): files for files in walked}
    if not runs:
        raise _nothing_below(path)
    return dict(sorted(runs.items()))


def _raise(error: OSError) -> None:
    """What cannot be read is not passed over."""
    raise error


def _is_stream(path: str) -> bool:
    """Whether it has no end, as a pipe, whose reader waits for a writer, or a device."""
    try:
        mode = os.stat(path).st_mode
    except OSError:  # who reads it will say what is wrong
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode) or stat.S_ISSOCK(mode)


def _walk(path: str | os.PathLike[str], onerror: Callable[[OSError], object] = _raise) -> Iterator[list[str]]:
    """The event files of each directory that has some."""
    for directory, subdirectories, names in os.walk(path, onerror=onerror):
        subdirectories.sort()
        files = [os.path.join(directory, name) for name in sorted(filter(is_event_file, names))]
        files = [file for file in files if not _is_stream(file)]
        if files:
            yield files


def _nothing_below(path: str | os.PathLike[str]) -> FileNotFoundError:
    return FileNotFoundError(f"no event file (a name with 'tfevents' in it) below {os.fspath(path)}")
