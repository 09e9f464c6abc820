"""From a directory to a comparison: read each run, keep what it reached, and put the runs beside each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from summaries.auditing.comparison.groups import grouped, outliers
from summaries.auditing.comparison.hyperparameters import Table, from_name, is_seed, read_table, stem, varying
from summaries.auditing.comparison.labels import Lesson, learnt, marked
from summaries.auditing.comparison.outcomes import LOSSES, Outcome, chosen, main_losses, outcome, ranked
from summaries.auditing.comparison.results import Comparison, Member, Taught
from summaries.auditing.comparison.separation import seeds_share, separations
from summaries.auditing.discovery import jobs_for, read_what_can_be, runs_below
from summaries.auditing.signals.incidents import has_incident
from summaries.auditing.signals.ranks import jobs as ranked_jobs
from summaries.auditing.signals.signals import Signals
from summaries.auditing.signals.tags import table_of
from summaries.execution.tasks import Died, run_tasks
from summaries.reading.annotations import label_of
from summaries.storage.protocols import expecting

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from concurrent.futures import Executor
    from contextlib import AbstractContextManager
    from typing import Unpack

    from summaries.auditing.comparison.results import Value
    from summaries.auditing.config import Config
    from summaries.auditing.discovery import RunFiles
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
    known = read_table(str(table)) if table is not None else Table()
    found = {run.name: run for run in runs_below(path, **access)}
    ranks = {rank for job in ranked_jobs(found, config.ranks) for rank in job[1:]}  # the first one speaks for its job
    read = _Read(known)
    compared = [run for name, run in found.items() if name not in ranks]
    processes = False
    if executor is None:
        jobs, processes = jobs_for(compared, jobs, processes=True)
    task = _Task(config, metric, maximize)
    read.all(compared, _results(task, compared, jobs, executor, processes=processes), on_run)
    read.settle()
    labels = marked(read.outcomes, {**read.labels, **known.labels}, good, bad)
    lesson = None
    if known.labels or good or bad or len(set(labels.values())) > 1:  # runs may all be labelled alike
        tags = dict.fromkeys(tag for one in read.outcomes.values() for tag, had in one.items() if had.role in LOSSES)
        lesson = learnt(read.outcomes, labels, [metric] if metric else list(tags), maximize=maximize)
        metric = lesson.metric
    metric = metric or chosen(list(read.outcomes.values()))
    if not any(metric in own for own in read.outcomes.values()):
        raise ValueError(
            f"no run has the metric {metric!r}" if metric else "no run has a loss: name a tag with --metric"
        )
    return _compared(read, metric, by, labels, lesson, maximize=maximize)


class _Reached(NamedTuple):
    """What one run reached, by tag; its hyperparameters, by its name and the dashboard; what is left out; its label.

    The outcomes are None if nothing could be read.
    """

    outcomes: dict[str, Outcome] | None
    configuration: dict[str, Value]
    left_out: list[tuple[str, str]]
    label: str = ""


@dataclass(frozen=True)
class _Task:
    """Read one run, in this process or another."""

    config: Config
    metric: str | None
    maximize: bool

    def expecting(self, runs: Sequence[RunFiles]) -> AbstractContextManager[object]:
        """While this context lasts, these runs will be read in this order."""
        return expecting([file for run in runs for file in run.files])

    def __call__(self, files: RunFiles) -> _Reached:
        run, failures = read_what_can_be(files.name, files.files)
        left_out = [(files.name, failure.reason) for failure in (*files.failures, *failures)]
        if run is None or has_incident(run):  # which is an excerpt of another run
            return _Reached(None, {}, left_out)
        signals = Signals(files.name, run, table_of(self.config.tags, run.tags, self.config.logger(files.name)))
        wanted = signals.of(*LOSSES) + [signals.all[tag] for tag in (self.metric,) if tag in signals.all]
        main = main_losses(signals)
        reached = {one.tag: outcome(one, maximize=self.maximize, main=one.tag in main) for one in wanted}
        return _Reached(reached, {**run.hparams, **from_name(files.name)}, left_out, label_of(run))


def _results(
    task: _Task, runs: Sequence[RunFiles], jobs: int | None, executor: Executor | None, *, processes: bool
) -> Iterator[tuple[RunFiles, _Reached]]:
    """Each run with what it reached, in the order in which they are done."""
    done = run_tasks(task, runs, executor=executor, jobs=jobs, processes=processes, size=lambda run: run.size)
    for run, result in done:
        if isinstance(result, Died):
            yield run, _Reached(None, {}, [(run.name, result.reason)])
        else:
            yield run, result


class _Read:
    """What was read of all runs: `outcomes`, `configurations`, `labels`, and `left_out`, (name, reason)."""

    def __init__(self, known: Table) -> None:
        self._known = known
        self.outcomes: dict[str, dict[str, Outcome]] = {}
        self.configurations: dict[str, dict[str, Value]] = {}
        self.labels: dict[str, str] = {}
        self.left_out: list[tuple[str, str]] = []

    def all(
        self,
        runs: Sequence[RunFiles],
        results: Iterable[tuple[RunFiles, _Reached]],
        on_run: Callable[[str, object], object],
    ) -> None:
        """Read all runs; what the table says goes before the name, and the name before the hparams dashboard."""
        reached = {}
        for run, result in results:
            reached[run.name] = result
            on_run(run.name, None)
        for name in (run.name for run in runs):
            outcomes, configuration, left_out, label = reached[name]
            self.left_out += left_out
            if label:
                self.labels[name] = label
            if outcomes is not None:
                self.outcomes[name] = outcomes
                self.configurations[name] = {**configuration, **self._known.rows.get(name, {})}

    def settle(self) -> None:
        """Give the hyperparameters of a run without losses to the run above it: torch's add_hparams makes such runs."""
        for name in [name for name, own in self.outcomes.items() if not own]:
            above = name.rpartition("/")[0] or "."
            if name != above and self.outcomes.get(above) and self.configurations[name]:
                self.configurations[above] = {**self.configurations.pop(name), **self.configurations[above]}
                del self.outcomes[name]


