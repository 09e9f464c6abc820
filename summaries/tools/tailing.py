"""The last points of runs, and new ones as they are written."""

from __future__ import annotations

import math
import os
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from heapq import nlargest
from typing import TYPE_CHECKING, Any

from summaries.patterns import matcher, several
from summaries.reading.growing import GrowingRun
from summaries.reading.kinds import KINDS, NOUNS
from summaries.reading.run import read_files
from summaries.storage.files import place_of, remembering
from summaries.storage.logdir import run_directories
from summaries.tools.runs import path_of

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Unpack

    from summaries.errors import Fault
    from summaries.patterns import Patterns
    from summaries.reading.run import Run
    from summaries.reading.series import Items, Series
    from summaries.storage.files import Access
    from summaries.storage.protocols import StoredFile

__all__ = ["Point", "Tailed", "looking_at", "steps_a_second", "tail"]

_RATE_POINTS = 100


@dataclass(frozen=True, slots=True)
class Point:
    """One value of one tag.

    Attributes:
        run: the directory of its run; of a single file, the file.
        tag: the tag.
        kind: the attribute of `Run` that has the tag: "scalars", "images", …
        step: the step.
        wall_time: in seconds since the epoch.
        value: the scalar; None for other kinds.
    """

    run: str
    tag: str
    kind: str
    step: int
    wall_time: float
    value: float | None
    _values: Series | Items = field(repr=False, compare=False)
    _index: int = field(repr=False, compare=False)

    @property
    def text(self) -> str | None:
        """The text, which is read at each access, a line for each of several; None for other kinds.

        Raises:
            OSError: the file can no longer be read.
            UndecodableError: the bytes are no text.
        """
        if self.value is not None or KINDS[self.kind].shown_as != "text":
            return None
        text = self._values[self._index]  # type: ignore[index]
        return text if isinstance(text, str) else "\n".join(map(str, text.flat))


class Tailed:
    """Runs that are looked at again and again, for what is new in them.

    Args:
        places: directories of runs, or event files.
        runs: only runs whose names match one of these patterns; None means all.
        tags: only tags that match one of these patterns; None means all.
        follow: whether there will be further looks: then a place may be a directory without event files, and what only
            an unfinished file has is no fault.
        on_trouble: called once with each fault, and with each file or directory that cannot be read.
        **access: how an address is accessed.

    Attributes:
        runs: path → the run as it was at the last look.
        pause_secs: how long to wait between two looks, in seconds.

    Raises:
        FileNotFoundError: a place does not exist; or has no event file, and `follow` is False.
    """

    def __init__(
        self,
        places: Iterable[str | os.PathLike[str]],
        *,
        runs: Patterns = None,
        tags: Patterns = None,
        follow: bool = False,
        on_trouble: Callable[[Fault | OSError], object] | None = None,
        **access: Unpack[Access],
    ) -> None:
        self._places = [os.fspath(place) for place in places]
        self._access = access
        self._patterns, self._wanted = several(runs), matcher(tags)
        self._follow = follow
        self._tell = on_trouble or (lambda _: None)
        self._told: set[object] = set()
        self._growing: dict[str, GrowingRun] = {}
        self._unread: set[StoredFile] = set()
        self._known: dict[tuple[str, str, str], int] = {}
        self.runs: dict[str, Run] = {}
        storages = [place_of(place, **access) for place in self._places]
        self.pause_secs: float = max((storage.poll_secs for storage, _ in storages), default=0.0)
        for storage, path in storages:
            storage.discover(path)

    def look(self, most: int | None = None) -> list[Point]:
        """Read what is new, and return the new points, oldest first.

        Args:
            most: return at most so many, the newest; None means all.

        Raises:
            FileNotFoundError: a place has no event file, and `follow` is False.
        """
        points: list[Point] = []
        for path, files in self._listed():
            run = self._read(path, files)
            if run is None:
                continue
            self.runs[path] = run
            for fault in run.faults:
                if not (self._follow and fault.kind.may_pass):
                    self._trouble(fault)
            points += self._new(path, run, most)
        return sorted(points if most is None else nlargest(most, points, _time), key=_time)

    def scalars(self) -> list[tuple[str, Series]]:
        """The path of the run, and the points, of each wanted tag, as they were at the last look."""
        return [
            (path, series)
            for path, run in self.runs.items()
            for tag, series in run.scalars.items()
            if self._wanted(tag)
        ]

    def _listed(self) -> Iterator[tuple[str, list[StoredFile]]]:
        """The path and the files of each wanted run, as they are now."""
        for place in self._places:
            try:
                listed = run_directories(place, self._trouble, lone=".", names=self._patterns, **self._access)
            except FileNotFoundError:
                if not self._follow:
                    raise
                continue  # it was removed, or has no event file yet
            for name, files in listed.items():
                yield path_of(place, name, files), files

    def _read(self, path: str, files: Sequence[StoredFile]) -> Run | None:
        """A run without those of its files that cannot be read, which are told; None if there are no others."""
        while left := [file for file in files if file not in self._unread]:
            try:
                if self._follow:
                    return self._growing.setdefault(path, GrowingRun()).read(left)
                return read_files(left)  # what makes a run grow takes more memory than a short run
            except OSError as error:
                self._trouble(error)
                unread = [file for file in left if file.path == error.filename and file.identity is None]
                if not unread:
                    return None
                self._unread.update(unread)  # until it is listed as another file
        return None

    def _new(self, path: str, run: Run, most: int | None) -> Iterator[Point]:
        """The points that were not there at the last look."""
        for kind in NOUNS:
            for tag, values in getattr(run, kind).items():
                if not self._wanted(tag):
                    continue
                before = self._known.get((path, kind, tag), 0)
                self._known[path, kind, tag] = len(values)
                if before > len(values):  # the file was replaced
                    before = 0
                yield from _points(path, kind, values, before if most is None else max(before, len(values) - most))

    def _trouble(self, trouble: Fault | OSError) -> None:
        """Tell of a fault or an error, unless it was told before."""
        key = str(trouble) if isinstance(trouble, OSError) else trouble
        if key not in self._told:
            self._told.add(key)
            self._tell(trouble)


