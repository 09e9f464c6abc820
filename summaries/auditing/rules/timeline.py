"""GL2xx: steps and wall times, and how a run was interrupted."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from summaries.auditing.findings import Severity
from summaries.auditing.rules.from_scratch import from_scratch
from summaries.auditing.rules.rule import Hit, Ruleset, above, at_least, fraction, whole
from summaries.auditing.statistics.recurring import recurring, thirds
from summaries.auditing.statistics.robust import changes, median, sigma
from summaries.errors import FaultKind
from summaries.words import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from summaries.auditing.rules.rule import Limits
    from summaries.auditing.signals.signals import Signal, Signals
    from summaries.reading.series import Series

__all__ = ["RULES"]

RULES = Ruleset()
_WARM_UP_GAPS = 2  # the first gaps of a session contain compilation and the filling of queues
_PAUSES_TOGETHER = 3  # a checkpoint, an evaluation and the start of an epoch may come one after the other
_BY_THE_CLOCK = 5  # gaps at even distances in time; fewer may be chance, because each gap adds to the distances


class _Worst(NamedTuple):
    """The tag that shows something most often: its signal, the points by index, and how many tags show it."""

    signal: Signal
    at: NDArray[np.int64]
    tags: int


def _worst(found: list[tuple[Signal, NDArray[np.int64]]]) -> _Worst | None:
    shown = [(signal, at) for signal, at in found if len(at)]
    if not shown:
        return None
    signal, at = max(shown, key=lambda pair: len(pair[1]))
    return _Worst(signal, at, len(shown))


def _in_tags(count: int) -> str:
    return "" if count == 1 else f", in {count} tags"


@RULES.add("GL201", "steps-go-back", Severity.WARNING, max_share=fraction(0.05))
def steps_go_back(run: Signals, limit: Limits) -> Iterator[Hit]:
    """Steps go back, and there is no session start to mark a restart."""
    found = [(signal, _unmarked_drops(run, signal)) for signal in run.timed.values()]
    once = [(signal, at) for signal, at in found if not _by_habit(signal, at, limit)]
    worst = _worst(once) or _worst(found)
    if worst is None:
        return
    signal, at, tags = worst
    step = signal.series.step
    before, after = int(step[at[0] - 1]), int(step[at[0]])
    habit = _by_habit(signal, at, limit)
    files, places = set(signal.file_starts), set(at.tolist())
    how, so = "", "; two sessions overlap, and TensorBoard draws both"
    if habit:
        how, so = ", as where values are written out of order", ""
    elif places <= files:
        how = ", where another file begins"
    elif not places & files:
        how, so = " within a file", "; TensorBoard draws the parts over one another"
    yield Hit(
        f"{signal.tag}: the step goes back from {before} to {after}{how}{_times(len(at))}{_in_tags(tags)}{so}",
        signal.tag,
        (int(step[at].min()), int(step[at - 1].max())),
        {"from": before, "to": after, "tags": tags},
        len(at),
        Severity.INFO if habit else None,
        tuple(other.tag for other, drops in found if len(drops) and other is not signal),
    )


def _by_habit(signal: Signal, at: NDArray[np.int64], limit: Limits) -> bool:
    """Whether a tag goes back a little again and again: threads write late. A restart begins a file, or the steps."""
    if not len(at):
        return False
    step = signal.series.step
    within = np.setdiff1d(at, signal.file_starts)
    often = len(within) > max(1, limit["max_share"] * len(signal))
    return bool(often and np.median(step[within]) > step.min())


def _unmarked_drops(run: Signals, signal: Signal) -> NDArray[np.int64]:
    """The points, by index, whose step is lower than the one before, within a session.

    Two points on each side make a course. A single one may be a test, for example of the best checkpoint.
    """
    at = _drops(signal.series.step)
    if not len(at):
        return at
    step = signal.series.step
    marks = dict(signal.series.restarts)
    marked = [index for index in at.tolist() if index in marks and marks[index] <= step[index]]
    concurrent = run.sessions(signal) if run.concurrent_files else np.zeros(0, np.int64)
    explained = {*marked, *(cut for cut in concurrent.tolist() if cut not in marks)}
    ends = np.diff(np.concatenate([[0], at, [len(step)]]))
    course = (ends[:-1] > 1) & (ends[1:] > 1)
    return np.array([index for index in at[course].tolist() if index not in explained], np.int64)


def _drops(step: NDArray[np.int64]) -> NDArray[np.int64]:
    """The points, by index, whose step is lower than the one before."""
    return (step[1:] < step[:-1]).nonzero()[0] + 1


def _and_so(count: int, what: str) -> str:
    """How many others there are."""
    return f"; the same for {count} other {what}{'s' * (count > 1)}" if count else ""


def _seconds(secs: float) -> str:
    return f"{secs:,.0f}" if secs >= 1000 else f"{secs:.3g}"  # noqa: PLR2004


def _times(count: int) -> str:
    return "" if count == 1 else f", {count} times"


@RULES.add("GL202", "conflicting-steps", Severity.INFO, tolerance=at_least(0, 1e-6))
def conflicting_steps(run: Signals, limit: Limits) -> Iterator[Hit]:
    """A step has several different values, one after the other."""
    found = [(signal, _conflicts(run, signal, limit["tolerance"])) for signal in run.timed.values()]
    worst = _worst(found)
    if worst is None:
        return
    signal, at, tags = worst
    steps = np.unique(signal.series.step[at])
    yield Hit(
        f"{signal.tag}: step {steps[0]} was logged more than once, with different values"
        f"{_and_so(len(steps) - 1, 'step')}{_in_tags(tags)}",
        signal.tag,
        (int(steps[0]), int(steps[-1])),
        {"steps": len(steps), "value": float(signal.series.value[at[0]]), "tags": tags},
        len(steps),
    )


def _conflicts(run: Signals, signal: Signal, tolerance: float) -> NDArray[np.int64]:
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


@RULES.add("GL203", "wall-time-goes-back", Severity.WARNING, tolerance_secs=at_least(0, 0.128))
def wall_time_goes_back(run: Signals, limit: Limits) -> Iterator[Hit]:
    """The clock went back, or a wall time is not finite."""
    worst = _worst([(signal, _clock_drops(run, signal, limit["tolerance_secs"])) for signal in run.timed.values()])
    if worst is not None:
        signal, at, tags = worst
        times, step = signal.series.wall_time, signal.series.step
        secs = float((times[at - 1] - times[at]).max())
        yield Hit(
            f"{signal.tag}: the wall time goes back by {'up to ' * (len(at) > 1)}{_seconds(secs)} s{_times(len(at))}"
            f"{_in_tags(tags)}",
            signal.tag,
            (int(step[at].min()), int(step[at].max())),
            {"seconds": secs, "tags": tags},
            len(at),
        )
    yield from _not_finite(run)


def _not_finite(run: Signals) -> Iterator[Hit]:
    """Find wall times that are NaN or infinite: of points, or, if there are none, of other events."""
    worst = _worst([(signal, (~np.isfinite(signal.series.wall_time)).nonzero()[0]) for signal in run.timed.values()])
    faults = [fault for fault in run.run.faults if fault.kind is FaultKind.NON_FINITE_WALL_TIME]
    if worst is not None:
        signal, at, tags = worst
        got, steps = str(signal.series.wall_time[at[0]]), signal.series.step[at]
        yield Hit(
            f"{signal.tag}: the wall time of step {steps[0]} is not finite: {got}{_and_so(len(at) - 1, 'point')}"
            f"{_in_tags(tags)}",
            signal.tag,
            (int(steps.min()), int(steps.max())),
            {"got": got, "tags": tags},
            len(at),
        )
    elif faults:  # of events without scalars
        first = faults[0]
        yield Hit(
            f"{first.path}: the wall time of record {first.record} is not finite: {first.got}"
            f"{_and_so(len(faults) - 1, 'record')}",
            evidence={"got": first.got, "file": first.path, "record": first.record},
            count=len(faults),
        )


def _clock_drops(run: Signals, signal: Signal, tolerance_secs: float) -> NDArray[np.int64]:
    times = signal.series.wall_time
    at = (changes(times) < -tolerance_secs).nonzero()[0] + 1
    if not len(at):
        return at
    at = at[np.isfinite(times[at]) & np.isfinite(times[at - 1])]
    if run.concurrent_files:
        at = at[~np.isin(at, run.sessions(signal))]
    return at


@RULES.add(
    "GL204",
    "stall",
    Severity.WARNING,
    factor=above(1, 20.0),
    min_secs=at_least(0, 30.0),
    log_sigmas=above(0, 8.0),
    min_points=whole(10, 4),
)
def stall(run: Signals, limit: Limits) -> Iterator[Hit]:
    """Far more time than usual passed between two steps."""
    signal = run.longest
    if signal is None or len(signal) < limit["min_points"]:
        return
    gaps, usual, at = _stalls(run, signal, limit)
    if not len(at):
        return
    step = signal.series.step
    worst, lost = int(at[np.argmax(gaps[at])]), float(gaps[at].sum())
    yield Hit(
        f"{_seconds(float(gaps[worst]))} s passed between steps {step[worst]} and {step[worst + 1]}, usually"
        f" {_seconds(usual)} s{'' if len(at) == 1 else f'; {len(at)} such gaps, {_seconds(lost)} s in all'}",
        signal.tag,
        (int(step[at[0]]), int(step[at[-1] + 1])),
        {"seconds": float(gaps[worst]), "usual seconds": usual, "lost seconds": lost},
        len(at),
    )


def _stalls(run: Signals, signal: Signal, limit: Limits) -> tuple[NDArray[np.float64], float, NDArray[np.int64]]:
    """The gaps between the points of a tag and the usual gap, in seconds, and the indices of gaps that are stalls."""
    times, step = signal.series.wall_time, signal.series.step
    gaps = _gaps(times)
    if not (gaps > limit["min_secs"]).any():  # as in most runs
        return gaps, 0.0, np.zeros(0, np.int64)
    distance = step[1:] - step[:-1]
    inside = np.isfinite(gaps) & (gaps > 0) & (distance >= 0)
    for cut in (0, *run.sessions(signal).tolist(), *signal.file_starts):
        inside[max(cut - 1, 0) : cut + _WARM_UP_GAPS] = False  # from the end of one session to the start of the next
    where = np.flatnonzero(inside)
    none = gaps, 0.0, where[:0]
    if len(where) < limit["min_points"]:
        return none
    own, distance = gaps[where], distance[where]
    usual = median(own)
    # If steps are missing, the time that they took is not a stall.
    per_step = median(own / np.maximum(distance, 1))
    expected = np.maximum(usual, per_step * distance)
    long = own > limit["factor"] * expected
    lasting = long & (own > limit["min_secs"])
    if not lasting.any():
        return none
    upper = np.partition(own, -1 - max(3, len(own) // 50))[-1 - max(3, len(own) // 50)]
    spread = np.exp(min(limit["log_sigmas"] * sigma(np.log(own)), 50.0))
    stalled = lasting & (own > 5 * upper) & (own > usual * spread)
    if stalled.any():  # shorter pauses, too, show what recurs
        even = _at_even_distances(signal.series, where[long], own[long], usual) & ~_in_a_row(where[long])
        stalled[long] &= ~even
        stalled &= own > 5 * _pause_secs(run, signal, gaps)[where]
    return gaps, usual, where[stalled]


def _gaps(times: NDArray[np.float64]) -> NDArray[np.float64]:
    """The seconds from each time to the next; after the clock went back, only those beyond the latest time so far."""
    gaps = changes(times)
    if not (gaps < 0).any():
        return gaps
    latest = np.fmax.accumulate(np.where(np.isfinite(times), times, -np.inf))[:-1]
    return np.where(times[1:] > latest, gaps - (latest - times[:-1]), gaps)


def _in_a_row(where: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which long gaps, by index, follow each other closely and in numbers: that is a slow machine, not its pauses."""
    group = np.cumsum(np.diff(where, prepend=where[:1]) > _WARM_UP_GAPS)
    numbers: NDArray[np.int64] = np.bincount(group)
    return numbers[group] > _PAUSES_TOGETHER


