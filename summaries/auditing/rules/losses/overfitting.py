"""GL305: a validation loss that rises while the training loss to which it belongs falls."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from summaries.auditing.claims import Level, Shift
from summaries.auditing.findings import Severity
from summaries.auditing.rules.explanations import with_cause
from summaries.auditing.rules.rule import Hit, Hits, Limits, Ruleset, above, at_least, whole
from summaries.auditing.rules.timeline.steps import restart
from summaries.auditing.signals.objectives import have_one_axis, on_the_axis_of, stem
from summaries.auditing.statistics.course import bend, level_between, scatter_about_trend, trend_between, value_at
from summaries.robust import OF_MEDIAN, Blocks, blocks, median, monotone_trend
from summaries.words import listed

if TYPE_CHECKING:
    from summaries.arrays import Floats
    from summaries.auditing.signals.signals import Signal, Signals
    from summaries.reading.series import Series

__all__ = ["RULES", "overfitting"]

RULES = Ruleset()
_FEW = 5  # levels that show a trend
_COLLAPSED = 3  # levels after the best one, all of which are several times as high
_NEARLY_ALL = 0.95  # of the validations since the best ones, that are worse
_MOST = 0.5  # of a rise
_NONE = 10.0  # times smaller than another: such a change counts as none
_PART = 0.6  # of `min_rise`, that is enough then
_CERTAIN = 4.0  # Z of a trend in which hardly any level is out of order
_BLOCKS = 12  # levels of a validation loss
_BACK, _HALF_BACK = 3, 2  # parts of a rise: the last third, and two thirds, of the levels stay above the first of them
_AHEAD = 0.1  # of the steps ahead: as far back are the points that tell a level, which later ones may leave at a jump
_AT_ONCE = 0.8  # of a rise, from one validation to the next
_STAYS, _BY_HEART = 0.8, 10  # of a rise; times, by which a training loss falls from the best validation on
_UPSIDE_DOWN = ": one is negative and the other is not, though both are called alike: a sign, or a scale, differs"
_FIRST_FIFTH, _LAST_FIFTH = (0.0, 0.2), (0.8, 1.0)  # of the steps since the best validation


class OverfittingLimits(Limits):
    """The thresholds of overfitting."""

    min_points: int = whole(4, 3)  # of each of the two losses
    sigmas: float = above(0, 6.0)  # of the noise of a level
    trend: float = above(0, 2.0)  # Z of the Mann-Kendall test
    min_rise: float = at_least(0, 0.1)  # of the best level
    large: float = at_least(0, 0.33)  # of the best level: a rise whose course does not matter
    times: float = above(1, 4.0)  # the best level: a collapse, also if the training loss stands


@RULES.add("GL305", "overfitting", Severity.WARNING, OverfittingLimits, unless=restart, needs=("validation_loss",))
def overfitting(run: Signals, limit: OverfittingLimits) -> Hits:
    """Validation losses rise while the training losses to which they belong fall."""
    rising = []
    for signal in run.of("validation_loss"):
        loss = run.trained_with(signal)
        enough = loss is not None and min(len(signal.finite), len(loss.finite)) >= limit.min_points
        if loss is None or not enough or not np.ptp(signal.finite.value):
            continue
        hit = _overfits(signal, loss, limit)
        if hit is not None and hit.steps is not None:
            hit = with_cause(run, hit, signal.finite, *hit.steps)
            aside = hit.severity is Severity.INFO, loss is not run.objective
            rising.append(((*aside, not have_one_axis(signal.finite, loss.finite)), hit))
    if rising:  # that of the objective, on its axis, if there is one, else the first
        hit = min(rising, key=lambda pair: pair[0])[1]
        others = [tag for _, other in rising if other is not hit for tag in other.tags]
        so_do = f"; {listed(others)} {'rises' if len(others) == 1 else 'rise'}, too" if others else ""
        yield replace(hit, message=(*hit.message, so_do), tags=(*hit.tags, *others))


def _rises_for_good(cut: Blocks, values: Floats, rise: float, error: float, limit: OverfittingLimits) -> bool:
    """Whether levels rise from the best one to the end, stay there, and do so by more than chance.

    Either they follow a trend, or rise early and stay, and hardly vary about their course; or they end so much higher
    that no course matters.
    """
    level = cut.median
    best = int(np.argmin(level))
    since, lowest = level[best:], abs(float(level[best]))
    if _comes_back(since, limit):
        return False
    after = values[cut.start[best] + cut.length :]
    never_back = np.count_nonzero(after > level[best]) >= _NEARLY_ALL * len(after)
    if len(since) < _FEW:
        if len(since) > _COLLAPSED and since[1:].min() >= limit.times * lowest > 0:
            return True
        every = len(since) == _FEW - 1 and bool((np.diff(since) > 0).all())
        return every and rise >= max(limit.large * lowest, limit.sigmas * scatter_about_trend(since))
    least = limit.min_rise * lowest * (1 if best else 2)
    rises = monotone_trend(since) >= limit.trend
    if (
        monotone_trend(since) >= _CERTAIN
        and never_back
        and rise >= max(_PART * limit.min_rise * lowest, limit.sigmas * error)
    ):
        return True  # whatever its course, also if it rises from the first one on
    # Where levels are points, none after the lowest one is lower: that says nothing, and they have to leave the noise.
    if (rises or never_back) and rise >= max(2 * least, limit.sigmas / 2 * max(error, bend(since))):
        return True
    if since[-(len(since) // 3) :].min() < level[best] + rise / _BACK:
        return False
    settled = max(error, scatter_about_trend(since[len(since) // 2 :]))
    if rise >= max(limit.large * lowest, limit.sigmas / 2 * settled) and best:
        return True
    if rise < max(least, limit.sigmas * max(error, bend(since))):
        return False
    stays = bool(since[len(since) // 3 :].min() >= level[best] + rise / _HALF_BACK)
    return rises or (stays and rise >= limit.sigmas * settled)


def _leaps(since: Floats, end: float, limit: OverfittingLimits) -> bool:
    """Whether levels rise from the best one within a few to a height at which they stay, and that counts."""
    lowest, n = float(since[0]), len(since)
    rise = end - lowest
    return n >= _FEW and rise >= 2 * limit.min_rise * lowest > 0 and since[n // 2 :].min() >= lowest + rise * _STAYS


def _comes_back(since: Floats, limit: OverfittingLimits) -> bool:
    """Whether levels fall from the highest one by a trend, and have made up for most of the rise to it."""
    top = int(np.argmax(since))
    lost = since[top] - since[0]
    return bool(since[top] - since[-1] > _MOST * lost and monotone_trend(since[top:]) < -limit.trend)


def _until(loss: Series, step: int, stop: int) -> tuple[int, int]:
    """The last points until a step, at least five of them if there are: the index of the first, and after the last."""
    first, last = np.searchsorted(loss.step, (step - _AHEAD * (stop - step), step), "right")
    return max(int(min(first, last - _FEW)), 0), max(int(last), 1)


def _level_at(loss: Series, step: int, stop: int) -> tuple[float, float]:
    """The median of the last points until a step, and its standard error, by the noise from there to another step."""
    first, last = _until(loss, step, stop)
    return median(loss.value[first:last]), OF_MEDIAN * bend(loss.value[last - 1 :]) / math.sqrt(last - first)


def _overfits(signal: Signal, loss: Signal, limit: OverfittingLimits) -> Hit | None:
    series, own = signal.finite, loss.finite
    cut, n = blocks(series.value, _BLOCKS), len(series)
    best = int(np.argmin(cut.median))
    lowest, end = float(cut.median[best]), median(series.value[-max(n // 8, min(n // 5, 3), 1) :])
    # The noise of a level. If that is the level of a point or two, their neighbours show as much.
    noise = OF_MEDIAN * bend(series.value[cut.start[best] :]) / math.sqrt(cut.length) if cut.length > 2 else 0.0  # noqa: PLR2004
    for_good = _rises_for_good(cut, series.value, end - lowest, noise, limit)
    if not (for_good or _leaps(cut.median[best:], end, limit)):
        return None
    lowest_at = int(np.argmin(series.value))
    lowest_then, now = (Level.of(signal.tag, series, at, at) for at in (lowest_at, n - 1))
    rise = Shift.of(lowest_then, now, "rises")
    if not rise.holds(series):  # it is back
        return None
    start, since, stop = int(series.step[cut.start[best] + cut.length // 2]), rise.before.first, rise.after.last
    timed = on_the_axis_of(series, own)
    before, unsure = _level_at(timed, since, stop)
    after, error = level_between(timed, start, stop, *_LAST_FIFTH)
    early, _ = level_between(timed, start, stop, *_FIRST_FIFTH)
    least = max(limit.min_rise * abs(before), limit.trend * math.hypot(unsure, error))
    # It falls from the level before, which it may leave at a jump, and from the one at the best validation.
    fell = min(before, max(early, value_at(timed, since))) - after
    falls = fell > least and trend_between(timed, start, stop) < -limit.trend
    moved = max(after - before, abs(after - early))
    earlier = timed.value[0] - after > end - lowest > _NONE * moved  # it fell then, and by more than this rise
    stands = 0 < after <= 2 * before and not (after > before and trend_between(timed, start, stop) > limit.trend)
    if not (for_good or before > _BY_HEART * after > 0):
        return None
    alone = lowest > 0 and end >= limit.times * lowest and stands
    if not (falls or earlier or alone):
        return None
    clock = "" if timed is own else ", by the clock,"
    name = loss.tag + clock
    told = _told(name, loss, timed, (since, start, stop))
    rests = "stays at" if abs(value_at(timed, since) - after) <= abs(after) else "has fallen to"
    alike = stem(signal.tag) == stem(loss.tag)
    steps = np.diff(series.value[lowest_at:])
    jump = int(np.argmax(steps))
    jumps = f", with a jump at step {series.step[lowest_at + 1 + jump]}"
    at_once = jumps if steps[jump] > _AT_ONCE * steps.sum() else ""
    how = (told,) if falls else (f"{name} {rests if earlier else 'is'} ", told.after)
    return Hit(
        (rise, f"{at_once}, while ", *how, _UPSIDE_DOWN if alike and after < 0 < series.value.min() else ""),
        (signal.tag,),
        (since, stop),
        {
            "best": rise.before.value,
            "end": rise.after.value,
            "training then": told.before.value,
            "training at the end": told.after.value,
        },
        severity=None if falls or alone else Severity.INFO,
    )


def _told(name: str, loss: Signal, timed: Series, steps: tuple[int, int, int]) -> Shift:
    """What the training loss does: from point to point, or from level to level if single points mislead.

    Args:
        name: what to call the loss.
        loss: the loss.
        timed: the loss on the axis of the validation.
        steps: on that axis: the best validation, the middle of the levels there, and the last one.
    """
    since, start, stop = steps
    then, until = (int(np.argmin(np.abs(timed.step - step))) for step in (since, stop))
    now = int(np.flatnonzero(timed.step == timed.step[until])[-1])  # by the clock, many have the step of one validation
    first, last = _until(timed, since, stop)
    late, end = (int(np.searchsorted(timed.step, step)) for step in (start + _LAST_FIFTH[0] * (stop - start), stop + 1))
    at_the_end = min(late, end - 1), end - 1
    around = max(then - _FEW // 2, 0), min(then + _FEW // 2, end - 1)
    ends = ((first, last - 1), at_the_end), ((then, then), (now, now)), (around, at_the_end)
    told = ([Level.of(name, loss.finite, low, high, tags=loss.tags) for low, high in pair] for pair in ends)
    wide, points, near = (Shift.of(one, other, "falls") for one, other in told)
    fall = wide.before.value - wide.after.value
    misled = abs(points.before.value - points.after.value - fall) > fall / 2
    if not misled:
        return points
    return near if near.before.value - near.after.value > fall / 10 else wide
