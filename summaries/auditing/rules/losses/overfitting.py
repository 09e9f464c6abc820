"""GL305: a validation loss that rises while the training loss to which it belongs falls."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from summaries.auditing.findings import Severity
from summaries.auditing.rules.rule import Hit, Hits, Limits, Ruleset, above, at_least, whole
from summaries.auditing.signals.objectives import have_one_axis, on_the_axis_of
from summaries.auditing.statistics.course import bend, level_between, scatter_about_trend, trend_between, value_at
from summaries.robust import OF_MEDIAN, blocks, median, monotone_trend
from summaries.words import beside

if TYPE_CHECKING:
    from summaries.arrays import Floats
    from summaries.auditing.signals.signals import Signal, Signals
    from summaries.reading.series import Series

__all__ = ["RULES", "overfitting"]

RULES = Ruleset()
_FEW = 5  # levels that show a trend
_NONE = 10.0  # times smaller than another: such a change counts as none
_BLOCKS = 12  # levels of a validation loss
_BACK, _HALF_BACK = 3, 2  # parts of a rise: the last third, and two thirds, of the levels stay above the first of them
_AHEAD = 0.1  # of the steps ahead: as far back are the points that tell a level, which later ones may leave at a jump
_FIRST_FIFTH, _LAST_FIFTH = (0.0, 0.2), (0.8, 1.0)  # of the steps since the best validation


class OverfittingLimits(Limits):
    """The thresholds of overfitting."""

    min_points: int = whole(4, 3)  # of each of the two losses
    sigmas: float = above(0, 6.0)  # of the noise of a level
    trend: float = above(0, 2.0)  # Z of the Mann-Kendall test
    min_rise: float = at_least(0, 0.1)  # of the best level
    large: float = at_least(0, 0.33)  # of the best level: a rise whose course does not matter


@RULES.add("GL305", "overfitting", Severity.WARNING, OverfittingLimits, needs=("validation_loss",))
def overfitting(run: Signals, limit: OverfittingLimits) -> Hits:
    """Validation losses rise while the training losses to which they belong fall."""
    trained = run if run.of("loss") or run.training is None else run.training
    rising = []
    for signal in run.of("validation_loss"):
        loss = trained.trained_with(signal)
        series = signal.finite
        enough = loss is not None and min(len(series), len(loss.finite)) >= limit.min_points
        if loss is None or not enough or not np.ptp(series.value):
            continue
        falls = on_the_axis_of(series, loss.finite)
        name = loss.tag if trained is run else f"{loss.tag} of {trained.name}"
        clock = "" if have_one_axis(series, loss.finite) else ", by the clock,"
        hit = _overfits(signal, series, replace(falls, tag=name + clock), limit)
        if hit is not None:
            rising.append(((loss is not trained.objective, not have_one_axis(series, loss.finite)), hit))
    if rising:  # that of the objective, on its axis, if there is one, else the first
        hit = min(rising, key=lambda pair: pair[0])[1]
        others = [tag for _, other in rising if other is not hit for tag in other.tags]
        yield replace(hit, message=hit.message + beside(others, "does"), tags=(*hit.tags, *others))


def _rises_for_good(level: Floats, best: int, rise: float, error: float, limit: OverfittingLimits) -> bool:
    """Whether levels rise from the best one to the end, stay there, and do so by more than chance.

    Either they follow a trend, or rise early and stay, and hardly vary about their course; or they end so much higher
    that no course matters.
    """
    since, lowest = level[best:], abs(float(level[best]))
    if len(since) < _FEW:
        every = len(since) == _FEW - 1 and bool((np.diff(since) > 0).all())
        return every and rise >= max(limit.large * lowest, limit.sigmas * scatter_about_trend(since))
    if since[-(len(since) // 3) :].min() < level[best] + rise / _BACK:
        return False
    settled = max(error, scatter_about_trend(since[len(since) // 2 :]))
    if rise >= max(limit.large * lowest, limit.sigmas / 2 * settled) and best:
        return True
    least = limit.min_rise * lowest * (1 if best else 2)
    if rise < max(least, limit.sigmas * max(error, bend(since))):
        return False
    stays = bool(since[len(since) // 3 :].min() >= level[best] + rise / _HALF_BACK)
    return monotone_trend(since) >= limit.trend or (stays and rise >= limit.sigmas * settled)


def _level_at(loss: Series, step: int, stop: int) -> tuple[float, float]:
    """The median of the last points until a step, and its standard error, by the noise from there to another step.

    There are at least five of them.
    """
    first, last = np.searchsorted(loss.step, (step - _AHEAD * (stop - step), step), "right")
    part = loss.value[max(min(first, last - _FEW), 0) : max(last, 1)]
    rest = loss.value[max(last - 1, 0) :]
    return median(part), OF_MEDIAN * bend(rest) / math.sqrt(len(part))


def _overfits(signal: Signal, series: Series, loss: Series, limit: OverfittingLimits) -> Hit | None:
    cut, n = blocks(series.value, _BLOCKS), len(series)
    best = int(np.argmin(cut.median))
    lowest, end = float(cut.median[best]), median(series.value[-max(n // 8, min(n // 5, 3), 1) :])
    # The noise of a level. If that is the level of a point or two, their neighbours show as much.
    noise = OF_MEDIAN * bend(series.value[cut.start[best] :]) / math.sqrt(cut.length) if cut.length > 2 else 0.0  # noqa: PLR2004
    if not _rises_for_good(cut.median, best, end - lowest, noise, limit):
        return None
    start, stop = int(series.step[cut.start[best] + cut.length // 2]), int(series.step[-1])
    lowest_at = int(np.argmin(series.value))
    since = int(series.step[lowest_at])
    before, unsure = _level_at(loss, since, stop)
    after, error = level_between(loss, start, stop, *_LAST_FIFTH)
    least = max(limit.min_rise * abs(before), limit.trend * math.hypot(unsure, error))
    falls = before - after > least and trend_between(loss, start, stop) < -limit.trend
    if not falls:  # it may have fallen earlier, and by more than this rise
        early, _ = level_between(loss, start, stop, *_FIRST_FIFTH)
        moved = max(after - before, abs(after - early))
        if not loss.value[0] - after > end - lowest > _NONE * moved:
            return None
    start, lowest, end = since, float(series.value[lowest_at]), float(series.value[-1])
    then, now = value_at(loss, start), value_at(loss, stop)
    if now < then:
        how = f"falls from {then:.4g} to {now:.4g}"
    else:  # it is noisy, or does not change
        how = f"falls from about {before:.4g} to about {after:.4g}" if falls else f"stays at about {now:.4g}"
    return Hit(
        f"{signal.tag} rises from {lowest:.4g} to {end:.4g} since step {start}, while {loss.tag} {how}",
        (signal.tag,),
        (start, stop),
        {"best": lowest, "end": end, "training then": then, "training at the end": now},
    )