def _pause_secs(run: Signals, signal: Signal, gaps: NDArray[np.float64]) -> NDArray[np.float64]:
    """For each gap in which an epoch or an evaluation ended, the usual length of such gaps in seconds; else 0."""
    times = signal.series.wall_time
    logged = [other.series.wall_time for other in run.timed.values() if 2 * len(other) < len(signal)]
    logged += [_turns(other.series) for other in run.of("housekeeping") if other.tag.rpartition("/")[2] == "epoch"]
    number = np.searchsorted(times, np.concatenate([np.zeros(0), *logged]), "right") - 1
    number = np.unique(number[(number >= 0) & (number < len(gaps))])
    secs = np.zeros(len(gaps))
    if np.isfinite(gaps[number]).any():
        secs[number] = np.nanmedian(gaps[number])
    return secs


def _turns(epoch: Series) -> NDArray[np.float64]:
    """Just before the first points of epochs, in seconds since the epoch."""
    at = np.flatnonzero(np.diff(np.floor(epoch.value)) > 0) + 1
    return np.asarray(np.nextafter(epoch.wall_time[at], -np.inf))


def _at_even_distances(
    series: Series, where: NDArray[np.int64], secs: NDArray[np.float64], usual: float
) -> NDArray[np.bool_]:
    """Which of these gaps recur after a fixed number of steps or seconds, like checkpoints."""
    step, times = series.step.astype(float), series.wall_time
    place, distance = step[where + 1] - step[0], median(np.diff(step)[where])
    if thirds(place, secs, distance):
        return np.ones(len(where), bool)
    return recurring(place, secs, distance) | recurring(times[where] - times[0], secs, 3 * usual, _BY_THE_CLOCK)


