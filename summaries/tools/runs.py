"""Runs in directories: which of them are meant; each read when it is asked for, without the files that cannot be."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import nullcontext
from itertools import chain
from typing import TYPE_CHECKING

from summaries.patterns import matcher, several
from summaries.reading.readable import read_readable, reason_of
from summaries.reading.run import Run, read_files, without_links_to_nowhere
from summaries.storage.credentials import without_credentials
from summaries.storage.logdir import run_directories
from summaries.storage.names import by_number, directory_of, join
from summaries.storage.protocols import expecting
from summaries.words import listed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from typing import Unpack

    from summaries.patterns import Patterns
    from summaries.storage.files import Access
    from summaries.storage.protocols import StoredFile

    OnError = Callable[[OSError], object] | None
    """Called with the error of each file and each directory that cannot be read; None raises it."""

__all__ = ["StoredRuns", "path_of", "read_ahead", "read_places", "runs_at", "runs_below"]


class StoredRuns(Mapping[str, Run]):
    """Runs by name; each is read when it is asked for, and not kept.

    Args:
        files: the event files of each run, in reading order.
        tags: which tags are read, as in `read_run`.
        on_read: called as `on_read(name, run)` after each run was read.
    """

    def __init__(
        self,
        files: Mapping[str, Sequence[StoredFile]],
        tags: Patterns = None,
        on_read: Callable[[str, Run], object] | None = None,
    ) -> None:
        self.files = files
        self._tags = several(tags)
        self._on_read = on_read

    def __getitem__(self, name: str) -> Run:
        """Read a run.

        Raises:
            KeyError: there is no such run.
            OSError: a file cannot be read.
        """
        run = read_files(self.files[name], tags=self._tags)
        if self._on_read is not None:
            self._on_read(name, run)
        return run

    def __iter__(self) -> Iterator[str]:
        """The names, in order."""
        return iter(self.files)

    def __len__(self) -> int:
        """How many runs there are."""
        return len(self.files)

    def among(self, names: Iterable[str]) -> StoredRuns:
        """Only these runs, in this order."""
        return StoredRuns({name: self.files[name] for name in names}, self._tags, self._on_read)


def runs_below(
    path: str | os.PathLike[str],
    *,
    tags: Patterns = None,
    runs: Patterns = None,
    on_error: OnError = None,
    on_read: Callable[[str, Run], object] | None = None,
    strict: bool = False,
    **access: Unpack[Access],
) -> StoredRuns:
    """The runs below a directory, by name; of one event file, the run ".".

    Args:
        path: the directory or file.
        tags: which tags are read, as in `read_run`.
        runs: which runs there are, as in `read_logdir`.
        on_error: called with the error of each directory that cannot be listed, as in `run_directories`.
        on_read: called as `on_read(name, run)` after each run was read.
        strict: whether a link to nowhere is a file that cannot be read; else it is passed over, as in `read_run`.
        **access: how an address is accessed: `storage_options` and `cache` as in `read_run`.

    Raises:
        FileNotFoundError: there is no such path, or no event file below it.
        OSError: a directory cannot be listed, and there is no `on_error`.
    """
    files = run_directories(path, on_error, lone=".", names=runs, **access)
    return StoredRuns(files if strict else without_links_to_nowhere(files), tags, on_read)


def runs_at(
    places: Iterable[str | os.PathLike[str]], runs: Patterns = None, *, tags: Patterns = None, **access: Unpack[Access]
) -> StoredRuns:
    """The runs at and below some directories, by path, one directory after the other.

    Args:
        places: directories and event files; each stands for all runs at and below it.
        runs: which runs are meant, by their names below the directory; None for all.
        tags: which tags are read, as in `read_run`.
        **access: how addresses are accessed: `storage_options` and `cache` as in `read_run`.

    Raises:
        ValueError: a run is in two of the directories.
        LookupError: no run is meant.
        FileNotFoundError: a path does not exist, or there is no event file below it.
        OSError: a directory cannot be listed.
    """
    wanted = matcher(runs)
    unwanted: list[str] = []
    chosen: dict[str, list[StoredFile]] = {}
    for place in places:
        shown = without_credentials(os.fspath(place))
        for name, files in run_directories(place, lone=".", **access).items():
            path = shown if name == "." else join(shown, name)
            if not wanted(name):
                unwanted.append(name)
            elif path in chosen:
                raise ValueError(f"each run must be given once, got {path} twice")
            else:
                chosen[path] = files
    if unwanted and not chosen:
        raise LookupError(f"no run has a name that matches; there are {listed(unwanted)}")
    return StoredRuns(without_links_to_nowhere(chosen), tags)


def read_ahead(runs: Mapping[str, Run]) -> AbstractContextManager[object]:
    """While this context lasts, the runs are read in order, so that those in a store may be fetched ahead."""
    return expecting(list(chain.from_iterable(runs.files.values()))) if isinstance(runs, StoredRuns) else nullcontext()


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
    runs = several(runs)
    for place in places:
        errors: list[OSError] = []
        files = run_directories(place, errors.append, lone=".", names=runs, **access)
        for name in sorted(files, key=by_number):
            run, unread = read_readable(files[name], tags=tags)
            yield path_of(place, name, files[name]), run, tuple(map(str, unread))
        for error in errors:
            yield str(error.filename), None, (f"{error.filename}: {reason_of(error)}",)


def path_of(place: str | os.PathLike[str], name: str, files: Sequence[StoredFile]) -> str:
    """The path by which a run can be named to a command: its directory, or the event file that was given."""
    return without_credentials(os.fspath(place)) if name == "." else directory_of(files[0].path)
