"""A book of the library: one run, with its columns as long as there is room, and what was found in it."""

from __future__ import annotations

import math
import time
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from summaries.auditing.engine import ordered, signals_of
from summaries.auditing.readable import read_readable
from summaries.auditing.report.payload import row
from summaries.auditing.rules import RULES
from summaries.auditing.signals.signals import Signal
from summaries.auditing.signals.tags import Meaning
from summaries.integrations.tensorboard.matrices import has_matrices
from summaries.integrations.tensorboard.table import ends_of
from summaries.presenting.thinning import Zoomable
from summaries.reading.growing import GrowingRun
from summaries.reading.kinds import KINDS
from summaries.reading.stated import Stated, from_name, stated
from summaries.tools.tailing import steps_a_second

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from summaries.auditing.config import Config
    from summaries.auditing.discovery import RunFiles
    from summaries.auditing.findings import Failure, Finding, RunReport
    from summaries.auditing.signals.signals import Signals
    from summaries.integrations.tensorboard.table import Ends
    from summaries.reading.run import Run
    from summaries.storage.protocols import StoredFile

__all__ = ["Book", "Columns"]

_POINT_BYTES = 24  # step, wall time and value
_RECENT_SECS = 600.0
_UNKNOWN = Meaning("")


class Columns:
    """The columns of a run, and what follows from them; a new one is made when the run has grown.

    Args:
        name: the name of the run.
        run: the run.
        config: what its tags mean.
    """

    def __init__(self, name: str, run: Run, config: Config) -> None:
        self.name = name
        self.run = run
        self._config = config
        self._curves: dict[str, Signal] = {}
        self._zoomable: dict[str, Zoomable] = {}

    @cached_property
    def signals(self) -> Signals:
        """The run as the audit sees it."""
        return signals_of(self.name, self.run, self._config)

    def curve(self, tag: str) -> Signal | None:
        """The points of a tag, without what it means: to find that, for all tags, takes longer than to draw one."""
        if "signals" in vars(self):
            return self.signals.all.get(tag)
        if tag not in self._curves and tag in self.run.scalars:
            self._curves[tag] = Signal(self.run.scalars[tag], _UNKNOWN, ())
        return self._curves.get(tag)

    @cached_property
    def start(self) -> float:
        """When the run began: the first wall time of its scalars, in seconds since the epoch; NaN if it has none."""
        starts = [series.wall_time[0] for series in self.run.scalars.values()]
        return float(np.min(starts)) if starts else math.nan

    def zoomable(self, curve: Signal) -> Zoomable:
        """The values of a curve that stand, to be thinned again and again."""
        if curve.tag not in self._zoomable:
            self._zoomable[curve.tag] = Zoomable(curve.standing.value)
        return self._zoomable[curve.tag]

    @property
    def extent(self) -> tuple[tuple[int, int], float] | None:
        """The least and the largest step, and how many seconds the run took; None if it has no points."""
        scalars = [series for series in self.run.scalars.values() if len(series)]
        if not scalars:
            return None
        ends = [(series.step.min(), series.step.max(), series.wall_time[-1]) for series in scalars]
        first, last, ended = zip(*ends, strict=True)
        return (int(min(first)), int(max(last))), float(max(ended)) - self.start

    @cached_property
    def bytes(self) -> int:
        """How much memory the columns take."""
        return _POINT_BYTES * sum(map(len, self.run.scalars.values()))


