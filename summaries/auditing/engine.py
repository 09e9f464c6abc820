"""Runs → report: one run's files to its findings, and many runs at once, in processes or threads."""

from __future__ import annotations

import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from summaries.auditing.finding import Curve, Finding, Report, RunReport
from summaries.auditing.rules import RULES
from summaries.auditing.signals import Signal, Signals
from summaries.auditing.tags import TagTable, is_validation
from summaries.auditing.thin import STRETCHES, means, thin
from summaries.logdir import run_directories
from summaries.run import read_files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from concurrent.futures import Executor

    from summaries.auditing.config import Config
    from summaries.run import Run

__all__ = ["Work", "audit_files", "audit_logdir", "audit_run", "audit_works", "runs_below"]

_PARALLEL_BYTES = 64 << 20  # below, starting processes takes longer than it saves
_PARALLEL_RUNS = 400


class Work(NamedTuple):
    """One run to audit: its name, its files in reading order, and how many bytes they have.

    `training` are the files of the run that this one validates, where it is one of a pair, as Keras and TF1 write it.
    """

    name: str
    files: tuple[str, ...]
    size: int
    training: tuple[str, ...] = ()


def audit_run(
    name: str,
    run: Run,
    config: Config,
    baseline: Sequence[Run] = (),
    stretches: int = STRETCHES,
    training: Run | None = None,
) -> RunReport:
    """What was found in one run: a pure function of its columns and faults.

    Args:
        name: the run's name.
        run: the run.
        config: what to look for.
        baseline: the runs that it is compared with.
        stretches: how finely its curves are to be drawn; see `thin`.
        training: the run whose model this one validates, where that is another.
    """
    table = TagTable(config.tags)
    signals = Signals(name, run, table, [Signals(name, other, table) for other in baseline])
    if training is not None:
        signals.training = Signals("", training, table)
    findings = list(_findings(signals, config))
    findings.sort(key=lambda finding: (-finding.severity, finding.steps or (-1, -1), finding.code))
    longest = signals.longest
    steps = wall_times = None
    if signals.all:
        series = [signal.series for signal in signals.all.values()]
        steps = min(int(s.step.min()) for s in series), max(int(s.step.max()) for s in series)
        assert longest is not None
        times = longest.series.wall_time[np.isfinite(longest.series.wall_time)]
        wall_times = (float(times[0]), float(times[-1])) if len(times) else None
    return RunReport(
        name,
        run.files,
        tuple(findings),
        tuple(_curve(signal, stretches) for signal in signals.all.values()),
        sum(map(len, run.scalars.values())),
        steps,
        wall_times,
    )


def _curve(signal: Signal, stretches: int) -> Curve:
    """One tag's points that stand, thinned; whether steps were clipped, as a share, where there are too many."""
    series, meaning = signal.standing, signal.meaning
    if meaning.role == "clipped" and len(series) > 2 * stretches:
        kept, value = means(series.value)
    else:
        kept = thin(series.value, stretches)
        value = series.value[kept]
    columns = series.step[kept], series.wall_time[kept], value
    return Curve(signal.tag, meaning.role, meaning.variable, *columns, len(series))


def _findings(signals: Signals, config: Config) -> Iterator[Finding]:
    with np.errstate(all="ignore"):  # a run's values may be anything
        for code in config.codes(signals.name):
            rule = RULES[code]
            for hit in rule.check(signals, config.limits(code)):
                severity = config.severity.get(code, rule.severity if hit.severity is None else hit.severity)
                yield Finding(
                    code, rule.name, severity, signals.name, hit.tag, hit.steps, hit.message, hit.evidence, hit.count
                )


def audit_files(work: Work, config: Config, baseline: Sequence[Work] = (), stretches: int = STRETCHES) -> RunReport:
    """The unit of work: the files of one run → what was found in it.

    Args:
        work: the run's name and files.
        config: what to look for.
        baseline: the runs that it is compared with.
        stretches: how finely its curves are to be drawn; see `thin`.

    Raises:
        OSError: a file cannot be read.
    """
    others = [read_files(list(other.files), other.size) for other in baseline]
    run = read_files(list(work.files), work.size)
    training = read_files(list(work.training), sum(map(os.path.getsize, work.training))) if work.training else None
    return audit_run(work.name, run, config, others, stretches, training)


