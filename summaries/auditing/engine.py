"""Runs → reports: the files of one run to its findings, and many runs at once, in processes or threads.

A file that cannot be read, or a run whose audit fails, becomes a `Failure` in the report. The other files and the other
runs are still audited. Small runs are audited side by side: all are read, then each rule judges all of them.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from summaries.auditing.curves import Curve, averages, means
from summaries.auditing.discovery import (
    RunFiles,
    baseline_below,
    contents,
    jobs_for,
    read_what_can_be,
    reason_of,
    runs_below,
)
from summaries.auditing.findings import AuditInterrupted, Failure, Finding, RunReport
from summaries.auditing.incidents import judging
from summaries.auditing.rules import BETWEEN_RANKS, RULES
from summaries.auditing.signals.ranks import jobs as jobs_among
from summaries.auditing.signals.signals import Signal, Signals
from summaries.auditing.signals.tags import table_of
from summaries.auditing.spool import Ordered, Spool
from summaries.execution.tasks import Died, run_tasks
from summaries.execution.turns import groups, in_turns
from summaries.reading.annotations import label_of, notes_of
from summaries.reading.run import read_files
from summaries.storage.protocols import expecting
from summaries.thinning import STRETCHES, thin

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from concurrent.futures import Executor
    from contextlib import AbstractContextManager
    from typing import TypeVar, Unpack

    from summaries.auditing.config import Config
    from summaries.execution.turns import Steps
    from summaries.reading.run import Run
    from summaries.storage.files import Access
    from summaries.storage.protocols import StoredFile

    Result = TypeVar("Result")
    Read = Callable[[str, Sequence[StoredFile]], tuple[Run | None, tuple[Failure, ...]]]

__all__ = [
    "Task",
    "audit_job",
    "audit_logdir",
    "audit_ranks",
    "audit_run",
    "audit_runs",
    "curves",
    "ordered",
    "signals_of",
]

_MOST_IN_MEMORY = 10_000  # reports; those of more runs are kept on disk


def audit_run(
    name: str,
    run: Run,
    config: Config,
    baseline: Sequence[Run] = (),
    stretches: int = STRETCHES,
    training: Run | None = None,
    trained: str = "",
    others: Mapping[str, str] | None = None,
) -> RunReport:
    """Audit one run that has been read: a pure function of its columns and faults.

    Args:
        name: the run's name.
        run: the run.
        config: what to look for.
        baseline: the runs to compare it with.
        stretches: resolution of the curves; see `thin`.
        training: if this run holds the validation of another one, that other run.
        trained: that run's name.
        others: what those of its files are that are no event files: path → words.
    """
    return _at_once(_judge(name, run, config, baseline, stretches, training, trained, others or {}))


def _judge(
    name: str,
    run: Run,
    config: Config,
    baseline: Sequence[Run],
    stretches: int,
    training: Run | None,
    trained: str,
    others: Mapping[str, str],
    failures: tuple[Failure, ...] = (),
) -> Steps[RunReport]:
    """`audit_run` in steps, one for each rule; `failures` is what of the run could not be read."""
    signals = signals_of(name, run, config, [signals_of(name, other, config) for other in baseline])
    signals.other_files = others
    if training is not None:
        signals.training = signals_of(trained, training, config)
    yield
    found = yield from _findings(signals, config, judging(run, config.codes(name)))
    findings = ordered(_unsaid(found))
    longest = signals.longest or max(signals.all.values(), key=len, default=None)
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
        findings,
        curves(signals, stretches),
        sum(map(len, run.scalars.values())),
        steps,
        wall_times,
        failures,
        logger=signals.logger.name,
        main=signals.main.tag if signals.main else "",
        label=label_of(run),
        notes=notes_of(run),
    )


def audit_job(runs: Mapping[str, Run], config: Config) -> tuple[Finding, ...]:
    """What the rules on the ranks of one job find: nothing that `audit_run` finds in one of them.

    Args:
        runs: the ranks that have been read, by name, the first rank first.
        config: what to look for.
    """
    ranks = [signals_of(name, run, config) for name, run in runs.items()]
    ranks[0].ranks = ranks
    codes = [code for code in config.selected if code in BETWEEN_RANKS]
    found = _unsaid(_at_once(_findings(ranks[0], config, codes)))
    return ordered(finding for finding in found if finding.code in config.codes(finding.run))


def signals_of(name: str, run: Run, config: Config, baseline: Sequence[Signals] = ()) -> Signals:
    """A run as rules see it, its tags read as the configuration says."""
    return Signals(name, run, table_of(config.tags, run.tags, config.logger(name)), baseline)


def ordered(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Worst first, then by first step."""
    return tuple(sorted(findings, key=lambda one: (-one.severity, one.steps or (-1, -1), one.code)))