class Book:
    """One run. Only the library's thread changes it, under the library's lock.

    Args:
        files: the name and the files of the run.

    Attributes:
        files: the same, as they were last listed.
        columns: the columns; None if they are not in memory.
        report: what was found, with the curves that sparklines are made of; None if the run was not audited yet.
        tags: the tags of its scalars, in order of first appearance.
        last: float64[k, 3]: step, wall time and value of the last point of each of `tags`.
        rate: steps a second, over the last points of its longest scalar; NaN if they do not tell.
        extent: its least and largest step, and how many seconds it took; None if it has no points.
        ends: what the table says of each of `tags`; nothing before it is described.
        stated: its hyperparameters; until it is described, those of its name.
        at_steps: values at steps that the table asked for, by tag and step.
        media: the tags of each kind that is not scalars, for kinds that it has.
        has_matrices: whether it logged matrices.
        is_judged: whether the report is about all points that were read.
        judged: when it was audited last, on the monotonic clock.
        version: the library's version in which it changed last.
        has_new_points: whether it was read anew since it was shelved last.
        grown: the library's version in which its points changed last.
        has_new_tags: whether its tags, or those of its media, are others than when it was shelved last.
        tagged: the library's version in which they changed last.
        used: when somebody looked at it last, on the monotonic clock.
    """

    def __init__(self, files: RunFiles) -> None:
        self.files = files
        self.columns: Columns | None = None
        self.report: RunReport | None = None
        self.tags: tuple[str, ...] = ()
        self.last: NDArray[np.float64] = np.empty((0, 3))
        self.rate: float = math.nan
        self.extent: tuple[tuple[int, int], float] | None = None
        self.is_judged: bool = True
        self.judged: float = 0.0
        self.ends: Ends = {}
        self.stated: dict[str, Stated] = _of_name(files.name)
        self.at_steps: dict[tuple[str, int], float | None] = {}
        self.media: dict[str, tuple[str, ...]] = {}
        self.has_matrices: bool = False
        self.version = 0
        self.has_new_points: bool = False
        self.grown = 0
        self.has_new_tags: bool = False
        self.tagged = 0
        self.used: float = 0.0
        self._read: tuple[StoredFile, ...] | None = None  # the files of the last reading
        self._failures: tuple[Failure, ...] = ()  # of them
        self._is_described: bool = True
        self._growing: GrowingRun | None = None
        self._of_job: tuple[Finding, ...] = ()
        self._row: tuple[RunReport, dict[str, Any]] | None = None

    @property
    def name(self) -> str:
        """The name of the run."""
        return self.files.name

    @property
    def held(self) -> Columns:
        """The columns.

        Raises:
            TimeoutError: they were let go of meanwhile, so that they must be read again.
        """
        columns = self.columns  # once: another thread may let go of them
        if columns is None:
            raise TimeoutError(f"run {self.name!r} is still being read")
        return columns

    @property
    def bytes(self) -> int:
        """How much memory the columns take; a run that grows has them twice."""
        return 0 if self.columns is None else self.columns.bytes * (1 if self._growing is None else 2)

    @property
    def has_changed(self) -> bool:
        """Whether its files are others than when it was read last, if it was."""
        return self._read != self.files.files

    def is_ready(self, *, is_judged: bool) -> bool:
        """Whether its columns can be looked at; and its report, if that is wanted, too."""
        return self.columns is not None and not (is_judged and self.report is None)

    @property
    def is_unreadable(self) -> bool:
        """Whether it was looked at, and nothing of it could be read."""
        return self.report is not None and bool(self.report.failures) and self.report.points == 0

    def read(self, config: Config) -> tuple[Run | None, tuple[Failure, ...]]:
        """Read the files, or what was added to them since the last time; see `read_readable`."""
        files, has_changed = self.files.files, self.has_changed
        run, self._failures = self._run(files)
        self._read = files
        self.has_new_points |= has_changed
        if run is None or self.columns is None or self.columns.run is not run:
            self._take(run, config)
        return run, self._failures

    def describe(self) -> None:
        """Work out what the table says of the run, once for the same points: it may take as long as to read them."""
        if self._is_described:
            return
        run = None if self.columns is None else self.columns.run
        self.ends = {} if run is None else ends_of(run)
        self.stated = _of_name(self.name) if run is None else stated(self.name, run)
        self._is_described = True

    def row(self) -> dict[str, Any] | None:
        """What the table of runs says of its report, once for each; None if it was not audited yet."""
        report = self.told()
        if report is None:
            return None
        if self._row is None or self._row[0] is not report:
            self._row = report, row(report)
        return self._row[1]

    def _run(self, files: tuple[StoredFile, ...]) -> tuple[Run | None, tuple[Failure, ...]]:
        if self._read not in {None, files} and files:
            growing, self._growing = self._growing or GrowingRun(), None  # after an error it is of no use
            with suppress(OSError):  # a part of it may be readable
                run = growing.read(files)
                self._growing = growing
                return run, ()
        if self.columns is not None and self._read == files:
            return self.columns.run, self._failures
        return read_readable(self.name, files)

    def _take(self, run: Run | None, config: Config) -> None:
        before, self._is_described = (self.tags, self.media), False
        self.columns = columns = None if run is None else Columns(self.name, run, config)
        self.extent = None if columns is None else columns.extent
        scalars = {} if run is None else {tag: series for tag, series in run.scalars.items() if len(series)}
        self.tags = tuple(scalars)
        rows = [(series.step[-1], series.wall_time[-1], series.value[-1]) for series in scalars.values()]
        self.last = np.array(rows, np.float64).reshape(-1, 3)
        self.rate = steps_a_second(max(scalars.values(), key=len)) if scalars else math.nan
        self.at_steps = {}
        self.media = {} if run is None else {kind: tags for kind in KINDS if (tags := tuple(getattr(run, kind)))}
        self.has_new_tags |= before != (self.tags, self.media)
        self.has_matrices = run is not None and has_matrices(run)

    def let_go(self) -> None:
        """Free the memory of the columns."""
        self.columns = self._growing = None

    def with_job(self, report: RunReport, found: Sequence[Finding]) -> RunReport:
        """The report, with these findings between the run and the other ranks of its job instead of earlier ones."""
        own = [one for one in report.findings if one not in self._of_job]
        self._of_job = tuple(found)
        return replace(report, findings=ordered([*own, *found]))

    def told(self) -> RunReport | None:
        """The report, without what is normal for a file that is still being written."""
        report = self.report
        if report is None or report.wall_times is None or time.time() - report.wall_times[1] > _RECENT_SECS:
            return report
        return replace(report, findings=tuple(one for one in report.findings if not RULES[one.code].while_written))


def _of_name(name: str) -> dict[str, Stated]:
    return {key: Stated(value, "name") for key, value in from_name(name).items()}