@RULES.add("GL205", "missing-steps", Severity.INFO, min_share=fraction(0.8), min_points=whole(10, 2))
def missing_steps(run: Signals, limit: Limits) -> Iterator[Hit]:
    """Steps are logged at even distances, and some are missing."""
    found = [(signal, _missing(signal, limit)) for signal in run.timed.values() if len(signal) >= limit["min_points"]]
    worst = _worst(found)
    if worst is None:
        return
    signal, at, tags = worst
    step = signal.latest.step
    usual = int(np.median(np.diff(step)))
    missing = int((np.diff(step)[at] // usual - 1).sum())
    every = "every step" if usual == 1 else f"every {usual} steps"
    yield Hit(
        f"{signal.tag}: points are logged {every}, but {missing} {'is' if missing == 1 else 'are'} missing, the first"
        f" after step {step[at[0]]}{_in_tags(tags)}",
        signal.tag,
        (int(step[at[0]]) + usual, int(step[at[-1] + 1]) - usual),
        {"missing": missing, "usual distance": usual, "tags": tags},
        len(at),
    )


def _missing(signal: Signal, limit: Limits) -> NDArray[np.int64]:
    step = signal.latest.step
    distance = step[1:] - step[:-1]
    if not len(distance) or (distance == distance[0]).all():  # as in most runs, and a median takes time
        return np.zeros(0, np.int64)
    usual = int(np.median(distance))
    longer = distance >= 2 * usual
    if usual < 1 or not longer.any() or np.mean(distance == usual) < limit["min_share"]:
        return np.zeros(0, np.int64)
    return np.flatnonzero(longer)


@RULES.add("GL206", "restart", Severity.INFO, sigmas=above(0, 6.0))
def restart(run: Signals, limit: Limits) -> Iterator[Hit]:
    """The run was restarted: there is a session start, or another file that continues it."""
    signal = run.longest
    if signal is None:
        return
    # A writer may write two marks in a row, because TensorBoard's Python reader ignores the first one of a run.
    marks = dict(mark for mark in signal.series.restarts if mark[0] > 0)
    files = dict.fromkeys(cut for cut in signal.file_starts if 0 < cut < len(signal) and not run.concurrent_files)
    step = signal.series.step
    starts = {cut: int(step[cut]) for cut in files} | marks
    if not starts or (not marks and len(_unmarked_drops(run, signal))):  # then GL201 tells it
        return
    superseded = len(signal) - len(signal.latest)
    places = [starts[cut] for cut in sorted(starts)]
    when = f"at step {places[0]}" if len(places) == 1 else f"{len(places)} times, first at step {places[0]}"
    what = counted(superseded, "point") if superseded else "no points"
    anew = "" if superseded else from_scratch(run, places, limit["sigmas"])
    yield Hit(
        f"restarted {when}; {what} of {signal.tag} {'was' if superseded == 1 else 'were'} superseded{anew}",
        signal.tag,
        (min(places), max(places)),
        {"superseded": superseded, "marked": len(marks)},
        len(places),
        Severity.WARNING if anew else None,
    )
