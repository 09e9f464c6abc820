"""From a directory to a comparison: read each run, keep what it reached, and put the runs beside each other."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from summaries.auditing.comparison.groups import grouped, outliers
from summaries.auditing.comparison.hyperparameters import Table, check_stated, read_table, stem, varying
from summaries.auditing.comparison.labels import Lesson, learnt, marked
from summaries.auditing.comparison.outcomes import LOSSES, Outcome, chosen, main_losses, outcome_of, ranked
from summaries.auditing.comparison.results import Comparison, Member, Taught
from summaries.auditing.comparison.separation import seeds_share, separations
from summaries.auditing.discovery import expecting_runs, runs_below
from summaries.auditing.parallel import jobs_for
from summaries.auditing.readable import read_readable
from summaries.auditing.rules.timeline.incidents import has_incident
from summaries.auditing.signals.ranks import jobs as ranked_jobs
from summaries.auditing.signals.signals import Signals
from summaries.auditing.signals.tags import table_of
from summaries.execution.tasks import Died, run_tasks
from summaries.reading.annotations import label_of
from summaries.reading.stated import configuration

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping, Sequence
    from concurrent.futures import Executor
    from contextlib import AbstractContextManager
    from typing import Unpack

    from summaries.auditing.comparison.results import Value
    from summaries.auditing.config import Config
    from summaries.auditing.discovery import RunFiles
    from summaries.errors import Fault
    from summaries.storage.files import Access

__all__ = ["compare_runs"]


def compare_runs(
    path: str | os.PathLike[str],
    config: Config,
    *,
    by: Sequence[str] = (),
    metric: str | None = None,
    maximize: bool = False,
    table: str | os.PathLike[str] | None = None,
    good: Sequence[str] = (),
    bad: Sequence[str] = (),
    jobs: int | None = 1,
    executor: Executor | None = None,
    on_run: Callable[[str, object], object] = lambda _name, _result: None,
    **access: Unpack[Access],
) -> Comparison:
    """Compare the runs below a directory; arguments as in `summaries.compare`, whose docstring explains them.

    `config` says what tags mean, and which runs are ranks of one job: only the first of those is compared. `jobs` is
    the number of processes that read runs; None decides by how much there is to read. With an `executor`, they are read
    there, and `jobs` is the number of its workers. `on_run(name, None)` is called after each run.
    """
    stated = read_table(str(table)) if table is not None else Table()
    below = {run.name: run for run in runs_below(path, **access)}
    others = {rank for job in ranked_jobs(below, config.ranks) for rank in job[1:]}  # the first one speaks for its job
    files = [run for name, run in below.items() if name not in others]
    processes = False
    if executor is None:
        jobs, processes = jobs_for(files, jobs, processes=True)
    work = run_tasks(
        _Reading(config, metric, maximize, tuple(by)), files, executor=executor, jobs=jobs, processes=processes,
        size=lambda run: run.size,
    )  # fmt: skip
    results: dict[str, _Result] = {}
    for run, result in work:
        results[run.name] = _Result(None, {}, [(run.name, result.reason)]) if isinstance(result, Died) else result
        on_run(run.name, None)
    runs = _gathered({run.name: results[run.name] for run in files}, stated, metric)
    labels = marked(runs.outcomes, {**runs.labels, **stated.labels}, good, bad)
    lesson = None
    if stated.labels or good or bad or len(set(labels.values())) > 1:  # runs may all be labelled alike
        tags = dict.fromkeys(tag for own in runs.outcomes.values() for tag, had in own.items() if had.role in LOSSES)
        lesson = learnt(runs.outcomes, labels, [metric] if metric else list(tags), maximize=maximize)
        metric = lesson.metric
    metric = metric or chosen(list(runs.outcomes.values()))
    if not any(metric in own for own in runs.outcomes.values()):
        raise ValueError(
            f"no run has the metric {metric!r}" if metric else "no run has a loss: name a tag with --metric"
        )
    return _compared(runs, metric, by, labels, lesson, maximize=maximize)


class _Result(NamedTuple):
    """What was read of one run.

    Attributes:
        outcomes: what it reached, by tag; None if nothing could be read.
        configuration: its hyperparameters, as `configuration` gives them.
        left_out: what could not be read: (name, reason).
        label: "good", "bad" or "".
        faults: the faults of its files.
    """

    outcomes: dict[str, Outcome] | None
    configuration: dict[str, Value]
    left_out: list[tuple[str, str]]
    label: str = ""
    faults: tuple[Fault, ...] = ()


@dataclass(frozen=True)
class _Reading:
    """Read one run, in this process or another."""

    config: Config
    metric: str | None
    maximize: bool
    by: tuple[str, ...] = ()

    def expecting(self, runs: Sequence[RunFiles]) -> AbstractContextManager[object]:
        """While this context lasts, these runs will be read in this order."""
        return expecting_runs(runs)

    def __call__(self, files: RunFiles) -> _Result:
        run, failures = read_readable(files.name, files.files)
        left_out = [(files.name, failure.reason) for failure in (*files.failures, *failures)]
        if run is None or has_incident(run):  # which is an excerpt of another run
            return _Result(None, {}, left_out)
        signals = Signals(files.name, run, table_of(self.config.tags, run.tags, self.config.logger(files.name)))
        # What behaves like a loss in one run need not in another one, which is compared by it all the same.
        compared = signals.of(*LOSSES, "auxiliary_loss")
        compared += [signals.all[tag] for tag in (self.metric,) if tag in signals.all]
        main = main_losses(signals)
        outcomes = {
            signal.tag: outcome_of(signal, maximize=self.maximize, main=signal.tag in main) for signal in compared
        }
        return _Result(outcomes, configuration(files.name, run, self.by), left_out, label_of(run), run.faults)


class _Runs(NamedTuple):
    """What was read of all runs, by name; what was left out: (name, reason); and all faults."""

    outcomes: dict[str, dict[str, Outcome]]
    configurations: dict[str, dict[str, Value]]
    labels: dict[str, str]
    left_out: list[tuple[str, str]]
    faults: list[Fault]


def _gathered(results: Mapping[str, _Result], stated: Table, metric: str | None) -> _Runs:
    """All runs; what the table states of one goes before what its name and the hparams dashboard do.

    A run without losses and the metric gives its hyperparameters to the run above it: torch's add_hparams makes such
    runs.
    """
    left_out = [entry for result in results.values() for entry in result.left_out]
    labels = {name: result.label for name, result in results.items() if result.label}
    outcomes = {name: result.outcomes for name, result in results.items() if result.outcomes is not None}
    configurations = {name: {**results[name].configuration, **stated.rows.get(name, {})} for name in outcomes}
    for name, own in list(outcomes.items()):
        if metric in own or any(outcome.role in LOSSES for outcome in own.values()):
            continue
        above = name.rpartition("/")[0] or "."
        if name != above and outcomes.get(above) and configurations[name]:
            configurations[above] = {**configurations.pop(name), **configurations[above]}
            del outcomes[name]
    faults = [fault for result in results.values() for fault in result.faults]
    return _Runs(outcomes, configurations, labels, left_out, faults)


def _compared(
    runs: _Runs, metric: str, by: Sequence[str], labels: Mapping[str, str], lesson: Lesson | None, *, maximize: bool
) -> Comparison:
    measure = lesson.measure if lesson else "final"
    reached = {name: outcomes[metric] for name, outcomes in runs.outcomes.items() if metric in outcomes}
    validates = any(outcome.role == "validation_loss" for outcome in reached.values())
    trained = [name for name, outcome in reached.items() if validates and outcome.role == "loss"]
    for name in trained:  # where Keras wrote …/train and …/validation
        del reached[name]
    lacking = [name for name in runs.outcomes if name not in reached and name not in trained]
    stated = {name: runs.configurations[name] for name in reached}
    if not varying(stated.values()):
        stated = {name: {**own, "run": stem(name)} for name, own in stated.items()}
    members = []
    for name, outcome in reached.items():
        values = outcome.final, outcome.best, outcome.best_step
        verdict = _verdict(outcome, lesson, maximize=maximize)
        members.append(Member(name, stated[name], *values, labels.get(name, ""), verdict, outcome.curve))
    members.sort(key=lambda member: (ranked(getattr(member, measure), maximize=maximize), member.run))
    names = varying(member.hyperparameters for member in members)
    # A run that states nothing has its own name as the hyperparameter `run`.
    check_stated(by, [name for member in members for name in member.hyperparameters], hidden="run")
    groups = grouped(members, by or names, measure, maximize=maximize, seeds=not by or set(by) >= set(names))
    value = {member.run: ranked(getattr(member, measure), maximize=maximize) for member in members}
    marks = Counter(labels.values())
    taught = lesson and Taught(marks["good"], marks["bad"], lesson.auc, lesson.cut, lesson.candidates)
    return Comparison(
        metric,
        measure,
        maximize,
        tuple(by or names),
        tuple(members),
        groups,
        separations([member.hyperparameters for member in members], names, np.array(list(value.values()))),
        outliers(members, groups, measure),
        seeds_share([np.array([value[run] for run in group.runs]) for group in groups]),
        _identical({name: outcome.digest for name, outcome in reached.items()}),
        taught,
        (
            *runs.left_out,
            *((name, f"it has no {metric}") for name in lacking),
            *((name, f"its {metric} is a training loss, that of others a validation loss") for name in trained),
        ),
        tuple(runs.faults),
        len(runs.left_out),
    )


def _identical(digests: Mapping[str, bytes]) -> tuple[tuple[str, ...], ...]:
    """The runs with equal digests, at least two; an empty digest is equal to none."""
    groups: dict[bytes, list[str]] = {}
    for name, digest in digests.items():
        if digest:
            groups.setdefault(digest, []).append(name)
    return tuple(tuple(names) for names in groups.values() if len(names) > 1)


def _verdict(reached: Outcome, lesson: Lesson | None, *, maximize: bool) -> str:
    """What the marks teach of a run: "good" or "bad"; "" without marks."""
    if lesson is None:
        return ""
    own = ranked(getattr(reached, lesson.measure), maximize=maximize)
    return "good" if own <= ranked(lesson.cut, maximize=maximize) and own < np.inf else "bad"
