"""List runs: their files, tags by kind, steps, times, size, and damage."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from summaries.errors import is_damaged
from summaries.execution.tasks import in_threads
from summaries.native.library import is_available
from summaries.patterns import demand_match, matcher, several
from summaries.reading.annotations import ANNOTATIONS
from summaries.reading.kinds import NOUNS
from summaries.reading.readable import read_readable, reason_of
from summaries.storage.logdir import run_directories
from summaries.storage.names import by_number
from summaries.storage.protocols import expecting
from summaries.tools.runs import path_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Unpack

    from numpy.typing import NDArray

    from summaries.errors import Fault
    from summaries.patterns import Patterns
    from summaries.storage.files import Access
    from summaries.storage.protocols import StoredFile

__all__ = ["Listing", "demand_runs", "ls"]

Number = TypeVar("Number")

_THREAD_BYTES = 1 << 20  # in smaller runs, threads wait for each other: only scanning is done without the GIL


@dataclass(frozen=True, slots=True)
class Listing:
    """What there is of a run.

    Attributes:
        run: the name: the directory's path relative to the place that was listed, with slashes, or ".".
        path: the directory; of a single file, the file.
        files: number of event files.
        size: of all files, in bytes.
        records: number of whole records; None if nothing was read, as for the attributes below.
        tags: kind, such as "scalars" or "images" → number of tags; kinds without tags are left out.
        points: number of values, of all kinds.
        steps: the lowest and the highest step; None if there is no value. Labels and notes do not count.
        wall_times: the first and the last time of a value, in seconds since the epoch; None if there is no value.
            Labels and notes do not count.
        faults: everything that is wrong in the files.
        failures: for each file that cannot be read, its path and the reason.
    """

    run: str
    path: str
    files: int
    size: int
    records: int | None = None
    tags: Mapping[str, int] | None = None
    points: int | None = None
    steps: tuple[int, int] | None = None
    wall_times: tuple[float, float] | None = None
    faults: tuple[Fault, ...] = ()
    failures: tuple[str, ...] = ()

    @property
    def damaged(self) -> bool:
        """Whether a fault is damage; see `FaultKind.is_damage`."""
        return is_damaged(self.faults)


def ls(
    *places: str | os.PathLike[str],
    runs: Patterns = None,
    tags: Patterns = None,
    quick: bool = False,
    on_run: Callable[[str, Listing], object] | None = None,
    **access: Unpack[Access],
) -> list[Listing]:
    """List the runs in some places.

    Every file is read whole, because only that shows damage, and how far a run went; one run at a time is in memory,
    or, if compiled code reads them and they are large, one for each core.

    Args:
        *places: directories of runs, or event files; "." if there are none.
        runs: only runs whose names match one of these patterns; None means all.
        tags: count only tags that match one of these patterns, and their values; None means all.
        quick: read nothing: only the names and sizes of files are told.
        on_run: called as `on_run(path, listing)` after each run, for example to show progress.
        **access: how an address is accessed: `storage_options` and `cache` as in `read_run`.

    Returns:
        The runs, sorted by name in each place. A directory or file that cannot be read is among them, with failures.

    Raises:
        FileNotFoundError: a place does not exist, or has no event file.

    >>> import tempfile
    >>> from summaries import SummaryWriter
    >>> with SummaryWriter(tempfile.mkdtemp()) as writer:
    ...     for step in range(100):
    ...         writer.add_scalar("loss", 1 / (1 + step), step)
    >>> [found] = ls(writer.log_dir)
    >>> found.run, found.tags, found.points, found.steps, found.damaged
    ('.', {'scalars': 1}, 100, (0, 99), False)
    """
    runs, tags = several(runs), several(tags)
    listings: list[Listing] = []
    for place in places or (".",):
        errors: list[OSError] = []
        files = run_directories(place, errors.append, lone=".", names=runs, **access)
        ordered = {name: files[name] for name in sorted(files, key=by_number)}
        for listing in _listings(ordered, os.fspath(place), tags, quick=quick):
            listings.append(listing)
            if on_run is not None:
                on_run(listing.path, listing)
        listings += map(_unlisted, errors)
    return listings


def demand_runs(places: Iterable[str | os.PathLike[str]], runs: Patterns, **access: Unpack[Access]) -> None:
    """Raise an error if a pattern matches none of the runs in some places.

    Args:
        places: as in `ls`.
        runs: patterns of the names of runs.
        **access: as in `ls`.

    Raises:
        LookupError: a pattern matches no run.
    """
    demand_match("run", runs, (listing.run for listing in ls(*places, quick=True, **access)))


def _listings(runs: Mapping[str, list[StoredFile]], place: str, tags: Patterns, *, quick: bool) -> Iterator[Listing]:
    """A listing of each run, in order."""
    files = [] if quick else list(chain.from_iterable(runs.values()))
    is_large = sum(file.size for file in files) >= _THREAD_BYTES * len(runs)
    threads = min(os.cpu_count() or 1, len(runs)) if not quick and is_large and is_available() else 1
    with expecting(files):
        yield from in_threads(lambda name: _listing(place, name, runs[name], tags, quick=quick), runs, threads)


def _listing(place: str, name: str, files: list[StoredFile], tags: Patterns, *, quick: bool) -> Listing:
    listing = Listing(name, path_of(place, name, files), len(files), sum(file.size for file in files))
    if quick:
        return listing
    run, unread = read_readable(files, tags)
    failures = tuple(map(str, unread))
    if run is None:
        return replace(listing, failures=failures)
    wanted = matcher(tags)
    values = {kind: [one for tag, one in getattr(run, kind).items() if wanted(tag)] for kind in NOUNS}
    every = list(chain.from_iterable(values.values()))
    measured = [one for one in every if one.tag not in ANNOTATIONS]
    times = [_finite(one.wall_time) for one in measured]
    return replace(
        listing,
        records=sum(run.records),
        tags={kind: len(own) for kind, own in values.items() if own},
        points=sum(map(len, every)),
        steps=_span([one.step for one in measured], int),
        wall_times=_span([time for time in times if len(time)], float),
        faults=run.faults,
        failures=failures,
    )


def _span(columns: Sequence[NDArray[Any]], number: Callable[[Any], Number]) -> tuple[Number, Number] | None:
    """The least and the largest number of some columns, none of which is empty; None if there is no column."""
    if not columns:
        return None
    return number(min(column.min() for column in columns)), number(max(column.max() for column in columns))


def _finite(times: NDArray[np.float64]) -> NDArray[np.float64]:
    """The times that are finite."""
    return times if np.isfinite(times.max() - times.min()) else times[np.isfinite(times)]


def _unlisted(error: OSError) -> Listing:
    directory = os.fsdecode(error.filename)
    return Listing(directory, directory, 0, 0, failures=(f"{directory}: {reason_of(error)}",))