def _compared(
    read: _Read, metric: str, by: Sequence[str], labels: Mapping[str, str], lesson: Lesson | None, *, maximize: bool
) -> Comparison:
    measure = lesson.measure if lesson else "final"
    having = [name for name, own in read.outcomes.items() if metric in own]
    roles = {read.outcomes[name][metric].role for name in having}
    role = next((role for role in LOSSES if role in roles), "")  # where Keras wrote …/train and …/validation
    having = [name for name in having if not role or read.outcomes[name][metric].role == role]
    stated = {name: read.configurations[name] for name in having}
    if not varying(stated.values()):
        stated = {name: {**own, "run": stem(name)} for name, own in stated.items()}
    members = [_member(name, stated[name], read.outcomes[name][metric], labels, lesson, maximize) for name in having]
    members.sort(key=lambda one: (ranked(getattr(one, measure), maximize=maximize), one.run))
    names = varying(member.hyperparameters for member in members)
    _check(by, members)
    groups = grouped(members, by or names, measure, maximize=maximize, seeds=not by or set(by) >= set(names))
    value = {member.run: ranked(getattr(member, measure), maximize=maximize) for member in members}
    taught = lesson and Taught(
        sum(label == "good" for label in labels.values()), sum(label == "bad" for label in labels.values()), lesson.auc,
        lesson.cut, lesson.candidates,
    )  # fmt: skip
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
        _identical({name: read.outcomes[name][metric].digest for name in having}),
        taught,
        (*read.left_out, *((name, f"it has no {metric}") for name in read.outcomes if name not in having)),
    )


def _identical(digests: Mapping[str, bytes]) -> tuple[tuple[str, ...], ...]:
    """The runs with equal digests, at least two; an empty digest is equal to none."""
    found: dict[bytes, list[str]] = {}
    for name, digest in digests.items():
        if digest:
            found.setdefault(digest, []).append(name)
    return tuple(tuple(names) for names in found.values() if len(names) > 1)


def _member(
    name: str,
    configuration: Mapping[str, Value],
    reached: Outcome,
    labels: Mapping[str, str],
    lesson: Lesson | None,
    maximize: bool,
) -> Member:
    verdict = ""
    if lesson:
        own = ranked(getattr(reached, lesson.measure), maximize=maximize)
        verdict = "good" if own <= ranked(lesson.cut, maximize=maximize) and own < np.inf else "bad"
    return Member(
        name, configuration, reached.final, reached.best, reached.best_step, labels.get(name, ""), verdict,
        reached.curve,
    )  # fmt: skip


def _check(by: Sequence[str], members: Sequence[Member]) -> None:
    known = dict.fromkeys(name for member in members for name in member.hyperparameters)
    for name in by:
        if name not in known:
            known.pop("run", None)  # what runs have that state nothing
            there = ", ".join(one for one in known if not is_seed(one)) or "none"
            raise ValueError(f"no run states the hyperparameter {name!r}; stated: {there}")
