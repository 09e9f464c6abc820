"""GL204 and GL207: a pause that neither a checkpoint nor an evaluation nor a restart explains, and a slow decline."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from summaries.auditing.findings import Severity
from summaries.auditing.rules.rule import Hit, Hits, Limits, Ruleset, above, at_least, proportion, whole
from summaries.auditing.rules.timeline.steps import seconds
from summaries.auditing.statistics.recurring import recurring, thirds
from summaries.robust import changes, median, sigma, stretch_medians

if TYPE_CHECKING:
    from summaries.arrays import Bools, Floats, Ints
    from summaries.auditing.signals.signals import Signal, Signals
    from summaries.reading.series import Series

__all__ = ["RULES"]

RULES = Ruleset()
_WARM_UP_GAPS = 2  # the first gaps of a session contain compilation and the filling of queues
_LONGEST = 3, 50  # three gaps, or one in fifty: the longest, which need not be shorter than a stall
_OTHERS = 5  # times as long as the others, or as others of its kind: a gap that is no pause
_PAUSES_TOGETHER = 3  # a checkpoint, an evaluation and the start of an epoch may come one after the other
_LARGEST = 50.0  # logarithm of a factor that no gap has: beyond it, exp could overflow
_PARTS = 10  # stretches whose order shows a drift
_BY_THE_CLOCK = 5  # gaps at even distances in time; fewer may be chance, because each gap adds to the distances


class StallLimits(Limits):
    """The thresholds of stall."""

    factor: float = above(1, 20.0)  # of the usual gap
    min_secs: float = at_least(0, 30.0)  # seconds
    log_sigmas: float = above(0, 8.0)  # of the noise of gaps, in logarithms
    share: float = proportion(0.02)  # of the time of the run, from which on it matters
    min_points: int = whole(10, 4)  # of the tag with the most points


@RULES.add("GL204", "stall", Severity.WARNING, StallLimits)
def stall(run: Signals, limit: StallLimits) -> Hits:
    """Far more time than usual passed between two steps."""
    signal = run.longest
    if signal is None or len(signal) < limit.min_points:
        return
    gaps, usual, whole, at = _stalls(run, signal, limit)
    if not len(at):
        return
    step = signal.series.step
    worst, lost = int(at[np.argmax(gaps[at])]), float(gaps[at].sum())
    yield Hit(
        f"{seconds(float(gaps[worst]))} s passed between steps {step[worst]} and {step[worst + 1]}, usually"
        f" {seconds(usual)} s{'' if len(at) == 1 else f'; {len(at)} such gaps, {seconds(lost)} s in all'}",
        (signal.tag,),
        (step[at[0]], step[at[-1] + 1]),
        {"seconds": gaps[worst], "usual seconds": usual, "lost seconds": lost},
        len(at),
        None if lost >= limit.share * whole else Severity.INFO,
    )


def _stalls(run: Signals, signal: Signal, limit: StallLimits) -> tuple[Floats, float, float, Ints]:
    """The gaps between the points of a tag, the usual one and their sum, in seconds; and which are stalls, by index."""
    times, step = signal.series.wall_time, signal.series.step
    gaps = _gaps(times)
    if not (gaps > limit.min_secs).any():  # as in most runs
        return gaps, 0.0, 0.0, np.zeros(0, np.int64)
    distance = step[1:] - step[:-1]
    inside = np.isfinite(gaps) & (gaps > 0) & (distance >= 0)
    for cut in (0, *run.sessions(signal).tolist(), *signal.file_starts):
        inside[max(cut - 1, 0) : cut + _WARM_UP_GAPS] = False  # from the end of one session to the start of the next
    where = np.flatnonzero(inside)
    none = gaps, 0.0, 0.0, where[:0]
    if len(where) < limit.min_points:
        return none
    own, distance = gaps[where], distance[where]
    usual = median(own)
    # If steps are missing, the time that they took is not a stall.
    per_step = median(own / np.maximum(distance, 1))
    expected = np.maximum(usual, per_step * distance)
    long = own > limit.factor * expected
    lasting = long & (own > limit.min_secs)
    if not lasting.any():
        return none
    few, one_in = _LONGEST
    rank = -1 - max(few, len(own) // one_in)
    upper = np.partition(own, rank)[rank]
    spread = np.exp(min(limit.log_sigmas * sigma(np.log(own)), _LARGEST))
    stalled = lasting & (own > _OTHERS * upper) & (own > usual * spread)
    if stalled.any():  # shorter pauses, too, show what recurs
        even = _at_even_distances(signal.series, where[long], own[long], usual) & ~_in_a_row(where[long])
        stalled[long] &= ~even
        stalled &= own > _OTHERS * _pause_secs(run, signal, gaps)[where]
    return gaps, usual, float(own.sum()), where[stalled]


def _gaps(times: Floats) -> Floats:
    """The seconds from each time to the next; after the clock went back, only those beyond the latest time so far."""
    gaps = changes(times)
    if not (gaps < 0).any():
        return gaps
    latest = np.fmax.accumulate(np.where(np.isfinite(times), times, -np.inf))[:-1]
    return np.where(times[1:] > latest, gaps - (latest - times[:-1]), gaps)


def _in_a_row(where: Ints) -> Bools:
    """Which long gaps, by index, follow each other closely and in numbers: that is a slow machine, not its pauses."""
    group = np.cumsum(np.diff(where, prepend=where[:1]) > _WARM_UP_GAPS)
    numbers: Ints = np.bincount(group)
    return numbers[group] > _PAUSES_TOGETHER


def _pause_secs(run: Signals, signal: Signal, gaps: Floats) -> Floats:
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


def _turns(epoch: Series) -> Floats:
    """Just before the first points of epochs, in seconds since the epoch."""
    at = np.flatnonzero(np.diff(np.floor(epoch.value)) > 0) + 1
    return np.asarray(np.nextafter(epoch.wall_time[at], -np.inf))


def _at_even_distances(series: Series, where: Ints, secs: Floats, usual: float) -> Bools:
    """Which of these gaps recur after a fixed number of steps or seconds, like checkpoints."""
    step, times = series.step.astype(float), series.wall_time
    position, distance = step[where + 1] - step[0], median(np.diff(step)[where])
    if thirds(position, secs, distance):
        return np.ones(len(where), bool)
    return recurring(position, secs, distance) | recurring(times[where] - times[0], secs, 3 * usual, _BY_THE_CLOCK)


class SlowingDownLimits(Limits):
    """The thresholds of slowing-down."""

    factor: float = above(1, 1.5)  # from the first tenth of the run to the last
    tau: float = proportion(0.8)  # Kendall's, of the times of ten stretches with their order
    min_points: int = whole(200, 20)  # of the tag with the most points


@RULES.add("GL207", "slowing-down", Severity.INFO, SlowingDownLimits)
def slowing_down(run: Signals, limit: SlowingDownLimits) -> Hits:
    """A step takes longer and longer, from the start of the run to its end."""
    signal = run.longest
    if signal is None or len(signal.latest) < limit.min_points:
        return
    series = signal.latest
    steps, secs = np.diff(series.step), np.diff(series.wall_time)
    fine = (steps > 0) & np.isfinite(secs) & (secs >= 0)
    if np.count_nonzero(fine) < limit.min_points / 2:
        return
    pace = stretch_medians(secs[fine] / steps[fine], _PARTS)
    if not 0 < limit.factor * pace[0] < pace[-1] or _tau(pace) < limit.tau:
        return
    if 2 * (pace[2:] - pace[:-2]).max() > pace[-1] - pace[0]:  # at once: something was changed
        return
    yield Hit(
        f"a step takes {pace[0]:.3g} s at first and {pace[-1]:.3g} s in the end; it became slower all along",
        (signal.tag,),
        series.step,
        {"first seconds": pace[0], "last seconds": pace[-1], "factor": pace[-1] / pace[0]},
    )


def _tau(values: Floats) -> float:
    """Kendall's rank correlation with the order: the share of pairs that rise, less that of pairs that fall."""
    first, second = np.triu_indices(len(values), 1)
    return float(np.sign(values[second] - values[first]).mean())
