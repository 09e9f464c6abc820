"""GL201 to GL203, GL205 and GL206: the order of steps and wall times, missing steps, and restarts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from summaries.auditing.findings import Severity
from summaries.auditing.rules.rule import Hit, Hits, Limits, Ruleset, above, at_least, proportion, whole
from summaries.auditing.rules.timeline.from_scratch import from_scratch
from summaries.errors import FaultKind
from summaries.robust import changes
from summaries.words import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from summaries.arrays import Ints
    from summaries.auditing.signals.signals import Signal, Signals

__all__ = ["RULES", "seconds"]

RULES = Ruleset()


def _clearest(points: Iterable[tuple[Signal, Ints]]) -> Iterator[tuple[Signal, Ints, int]]:
    """The tag that shows something most often, if any does: its signal, those points, and how many tags show it.

    Args:
        points: each signal with the indices of its points that show it.
    """
    showing = [(signal, at) for signal, at in points if len(at)]
    if showing:
        yield *max(showing, key=lambda pair: len(pair[1])), len(showing)


def _in_tags(count: int) -> str:
    return "" if count == 1 else f", in {count} tags"


class StepsGoBackLimits(Limits):
    """The thresholds of steps-go-back."""

    max_share: float = proportion(0.05)  # of the points: a tag that goes back more often is written out of order


@RULES.add("GL201", "steps-go-back", Severity.WARNING, StepsGoBackLimits)
def steps_go_back(run: Signals, limit: StepsGoBackLimits) -> Hits:
    """Steps go back, and there is no session start to mark a restart."""
    drops = [(signal, _unmarked_drops(run, signal)) for signal in run.timed.values()]
    restarts = [(signal, at) for signal, at in drops if not _by_habit(signal, at, limit)]
    for signal, at, tags in [*_clearest(restarts), *_clearest(drops)][:1]:
        step = signal.series.step
        before, after = step[at[0] - 1], step[at[0]]
        habit = _by_habit(signal, at, limit)
        begins_file = np.isin(at, signal.file_starts)
        how, so = "", "; two sessions overlap, and TensorBoard draws both"
        if habit:
            how, so = ", as where values are written out of order", ""
        elif begins_file.all():
            how = ", where another file begins"
        elif not begins_file.any():
            how, so = " within a file", "; TensorBoard draws the parts over one another"
        others = [other.tag for other, at in drops if len(at) and other is not signal]
        yield Hit(
            f"{signal.tag}: the step goes back from {before} to {after}{how}{_times(len(at))}{_in_tags(tags)}{so}",
            (signal.tag, *others),
            (step[at].min(), step[at - 1].max()),
            {"from": before, "to": after, "tags": tags},
            len(at),
            Severity.INFO if habit else None,
        )


def _by_habit(signal: Signal, at: Ints, limit: StepsGoBackLimits) -> bool:
    """Whether a tag goes back a little again and again: threads write late. A restart begins a file, or the steps."""
    if not len(at):
        return False
    step = signal.series.step
    within = np.setdiff1d(at, signal.file_starts)
    often = len(within) > max(1, limit.max_share * len(signal))
    return bool(often and np.median(step[within]) > step.min())


def _unmarked_drops(run: Signals, signal: Signal) -> Ints:
    """The points, by index, whose step is lower than the one before, within a session.

    Two points on each side make a course. A single one may be a test, for example of the best checkpoint.
    """
    step = signal.series.step
    at = np.flatnonzero(step[1:] < step[:-1]) + 1
    if not len(at):
        return at
    marks = dict(signal.series.restarts)
    marked = [index for index in at.tolist() if index in marks and marks[index] <= step[index]]
    concurrent = run.sessions(signal) if run.concurrent_files else np.zeros(0, np.int64)
    explained = {*marked, *(cut for cut in concurrent.tolist() if cut not in marks)}
    ends = np.diff(np.concatenate([[0], at, [len(step)]]))
    course = (ends[:-1] > 1) & (ends[1:] > 1)
    return np.array([index for index in at[course].tolist() if index not in explained], np.int64)


def _and_so(count: int, what: str) -> str:
    """How many others there are."""
    return f"; the same for {count} other {what}{'s' * (count > 1)}" if count else ""


def seconds(secs: float) -> str:
    """A time in words, without a unit."""
    return f"{secs:,.0f}" if secs >= 1000 else f"{secs:.3g}"  # noqa: PLR2004 - no fractions there


def _times(count: int) -> str:
    return "" if count == 1 else f", {count} times"


class ConflictingStepsLimits(Limits):
    """The thresholds of conflicting-steps."""

    tolerance: float = at_least(0, 1e-6)  # of the larger of two values of one step


@RULES.add("GL202", "conflicting-steps", Severity.INFO, ConflictingStepsLimits)
def conflicting_steps(run: Signals, limit: ConflictingStepsLimits) -> Hits:
    """A step has several different values, one after the other."""
    conflicts = ((signal, _conflicts(run, signal, limit.tolerance)) for signal in run.timed.values())
    for signal, at, tags in _clearest(conflicts):
        steps = np.unique(signal.series.step[at])
        yield Hit(
            f"{signal.tag}: step {steps[0]} was logged more than once, with different values"
            f"{_and_so(len(steps) - 1, 'step')}{_in_tags(tags)}",
            (signal.tag,),
            steps,
            {"steps": len(steps), "value": signal.series.value[at[0]], "tags": tags},
            len(steps),
        )


def _conflicts(run: Signals, signal: Signal, tolerance: float) -> Ints:
    """The points, by index, whose step is that of the point before, and whose value is another, within a session."""
    step, value = signal.series.step, signal.series.value
    same = step[1:] == step[:-1]
    if not same.any():
        return np.zeros(0, np.int64)
    same[run.sessions(signal) - 1] = False
    same[[cut - 1 for cut in signal.file_starts if 0 < cut < len(step)]] = False  # a restart, or a test after it
    a, b = value[1:], value[:-1]
    near = (a == b) | (np.isnan(a) & np.isnan(b)) | (np.abs(a - b) <= tolerance * np.maximum(np.abs(a), np.abs(b)))
    return np.flatnonzero(same & ~near) + 1


class WallTimeGoesBackLimits(Limits):
    """The thresholds of wall-time-goes-back."""

    tolerance_secs: float = at_least(0, 0.128)  # seconds


@RULES.add("GL203", "wall-time-goes-back", Severity.WARNING, WallTimeGoesBackLimits)
def wall_time_goes_back(run: Signals, limit: WallTimeGoesBackLimits) -> Hits:
    """The clock went back, or a wall time is not finite."""
    drops = ((signal, _clock_drops(run, signal, limit.tolerance_secs)) for signal in run.timed.values())
    for signal, at, tags in _clearest(drops):
        times, step = signal.series.wall_time, signal.series.step
        secs = float((times[at - 1] - times[at]).max())
        yield Hit(
            f"{signal.tag}: the wall time goes back by {'up to ' * (len(at) > 1)}{seconds(secs)} s{_times(len(at))}"
            f"{_in_tags(tags)}",
            (signal.tag,),
            (step[at].min(), step[at].max()),
            {"seconds": secs, "tags": tags},
            len(at),
        )
    yield from _not_finite(run)


def _not_finite(run: Signals) -> Hits:
    """Find wall times that are NaN or infinite: of points, or, if there are none, of other events."""
    points = ((signal, np.flatnonzero(~np.isfinite(signal.series.wall_time))) for signal in run.timed.values())
    faults = [fault for fault in run.run.faults if fault.kind is FaultKind.NON_FINITE_WALL_TIME]
    for signal, at, tags in _clearest(points):
        faults = []
        got, steps = str(signal.series.wall_time[at[0]]), signal.series.step[at]
        yield Hit(
            f"{signal.tag}: the wall time of step {steps[0]} is not finite: {got}{_and_so(len(at) - 1, 'point')}"
            f"{_in_tags(tags)}",
            (signal.tag,),
            (steps.min(), steps.max()),
            {"got": got, "tags": tags},
            len(at),
        )
    for first in faults[:1]:  # of events without scalars
        yield Hit(
            f"{first.path}: the wall time of record {first.record} is not finite: {first.got}"
            f"{_and_so(len(faults) - 1, 'record')}",
            evidence={"got": first.got, "file": first.path, "record": first.record},
            count=len(faults),
        )


def _clock_drops(run: Signals, signal: Signal, tolerance_secs: float) -> Ints:
    times = signal.series.wall_time
    at = (changes(times) < -tolerance_secs).nonzero()[0] + 1
    if not len(at):
        return at
    at = at[np.isfinite(times[at]) & np.isfinite(times[at - 1])]
    if run.concurrent_files:
        at = at[~np.isin(at, run.sessions(signal))]
    return at


class MissingStepsLimits(Limits):
    """The thresholds of missing-steps."""

    min_share: float = proportion(0.8)  # of the distances that are the usual one
    min_points: int = whole(10, 2)  # of a tag


@RULES.add("GL205", "missing-steps", Severity.INFO, MissingStepsLimits)
def missing_steps(run: Signals, limit: MissingStepsLimits) -> Hits:
    """Steps are logged at even distances, and some are missing."""
    gaps = ((signal, _gaps(signal, limit)) for signal in run.timed.values() if len(signal) >= limit.min_points)
    for signal, at, tags in _clearest(gaps):
        step = signal.latest.step
        usual = int(np.median(np.diff(step)))
        missing = int((np.diff(step)[at] // usual - 1).sum())
        every = "every step" if usual == 1 else f"every {usual} steps"
        first = int(step[at[0]])
        lacks = f"that of step {first + usual} is" if missing == 1 else f"{missing} are"
        after = "" if missing == 1 else f", the first after step {first}"
        yield Hit(
            f"{signal.tag}: points are logged {every}, but {lacks} missing{after}{_in_tags(tags)}",
            (signal.tag,),
            (step[at[0]] + usual, step[at[-1] + 1] - usual),
            {"missing": missing, "usual distance": usual, "tags": tags},
            len(at),
        )


def _gaps(signal: Signal, limit: MissingStepsLimits) -> Ints:
    """The points, by index, after which steps are missing."""
    step = signal.latest.step
    distance = step[1:] - step[:-1]
    if not len(distance) or (distance == distance[0]).all():  # as in most runs, and a median takes time
        return np.zeros(0, np.int64)
    usual = int(np.median(distance))
    longer = distance >= 2 * usual
    if usual < 1 or not longer.any() or np.mean(distance == usual) < limit.min_share:
        return np.zeros(0, np.int64)
    at = np.flatnonzero(longer)
    together = len(at) > 1 and at[-1] - at[0] == len(at) - 1
    begins_or_ends = at[0] == 0 or at[-1] == len(longer) - 1
    return at[:0] if together and begins_or_ends else at  # there, another distance is the usual one


class RestartLimits(Limits):
    """The thresholds of restart."""

    sigmas: float = above(0, 6.0)  # of the noise of a point: a loss that goes back further was not restored


@RULES.add("GL206", "restart", Severity.INFO, RestartLimits)
def restart(run: Signals, limit: RestartLimits) -> Hits:
    """The run was restarted: there is a session start, or another file that continues it."""
    signal = run.longest
    if signal is None:
        return
    # A writer may write two marks in a row, because TensorBoard's Python reader ignores the first one of a run.
    marks = dict(mark for mark in signal.series.restarts if mark[0] > 0)
    files = dict.fromkeys(cut for cut in signal.file_starts if 0 < cut < len(signal) and not run.concurrent_files)
    step = signal.series.step
    starts = {cut: int(step[cut]) for cut in files} | marks
    if not starts or (not marks and len(_unmarked_drops(run, signal))):  # then GL201 reports it
        return
    again = np.zeros(len(step), bool)
    for cut, start in starts.items():
        again[:cut] |= step[:cut] >= start
    superseded = int(np.count_nonzero(again))
    steps = [starts[cut] for cut in sorted(starts)]
    when = f"at step {steps[0]}" if len(steps) == 1 else f"{len(steps)} times, first at step {steps[0]}"
    what = counted(superseded, "point") if superseded else "no points"
    anew = "" if superseded else from_scratch(run, steps, limit.sigmas)
    explained = run.of("loss", "validation_loss") if anew else ()
    yield Hit(
        f"restarted {when}; {what} of {signal.tag} {'was' if superseded == 1 else 'were'} superseded{anew}",
        tuple(dict.fromkeys((signal.tag, *(one.tag for one in explained)))),
        (min(steps), max(steps)),
        {"superseded": superseded, "marked": len(marks)},
        len(steps),
        Severity.WARNING if anew else None,
    )