def curves(signals: Signals, stretches: int) -> tuple[Curve, ...]:
    """The scalars of a run, thinned for drawing; of a run that was audited, as fine as it is drawn now."""
    return tuple(_curve(signal, stretches) for signal in signals.all.values())


def _curve(signal: Signal, stretches: int) -> Curve:
    """One tag's standing points, thinned; flags for clipped steps, if there are many, as the share of clipped steps."""
    series, meaning = signal.standing, signal.meaning
    if meaning.role == "clipped" and len(series) > 2 * stretches:
        kept, value = means(series.value)
    else:
        kept = thin(series.value, stretches)
        value = series.value[kept]
    columns = series.step[kept], series.wall_time[kept], value
    return Curve(signal.tag, meaning.role, meaning.variable, *columns, len(series), averages(series.value))


def _findings(signals: Signals, config: Config, codes: Iterable[str]) -> Steps[list[Finding]]:
    present, found = signals.present, list[Finding]()
    for code in codes:
        rule = RULES[code]
        if not rule.needs or not rule.needs.isdisjoint(present):
            found += rule.findings(signals, config.limits(code), config.severity.get(code))
        yield
    return found


def _at_once(audit: Steps[Result]) -> Result:
    """What an audit returns, without a pause."""
    with np.errstate(all="ignore"):  # a run's values may be anything
        return in_turns([audit])[0]


def _unsaid(findings: list[Finding]) -> list[Finding]:
    """Leave out findings that another rule explains better (see `Rule.unless`), unless that one is less severe."""
    said = {(finding.code, finding.tag): finding.severity for finding in findings}
    return [f for f in findings if said.get((RULES[f.code].unless, f.tag), f.severity - 1) < f.severity]


def _audit(files: RunFiles, config: Config, baseline: Sequence[Run], stretches: int, read: Read) -> Steps[RunReport]:
    """Audit the files of one run: what was found in them, and which of them could not be read."""
    run, failures = read(files.name, files.files)
    failures = files.failures + failures
    if run is None:
        return RunReport(files.name, files.paths, (), failures=failures)
    training = read(files.name, files.training)[0] if files.training else None
    others = contents(files.files, run)
    yield
    return (yield from _judge(files.name, run, config, baseline, stretches, training, files.trained, others, failures))


def _read_all(runs: Sequence[RunFiles]) -> list[Run]:
    with _expecting(runs):
        return [read_files(run.files) for run in runs]


def _expecting(runs: Sequence[RunFiles]) -> AbstractContextManager[object]:
    """While this context lasts, these runs will be read, so that those in a store may be fetched ahead."""
    return expecting([file for run in runs for file in run.files])


def audit_logdir(
    path: str | os.PathLike[str],
    config: Config,
    *,
    baseline: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
    executor: Executor | None = None,
    **access: Unpack[Access],
) -> Sequence[RunReport]:
    """Audit every run below a directory; arguments as in `summaries.audit`."""
    runs = runs_below(path, **access)
    return audit_runs(runs, config, baseline_below(baseline, **access), jobs=jobs, executor=executor)


