"""Whether a loss diverges: over a good part of the run, at its very end, or at its very start."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from summaries.auditing.claims import Extreme, Move, Point
from summaries.auditing.findings import Severity
from summaries.auditing.rules.explanations import explained_by_rate, with_cause
from summaries.auditing.rules.losses.waves import period_of_waves
from summaries.auditing.rules.rule import Hit, Hits, Limits, Ruleset, above, at_least, whole
from summaries.auditing.rules.timeline.steps import restart
from summaries.auditing.statistics.course import (
    Course,
    bend,
    largest_rise,
    may_be_a_score,
    onset,
    typical,
    without_zeros,
)
from summaries.robust import after_last, block_medians, blocks, changes, in_sigmas, median, monotone_trend, sigma

if TYPE_CHECKING:
    from summaries.arrays import Floats
    from summaries.auditing.signals.signals import Signal, Signals
    from summaries.reading.series import Series

__all__ = ["RULES", "loss_diverges"]

RULES = Ruleset()

_SHORT = 20  # points; fewer make no blocks
_BLOCKS, _FEW_BLOCKS = 30, 10
_LONG = 500  # points: from here on, few blocks would hide a loss's turns
_SURE = 2.0  # standard deviations of a trend by chance
_CLEAR = 3.0  # standard deviations of the trend of a validation that falls
_FEW = 5  # points at the end, or levels; fewer could still be a spike, or chance
_VISIBLE = 0.1  # of a rise, or of a level: a difference that anybody sees in the curve
_TIMES = 1.5  # a loss that blew up early must be at least this many times its start
_TIMES_LATE = 2.0  # and one that is high only in the last three eighths of the run
_HALF = 0.5  # of what was learnt, or of the best level: a rise by as much is a large one
_FAR, _NOT_AS_FAR = 3, 2  # times as far as noise wanders, and the same for a large rise
_CREEPS = 0.4  # times `min_undone`: enough if the loss rises by half of its best level
_STILL_UP, _STILL_UP_IF_LARGE = 0.8, 0.5  # of the highest level since: what is lower is on its way back
_RECOVERED = 2  # times as large as any rise that the loss recovered from
_UP, _DOWN = 0.6, 0.3  # of the rise: a loss that was as high, and then as low, just wanders
_STILL = 0.25  # of a rise: in a third of the time since the top, a settled loss falls by less
_END = 15  # stretches: what takes longer than one of them shows in the medians of blocks
_SURER = 2  # standard errors more, for a rise at the end: there are many ends to choose from
_START = 8  # the start is the first eighth of the run
_ENOUGH = 10_000  # points for a level
_LOW = 0.1  # quantile that shows that a level stays high: the minimum would be noise
_SIGMAS_OF_LOW = 1.28  # standard deviations that this quantile of normal noise is below the median


class LossDivergesLimits(Limits):
    """The thresholds of loss-diverges."""

    min_points: int = whole(10, 5)  # of a loss; of fewer, only the last may show it, by `explodes`
    sigmas: float = above(0, 6.0)  # of the noise of a level
    min_rise: float = at_least(0, 0.2)  # of the best level
    min_undone: float = at_least(0, 0.25)  # of what was learnt
    times: float = above(1, 4.0)  # the best level, at the end, whatever the course
    explodes: float = above(1, 1000.0)  # times the first point


@RULES.add("GL304", "loss-diverges", Severity.ERROR, LossDivergesLimits, unless=restart, needs=("loss",))
def loss_diverges(run: Signals, limit: LossDivergesLimits) -> Hits:
    """The loss rises far above its best level, and stays there."""
    signal = run.objective
    if signal is None:
        return
    if len(signal.finite) < limit.min_points:
        yield from _explodes(signal, signal.finite, limit)
        return
    hit = _found(run, signal, LossDivergesLimits(**vars(limit) | {"min_rise": limit.min_rise / 2}))
    if hit is None or _is_a_wave(run, signal.finite):
        return
    sure = _found(run, signal, limit)
    harmless = may_be_a_score(signal.finite.value) or _others_fall(run)
    hit = replace(hit, severity=Severity.INFO) if sure is None or harmless else sure
    rise = hit.message[0]
    assert isinstance(rise, Move)
    yield with_cause(run, hit, without_zeros(signal.finite), rise.first.step, rise.last.step)


def _is_a_wave(run: Signals, series: Series) -> bool:
    """Whether what rises is a wave, of which the last one is lower than the first: GL314 tells of waves."""
    period = period_of_waves(run, series)
    waves = [median(series.value[at : at + period]) for at in (0, len(series) - period)] if period else []
    return bool(waves) and waves[1] < waves[0]


def _others_fall(run: Signals) -> bool:
    """Whether all validation losses fall to their best levels: what rises then is what a batch happens to be of."""
    curves = [signal.descent for signal in run.of("validation_loss") if len(signal.finite) >= _FEW_BLOCKS]
    return bool(curves) and all(one.trend < -_CLEAR and one.end <= one.lowest + _VISIBLE * one.fall for one in curves)


def _found(run: Signals, signal: Signal, limit: LossDivergesLimits) -> Hit | None:
    """Find a loss that rises far above its best level, and stays there.

    Args:
        run: the run of the loss.
        signal: the loss.
        limit: the thresholds.

    Returns:
        What was found, or None.
    """
    series = without_zeros(signal.finite)
    if len(series) < limit.min_points or not np.ptp(series.value):
        return None
    if len(series) < _SHORT:
        return _ends_far_above_its_best(run, signal, series, limit) or _returns(run, signal, series, limit)
    # For a short run, also few blocks: the median of five points is too noisy.
    counts = (_BLOCKS, _FEW_BLOCKS) if len(series) < _LONG else (_BLOCKS,)
    for count in dict.fromkeys(min(count, len(series) // _FEW) for count in counts):
        hit = _divergence(run, signal, series, count, limit)
        if hit is not None:
            return hit
    return (
        _breaking_away(run, signal, series, limit)
        or _above_its_start(signal, series, limit)
        or _ends_far_above_its_best(run, signal, series, limit)
        or _returns(run, signal, series, limit)
    )


def _explodes(signal: Signal, series: Series, limit: LossDivergesLimits) -> Hits:
    """Find a last point that no noise explains, however few points there are: the highest, far above the first."""
    value = series.value
    if len(value) < 2 or not np.isfinite(signal.standing.value[-1]):  # noqa: PLR2004 - GL301 reports the latter
        return
    first, last = float(value[0]), float(value[-1])
    if first > 0 and last == value.max() and last >= limit.explodes * first:
        yield Hit(
            (Move.of(signal.tag, series, 0, len(value) - 1, "rises", tags=signal.tags),),
            signal.tags,
            series.step,
            {"best": first, "end": last, "highest": last},
        )


def _ends_far_above_its_best(run: Signals, signal: Signal, series: Series, limit: LossDivergesLimits) -> Hit | None:
    """Find a positive loss that ends, settled or rising, at a multiple of its best level, whatever its course."""
    if series.value.min() <= 0:
        return None
    value, n = np.log(series.value), len(series)
    last = value[-max(n // 10, _FEW) :]
    end = median(last)
    if end - value.min() < math.log(limit.times):  # as in most runs: the blocks need not be looked at
        return None
    cut = blocks(value, n // 3)
    best = int(np.argmin(cut.median))
    lowest = float(cut.median[best])
    # That of the last points, and of all since the best: a low median of three may be chance where points are few.
    noise = max(sigma(changes(last)), sigma(changes(value[cut.start[best] :])))
    learnt = float(np.exp(cut.median[: best + 1].max()) - np.exp(lowest))
    least = max(limit.sigmas * noise, math.log(limit.times))
    falls = monotone_trend(block_medians(last, _BLOCKS)) < -_SURE and median(last[-3:]) < (end + lowest) / 2
    if end - lowest < least or np.exp(end) - np.exp(lowest) < limit.min_undone * learnt or falls:
        return None
    start = int(cut.start[best])
    if explained_by_rate(run, series, start, n - 1, n - 1):
        return None
    since = start + int(np.flatnonzero(value[start:] < lowest + least / 2)[-1])
    return _hit(signal, series, since, float(np.exp(lowest)), float(np.exp(end)), in_sigmas(end - lowest, noise))


def _returns(run: Signals, signal: Signal, series: Series, limit: LossDivergesLimits) -> Hit | None:
    """Find a loss that came down for some points, and ends near where it began, for a third of the run."""
    value, n = series.value, len(series)
    start, end, third = median(value[:3]), median(value[-3:]), value[-(n // 3) :]
    lowest = float(np.partition(value, _FEW - 1)[_FEW - 1])  # so many points are as low
    learnt, rise = start - lowest, end - lowest
    if not 0 < limit.min_rise * abs(lowest) < rise or rise < (1 - limit.min_undone) * learnt:  # as in most runs
        return None
    half, noise = lowest + rise / 2, sigma(changes(third))
    since = after_last(value <= half)
    if third.min() <= half or rise < limit.sigmas * noise or not learnt > limit.min_rise * abs(lowest):
        return None
    low = int(np.argmin(value[:since]))
    if (value[low : max(since, 1)] > half).any() or explained_by_rate(run, series, low, n - 1, n - 1):
        return None
    return _hit(signal, series, low, float(value[low]), end, in_sigmas(rise, noise))


def _divergence(run: Signals, signal: Signal, series: Series, count: int, limit: LossDivergesLimits) -> Hit | None:
    """Find a rise that takes a good part of the run, in the medians of blocks."""
    course = Course.of(series.value, count)
    level = course.blocks.median
    best = int(np.argmin(level))
    lowest, since = float(level[best]), len(level) - 1 - best
    if not since:
        return None
    learnt = float(level[: best + 1].max()) - lowest
    # A rise may still be going on, or have ended on a noisier level, which takes more blocks to measure.
    for tail in dict.fromkeys((1, max(since // 3, 1))):
        end = median(level[-tail:])
        rise = end - lowest
        if not _undoes(rise, learnt, lowest, limit) or rise < limit.min_rise * abs(lowest):
            continue  # as in most runs: the noise need not be learnt
        walk, error = _walk(course, best), course.error_of_rise(best, tail)
        far = _NOT_AS_FAR if rise > _HALF * max(abs(lowest), learnt) else _FAR
        enough = rise > far * walk or _jumps(level, best, limit.sigmas)
        if enough and rise > limit.sigmas * error and _stays(level, best, end, error):
            break
    else:
        return None
    start = int(course.blocks.start[best])  # a restart undoes part of what was learnt, and not for long
    restarted = explained_by_rate(run, series, start, start + 2 * course.blocks.length, len(series) - 1)
    if restarted and end - lowest < _HALF * learnt:
        return None
    since_point = onset(series.value, course.blocks, best, end - lowest, max(learnt, abs(lowest)))
    return _hit(signal, series, since_point, lowest, end, in_sigmas(end - lowest, error))


def _jumps(level: Floats, best: int, sigmas: float) -> bool:
    """Whether the level jumps, after the best block, by more than it ever wanders from block to block."""
    change = changes(level)
    return len(change) > best and float(change[best:].max()) > sigmas * sigma(change)


def _hit(signal: Signal, series: Series, since: int, best: float, end: float, sigmas: float) -> Hit | None:
    """Describe a rise from the best level to the level at the end, which begins at the point `since`.

    The message quotes values of the curve and their steps. If the last points are back half way to the best level, it
    was a hump, and a note.
    """
    value, step = series.value, series.step
    low, last = _last_near(value[: since + 1], best, end), typical(value, len(value) - 1)
    low = 0 if value[0] < value[low] else low
    top = low + int(np.argmax(value[low:]))
    rise = Move.of(signal.tag, series, low, last, "rises", tags=signal.tags)
    if not rise.holds(series):  # it is back
        return None
    peak = Extreme("", Point.of(series, top), int(step[low]), int(step[-1]), tags=signal.tags)
    higher = value[top] - value[last] > _VISIBLE * (value[top] - value[low])
    return Hit(
        (rise, "; " if value[top] == value.max() else "; since then, ", peak) if higher else (rise,),
        signal.tags,
        step[since:],
        {"best": value[low], "end": value[last], "highest": value[top], "sigmas": sigmas},
        severity=Severity.INFO if value[last] < _half_way(best, end) else None,
    )


def _half_way(best: float, end: float) -> float:
    """Between two levels: in logarithms, if they are positive."""
    return math.sqrt(best * end) if best > 0 else (best + end) / 2


def _last_near(values: Floats, best: float, end: float) -> int:
    """The index of the last value that is as good as the best level; if none is, of the nearest to it."""
    away = np.abs(values - best)
    near = np.flatnonzero(away <= _VISIBLE * min(end - best, abs(best)))
    return int(near[-1]) if len(near) else int(np.argmin(away))


def _walk(course: Course, best: int) -> float:
    """How far correlated noise wanders away after the best block, judging by its changes from block to block."""
    level = course.blocks.median
    parts = [part for part in (level, level[: best + 1], level[best:]) if len(part) >= _FEW]
    step = min((sigma(changes(part)) for part in parts), default=0.0)
    error = math.sqrt(2) * median(course.blocks.error)  # this part does not grow with the distance
    return math.sqrt(max(step - error, 0.0) * (step + error) * (len(level) - 1 - best))


def _stays(level: Floats, best: int, end: float, error: float) -> bool:
    """Whether a rise from the best level to the end is not one of several that the loss recovered from."""
    lowest = float(level[best])
    rise, top = end - lowest, float(level[best:].max()) - lowest - error  # the highest level is partly high by chance
    fall = float(level[: best + 1].max()) - lowest
    return bool(
        (rise >= (_STILL_UP if rise < fall else _STILL_UP_IF_LARGE) * top or _settled(level, best, rise))
        and not _came_back(level[best:] - lowest, rise)
        and rise >= _RECOVERED * largest_rise(level[: best + 1])
    )


def _settled(level: Floats, best: int, rise: float) -> bool:
    """Whether a loss recovered only partly, most of the run ago, and hardly falls any more."""
    since = len(level) - 1 - (best + int(np.argmax(level[best:])))
    return 2 * since > len(level) and float(level[-1 - since // 3]) - float(level[-1]) < _STILL * rise


def _undoes(rise: float, fall: float, level: float, limit: LossDivergesLimits) -> bool:
    """Whether a rise undoes much of what was learnt, or some of it and is large compared with the level."""
    undone = rise / max(fall, 1e-300)
    return undone >= limit.min_undone or (undone >= _CREEPS * limit.min_undone and rise >= _HALF * abs(level))


def _came_back(above: Floats, rise: float) -> bool:
    """Whether the loss was as high before, and then low again, so that it just wanders."""
    up = np.flatnonzero(above > _UP * rise)
    return bool(len(up) and above[up[0] :].min() < _DOWN * rise)


def _breaking_away(run: Signals, signal: Signal, series: Series, limit: LossDivergesLimits) -> Hit | None:
    """Find a rise at the end that is too short for the medians of blocks: in stretches of 5 points, 10, and so on."""
    value, n = series.value, len(series)
    length, longest = _FEW, max(n // _END, _FEW)
    lowest, highest = _levels(value)
    while length <= longest and n >= 10 * length:
        last, start = value[-length:], n - 2 * length  # the stretch before the last one may contain part of the rise
        end = min(median(last), median(last[-max(length // 2, 3) :]))  # a spike would be on its way back
        level = median(value[max(start - 3 * length, 0) : start])
        rise = end - level
        if rise >= limit.min_rise * abs(level) and rise > 0 and _undoes(rise, highest - lowest, level, limit):
            before = blocks(value[:start], start // length)
            noise = max(bend(before.median), median(before.error))
            usual = max(largest_rise(before.median), float(before.median[-1]) - level)
            since = start + int(np.flatnonzero(value[start:] > level + rise / 2)[0])
            enough = rise > (limit.sigmas + _SURER) * noise and rise >= _RECOVERED * usual
            if enough and not explained_by_rate(run, series, since - length, since + length, n - 1):
                return _hit(signal, series, since, level, end, in_sigmas(rise, noise))
        length *= 2
    return None


def _levels(values: Floats) -> tuple[float, float]:
    """The lowest level of a loss, and the highest level before that."""
    level = block_medians(values, _BLOCKS)
    best = int(np.argmin(level))
    return float(level[best]), float(max(level[: best + 1].max(), median(values[:3])))


def _above_its_start(signal: Signal, series: Series, limit: LossDivergesLimits) -> Hit | None:
    """Find a level that stays far above the start: in logarithms, because it may span many orders of magnitude.

    The start is the lowest of the first 1, 2, 4, … points, up to an eighth of the run.
    """
    value, n = series.value, len(series)
    if value.min() <= 0:
        return None
    longest = max(n // _START, 2)
    rest = np.log(value[2 * longest :: max(n // _ENOUGH, 1)])
    late = rest[-(len(rest) // 2) :]
    end = median(late)
    if end - math.log(value[:longest].min()) <= math.log(_TIMES):  # as in most runs: no start is low enough
        return None
    sums = np.cumsum(np.append(0.0, np.log(value[:longest])))
    # Where it must be high, by how much, and its noise: late in a run that never learns, the level still moves.
    # A point near zero is far below in logarithms: the noise is that of the lower points, if it is larger.
    below = (end - float(np.quantile(late, _LOW))) / _SIGMAS_OF_LOW
    for high, times, noise in ((rest, _TIMES, max(sigma(late), bend(late), below)), (late, _TIMES_LATE, bend(late))):
        top, low = float(block_medians(high, 8).max()), float(np.quantile(high, _LOW))
        length = 1 if high is rest else max(longest // 2, 2)
        while length <= longest:
            mean = (sums[length:] - sums[:-length]) / length
            best = int(np.argmin(mean))
            start = float(mean[best])
            rise, error = end - start, noise * math.hypot(1 / math.sqrt(length), math.sqrt(3 / n))
            least = math.log(times if length > 1 else _TIMES_LATE)  # a single point may be low by chance
            enough = rise > max(least, limit.sigmas * error) and end > mean[: best + 1].max() + 2 * error
            if enough and low > start + rise / 2 and top - end < 2 * rise / 3:  # it stays
                early = np.log(value[best : 2 * longest if high is rest else 5 * n // 8])
                since = best + int(np.flatnonzero(early < start + min(4 * noise + 1e-9, rise / 3))[-1])
                low_middle = float(np.partition(value[best : best + length], (length - 1) // 2)[(length - 1) // 2])
                low_middle = min(low_middle, 2 * float(value[best : since + 1].min()))  # it fell on
                return _hit(signal, series, since, low_middle, math.exp(end), in_sigmas(rise, error))
            length *= 2
    return None
