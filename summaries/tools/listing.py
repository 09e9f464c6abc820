"""List runs: their files, tags by kind, steps, times, size, and damage."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from summaries.errors import is_damaged
from summaries.native.library import is_available
from summaries.patterns import demand_match, matcher, several
from summaries.reading.annotations import ANNOTATIONS
from summaries.reading.kinds import NOUNS
from summaries.storage.logdir import run_directories
from summaries.storage.names import by_number
from summaries.storage.protocols import expecting
from summaries.tools.readable import path_of, read_readable, reason_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import Unpack

    from numpy.typing import NDArray

    from summaries.errors import Fault
    from summaries.patterns import Patterns
    from summaries.reading.run import Run
    from summaries.reading.series import Items, Series
    from summaries.storage.files import Access
    from summaries.storage.protocols import StoredFile

__all__ = ["KINDS", "Listing", "demand_runs", "ls"]

KINDS = tuple(NOUNS)
"""The attributes of `Run` that map tags to values."""

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
    chosen = matcher(runs)
    patterns = several(tags)
    found: list[Listing] = []
    for place in places or (".",):
        errors: list[OSError] = []
        listed = run_directories(place, errors.append, lone=".", **access)
        wanted = {name: listed[name] for name in sorted(listed, key=by_number) if chosen(name)}
        for listing in _listings(wanted, os.fspath(place), patterns, quick=quick):
            found.append(listing)
            if on_run is not None:
                on_run(listing.path, listing)
        found += map(_unlisted, errors)
    return found


def demand_runs(places: Iterable[str | os.PathLike[str]], runs: Patterns, **access: Unpack[Access]) -> None:
    """Raise an error if a pattern matches none of the runs in some places.

    Args:
        places: as in `ls`.
        runs: patterns of the names of runs.
        **access: as in `ls`.

    Raises:
        LookupError: a pattern matches no run.
    """
    demand_match("run", runs, (found.run for found in ls(*places, quick=True, **access)))


def _listings(
    runs: Mapping[str, list[StoredFile]], place: str, tags: tuple[str, ...] | None, *, quick: bool
) -> Iterator[Listing]:
    """A listing of each run, in order."""
    total = sum(file.size for files in runs.values() for file in files)

    def listing(name: str) -> Listing:
        return _listing(place, name, runs[name], tags, quick=quick)

    threads = not quick and total >= _THREAD_BYTES * len(runs) and is_available()
    if quick or not threads or len(runs) < 2:  # noqa: PLR2004
        with expecting([] if quick else list(chain.from_iterable(runs.values()))):
            yield from map(listing, runs)
        return
    pool = ThreadPoolExecutor(min(os.cpu_count() or 1, len(runs)))
    try:
        with expecting(list(chain.from_iterable(runs.values()))):
            yield from pool.map(listing, runs)
    finally:
        pool.shutdown(cancel_futures=True)  # after Ctrl-C, only the runs that have begun are read to their end


def _listing(place: str, name: str, files: list[StoredFile], tags: tuple[str, ...] | None, *, quick: bool) -> Listing:
    path = path_of(place, name, files)
    size = sum(file.size for file in files)
    if quick:
        return Listing(name, path, len(files), size)
    run, failures = read_readable(files, tags)
    if run is None:
        return Listing(name, path, len(files), size, failures=failures)
    counts, values = _values(run, matcher(tags))
    measured = [one for one in values if one.tag not in ANNOTATIONS]
    spans = [_span(one.step) for one in measured]
    times = [span for one in measured if (span := _finite_span(one.wall_time)) is not None]
    return Listing(
        name,
        path,
        len(files),
        size,
        sum(run.records),
        counts,
        sum(map(len, values)),
        (min(low for low, _ in spans), max(high for _, high in spans)) if spans else None,
        (min(low for low, _ in times), max(high for _, high in times)) if times else None,
        run.faults,
        failures,
    )


def _values(run: Run, wanted: Callable[[str], bool]) -> tuple[dict[str, int], list[Series | Items]]:
    """The number of wanted tags by kind, and their values."""
    counts: dict[str, int] = {}
    values: list[Series | Items] = []
    for kind in KINDS:
        own = [one for tag, one in getattr(run, kind).items() if wanted(tag)]
        if own:
            counts[kind] = len(own)
            values += own
    return counts, values


def _span(steps: NDArray[np.int64]) -> tuple[int, int]:
    return int(steps.min()), int(steps.max())


def _finite_span(times: NDArray[np.float64]) -> tuple[float, float] | None:
    """The first and the last time, in seconds since the epoch, without those that are not finite."""
    low, high = float(times.min()), float(times.max())
    if not np.isfinite(high - low):
        times = times[np.isfinite(times)]
        return (float(times.min()), float(times.max())) if len(times) else None
    return low, high


def _unlisted(error: OSError) -> Listing:
    directory = os.fsdecode(error.filename)
    return Listing(directory, directory, 0, 0, failures=(f"{directory}: {reason_of(error)}",))
