"""Runs → reports: the files of one run to its findings, and many runs at once, in processes or threads.

A file that cannot be read, or a run whose audit fails, becomes a `Failure` in the report. The other files and the other
runs are still audited. Small runs are audited side by side: all are read, then each rule judges all of them.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, product
from typing import TYPE_CHECKING

import numpy as np

from summaries.auditing.curves import curve_of
from summaries.auditing.discovery import RunFiles, expecting_runs
from summaries.auditing.findings import AuditInterrupted, Failure, Finding, RunReport, Severity
from summaries.auditing.parallel import jobs_for
from summaries.auditing.readable import contents, read_readable, reason_of
from summaries.auditing.rules import BETWEEN_RANKS, RULES
from summaries.auditing.rules.timeline.incidents import has_incident
from summaries.auditing.signals.pairs import Pair
from summaries.auditing.signals.ranks import jobs as jobs_among
from summaries.auditing.signals.signals import Signals
from summaries.auditing.signals.tags import table_of
from summaries.auditing.spool import Ordered, Spool
from summaries.execution.tasks import Died, run_tasks
from summaries.execution.turns import groups, in_turns
from summaries.presenting.thinning import STRETCHES
from summaries.reading.annotations import label_of, notes_of
from summaries.reading.run import read_files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from concurrent.futures import Executor
    from contextlib import AbstractContextManager

    from summaries.auditing.config import Config
    from summaries.auditing.curves import Curve
    from summaries.auditing.rules.rule import Rule
    from summaries.execution.turns import Steps
    from summaries.reading.run import Run
    from summaries.storage.protocols import StoredFile

    Read = Callable[[str, Sequence[StoredFile]], tuple[Run | None, tuple[Failure, ...]]]

__all__ = ["Task", "audit_job", "audit_ranks", "audit_run", "audit_runs", "curves", "ordered", "signals_of"]

_MOST_IN_MEMORY = 10_000  # reports; those of more runs are kept on disk
_FEWEST_STRETCHES = 50  # of a curve that still shows its course
_OF_OTHERS = frozenset(("baseline", "ranks", "faults"))  # what is no tag of the run
_OF_BOTH = frozenset(("loss", "validation_loss", "metric"))  # what a training and its validation have in common
_MOST_STRETCHES = 100_000  # of one curve in all runs together: finer ones would take gigabytes


def audit_run(
    name: str, run: Run, config: Config, baseline: Sequence[Run] = (), stretches: int = STRETCHES
) -> RunReport:
    """Audit one run that has been read: a pure function of its columns and faults.

    Args:
        name: the run's name.
        run: the run.
        config: what to look for.
        baseline: the runs to compare it with.
        stretches: resolution of the curves; see `thin`.
    """
    with np.errstate(all="ignore"):  # a run's values may be anything
        signals = signals_of(name, run, config, [signals_of(name, other, config) for other in baseline])
        return in_turns([_judge(signals, config, stretches)])[0]


def _judge(
    signals: Signals,
    config: Config,
    stretches: int,
    failures: tuple[Failure, ...] = (),
    training: Signals | None = None,
) -> Steps[RunReport]:
    """`audit_run` in steps, one for each rule.

    Args:
        signals: the run.
        config: what to look for.
        stretches: resolution of the curves.
        failures: what of the run could not be read.
        training: the run that it validates, if it is one of its own.
    """
    run, name = signals.run, signals.name
    codes = config.codes(name)
    if has_incident(run):  # an excerpt, which shows no course
        codes = [code for code in codes if RULES[code].of_moments]
    pair = None if training is None else Pair(signals, training)
    of_both = [code for code in codes if pair and not RULES[code].needs.isdisjoint(_OF_BOTH)]
    judging, unchecked = _judging(signals, [code for code in codes if code not in of_both])
    findings = yield from _findings(signals, config, judging)
    if pair:
        judging, unknown = _judging(pair.signals, of_both)
        found = yield from _findings(pair.signals, config, judging)
        findings += chain.from_iterable(map(pair.told, _unsaid(found, config)))
        unchecked = tuple(sorted((*unchecked, *unknown)))
    steps = wall_times = None
    if signals.all:
        series = [signal.series for signal in signals.all.values()]
        steps = min(int(s.step.min()) for s in series), max(int(s.step.max()) for s in series)
        times = (signals.longest.series if signals.longest else max(series, key=len)).wall_time
        times = times[np.isfinite(times)]
        wall_times = (float(times[0]), float(times[-1])) if len(times) else None
    return RunReport(
        name,
        run.files,
        ordered(_unsaid(findings, config)),
        curves(signals, stretches),
        sum(map(len, run.scalars.values())),
        steps,
        wall_times,
        failures,
        logger=signals.logger.name,
        main=signals.main.tag if signals.main else "",
        label=label_of(run),
        notes=notes_of(run),
        unchecked=unchecked,
    )


def _judging(signals: Signals, codes: Iterable[str]) -> tuple[list[str], tuple[str, ...]]:
    """The rules that can judge the run, and those that find no tag in it which means what they need."""
    judging, unchecked, present = list[str](), list[str](), signals.present
    for code in codes:
        needs = RULES[code].needs
        if not needs or not needs.isdisjoint(present):
            judging.append(code)
        elif needs.isdisjoint(_OF_OTHERS):
            unchecked.append(code)
    return judging, tuple(unchecked)


def audit_job(runs: Mapping[str, Run], config: Config) -> tuple[Finding, ...]:
    """What the rules on the ranks of one job find: nothing that `audit_run` finds in one of them.

    Args:
        runs: the ranks that have been read, by name, the first rank first.
        config: what to look for.
    """
    ranks = [signals_of(name, run, config) for name, run in runs.items()]
    ranks[0].ranks = ranks
    codes = [code for code in config.selected if code in BETWEEN_RANKS]
    with np.errstate(all="ignore"):
        found = in_turns([_findings(ranks[0], config, _judging(ranks[0], codes)[0])])[0]
        findings = _unsaid(found, config)
    return ordered(finding for finding in findings if finding.code in config.codes(finding.run))


def signals_of(name: str, run: Run, config: Config, baseline: Sequence[Signals] = ()) -> Signals:
    """A run as rules see it, its tags read as the configuration says."""
    return Signals(name, run, table_of(config.tags, run.tags, config.logger(name)), baseline)


def ordered(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Worst first, then by first step."""
    return tuple(sorted(findings, key=lambda finding: (-finding.severity, finding.steps or (-1, -1), finding.code)))


