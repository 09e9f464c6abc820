"""Reduce: several runs → their mean, spread and other statistics, tag by tag and step by step.

What is kept: the valid scalars of all runs, 24 bytes each, read one run after another, and released tag by tag; and the
statistics. All is computed in float64.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, TextIO

import numpy as np

from summaries.optional import needs
from summaries.patterns import matcher, several
from summaries.presenting.tables import Labels, arrow_table, pandas_frame, unicode
from summaries.reading.by_name import UnknownNameError
from summaries.reading.series import Series
from summaries.storage.names import as_path, join
from summaries.storage.outputs import new_directory, new_file
from summaries.storage.plain import create_text
from summaries.tools.choices import ALIGNMENTS, STATISTICS
from summaries.tools.formats.csv_file import write_long
from summaries.tools.formats.points import Numbering
from summaries.tools.reducing.alignment import aligned
from summaries.tools.reducing.statistics import over_runs, statistic
from summaries.tools.runs import read_ahead, runs_at
from summaries.words import counted, listed
from summaries.writing.columns_writer import ColumnsWriter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Unpack

    import pandas as pd
    from numpy.typing import NDArray

    from summaries.patterns import Patterns
    from summaries.reading.run import Run
    from summaries.storage.files import Access
    from summaries.tools.choices import Alignment

    Place = str | os.PathLike[str]

__all__ = ["Reduced", "ReducedTag", "reduce", "write_groups"]


@dataclass(frozen=True, eq=False)
class ReducedTag:
    """The statistics of one tag over the runs that have it.

    Attributes:
        tag: the tag.
        step: int64[k], increasing.
        wall_time: float64[k], when the last of the runs was there, in seconds since the epoch.
        value: statistic → float64[k].
        runs: the runs that have the tag.
        steps_left_out: the number of steps that some of these runs have, and too few for a statistic.
        superseded: the number of points that do not count, because a later one has their step or a lower one, or the
            run was restarted before them.
        nans: the number of values that are NaN.
    """

    tag: str
    step: NDArray[np.int64]
    wall_time: NDArray[np.float64]
    value: Mapping[str, NDArray[np.float64]]
    runs: tuple[str, ...]
    steps_left_out: int
    superseded: int
    nans: int

    def __len__(self) -> int:
        return len(self.step)

    def __getitem__(self, name: str) -> Series:
        """A statistic as a Series.

        Raises:
            KeyError: there is none of this name; the message names the nearest ones.
        """
        if name not in self.value:
            raise UnknownNameError(name, "there is no statistic", tuple(self.value))
        return Series(self.tag, self.step, self.wall_time, self.value[name])


@dataclass(frozen=True, eq=False)
class Reduced(Mapping[str, ReducedTag]):
    """Tag → its statistics, as returned by `reduce`.

    Attributes:
        runs: the runs.
        statistics: the names of the statistics.
        missing: for each tag that not all runs have, the runs that do not; also for tags that are left out.
    """

    runs: tuple[str, ...]
    statistics: tuple[str, ...]
    missing: Mapping[str, tuple[str, ...]]
    _tags: Mapping[str, ReducedTag]

    def __getitem__(self, tag: str) -> ReducedTag:
        """The statistics of a tag.

        Raises:
            KeyError: there are none; the message names the nearest tags.
        """
        if tag not in self._tags:
            raise UnknownNameError(tag, "there are no statistics of the tag", tuple(self._tags))
        return self._tags[tag]

    def __iter__(self) -> Iterator[str]:
        """The tags that have statistics, in order of first appearance."""
        return iter(self._tags)

    def __len__(self) -> int:
        """The number of tags that have statistics."""
        return len(self._tags)

    def __repr__(self) -> str:
        counts = f"{counted(len(self.runs), 'run')}, {counted(len(self), 'tag')}"
        return f"Reduced({counts}: {', '.join(self.statistics)})"

    @property
    def left_out(self) -> tuple[str, ...]:
        """The tags that too few runs have."""
        return tuple(tag for tag in self.missing if tag not in self._tags)

    @property
    def notes(self) -> tuple[str, ...]:
        """What was left out or is undefined, a sentence for each, with the tags that it is said of."""
        notes: defaultdict[str, list[str]] = defaultdict(list)
        for tag, lacking in self.missing.items():
            having = f"{len(self.runs) - len(lacking)} of {counted(len(self.runs), 'run')} had it"
            having += f", not {listed(lacking)}" if lacking else ""
            notes[having + ("" if tag in self else ": left out")].append(tag)
        for tag, reduced in self.items():
            if reduced.steps_left_out:
                notes[f"{counted(reduced.steps_left_out, 'step')} left out that too few runs have"].append(tag)
            if reduced.superseded:
                notes[f"{counted(reduced.superseded, 'point')} left out that a later one supersedes"].append(tag)
            if reduced.nans:
                notes[f"{counted(reduced.nans, 'value')} NaN"].append(tag)
        return tuple(f"{listed(tags)}: {text}" for text, tags in notes.items())

    def to_pandas(self) -> pd.DataFrame:
        """Return a DataFrame with the columns tag (categorical), step, wall_time, and one for each statistic.

        Raises:
            ImportError: pandas is missing; the message says how to install it.
        """
        return pandas_frame(_columns([("", self)]))

    def write(self, target: Place, **access: Unpack[Access]) -> None:
        """Write a run for each statistic, which TensorBoard draws over one another; or a table.

        Args:
            target: a new directory, in which each statistic is a run of its own name, such as `mean`; or a new file
                that ends in .csv or .parquet, with the columns of `to_pandas`. Event files store float32, tables
                float64. Nothing is there until everything is written.
            **access: how an address is accessed: `storage_options` as in `read_run`.

        Raises:
            FileExistsError: there is something already.
            OSError: it cannot be written.
            ImportError: pyarrow is missing, which writes Parquet; the message says how to install it.
        """
        write_groups([("", self)], target, **access)


def write_groups(groups: Iterable[tuple[str, Reduced]], target: Place | TextIO, **access: Unpack[Access]) -> None:
    """Write the statistics of several groups of runs, as `Reduced.write` does.

    Args:
        groups: (name, statistics) of each, at least one, asked for when it is known that there can be a target. The
            runs are below a directory of this name; tables have a column `group` with it. No name is "" unless it is
            the only one, which then has neither.
        target: as in `Reduced.write`; or an open file, such as `sys.stdout`, for CSV.
        **access: as in `Reduced.write`.

    Raises:
        FileExistsError: there is something already.
        OSError: it cannot be written.
        ImportError: pyarrow is missing, which writes Parquet; the message says how to install it.
    """
    if not isinstance(target, (str, os.PathLike)):
        labels, numbers, pieces = _table(groups)
        write_long(target, [*labels, *numbers], pieces)
        return
    path = os.fspath(target)
    ending = os.path.splitext(path)[1].lower()
    if ending == ".csv":
        with new_file(path, **access) as local, create_text(local) as file:
            write_groups(groups, file)
    elif ending == ".parquet":
        parquet = needs("pyarrow.parquet", "export")
        with new_file(path, **access) as local:
            parquet.write_table(arrow_table(_columns(groups)), local, compression="zstd")
    else:
        with new_directory(path, **access) as directory:
            for group, reduced in groups:
                _write_runs(reduced, join(directory, as_path(group)))


def _table(
    groups: Iterable[tuple[str, Reduced]],
) -> tuple[list[str], list[str], Iterator[tuple[list[str], list[NDArray[Any]]]]]:
    """The names of the columns with labels, of those with numbers, and the rows in pieces."""
    every = iter(groups)
    first = next(every)
    pieces = (
        (
            [group, tag] if group else [tag],
            [statistics.step, statistics.wall_time, *(statistics.value[name] for name in reduced.statistics)],
        )
        for group, reduced in chain([first], every)
        for tag, statistics in reduced.items()
    )
    return ["group", "tag"] if first[0] else ["tag"], ["step", "wall_time", *first[1].statistics], pieces


def _columns(groups: Iterable[tuple[str, Reduced]]) -> dict[str, Any]:
    """The columns of the table, with the labels as codes."""
    labels, numbers, pieces = _table(groups)
    every = list(pieces)
    lengths = [len(columns[0]) for _, columns in every]
    table: dict[str, Any] = {}
    for position, name in enumerate(labels):
        numbering = Numbering()
        codes = numbering.of([own[position] for own, _ in every]).astype(np.int32)
        table[name] = Labels(np.repeat(codes, lengths), list(map(unicode, numbering.names)))
    for position, name in enumerate(numbers):
        empty = np.empty(0, np.int64 if name == "step" else np.float64)
        table[name] = np.concatenate([empty, *(columns[position] for _, columns in every)])
    return table


def _write_runs(reduced: Reduced, directory: str) -> None:
    for name in reduced.statistics:
        with ColumnsWriter(join(directory, name)) as writer:
            for tag, statistics in reduced.items():
                tags = np.full(len(statistics), writer.number_of(tag))
                writer.add_scalars(tags, statistics.step, statistics.wall_time, statistics.value[name])


def reduce(
    runs: Mapping[str, Run] | Iterable[Place],
    statistics: str | Iterable[str] = STATISTICS,
    *,
    align: Alignment = "exact",
    min_runs: int | Literal["all"] = 1,
    tags: Patterns = None,
    skip_nan: bool = False,
    ddof: int = 1,
    on_run: Callable[[str, Run], object] | None = None,
    **access: Unpack[Access],
) -> Reduced:
    """Statistics over several runs, such as those of one configuration with different seeds.

    Of each run the valid points count, as in `Series.latest`: of several with one step the last.

    Args:
        runs: runs by name; or directories and event files, each of which stands for all runs below it.
        statistics: of mean, median, std, min, max, count (of the runs that have a value), mean+std, mean-std, and
            quantiles such as q0.25, which are interpolated linearly.
        align: which steps have statistics. "exact": those that all runs have, of the runs that have the tag. "union":
            those that any has; from step to step, the statistics may then be over more or fewer runs. "interpolate":
            the same, and a run has values between its points, too, on a straight line; none before the first and after
            the last.
        min_runs: leave out tags that fewer runs have, and steps at which fewer runs have a value.
        tags: patterns of tags, as in a shell; None takes all.
        skip_nan: whether a value that is NaN counts as none. If not, it makes the statistics of its step NaN, so that a
            run that diverged shows. Infinite values count as such.
        ddof: the standard deviation's denominator is the number of runs less this; 1 as in pandas.
        on_run: called as `on_run(name, run)` after each run was read.
        **access: how addresses are accessed: `storage_options` and `cache` as in `read_run`.

    Returns:
        Tag → statistics, and which runs lack which tags.

    Raises:
        ValueError: there is no run, one is given twice, or an option has a value that it cannot have.
        FileNotFoundError: a path does not exist, or there is no event file below it.
        OSError: a file cannot be read.

    >>> from summaries import SummaryWriter, tools
    >>> import tempfile
    >>> logdir = tempfile.mkdtemp()
    >>> for seed in range(3):
    ...     with SummaryWriter(f"{logdir}/seed={seed}") as writer:
    ...         for step in range(2):
    ...             writer.add_scalar("loss", seed + step, step)
    >>> reduced = tools.reduce([logdir])
    >>> reduced["loss"]["mean"].value, reduced["loss"]["std"].value
    (array([1., 2.]), array([1., 1.]))
    """
    names = _checked(statistics, align, min_runs, ddof)
    functions = [statistic(name, ddof) for name in names]
    tags = several(tags)
    wanted = matcher(tags)
    series_of: defaultdict[str, dict[str, tuple[Series, int]]] = defaultdict(dict)
    every: list[str] = []
    for name, run in _named(runs, tags, access):
        if on_run is not None:
            on_run(name, run)
        every.append(name)
        for tag, series in run.scalars.items():
            if wanted(tag):
                latest = series.latest()
                series_of[tag][name] = latest, len(series) - len(latest)
    if not every:
        raise ValueError("there must be at least one run, got none")
    least = len(every) if min_runs == "all" else min_runs
    missing = {tag: tuple(run for run in every if run not in own) for tag, own in series_of.items()}
    reduced = {}
    for tag in list(series_of):
        own = series_of.pop(tag)
        if len(own) >= least:
            reduced[tag] = _reduced(tag, own, align, least, dict(zip(names, functions, strict=True)), skip_nan=skip_nan)
    missing = {tag: lacking for tag, lacking in missing.items() if lacking or tag not in reduced}
    return Reduced(tuple(every), names, missing, reduced)


def _checked(statistics: str | Iterable[str], align: str, min_runs: int | Literal["all"], ddof: int) -> tuple[str, ...]:
    names = (statistics,) if isinstance(statistics, str) else tuple(dict.fromkeys(statistics))
    if not names:
        raise ValueError("there must be at least one statistic, got none")
    if align not in ALIGNMENTS:
        raise ValueError(f"align must be one of {', '.join(ALIGNMENTS)}, got {align!r}")
    if min_runs != "all" and min_runs < 1:
        raise ValueError(f"min_runs must be at least 1, or 'all', got {min_runs}")
    if ddof < 0:
        raise ValueError(f"ddof must be 0 or more, got {ddof}")
    return names


def _named(runs: Mapping[str, Run] | Iterable[Place], tags: Patterns, access: Access) -> Iterator[tuple[str, Run]]:
    if isinstance(runs, (str, os.PathLike)):
        raise TypeError(f"runs must be runs by name or a sequence of paths, got one path: {os.fspath(runs)!r}")
    if not isinstance(runs, Mapping):
        runs = runs_at(runs, tags=tags, **access)
    with read_ahead(runs):
        yield from runs.items()


def _reduced(
    tag: str,
    own: Mapping[str, tuple[Series, int]],
    align: Alignment,
    least: int,
    functions: Mapping[str, Callable[[NDArray[np.float64]], NDArray[np.float64]]],
    *,
    skip_nan: bool,
) -> ReducedTag:
    series = [one for one, _ in own.values()]
    step, wall_time, value, present = aligned(series, align, bridge_nan=skip_nan)
    counting = ~np.isnan(value) if skip_nan else present
    enough = np.count_nonzero(counting, axis=1) >= least
    step, wall_time, value, present = step[enough], wall_time[enough], value[enough], present[enough]
    defined = skip_nan | ~(present & np.isnan(value)).any(axis=1)
    results = over_runs(value[defined], list(functions.values()))
    values = {}
    for name, result in zip(functions, results, strict=True):
        values[name] = np.full(len(step), np.nan)
        values[name][defined] = result
    steps_before = len(np.unique(np.concatenate([one.step for one in series])))
    nans = sum(int(np.count_nonzero(np.isnan(one.value))) for one in series)
    superseded = sum(number for _, number in own.values())
    return ReducedTag(tag, step, wall_time, values, tuple(own), steps_before - len(step), superseded, nans)
