"""The runs that are exported: those below a directory, read one at a time, so that only one is in memory."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from itertools import chain
from typing import TYPE_CHECKING

from summaries.patterns import matcher
from summaries.presenting.tables import chosen
from summaries.reading.run import Run, read_files
from summaries.storage.logdir import run_directories
from summaries.storage.protocols import UnreachableError, expecting

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from typing import Unpack

    from summaries.errors import Fault
    from summaries.patterns import Patterns
    from summaries.reading.series import Series
    from summaries.storage.files import Access

    OnRun = Callable[[str, tuple[Fault, ...]], object]
    """Called with the name of each run that was read, and the faults of its files."""
    OnError = Callable[[OSError], object] | None
    """Called with the error of each file and each directory that cannot be read; None raises it."""

__all__ = ["Chosen", "RunsBelow"]


class RunsBelow(Mapping[str, Run]):
    """The runs below a directory, by name; each is read when it is asked for, and not kept.

    Args:
        path: the directory; or one event file, which is the run ".".
        tags: which tags to read, as in `read_run`; not an iterator, since it is asked for each run.
        runs: which runs there are, as in `read_logdir`.
        on_error: called with the error of each directory that cannot be listed, as in `run_directories`.
        **access: how an address is accessed: `storage_options` and `cache` as in `read_run`.

    Raises:
        FileNotFoundError: there is no such path, or no event file below it.
        OSError: a directory cannot be listed, and there is no `on_error`.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        tags: Patterns = None,
        runs: Patterns = None,
        on_error: OnError = None,
        **access: Unpack[Access],
    ) -> None:
        self._files = run_directories(path, on_error, lone=".", names=runs, **access)
        self._tags = tags

    def __getitem__(self, name: str) -> Run:
        """Read a run.

        Raises:
            KeyError: there is no such run.
            OSError: a file cannot be read.
        """
        return read_files(self._files[name], tags=self._tags)

    def expecting(self) -> AbstractContextManager[object]:
        """While this context lasts, the runs will be read in order, so that those in a store may be fetched ahead."""
        return expecting(list(chain.from_iterable(self._files.values())))

    def __iter__(self) -> Iterator[str]:
        """The names, sorted."""
        return iter(self._files)

    def __len__(self) -> int:
        """How many runs there are."""
        return len(self._files)


class Chosen:
    """What is exported of some runs. Iterating gives (name, {tag: Series}) of each run.

    Args:
        runs: the runs by name.
        tags: which tags are exported.
        names: which of the runs are exported.
        latest: whether the points that a restart superseded are left out.
        on_run: called after each run was read.
        on_error: called with the error of each run that cannot be read, which is left out; if None, it is raised.

    Raises:
        OSError: a run cannot be read, and there is no `on_error`; or there is, and no run can be read.
        UnreachableError: no file of the store can be read.
    """

    def __init__(
        self,
        runs: Mapping[str, Run],
        *,
        tags: Patterns,
        names: Patterns,
        latest: bool,
        on_run: OnRun | None,
        on_error: OnError = None,
    ) -> None:
        self._runs = runs
        self._wanted = matcher(tags)
        self._names = [name for name in runs if matcher(names)(name)]
        self._latest = latest
        self._on_run = on_run
        self._on_error = on_error
        self._unread: set[str] = set()
        self._kept: dict[str, Run] = {}

    def __iter__(self) -> Iterator[tuple[str, dict[str, Series]]]:
        with self._runs.expecting() if isinstance(self._runs, RunsBelow) else nullcontext():
            for name in self._names:
                run = self._kept.pop(name, None) or self._read(name)
                if run is None:
                    continue
                yield name, chosen(run.scalars, self._wanted, latest=self._latest)
                if self._on_run is not None:
                    self._on_run(name, run.faults)
        if self._unread.issuperset(self._names) and self._names:  # else an empty table would replace what is there
            raise OSError("no run can be read, so nothing is exported")

    def all_tags(self) -> list[str]:
        """The tags of all runs, in order of first appearance. A single run is kept; several will be read again."""
        tags: dict[str, None] = {}
        for name in self._names:
            run = self._read(name)
            if run is None:
                continue
            tags |= dict.fromkeys(filter(self._wanted, run.scalars))
            if len(self._names) == 1:
                self._kept[name] = run
        return list(tags)

    def _read(self, name: str) -> Run | None:
        """Read a run; None if it cannot be read, which is told once."""
        if name in self._unread:
            return None
        try:
            return self._runs[name]
        except OSError as error:
            if self._on_error is None or isinstance(error, UnreachableError):
                raise
            self._unread.add(name)
            self._on_error(error)
            return None
