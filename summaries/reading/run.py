"""Runs: event files as columns, one set for each tag, and everything else on demand."""

from __future__ import annotations

import errno
import logging
import os
from functools import cached_property, partial
from itertools import chain
from typing import TYPE_CHECKING, Any

from summaries.execution.tasks import Died, in_threads, run_tasks
from summaries.native.library import is_available
from summaries.patterns import matcher, several
from summaries.reading.by_name import ByName
from summaries.reading.collector import Collector
from summaries.reading.graphs import graph_of, run_metadata_of
from summaries.reading.items import in_order, items_by_kind
from summaries.reading.kinds import ItemsByKind, hyperparameters
from summaries.reading.presented import presented
from summaries.reading.restarts import SessionStarts
from summaries.reading.series import Scalars, Series
from summaries.reading.tabular import Tabular
from summaries.storage.logdir import run_directories, run_files
from summaries.storage.protocols import ReplacedError, expecting
from summaries.words import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from concurrent.futures import Executor

    from matplotlib.axes import Axes

    from summaries.errors import Fault
    from summaries.patterns import Patterns
    from summaries.reading.series import Items
    from summaries.storage.protocols import StoredFile
    from summaries.wire.pb import GraphDef, RunMetadata, SessionLog, SummaryMetadata

__all__ = ["Run", "Runs", "read_files", "read_logdir", "read_run", "without_links_to_nowhere"]

_logger = logging.getLogger("summaries")

_THREAD_BYTES = 1 << 20  # in smaller runs, threads wait for each other: only scanning is done without the GIL
_MOST_REPLACED = 3  # so often a run is read again because one of its files was replaced meanwhile


class Run(ItemsByKind, Tabular):
    """The contents of the event files of one run.

    Attributes:
        files: the files, in the order in which they were read.
        stored: the same, as they were listed, with their sizes and where they are kept.
        faults: the faults found in them, in order.
        tags: every tag, in order of first appearance.
        metadata: tag → its first SummaryMetadata, for tags that have one; later ones are ignored.
        scalars: tag → Series.
        session_logs: (step, wall time in seconds since the epoch, SessionLog) of each, in order.
        versions: for each file, the version in its first record, or "".
        records: for each file, its number of whole records.
    """

    def __init__(self, collector: Collector, *, copy: bool = False) -> None:
        if isinstance(collector, str | os.PathLike):
            raise TypeError(f"a Run is what `read_run` returns: read_run({os.fspath(collector)!r})")
        # Tuples: the garbage collector does not look at empty ones, which counts when thousands of runs are kept.
        self.files: tuple[str, ...] = tuple(file.path for file in collector.files)
        self.stored: tuple[StoredFile, ...] = tuple(collector.files)
        self.faults: tuple[Fault, ...] = tuple(collector.faults)
        self._numbers = collector.tags
        self.tags: tuple[str, ...] = tuple(self._numbers)
        self.metadata: dict[str, SummaryMetadata] = collector.metadata
        self.session_logs: tuple[tuple[int, float, SessionLog], ...] = tuple(collector.session_logs)
        self._non_summary_events = tuple(collector.non_summary_events)
        self._starts = SessionStarts(collector.starts)
        self._file_marks = tuple(collector.file_marks)
        self.versions: tuple[str, ...] = tuple(collector.versions)
        self.records: tuple[int, ...] = tuple(collector.records)
        self._locations = tuple(collector.locations)
        self._points = collector.points
        columns = self._points.columns(copy=copy)
        series = {
            tag: Series(tag, *block, self._starts.restarts(self._points.epochs(number)) if self._starts else ())
            for tag, number in self._numbers.items()
            if number < len(columns) and len((block := columns[number]).step)
        }
        self.scalars: Scalars = Scalars(series)

    def __repr__(self) -> str:
        points = sum(map(len, self.scalars.values()))
        counts = {"file": len(self.files), "tag": len(self.tags), "scalar": points, "fault": len(self.faults)}
        return f"Run({', '.join(counted(number, noun) for noun, number in counts.items())})"

    def _repr_html_(self) -> str:
        return str(presented("display.run_html", self))

    def plot(self, tags: Patterns = None, ax: Axes | None = None, *, subplots: bool = False, **options: Any) -> Any:
        """Plot scalars: in one plot with a legend, or each tag in its own.

        Args:
            tags: patterns, such as "loss*" or ["train/*", "lr"]; `*` crosses slashes. None plots all, up to 50.
            ax: the axes to draw in; None makes a figure.
            subplots: whether each tag has a plot of its own.
            options: `x`, `smoothing`, `logy` and others as in `Series.plot`.

        Returns:
            The matplotlib Axes; with `subplots`, an array of them, in the order of the tags.

        Raises:
            KeyError: no scalar has such a tag; the message names the nearest ones.
            ValueError: there are more than 50 tags, or an option has an invalid value.
            ImportError: matplotlib is missing; the message says how to install it.
        """
        return presented("plots.plot_scalars", self.scalars, tags, ax, subplots=subplots, **options)

    def file_starts(self, tag: str) -> list[int]:
        """For each file, the number of a tag's scalars in the files before it.

        Args:
            tag: the tag of a scalar.
        """
        epochs = self._points.epochs(self._numbers[tag])
        return [epochs.before(mark) for mark in self._file_marks]

    @cached_property
    def _items(self) -> Mapping[str, ByName[Items]]:
        self._locations = (locations := in_order(self._locations),)
        tags = {number: tag for tag, number in self._numbers.items()}
        return items_by_kind(locations, tags, self.metadata, self.stored, self._starts)

    @cached_property
    def hparams(self) -> dict[str, bool | float | str]:
        """Hyperparameter → value, from the hparams dashboard's session start; {} if there is none."""
        return hyperparameters(self.metadata)

    @property
    def graph(self) -> GraphDef | None:
        """The last graph; if there is none, the last one in a MetaGraphDef; else None.

        Raises:
            OSError: its file can no longer be read.
            FormatError: the bytes are not a graph.
        """
        return graph_of(self._non_summary_events, self.stored)

    @property
    def run_metadata(self) -> dict[str, RunMetadata]:
        """Tag → RunMetadata, decoded at each access.

        Raises:
            OSError: a file can no longer be read.
            FormatError: a value's bytes are not a RunMetadata.
        """
        return run_metadata_of(self._non_summary_events, self.stored)

    def _runs_by_name(self) -> Mapping[str | None, Run]:
        """This run, without a name."""
        return {None: self}