def curves(signals: Signals, stretches: int) -> tuple[Curve, ...]:
    """The scalars of a run, thinned for drawing; of a run that was audited, as fine as it is drawn now."""
    return tuple(
        curve_of(signal.standing, stretches, signal.meaning.role, signal.meaning.variable)
        for signal in signals.all.values()
    )


def _findings(signals: Signals, config: Config, codes: Iterable[str]) -> Steps[list[Finding]]:
    """What the rules with these codes find, in steps, one for each rule."""
    findings = list[Finding]()
    for code in codes:
        findings += RULES[code].findings(signals, config.limits(code), config.severity.get(code))
        yield
    return findings


_EXPLAINED_BY = {rule.check: rule.unless for rule in RULES.values()}


def _explaining(rule: Rule) -> Iterator[object]:
    """The functions of the rules that explain what this one finds: what explains one of them does so, too."""
    better = rule.unless
    while better is not None:
        yield better
        better = _EXPLAINED_BY[better]


def _unsaid(findings: list[Finding], config: Config) -> list[Finding]:
    """Leave out findings that another rule explains better (see `Rule.unless`), and notes on what one then tells."""
    severities: dict[tuple[object, str], int] = {(RULES[f.code].check, f.tag): f.severity for f in findings}

    def explained(finding: Finding) -> bool:
        better = product(_explaining(RULES[finding.code]), (finding.tag, *finding.others))
        return any(severities.get(key, -1) >= finding.severity for key in better)

    def is_told_better(note: Finding) -> bool:
        """Whether a worse finding of the same tag is one that this note's rule would explain."""
        if note.severity > Severity.INFO or note.code in config.severity:
            return False
        own, tags = RULES[note.code].check, {note.tag, *note.others}
        worse = [one for one in findings if one.severity > note.severity]
        return any(own in _explaining(RULES[one.code]) and not tags.isdisjoint((one.tag, *one.others)) for one in worse)

    return [finding for finding in findings if not explained(finding) and not is_told_better(finding)]