def runs_below(path: str | os.PathLike[str]) -> list[Work]:
    """Every run below a directory, by name; or the run that an event file is.

    Raises:
        FileNotFoundError: there is no such path, or no event file below it.
    """
    path = os.fspath(path)
    if os.path.isfile(path):  # asked first, because a directory may come into being between two questions
        runs = {os.path.basename(path): [path]}
    elif not os.path.exists(path):
        raise FileNotFoundError(f"no such file or directory: {path}")
    else:
        runs = run_directories(path)
    return [
        Work(name, tuple(files), sum(map(os.path.getsize, files)), tuple(_training(name, runs)))
        for name, files in runs.items()
    ]


def _training(name: str, runs: Mapping[str, Sequence[str]]) -> Sequence[str]:
    """The files of the run that a run called `…/validation` validates: `…/train` beside it, or the one above it."""
    above, _, last = name.rpartition("/")
    if not is_validation(last):
        return ()
    beside = (f"{above}/{other}" if above else other for other in ("train", "training"))
    return next((runs[other] for other in (*beside, above or ".") if other in runs), ())


def audit_logdir(
    path: str | os.PathLike[str],
    config: Config,
    *,
    baseline: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
) -> Report:
    """What was found in every run below a directory; arguments as in `summaries.audit`."""
    return audit_works(runs_below(path), config, runs_below(baseline) if baseline is not None else [], jobs=jobs)


def audit_works(
    works: Sequence[Work],
    config: Config,
    baseline: Sequence[Work] = (),
    *,
    jobs: int | None = None,
    processes: bool = False,
    stretches: int | None = None,
    advance: Callable[[str], object] = len,
) -> Report:
    """What was found in many runs.

    Args:
        works: the runs.
        config: what to look for.
        baseline: the runs that they are compared with.
        jobs: how many runs at a time; None decides by how much there is to do.
        processes: each in a process, which starts by importing the main module again, so that a caller's own must be
            made for that; else in a thread. Scanning and NumPy leave threads alone, many small runs do not.
        stretches: how finely curves are to be drawn; None: finely, but so that the curves of many runs fit into memory.
        advance: called with each run's name when it is done.
    """
    if stretches is None:
        stretches = max(50, min(STRETCHES, 100_000 // max(len(works), 1)))
    reports: dict[str, RunReport] = {}
    for report in _audited(works, _Task(config, baseline, stretches), jobs, processes=processes):
        reports[report.name] = report
        advance(report.name)
    return Report(tuple(reports[work.name] for work in works))


def _audited(works: Sequence[Work], task: _Task, jobs: int | None, *, processes: bool) -> Iterator[RunReport]:
    total = sum(work.size for work in works)
    if jobs is None:
        enough = total >= _PARALLEL_BYTES or len(works) >= _PARALLEL_RUNS
        jobs = (os.cpu_count() or 1) if enough else 1
    if jobs < 1:
        raise ValueError(f"jobs must be at least 1, got {jobs}")
    jobs = min(jobs, len(works))
    if jobs <= 1:
        for work in works:
            yield task(work)
        return
    if processes:
        context = multiprocessing.get_context("spawn")  # forked, a child would inherit locks that nobody there can open
        pool: Executor = ProcessPoolExecutor(jobs, context)
    else:
        pool = ThreadPoolExecutor(jobs)
    with pool:
        chunk = max(1, min(32, len(works) // (4 * jobs)))
        ordered = sorted(works, key=lambda work: -work.size)  # the largest first, so that none is left for the end
        yield from pool.map(task, ordered, chunksize=chunk)


class _Task:
    """`audit_files` with its other arguments, for a process."""

    def __init__(self, config: Config, baseline: Sequence[Work], stretches: int) -> None:
        self._arguments = config, baseline, stretches

    def __call__(self, work: Work) -> RunReport:
        return audit_files(work, *self._arguments)