class Runs(ByName[Run], Tabular):
    """Runs by name, as returned by `read_logdir`."""

    noun = "run"

    def __init__(self, runs: Mapping[str, Run] | Iterable[tuple[str, Run]] = ()) -> None:
        super().__init__(runs, "no run is named")

    def _repr_html_(self) -> str:
        return str(presented("display.runs_html", self))

    def plot(self, tags: Patterns = None, ax: Axes | None = None, *, subplots: bool = False, **options: Any) -> Any:
        """Plot scalars of all runs beside each other; arguments, result and errors as in `Run.plot`."""
        return presented(
            "plots.plot_runs", {name: run.scalars for name, run in self.items()}, tags, ax, subplots=subplots, **options
        )

    def _runs_by_name(self) -> Mapping[str | None, Run]:
        """Each run by its name."""
        return {name: run for name, run in self.items()}  # noqa: C416 - of the names' wider type


def read_run(
    path: str | os.PathLike[str],
    *,
    tags: Patterns = None,
    storage_options: Mapping[str, object] | None = None,
    cache: bool | str | os.PathLike[str] = False,
) -> Run:
    """Read the event files of one run, merged in order: those directly in a directory; or a single file.

    A link to nowhere beside them is passed over, and told in the log: what it led to may have been one of them.

    Args:
        path: a run's directory, or an event file; a local path, or an address that fsspec knows, such as `s3://…`.
        tags: which tags to read, of scalars and everything else: a shell pattern, such as `"*/loss"`, or several; None
            means all. Every record is still checked. Graphs, session logs and run metadata are always kept.
        storage_options: for an address, the options of its file system, as fsspec takes them.
        cache: for an address, whether to keep its files on the local disk, so that reading again fetches only what is
            new; or the directory to keep them in. `gradledger clear-cache` removes them.

    Raises:
        FileNotFoundError: the path does not exist, or the directory contains no event file.
        OSError: a file cannot be read; or the path is a pipe, a socket or a device.
        ImportError: what reads the address is missing.

    >>> import tempfile
    >>> from summaries import SummaryWriter
    >>> with SummaryWriter(tempfile.mkdtemp()) as writer:
    ...     for step in range(3):
    ...         writer.add_scalar("loss", 1 / (1 + step), step)
    >>> read_run(writer.path).scalars["loss"].value
    array([1.        , 0.5       , 0.33333334])
    """
    (files,) = without_links_to_nowhere({".": run_files(path, storage_options=storage_options, cache=cache)}).values()
    return read_files(files, tags=tags)