def _audit(files: RunFiles, config: Config, baseline: Sequence[Run], stretches: int, read: Read) -> Steps[RunReport]:
    """Audit the files of one run: what was found in them, and which of them could not be read."""
    run, failures = read(files.name, files.files)
    failures = files.failures + failures
    if run is None:
        return RunReport(files.name, files.paths, (), failures=failures)
    training = read(files.name, files.training)[0] if files.training else None
    other_files = contents(files.files, run)
    yield
    signals = signals_of(files.name, run, config, [signals_of(files.name, other, config) for other in baseline])
    signals.other_files = other_files
    trained = None if training is None else signals_of(files.trained, training, config)
    yield
    return (yield from _judge(signals, config, stretches, failures, trained))


def _read_all(runs: Sequence[RunFiles]) -> list[Run]:
    with expecting_runs(runs):
        return [read_files(run.files) for run in runs]


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
        stretches: resolution of the curves. None: as fine as memory allows for the number of runs.
        on_run: called as `on_run(name, report)` after each run, in the thread of the caller.

    Raises:
        ValueError: `jobs` is less than 1.
        AuditInterrupted: by Ctrl-C.
    """
    if stretches is None:
        stretches = max(_FEWEST_STRETCHES, min(STRETCHES, _MOST_STRETCHES // max(len(runs), 1)))
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
    task, workers = partial(audit_ranks, config=config), workers if executor else 1
    work = run_tasks(task, jobs, executor=executor, jobs=workers, size=lambda ranks: sum(rank.size for rank in ranks))
    for ranks, outcome in work:
        if isinstance(outcome, Died):
            first = reports[ranks[0].name]
            failure = Failure(first.name, "", f"what differs between the ranks of this job: {outcome.reason}")
            reports[first.name] = replace(first, failures=(*first.failures, failure))
            continue
        for finding in outcome:
            report = reports[finding.run]
            reports[finding.run] = replace(report, findings=ordered((*report.findings, finding)))


def audit_ranks(ranks: Sequence[RunFiles], config: Config, read: Read = read_readable) -> tuple[Finding, ...]:
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


@dataclass
class Task:
    """Audits many runs, in this process or another; an error becomes a failure in the report of its run.

    Args:
        config: what to look for.
        baseline: the runs to compare with; they are read once, when the first run is audited.
        stretches: resolution of the curves; see `thin`.
        read: reads the files of a run.
    """

    config: Config
    baseline: Sequence[RunFiles]
    stretches: int
    read: Read = read_readable
    _runs: list[Run] | None = field(default=None, init=False)

    def expecting(self, runs: Sequence[RunFiles]) -> AbstractContextManager[object]:
        """While this context lasts, these runs will be audited in about this order."""
        return expecting_runs(runs)

    def __call__(self, run: RunFiles) -> RunReport:
        """Audit one run."""
        return next(self.each([run]))

    def each(self, runs: Sequence[RunFiles]) -> Iterator[RunReport]:
        """Audit several runs, and yield the report of each, in order."""
        for group in groups(runs, self._bytes_with):
            with np.errstate(all="ignore"):
                reports = in_turns(map(self._steps, group))
            yield from reports

    def _bytes_with(self, run: RunFiles) -> int:
        """The size of all that the audit of a run may hold in memory: it may copy parts of what it compares with."""
        return sum(file.size for file in run.training) + sum(files.size for files in (run, *self.baseline))

    def _steps(self, run: RunFiles) -> Steps[RunReport]:
        try:
            if self._runs is None:
                self._runs = _read_all(self.baseline)
            return (yield from _audit(run, self.config, self._runs, self.stretches, self.read))
        except Exception as error:  # noqa: BLE001 - whatever is wrong with one run or rule, audit the other runs
            return _failed(run, reason_of(error))
