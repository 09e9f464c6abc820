"""A log directory → its runs → their event files, in reading order."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from summaries.patterns import matcher
from summaries.storage.files import place_of
from summaries.storage.names import by_number, directory_of, relative, whole_name

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable
    from typing import Unpack

    from summaries.patterns import Patterns
    from summaries.storage.files import Access
    from summaries.storage.protocols import StoredFile

__all__ = ["files_below", "in_reading_order", "run_directories", "run_files"]


def run_files(path: str | os.PathLike[str], **access: Unpack[Access]) -> list[StoredFile]:
    """The event files of one run: those directly in a directory; or a single file of any name.

    Raises:
        FileNotFoundError: the path does not exist, or the directory contains no event file.
        OSError: the directory cannot be listed, or the path is neither a directory nor a regular file.
    """
    storage, path = place_of(path, **access)
    files = in_reading_order(storage.discover(path, recursive=False))
    if not files:
        below = [directory_of(file.path) for file in storage.discover(path, on_error=lambda _: None)]
        hint = f"; there are runs below it, such as {min(below)}" if below else ""
        raise FileNotFoundError(f"no event file (a name with 'tfevents' in it) in {path}{hint}")
    return files


def files_below(
    path: str | os.PathLike[str], on_error: Callable[[OSError], object] | None = None, **access: Unpack[Access]
) -> list[StoredFile]:
    """A file itself, or all event files below a directory, sorted; arguments and errors as in `run_directories`."""
    runs = run_directories(path, on_error, lone=".", **access)
    return [file for name in sorted(runs, key=_depth_first) for file in runs[name]]


def run_directories(
    path: str | os.PathLike[str],
    on_error: Callable[[OSError], object] | None = None,
    *,
    lone: str | None = None,
    names: Patterns = None,
    **access: Unpack[Access],
) -> dict[str, list[StoredFile]]:
    """The event files of every run below a directory, by run name: the relative path with slashes, or ".".

    Args:
        path: the directory.
        on_error: called with the error of each directory that cannot be listed; its `filename` is the directory. The
            other directories are still listed; if they contain no event file, the error is raised. If None, the error
            is raised at once.
        lone: the run name for a single file; None if the path must be a directory.
        names: patterns of the names of the runs that are wanted; the others are left out.
        **access: how an address is accessed.

    Raises:
        FileNotFoundError: the directory does not exist, or there is no event file below it.
        OSError: a directory cannot be listed, or the path is neither a directory nor a regular file.
    """
    storage, path = place_of(path, **access)
    errors: list[OSError] = []
    files = storage.discover(path, on_error=errors.append)
    if errors and (on_error is None or not files):
        raise errors[0]
    if files and all(path in (file.path, whole_name(file.path)) for file in files):
        if lone is None:
            raise FileNotFoundError(f"no such directory: {path}")
        return {lone: files} if matcher(names)(lone) else {}
    if not files:
        raise FileNotFoundError(f"no event file (a name with 'tfevents' in it) below {path}")
    if on_error is not None:
        for error in errors:
            on_error(error)
    by_directory: dict[str, list[StoredFile]] = defaultdict(list)
    for file in files:
        by_directory[directory_of(file.path)].append(file)
    runs = {relative(directory, path): in_reading_order(own) for directory, own in by_directory.items()}
    return {name: runs[name] for name in sorted(filter(matcher(names), runs))}


def in_reading_order(files: Iterable[StoredFile]) -> list[StoredFile]:
    """Sort the files of one run into reading order: by name, and so by age; `….9` comes before `….10`."""
    files = list(files)
    return sorted(files, key=lambda file: by_number(file.path)) if len(files) > 1 else files


def _depth_first(name: str) -> list[str]:
    """A sort key that puts a run before the runs below it, and these before its next sibling."""
    return [] if name == "." else name.split("/")
