"""What is exported of runs, read one at a time, so that only one is in memory; and what an export did."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from summaries.patterns import matcher
from summaries.presenting.tables import chosen
from summaries.storage.protocols import UnreachableError
from summaries.tools.runs import read_ahead

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from summaries.errors import Fault
    from summaries.patterns import Patterns
    from summaries.reading.run import Run
    from summaries.reading.series import Series
    from summaries.tools.runs import OnError

    OnRun = Callable[[str, tuple[Fault, ...]], object]
    """Called with the name of each run that was read, and the faults of its files."""

__all__ = ["Chosen", "Exported"]


class Exported(NamedTuple):
    """What an export did.

    Attributes:
        rows: how many rows were written.
        written: the names of the runs that were written.
        unchanged: of a dataset, the runs that were in it already, as they are.
        vanished: of a dataset, the runs that are no longer in the directory. They are still in the dataset, unless
            they were to be deleted.
    """

    rows: int
    written: tuple[str, ...]
    unchanged: tuple[str, ...] = ()
    vanished: tuple[str, ...] = ()


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
        with read_ahead(self._runs):
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