def audit_runs(
    runs: Sequence[RunFiles],
    config: Config,
    baseline: Sequence[RunFiles] = (),
    *,
    jobs: int | None = None,
    processes: bool = False,
    executor: Executor | None = None,
    stretches: int | None = None,
    on_run: Callable[[str, RunReport], object] | None = None,
) -> Sequence[RunReport]:
    """Audit runs.

    Args:
        runs: the runs.
        config: what to look for.
        baseline: the runs to compare them with.
        jobs: how many runs are audited at a time; None decides by how much there is to do.
        processes: whether processes may be used, for many runs, or if `jobs` is given. Threads scale well for few large
            runs, because scanning and NumPy release the GIL; processes also do for many small ones. A process starts by
            importing the main module again, which has to allow for that. If one dies, the report of its run says so.
        executor: where to audit instead; then `jobs` is the number of its workers, None: what it says itself.
        stretches: resolution of the curves. None: as fine as the memory for the curves of so many runs allows.
        on_run: called as `on_run(name, report)` after each run, in the thread of the caller.

    Raises:
        ValueError: `jobs` is less than 1.
        AuditInterrupted: by Ctrl-C.
    """
    if stretches is None:
        stretches = max(50, min(STRETCHES, 100_000 // max(len(runs), 1)))
    if executor is None:
        jobs, processes = jobs_for(runs, jobs, processes=processes)
    task = Task(config, baseline, stretches)
    reports: dict[str, RunReport] | Spool = Spool() if len(runs) > _MOST_IN_MEMORY else {}
    work = run_tasks(task, runs, executor=executor, jobs=jobs, processes=processes, size=lambda run: run.size)
    try:
        with closing(work):
            for run, outcome in work:
                report = _failed(run, outcome.reason) if isinstance(outcome, Died) else outcome
                reports[run.name] = report
                if on_run is not None:
                    on_run(run.name, report)
        _add_between_ranks(reports, runs, config, executor, jobs)
    except KeyboardInterrupt:
        raise AuditInterrupted(_in_order(runs, reports)) from None
    return _in_order(runs, reports)


def _in_order(runs: Sequence[RunFiles], reports: dict[str, RunReport] | Spool) -> Sequence[RunReport]:
    """The reports of the runs that have one."""
    ordered = Ordered([run.name for run in runs if run.name in reports], reports)
    return ordered if isinstance(reports, Spool) else tuple(ordered)


def _add_between_ranks(
    reports: dict[str, RunReport] | Spool,
    runs: Sequence[RunFiles],
    config: Config,
    executor: Executor | None,
    workers: int | None,
) -> None:
    """Add to the reports of the ranks of jobs what is found between them."""
    files = {run.name: run for run in runs}
    jobs = [tuple(files[rank] for rank in job) for job in jobs_among(files, config.ranks)]
    task = partial(audit_ranks, config=config)
    for ranks, outcome in run_tasks(task, jobs, executor=executor, jobs=workers if executor else 1, size=_bytes_of):
        if isinstance(outcome, Died):
            first = reports[ranks[0].name]
            failure = Failure(first.name, "", f"what differs between the ranks of this job: {outcome.reason}")
            reports[first.name] = replace(first, failures=(*first.failures, failure))
            continue
        for finding in outcome:
            report = reports[finding.run]
            reports[finding.run] = replace(report, findings=ordered((*report.findings, finding)))


def _bytes_of(ranks: Sequence[RunFiles]) -> int:
    return sum(rank.size for rank in ranks)


def audit_ranks(ranks: Sequence[RunFiles], config: Config, read: Read = read_what_can_be) -> tuple[Finding, ...]:
    """What is found between the ranks of a job that can be read; the reports of the runs say what cannot.

    Args:
        ranks: the name and the files of each, the first rank first.
        config: what to look for.
        read: reads the files of a run.
    """
    if not any(code in BETWEEN_RANKS for code in config.selected):
        return ()
    runs = {rank.name: read(rank.name, rank.files)[0] for rank in ranks}
    readable = {name: run for name, run in runs.items() if run is not None}
    return audit_job(readable, config) if readable else ()


def _failed(run: RunFiles, reason: str) -> RunReport:
    return RunReport(run.name, run.paths, (), failures=(*run.failures, Failure(run.name, "", reason)))


class Task:
    """Audits many runs, in this process or another; an error becomes a failure in the report of its run.

    Args:
        config: what to look for.
        baseline: the runs to compare with; they are read once, when the first run is audited.
        stretches: resolution of the curves; see `thin`.
        read: reads the files of a run.
    """

    def __init__(
        self, config: Config, baseline: Sequence[RunFiles], stretches: int, read: Read = read_what_can_be
    ) -> None:
        self._read = read
        self._config = config
        self._baseline = baseline
        self._stretches = stretches
        self._runs: list[Run] | None = None
        self._baseline_bytes = sum(run.size for run in baseline)

    def expecting(self, runs: Sequence[RunFiles]) -> AbstractContextManager[object]:
        """While this context lasts, these runs will be audited in about this order."""
        return _expecting(runs)

    def __call__(self, run: RunFiles) -> RunReport:
        """Audit one run."""
        return next(self.each([run]))

    def each(self, runs: Sequence[RunFiles]) -> Iterator[RunReport]:
        """Audit several runs, and yield the report of each, in order."""
        for group in groups(runs, self._bytes_with):
            with np.errstate(all="ignore"):  # a run's values may be anything
                reports = in_turns(map(self._steps, group))
            yield from reports

    def _bytes_with(self, run: RunFiles) -> int:
        """The size of all that the audit of a run may hold in memory: it may copy parts of what it compares with."""
        return run.size + sum(file.size for file in run.training) + self._baseline_bytes

    def _steps(self, run: RunFiles) -> Steps[RunReport]:
        try:
            if self._runs is None:
                self._runs = _read_all(self._baseline)
            return (yield from _audit(run, self._config, self._runs, self._stretches, self._read))
        except Exception as error:  # noqa: BLE001 - whatever is wrong with one run or rule, audit the other runs
            return _failed(run, reason_of(error))