def read_logdir(
    path: str | os.PathLike[str],
    *,
    tags: Patterns = None,
    runs: Patterns = None,
    jobs: int | None = None,
    executor: Executor | None = None,
    storage_options: Mapping[str, object] | None = None,
    cache: bool | str | os.PathLike[str] = False,
) -> Runs:
    """Read every run below a directory.

    Links to nowhere are passed over, as in `read_run`, and so is a run that has nothing else.

    Args:
        path: the directory.
        tags: as in `read_run`.
        runs: which runs to read, by their names, as for tags. Files of other runs are not opened.
        jobs: the number of runs to read at a time, each in a thread; None means one per core if compiled code reads
            them and they are large (1 MB on average), else 1.
        executor: where to read instead, as in `audit`; the columns are sent here. `jobs` is then the number of its
            workers; None takes what it says.
        storage_options: as in `read_run`.
        cache: as in `read_run`.

    Returns:
        {name: Run}, sorted; a run's name is its directory's path relative to `path`, with slashes, or ".".

    Raises:
        ValueError: `jobs` is less than 1.
        FileNotFoundError: the directory does not exist, or there is no event file below it.
        OSError: a file or directory cannot be read; ChildProcessError if the executor lost the worker that read it.
        ImportError: what reads the address is missing.

    >>> import os, tempfile
    >>> from summaries import SummaryWriter
    >>> directory = tempfile.mkdtemp()
    >>> for seed in range(2):
    ...     with SummaryWriter(os.path.join(directory, f"seed={seed}")) as writer:
    ...         writer.add_scalar("loss", 0.5 + seed, 0)
    >>> {name: run.scalars["loss"].at(0) for name, run in read_logdir(directory).items()}
    {'seed=0': 0.5, 'seed=1': 1.5}
    """
    if jobs is not None and jobs < 1:
        raise ValueError(f"jobs must be at least 1, got {jobs}")
    tags = several(tags)  # which may be read again and again, and in another process
    listed = without_links_to_nowhere(run_directories(path, names=runs, storage_options=storage_options, cache=cache))
    if executor is not None:
        return Runs(_read_on(executor, jobs, listed, tags))
    return Runs(_read_in_threads(listed, jobs, tags))


def _read_in_threads(runs: Mapping[str, Sequence[StoredFile]], jobs: int | None, tags: Patterns) -> dict[str, Run]:
    total = sum(file.size for files in runs.values() for file in files)
    large = is_available() and total >= _THREAD_BYTES * len(runs)
    threads = min(jobs or (os.cpu_count() or 1 if large else 1), len(runs))
    wanted = None if tags is None else matcher(tags)
    with expecting(list(chain.from_iterable(runs.values()))):
        return dict(zip(runs, in_threads(partial(_read, wanted=wanted), runs.values(), threads), strict=True))


def _read_on(
    executor: Executor, jobs: int | None, runs: Mapping[str, Sequence[StoredFile]], tags: Patterns
) -> dict[str, Run]:
    task = partial(_read_item, tags=tags)
    read = {}
    for (name, _), outcome in run_tasks(
        task, list(runs.items()), executor=executor, jobs=jobs, size=lambda run: sum(file.size for file in run[1])
    ):
        if isinstance(outcome, Died):
            raise ChildProcessError(f"{name}: {outcome.reason}")
        read[name] = outcome
    return {name: read[name] for name in runs}


def _read_item(run: tuple[str, Sequence[StoredFile]], tags: Patterns) -> Run:
    return read_files(run[1], tags=tags)


def read_files(files: Sequence[StoredFile], *, tags: Patterns | Callable[[str], bool] = None) -> Run:
    """Read these files, in this order, as one run.

    Args:
        files: event files, as they were listed.
        tags: as in `read_run`; or whether a tag is wanted.
    """
    with expecting(files):
        return _read(files, tags if tags is None or callable(tags) else matcher(tags))


def without_links_to_nowhere(runs: Mapping[str, Sequence[StoredFile]]) -> Mapping[str, Sequence[StoredFile]]:
    """Runs without links to nowhere, which are told, and without those that have no other files, if others have."""
    return {name: present for name, files in runs.items() if (present := list(filter(_is_there, files)))} or runs


def _is_there(file: StoredFile) -> bool:
    """Whether there is anything to read; a link to nowhere is told."""
    if file.identity is None and not file.size:
        try:
            file.open().close()
        except OSError as error:
            if error.errno in {errno.ENOENT, errno.ENOTDIR, errno.ELOOP}:  # of others, reading tells why
                _logger.warning("a link to nowhere is passed over: %r", file.path)
                return False
    return True


def _read(files: Sequence[StoredFile], wanted: Callable[[str], bool] | None, retries: int = _MOST_REPLACED) -> Run:
    collector = Collector(wanted)
    try:
        for file in files:
            collector.read(file)
    except ReplacedError as error:
        if not retries:
            raise
        files = [file.as_it_is_now() if file.path == error.filename else file for file in files]
        return _read(files, wanted, retries - 1)
    return Run(collector)
