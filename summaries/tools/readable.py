"""Reads what can be read of runs, and tells which of their files cannot be."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from summaries.patterns import matcher
from summaries.reading.run import Run, read_files
from summaries.storage.credentials import without_credentials
from summaries.storage.logdir import run_directories
from summaries.storage.names import by_number, directory_of
from summaries.storage.protocols import UnreachableError
from summaries.words import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Unpack

    from summaries.patterns import Patterns
    from summaries.storage.files import Access
    from summaries.storage.protocols import StoredFile

__all__ = ["path_of", "read_places", "read_readable", "reason_of"]


def read_places(
    places: Iterable[str | os.PathLike[str]], runs: Patterns = None, tags: Patterns = None, **access: Unpack[Access]
) -> Iterator[tuple[str, Run | None, tuple[str, ...]]]:
    """Read the runs in some places, one at a time.

    Args:
        places: directories of runs, or event files.
        runs: only runs whose names match one of these patterns; None means all.
        tags: which tags to read, likewise.
        **access: how an address is accessed.

    Yields:
        The path of each run; the run, or None if no file of it can be read; and for each file or directory that
        cannot be read, its path and the reason.

    Raises:
        FileNotFoundError: a place does not exist, or has no event file.
    """
    chosen = matcher(runs)
    for place in places:
        errors: list[OSError] = []
        found = run_directories(place, errors.append, lone=".", **access)
        for name in sorted(filter(chosen, found), key=by_number):
            yield path_of(place, name, found[name]), *read_readable(found[name], tags=tags)
        for error in errors:
            yield str(error.filename), None, (f"{error.filename}: {reason_of(error)}",)


def path_of(place: str | os.PathLike[str], name: str, files: Sequence[StoredFile]) -> str:
    """The path by which a run can be named to a command: its directory, or the event file that was given."""
    return without_credentials(os.fspath(place)) if name == "." else directory_of(files[0].path)


def read_readable(files: Sequence[StoredFile], tags: Patterns = None) -> tuple[Run | None, tuple[str, ...]]:
    """Read a run without those of its files that cannot be read.

    Args:
        files: the files of the run, in reading order.
        tags: which tags to read, as in `read_run`.

    Returns:
        The run, or None if no file can be read; and for each file that cannot, its path and the reason.
    """
    left = list(files)
    failures: list[str] = []
    while left:
        try:
            return read_files(left, tags=tags), tuple(failures)
        except UnreachableError as error:
            return None, (*failures, f"{reason_of(error)}; {counted(len(left), 'file')} not read")
        except OSError as error:
            closed = {file: reason for file in left if (reason := _closed(file))}
            # A store's file can always be opened; what fails is reading it.
            closed |= {file: reason_of(error) for file in left if file.path == error.filename}
            if not closed:  # they can be opened, but one of them cannot be read
                return None, (*failures, f"{left[0].path}: {reason_of(error)}")
            failures += (f"{file.path}: {reason}" for file, reason in closed.items())
            left = [file for file in left if file not in closed]
    return None, tuple(failures)


def reason_of(error: OSError) -> str:
    """Why a file cannot be read, in words."""
    return error.strerror or str(error)


def _closed(file: StoredFile) -> str:
    """Why a file cannot be opened; "" if it can."""
    try:
        file.open().close()
    except OSError as error:
        return reason_of(error)
    return ""
