"""GL401 and GL402: all gradients together."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from summaries.auditing.claims import Extreme, Jump, Move, Point
from summaries.auditing.findings import Severity
from summaries.auditing.rules.gradients import overflows
from summaries.auditing.rules.progress import learns, learns_since
from summaries.auditing.rules.rule import Hit, Hits, Limits, Ruleset, above, proportion, whole
from summaries.auditing.statistics.excursions import Excursions, Peak
from summaries.reading.series import Series
from summaries.robust import OF_MEDIAN, TAIL_TELLS, Blocks, blocks, in_sigmas, median, sigma, since
from summaries.words import beside, counted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from summaries.arrays import Floats, Ints
    from summaries.auditing.signals.signals import Signal, Signals


__all__ = ["RULES"]

RULES = Ruleset("global_norm", "gradient_norm", of_moments=True)
_SHOW_OVERFLOWS = "nonfinite", "global_norm", "part_norm", "gradient_norm", "loss_scale"
_MANY = 4  # jumps: fewer may be accidents
_NEAR = 5  # points: jumps this close together are one event
_BLOCKS, _STRETCHES = 60, 200  # levels that a climb shows in; stretches that show a jump of several steps
_APART, _CLEARLY = 3, 1.25  # times as far out as all others, and as the least that counts: a jump that stands apart
_FURTHEST = 5  # times as far out as another jump: that one may be of the tail
_LONG, _LAST = 20, 3  # points that are enough for a level; points at the end of the run
_VISIBLE = 0.1  # of a climb, in logarithms: a point that is higher by as much is told, too
_AT_A_LEVEL = 0.02  # of a logarithm, that is 5 %: a value that is on a level
_AS_EVER = 0.1  # the probability of none at first, if jumps had always been as frequent


@RULES.add("GL401", "non-finite-gradient", Severity.ERROR, overflows.OverflowLimits, needs=_SHOW_OVERFLOWS)
def non_finite_gradient(run: Signals, limit: overflows.OverflowLimits) -> Hits:
    """Gradients have elements that are NaN or infinite."""
    showing = _non_finite(run.of("nonfinite", "global_norm", "part_norm")) or _non_finite(run.of("gradient_norm"))
    if not showing:
        yield from overflows.lost_scales(run)
        return
    lasting = [(signal, at) for signal, at in showing if not _overflows(run, signal, at, limit)]
    signal, at = max(lasting or showing, key=lambda pair: len(pair[1]))
    step = signal.standing.step[at]
    points = counted(len(signal.standing), "point")
    how, severity = "the run went on from them", Severity.INFO
    if run.of("loss_scale"):
        how = "the loss is scaled, and such steps are skipped"
    elif not lasting and _ends_there(run, signal, at):
        how, severity = "the run ends there", Severity.WARNING
    others = [other.tag for other, _ in (lasting or showing) if other is not signal]
    yield Hit(
        f"{signal.tag}: gradients are not finite at {len(at)} of {points}, first at step {step[0]}"
        f"{beside(others)}{'' if lasting else f'; {how}'}",
        (signal.tag, *others),
        step,
        {"points": len(at), "of": len(signal.standing), "tags": len(showing)},
        len(at),
        None if lasting else severity,
    )


def _ends_there(run: Signals, signal: Signal, at: Ints) -> bool:
    """Whether the last of these points is that of a signal, and the run logged nothing after it."""
    series = signal.standing
    if at[-1] != len(series) - 1:
        return False
    ends = [other.series for other in run.timed.values() if len(other)]
    return all(end.step[-1] <= series.step[-1] or end.wall_time[-1] <= series.wall_time[-1] for end in ends)


def _non_finite(signals: Iterable[Signal]) -> list[tuple[Signal, Ints]]:
    """Signals that show gradients that are not finite, and their points that do, by index."""
    points = []
    for signal in signals:
        value = signal.standing.value
        counts = signal.meaning.role == "nonfinite"
        points.append((signal, np.flatnonzero(~np.isfinite(value) | (counts & (value > 0)))))
    return [(signal, at) for signal, at in points if len(at)]


def _overflows(run: Signals, signal: Signal, at: Ints, limit: overflows.OverflowLimits) -> bool:
    """Whether gradients that are not finite are rare overflows, and losses are finite except at such steps."""
    points = len(signal.standing) + overflows.lowered(run, signal.standing.step[at])  # while a scale is found
    return overflows.are_few(at, points, limit) and all(
        overflows.skipped(run, loss.standing, limit) for loss in run.of("loss")
    )


class ExplodingNormLimits(Limits):
    """The thresholds of exploding-norm."""

    factor: float = above(1, 10.0)  # of an earlier level, or of the highest so far
    sigmas: float = above(0, 8.0)  # of the noise of a level, or of a point, in logarithms
    warm_up: float = proportion(0.05)  # of the run, which is not judged
    share: float = proportion(0.02)  # of the steps that recurring jumps make up
    min_points: int = whole(30, 20)  # of a norm


@RULES.add("GL402", "exploding-norm", Severity.ERROR, ExplodingNormLimits)
def exploding_norm(run: Signals, limit: ExplodingNormLimits) -> Hits:
    """The norm of the gradients climbs to many times what it was."""
    for event in _at_one_time(_explosions(run, limit)):
        spans = [_span(hit) for hit in event]
        severities = [_weight(run, hit) if hit.severity is None else hit.severity for hit in event]
        worst = max(range(len(event)), key=lambda i: (severities[i], event[i].evidence["factor"]))
        others = [hit.tags[0] for hit in event if hit is not event[worst]]
        yield replace(
            event[worst],
            message=(*event[worst].message, beside(others, "does")),
            tags=(*event[worst].tags, *others),
            steps=(min(first for first, _ in spans), max(last for _, last in spans)),
            severity=severities[worst],
        )


def _explosions(run: Signals, limit: ExplodingNormLimits) -> Hits:
    """One for each norm that climbs or jumps."""
    for signal in run.of("global_norm") or run.of("gradient_norm"):
        series = signal.finite
        positive = series.value > 0
        if np.count_nonzero(positive) < limit.min_points:
            continue
        series = Series(series.tag, series.step[positive], series.wall_time[positive], series.value[positive])
        log = np.log10(series.value)
        cut = blocks(log, min(_BLOCKS, len(log) // 5))
        yield from filter(None, (_climb(series, log, cut, limit) or _burst(run, series, log, cut, limit),))


def _at_one_time(hits: Iterable[Hit]) -> list[list[Hit]]:
    """Those that climb at the same time, and those that jump then: what one cause did to several layers."""
    events = list[list[Hit]]()
    for hit in sorted(hits, key=lambda hit: (_jumps(hit), _span(hit))):
        first, _ = _span(hit)
        if events and _jumps(events[-1][0]) == _jumps(hit) and first <= max(_span(other)[1] for other in events[-1]):
            events[-1].append(hit)
        else:
            events.append([hit])
    return events


def _jumps(hit: Hit) -> bool:
    """Whether it is about jumps, and not about a climb."""
    return "peak" in hit.evidence


def _span(hit: Hit) -> tuple[int, int]:
    """The first and the last step of one that is about steps."""
    assert hit.steps is not None
    return int(hit.steps[0]), int(hit.steps[-1])


def _weight(run: Signals, hit: Hit) -> Severity:
    """What a norm does to the loss: a climb is a note if that falls, and a warning if it does not rise.

    Jumps are a warning if it falls, and accidents if there are few, and it ends no higher than its median until then.
    """
    goes_on = learns_since(run, _span(hit)[0])
    if (goes_on or (goes_on is None and learns(run))) and not _jumps(hit):
        return Severity.INFO
    harmless = goes_on or (goes_on is None and run.objective is not None) or _was_an_accident(run, hit)
    return Severity.WARNING if harmless else Severity.ERROR


def _was_an_accident(run: Signals, hit: Hit) -> bool:
    """Whether the norm jumped a few times, and the objective ends no higher than its median until then."""
    if run.objective is None or not _jumps(hit) or hit.count >= _MANY:
        return False
    loss, (first, last) = run.objective.finite, _span(hit)
    before, after = loss.value[loss.step < first], loss.value[loss.step > last]
    return min(len(before), len(after)) >= _NEAR and median(after[-max(len(after) // 5, _NEAR) :]) <= median(before)


def _climb(series: Series, log: Floats, cut: Blocks, limit: ExplodingNormLimits) -> Hit | None:
    """Find a lasting rise: blocks whose median is far above an earlier one, and above all blocks before that one."""
    level = cut.median
    if cut.length < _LONG:
        level = np.append(level[:-1], _end(log, level[-1], cut.length))
    first = max(1, int(np.ceil(limit.warm_up * len(level))))
    after = level[first:]
    if len(after) < 3:  # noqa: PLR2004 - a trough, and two above it
        return None
    lowest = np.minimum.accumulate(after)
    trough = np.maximum.accumulate(np.where(after == lowest, np.arange(len(after)), 0))
    before_lowest = np.maximum.accumulate(level)[first + trough]
    error = float(np.median(cut.error)) * np.sqrt(2)
    beyond = np.maximum(lowest + np.log10(limit.factor), before_lowest + np.log10(_APART))
    wanted = np.maximum(beyond, lowest + limit.sigmas * error)
    high = after > wanted
    at_the_end = cut.length >= _LONG or 2 * after[-2] > lowest[-1] + wanted[-1]  # or the block before leads up to it
    lasting = np.flatnonzero(high & np.append(high[1:], at_the_end))
    if not len(lasting):
        return None
    k = int(lasting[0])
    top = k + int(np.argmax(after[k:]))
    low, peak = 10 ** float(lowest[k]), 10 ** float(after[top])
    bottom = int(cut.start[first + trough[k]])
    start = bottom + since(log[bottom : cut.start[first + k] + cut.length] > beyond[k], 0.5)
    stop = int(np.flatnonzero(high)[-1]) + first
    left = bottom + _nearest(log[bottom : max(start, bottom + 1)], float(lowest[k]))
    begin, end = max(start, int(cut.start[first + top])), int(cut.start[first + top]) + cut.length
    there = begin + _nearest(log[begin:end], float(after[top]))
    step, highest = series.step, left + int(np.argmax(log[left:]))
    climb = Move.of(series.tag, series, left, there, "climbs")
    higher = "; ", Extreme("", Point.of(series, highest), int(step[left]), int(step[-1]))
    return Hit(
        (climb, *(higher if log[highest] - log[there] > _VISIBLE * (log[there] - log[left]) else ())),
        (series.tag,),
        (step[start], step[cut.start[stop] + cut.length - 1]),
        {"level before": low, "peak level": peak, "factor": peak / low},
    )


def _nearest(log: Floats, level: float) -> int:
    """The index of the last point that is as near to a level as any, or nearly so."""
    away = np.abs(log - level)
    return int(np.flatnonzero(away <= away.min() + _AT_A_LEVEL)[-1])


def _end(log: Floats, level: float, length: int) -> float:
    """A lower bound for the end: one standard error below the median of the last block, or of the last few points.

    A climb that is still going on is highest there. The error is that of points about a straight line.
    """
    error = OF_MEDIAN * sigma(np.diff(log, 2)) / np.sqrt(6)
    return float(max(level - error / np.sqrt(length), median(log[-_LAST:]) - error / np.sqrt(_LAST)))


def _burst(run: Signals, series: Series, log: Floats, cut: Blocks, limit: ExplodingNormLimits) -> Hit | None:
    """Find steps whose norm is far above every level of the run, but which are too few for the medians of `_climb`."""
    usual = _highest_before(cut, len(log))
    begin = int(np.ceil(limit.warm_up * len(log)))
    excess = log[begin:] - usual[begin:]
    if excess.max(initial=-np.inf) < np.log10(limit.factor):
        return None
    peaks = _far_above(log, usual, Excursions.of(log, limit.sigmas, 0.0), limit, 1)
    length = 4  # longer ones show in the medians of 4 points, of 16, and so on
    while not peaks and len(log) >= _STRETCHES * length:
        stretches = Excursions.of_stretches(log, limit.sigmas, 0.0, len(log) // length)
        peaks = _far_above(log, usual, stretches, limit, length)
        length *= 4
    peaks = peaks or _outliers(excess, begin, median(cut.sigma), limit)
    if not peaks:
        return None
    peak = max(peaks, key=lambda peak: float(log[peak.top]))
    clips = bool(run.of("clipped", "clipped_fraction", "clip_norm", "clipped_global_norm"))
    first, last, value = peaks[0].first, peaks[-1].last, series.value
    top = first + int(np.argmax(log[first : last + 1]))
    most = max(10 ** max(float(usual[top]), peak.level), median(value[:top]))
    step = series.step
    jump = Jump(series.tag, Point.of(series, top), int(step[first]), int(step[last]), most)
    goes_on_so = len(value) > last + _LONG and median(value[last + 1 :]) > _APART * most  # the norm is another one now
    if goes_on_so or not jump.holds(series):
        return None
    several = "" if len(peaks) == 1 else f"; {len(peaks)} such jumps"
    return Hit(
        (jump, f"{several}{'; clipping limits the effect' if clips else ''}"),
        (series.tag,),
        (step[first], step[last]),
        {"peak": value[top], "usual": most, "factor": value[top] / most, "sigmas": peak.sigmas},
        len(peaks),
        Severity.INFO if clips else None,
    )


def _highest_before(cut: Blocks, n: int) -> Floats:
    """For each of n points, the highest level of the blocks before its own block."""
    highest = np.maximum.accumulate(cut.median)
    before = np.append(highest[:1], highest[:-1])
    return np.asarray(np.repeat(before, np.diff(np.append(cut.start, n))))


def _far_above(log: Floats, usual: Floats, jumps: Excursions, limit: ExplodingNormLimits, length: int) -> list[Peak]:
    """The excursions that reach `factor` times the usual norm until then; stretches must reach it in their median."""
    peaks = []
    for peak in [*jumps.returned, *filter(None, [jumps.unreturned])]:
        most = max(float(usual[peak.first]), peak.level)
        height = float(log[peak.top]) if length == 1 else median(log[peak.first : peak.last + 1])
        if peak.first >= limit.warm_up * len(log) and height >= most + np.log10(limit.factor):
            peaks.append(peak)
    return peaks


def _outliers(excess: Floats, begin: int, noise: float, limit: ExplodingNormLimits) -> list[Peak]:
    """Find jumps that stand apart from all other points: in one event, a few, or many that recur.

    Args:
        excess: float64[n], logarithm of the norm over the usual norm.
        begin: index of its first point.
        noise: standard deviation of a point.
        limit: the rule's thresholds.
    """
    least = max(float(np.log10(limit.factor)), limit.sigmas * noise)
    at = np.flatnonzero(excess >= least)
    if not len(at):
        return []
    near = np.flatnonzero(_APART * excess >= excess.max())
    at_one_place = near[-1] - near[0] <= _NEAR
    if at_one_place:
        at = at[at >= near[0]]
    if at_one_place or len(at) < _MANY:
        apart = at_one_place or excess[at].min() >= max(
            _CLEARLY * least, _APART * excess[excess < least].max(initial=0.0)
        )
        is_jump = apart and len(excess) < TAIL_TELLS
    else:
        among = _FURTHEST * excess >= excess.max()
        far, others = np.flatnonzero(among), excess[~among].max(initial=-np.inf)
        apart = excess[far].min() >= max(_APART * others, others + limit.sigmas * noise)
        at = far if apart else at
        share = len(at) / (len(excess) - at[0])
        none_at_first = int(np.argmax(2 * excess >= least))  # counting lesser jumps too
        is_jump = (apart or share >= limit.share) and (1 - share) ** none_at_first <= _AS_EVER
    if not is_jump:
        return []
    tops = (begin + at).tolist()
    sigmas = [in_sigmas(far, noise) for far in excess[at].tolist()]
    return [Peak(i, i, i, 1, -np.inf, far) for i, far in zip(tops, sigmas, strict=True)]