@contextmanager
def looking_at(
    places: Sequence[str | os.PathLike[str]], access: Access, *, follow: bool, **options: Any
) -> Iterator[Tailed]:
    """The runs in some places, "." if there are none; those of a store are cached if there are to be further looks."""
    places = places or (".",)
    with ExitStack() as stack:
        for place in places if follow else ():
            access = stack.enter_context(remembering(place, **access))
        yield Tailed(places, follow=follow, **options, **access)


def tail(
    *places: str | os.PathLike[str],
    count: int = 10,
    runs: Patterns = None,
    tags: Patterns = None,
    follow: bool = False,
    stop: threading.Event | None = None,
    timeout_secs: float | None = None,
    on_trouble: Callable[[Fault | OSError], object] | None = None,
    **access: Unpack[Access],
) -> Iterator[Point]:
    """Yield the last points of some runs; with `follow`, then each new point soon after its writer flushes it.

    Args:
        *places: directories of runs, or event files; "." if there are none.
        count: the number of points to begin with: the newest of all runs, oldest first.
        runs: only runs whose names match one of these patterns; None means all.
        tags: only tags that match one of these patterns; None means all.
        follow: whether to wait for new points, in these runs and in runs that are created later. Disks are looked at
            four times a second, stores once.
        stop: ends following when set.
        timeout_secs: ends following after this many seconds without a new point; None waits forever.
        on_trouble: called once with each fault, and with each file or directory that cannot be read.
        **access: how an address is accessed: `storage_options` and `cache` as in `read_run`.

    Raises:
        ValueError: `count` is negative.
        FileNotFoundError: a place does not exist; or has no event file, and `follow` is False.

    >>> import tempfile
    >>> from summaries import SummaryWriter
    >>> with SummaryWriter(tempfile.mkdtemp()) as writer:
    ...     for step in range(100):
    ...         writer.add_scalar("loss", 1 / (1 + step), step)
    >>> [point.step for point in tail(writer.log_dir, count=3)]
    [97, 98, 99]
    """
    if count < 0:
        raise ValueError(f"count must be at least 0, got {count}")
    with looking_at(places, access, follow=follow, runs=runs, tags=tags, on_trouble=on_trouble) as tailed:
        yield from tailed.look(count)
        quiet_since = time.monotonic()
        while follow:
            if stop is None:
                time.sleep(tailed.pause_secs)
            elif stop.wait(tailed.pause_secs):
                return
            points = tailed.look()
            yield from points
            if points:
                quiet_since = time.monotonic()
            elif timeout_secs is not None and time.monotonic() - quiet_since >= timeout_secs:
                return


def steps_a_second(series: Series) -> float:
    """How fast the steps rise, over the last 100 points; NaN if they or the times do not rise."""
    step, times = series.step[-_RATE_POINTS:], series.wall_time[-_RATE_POINTS:]
    secs = float(times[-1] - times[0])
    return float(step[-1] - step[0]) / secs if 0 < secs < math.inf and step[-1] > step[0] else math.nan


def _time(point: Point) -> float:
    """The time of a point, to sort by; one without a time comes first."""
    return -math.inf if math.isnan(point.wall_time) else point.wall_time


def _points(path: str, kind: str, values: Series | Items, start: int) -> Iterator[Point]:
    count = len(values) - start
    numbers = values.value[start:].tolist() if kind == "scalars" else [None] * count  # type: ignore[union-attr]
    columns = values.step[start:].tolist(), values.wall_time[start:].tolist(), numbers
    for index, (step, wall_time, number) in enumerate(zip(*columns, strict=True), start):
        yield Point(path, values.tag, kind, step, wall_time, number, values, index)
