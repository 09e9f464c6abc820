"""Runs → report: one run's files to its findings, and many runs at once, in processes or threads.

What cannot be read, or whose audit comes to nothing, is a `Failure` in the report: the other files of the run, and the
other runs, are audited all the same.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from summaries.auditing.curves import STRETCHES, Curve, means, thin
from summaries.auditing.discovery import (
    Work,
    baseline_below,
    read_what_can_be,
    reason_of,
    runs_below,
)
from summaries.auditing.findings import Failure, Finding, Report, RunReport
from summaries.auditing.rules import RULES
from summaries.auditing.signals.signals import Signal, Signals
from summaries.auditing.signals.tags import TagTable
from summaries.execution.processes import Died, in_processes
from summaries.reading.run import read_files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from summaries.auditing.config import Config
    from summaries.reading.run import Run

__all__ = ["Task", "audit_files", "audit_logdir", "audit_run", "audit_works"]

_PARALLEL_BYTES = 64 << 20  # below, starting processes takes longer than it saves
_PARALLEL_RUNS = 400


def audit_run(
    name: str,
    run: Run,
    config: Config,
    baseline: Sequence[Run] = (),
    stretches: int = STRETCHES,
    training: Run | None = None,
    trained: str = "",
) -> RunReport:
    """What was found in one run: a pure function of its columns and faults.

    Args:
        name: the run's name.
        run: the run.
        config: what to look for.
        baseline: the runs that it is compared with.
        stretches: how finely its curves are to be drawn; see `thin`.
        training: the run whose model this one validates, where that is another.
        trained: that run's name.
    """

    def seen(name: str, run: Run, baseline: Sequence[Signals] = ()) -> Signals:
        return Signals(name, run, TagTable(config.tags, run.tags), baseline)

    signals = seen(name, run, [seen(name, other) for other in baseline])
    if training is not None:
        signals.training = seen(trained, training)
    findings = _unsaid(list(_findings(signals, config)))
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


def _unsaid(findings: list[Finding]) -> list[Finding]:
    """Without those of which another rule says more: see `Rule.unless`. A lesser severity does not say more."""
    said = {(finding.code, finding.tag): finding.severity for finding in findings}
    return [f for f in findings if said.get((RULES[f.code].unless, f.tag), f.severity - 1) < f.severity]


def audit_files(work: Work, config: Config, baseline: Sequence[Work] = (), stretches: int = STRETCHES) -> RunReport:
    """The unit of work: the files of one run → what was found in it, and which of them could not be read.

    Args:
        work: the run's name and files.
        config: what to look for.
        baseline: the runs that it is compared with.
        stretches: how finely its curves are to be drawn; see `thin`.

    Raises:
        OSError: a file of the baseline cannot be read.
    """
    return _audit_files(work, config, _read_all(baseline), stretches)


def _audit_files(work: Work, config: Config, baseline: Sequence[Run], stretches: int) -> RunReport:
    run, failures = read_what_can_be(work.name, work.files)
    if run is None:
        return RunReport(work.name, work.paths, (), failures=work.failures + failures)
    training = read_what_can_be(work.name, work.training)[0] if work.training else None
    report = audit_run(work.name, run, config, baseline, stretches, training, work.trained)
    return replace(report, failures=work.failures + failures)


def _read_all(works: Sequence[Work]) -> list[Run]:
    return [read_files(work.files, work.size) for work in works]


def audit_logdir(
    path: str | os.PathLike[str],
    config: Config,
    *,
    baseline: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
) -> Report:
    """What was found in every run below a directory; arguments as in `summaries.audit`."""
    return audit_works(runs_below(path), config, baseline_below(baseline), jobs=jobs)


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
            made for that; else in a thread. Scanning and NumPy leave threads alone, many small runs do not. A process
            that dies is a failure in the report of the run that it was at.
        stretches: how finely curves are to be drawn; None: finely, but so that the curves of many runs fit into memory.
        advance: called with each run's name when it is done.
    """
    if stretches is None:
        stretches = max(50, min(STRETCHES, 100_000 // max(len(works), 1)))
    reports: dict[str, RunReport] = {}
    for report in _audited(works, Task(config, baseline, stretches), jobs, processes=processes):
        reports[report.name] = report
        advance(report.name)
    return Report(tuple(reports[work.name] for work in works))


def _audited(works: Sequence[Work], task: Task, jobs: int | None, *, processes: bool) -> Iterator[RunReport]:
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
    ordered = sorted(works, key=lambda work: -work.size)  # the largest first, so that none is left for the end
    if processes:
        for work, outcome in in_processes(task, ordered, jobs):
            yield _failed(work, f"the process that audited it {outcome.how}") if isinstance(outcome, Died) else outcome
        return
    with ThreadPoolExecutor(jobs) as pool:
        yield from pool.map(task, ordered)


def _failed(work: Work, reason: str) -> RunReport:
    return RunReport(work.name, work.paths, (), failures=(*work.failures, Failure(work.name, "", reason)))


class Task:
    """`audit_files` for many runs, in this process or another: whatever goes wrong is a failure in the run's report.

    Args:
        config: what to look for.
        baseline: the runs that they are compared with; read once, when the first one is audited.
        stretches: how finely curves are to be drawn; see `thin`.
    """

    def __init__(self, config: Config, baseline: Sequence[Work], stretches: int) -> None:
        self._config = config
        self._baseline = baseline
        self._stretches = stretches
        self._runs: list[Run] | None = None

    def __call__(self, work: Work) -> RunReport:
        """What was found in a run."""
        try:
            if self._runs is None:
                self._runs = _read_all(self._baseline)
            return _audit_files(work, self._config, self._runs, self._stretches)
        except Exception as error:  # noqa: BLE001 - whatever is wrong with a run, or with a rule, other runs are audited
            return _failed(work, reason_of(error))
