"""GL315: a training that undoes what it has learnt: its loss and its validation rise together, or swing."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from summaries.auditing.claims import Level, Shift
from summaries.auditing.findings import Severity
from summaries.auditing.rules.explanations import explained_by_rate, with_cause
from summaries.auditing.rules.losses.divergence import loss_diverges
from summaries.auditing.rules.progress import accuracies, at_best, rate_in_words, validations
from summaries.auditing.rules.rule import Hit, Hits, Limits, Ruleset, above, proportion, whole
from summaries.auditing.signals.objectives import on_the_axis_of
from summaries.auditing.statistics.course import largest_rise
from summaries.auditing.statistics.descent import LEVELS, SURE, Descent
from summaries.robust import blocks, changes, median, sigma

if TYPE_CHECKING:
    from summaries.auditing.signals.signals import Signal, Signals
    from summaries.reading.series import Series

__all__ = ["RULES"]

RULES = Ruleset("loss")
_BOTH = 2.0  # errors of a level, that each of two curves must have risen by
_PAIR = 2  # points, whose median may be near neither of them
_BOTH_WAYS = 0.2  # of the changes from point to point: what swings, goes up and down
_OF_SIGMA = 1.16  # times the scatter over √n: the standard error of a robust estimate of it from n points


class UnstableTrainingLimits(Limits):
    """The thresholds of unstable-training."""

    undone: float = proportion(0.06)  # of what was learnt, by both
    hump: float = proportion(0.3)  # of what was learnt, by both, if it comes back
    swing: float = proportion(0.1)  # of what the training learnt: the scatter of a validation that does not fall
    level: float = proportion(0.04)  # of the level of the validation: what counts as learnt, and its scatter
    accuracy: float = proportion(0.1)  # the scatter of an accuracy that does not rise
    leap: float = above(1, 2.0)  # times: the scatter of a validation from one time to the next, in the first half
    min_points: int = whole(12, 10)  # of each loss


@RULES.add("GL315", "unstable-training", Severity.WARNING, UnstableTrainingLimits, unless=loss_diverges)
def unstable_training(run: Signals, limit: UnstableTrainingLimits) -> Hits:
    """Training and validation loss both end above their best levels; or the validation swings, and no longer falls."""
    loss = run.objective
    if loss is None or len(loss.tags) > 1 or len(loss.finite) < limit.min_points:
        return
    for signal in run.of("validation_loss"):
        own = run.trained_with(signal)
        if own is not None and min(len(signal.finite), len(own.finite)) >= limit.min_points:
            hit = _relapses(run, signal, own, limit) or _swings(run, signal, own, limit) or _leaps(run, signal, limit)
            if hit is not None:
                yield _with_cause(run, hit, signal.finite)
                return
    others = validations(run)
    shares = [one for one in accuracies(run, limit.min_points) if one in others]
    restless = (_restless(run, one, 1.0) for one in shares if _is_restless(one, limit.accuracy * at_best(one), 1.0))
    hit = next(restless, None) or (_rises(run, loss, limit) if others else None)
    if hit is not None:
        yield _with_cause(run, hit, loss.finite)


def _with_cause(run: Signals, hit: Hit, series: Series) -> Hit:
    rise = hit.message[0]
    return with_cause(run, hit, series, rise.before.last, rise.after.last) if isinstance(rise, Shift) else hit


def _rises(run: Signals, loss: Signal, limit: UnstableTrainingLimits) -> Hit | None:
    """Find a training loss that rises by a trend, from the beginning on, however much it swings."""
    series, curve = loss.finite, loss.descent
    first, last = (_level(loss.tag, series, at, len(curve.level)) for at in (0, len(curve.level) - 1))
    far = last.value - first.value > max(limit.hump * abs(first.value), SURE * curve.error)
    if curve.trend < SURE or not far or explained_by_rate(run, series, 0, len(series) - 1, len(series) - 1):
        return None
    evidence = {"best": first.value, "highest": last.value}
    return Hit((Shift.of(first, last, "rises"), rate_in_words(run)), loss.tags, series.step, evidence)


def _relapses(run: Signals, signal: Signal, loss: Signal, limit: UnstableTrainingLimits) -> Hit | None:
    """Find two losses whose levels have risen from their best ones, beyond their errors, and stay up."""
    curves = signal.descent, loss.descent
    learnt = max(curve.fall for curve in curves)
    if learnt < limit.level * abs(curves[0].lowest):  # there is nothing to undo
        return None
    stays = all(_is_undone(curve, learnt, limit) for curve in curves)
    if not stays and not all(_has_hump(curve, learnt, limit) for curve in curves):
        return None
    series = signal.finite
    level = curves[0].level if stays or len(series) > 2 * LEVELS else series.value
    n, best = len(series), curves[0].best
    top = len(level) - 1
    if not stays:
        top = int(np.argmax(level - np.minimum.accumulate(level)))
        best = int(np.argmin(level[: top + 1]))
    low, high = (_level(signal.tag, series, at, len(level)) for at in (best, top))
    first = int(np.searchsorted(series.step, low.first))
    until = int(np.searchsorted(series.step, low.last, "right"))
    lowest = first + int(np.argmin(series.value[first:until]))
    least = max(limit.undone * learnt, curves[0].error)
    if not high.value - low.value > least or explained_by_rate(run, series, first, n - 1, n - 1):
        return None
    if not stays and not _rises_with(loss, on_the_axis_of(series, loss.finite), (low, high), limit.hump * learnt):
        return None
    how = "" if stays else ", and comes back"
    told = low if low.points > _PAIR else Level.of(signal.tag, series, lowest, lowest)
    return Hit(
        (
            Shift.of(told, high, "rises"),
            f", {loss.tag} rises with it{how}{rate_in_words(run)}",
        ),
        (signal.tag, *loss.tags),
        series.step[first:],
        {"best": low.value, "highest": high.value},
    )


def _rises_with(loss: Signal, series: Series, steps: tuple[Level, Level], least: float) -> bool:
    """Whether a loss rises between the steps of two levels of its validation: by chance, each has a hump."""
    ends = (np.searchsorted(series.step, (one.first, one.last + 1)).tolist() for one in steps)
    low, high = (median(series.value[max(min(first, last - 1), 0) : max(last, 1)]) for first, last in ends)
    return high - low > max(least, SURE * loss.descent.error)


def _level(tag: str, series: Series, at: int, levels: int) -> Level:
    """One of the levels of a series."""
    cut = blocks(series.value, levels)
    return Level.of(tag, series, int(cut.start[at]), int(cut.start[at]) + cut.length - 1)


def _has_hump(curve: Descent, learnt: float, limit: UnstableTrainingLimits) -> bool:
    """Whether levels rise by a good part of all that is learnt, however the curve ends."""
    level = curve.level if len(curve.values) > 2 * LEVELS else curve.values
    return bool(curve.fall > 0 and largest_rise(level) > max(limit.hump * learnt, SURE * curve.error))


def _is_undone(curve: Descent, learnt: float, limit: UnstableTrainingLimits) -> bool:
    """Whether a curve came down, and the levels of its last quarter are above an earlier best one by a good part."""
    late = curve.level[-(len(curve.level) // 4) :]
    rise = median(late) - curve.lowest
    return bool(curve.fall > 0 and late.min() > curve.lowest and rise > max(limit.undone * learnt, _BOTH * curve.error))


def _swings(run: Signals, signal: Signal, loss: Signal, limit: UnstableTrainingLimits) -> Hit | None:
    """Find a validation that changes from one time to the next by a good part of all that was learnt, to no avail."""
    learnt = loss.descent.fall
    least = max(limit.swing * learnt, limit.level * median(signal.finite.value[len(signal.finite) // 2 :]))
    return _restless(run, signal, -1.0) if _is_restless(signal, least, -1.0) else None


def _leaps(run: Signals, signal: Signal, limit: UnstableTrainingLimits) -> Hit | None:
    """Find a first half in which a positive validation changes by a factor from one time to the next, up and down."""
    series = signal.finite
    half = len(series) // 2
    value = series.value[:half]
    if half < LEVELS - LEVELS // 3 or value.min() <= 0:
        return None
    steps = changes(np.log(value))
    ups = float(np.mean(steps > 0))
    if sigma(steps) / math.sqrt(2) < math.log(limit.leap) or min(ups, 1 - ups) < _BOTH_WAYS:
        return None
    rises = value / np.minimum.accumulate(value)  # a fall in leaps is one
    top = int(rises.argmax())
    if rises[top] < limit.leap**2:
        return None
    low, high = (Level.of("", series, at, at) for at in (int(value[: top + 1].argmin()), top))
    return Hit(
        (f"{signal.tag} swings between ", low, " and ", high, f" in its first {half} points{rate_in_words(run)}"),
        (signal.tag,),
        series.step[:half],
        {"lowest": low.value, "highest": high.value, "scatter": sigma(steps)},
    )


def _is_restless(signal: Signal, least: float, better: float) -> bool:
    """Whether the second half scatters from point to point by more than this, surely, and does not become better.

    It does if it has a trend, and is better than the first half; a short half has none to tell, the whole curve has.
    """
    curve = signal.descent
    late = curve.since(1 / 2)
    surely = 1 - _OF_SIGMA / math.sqrt(len(late.values))
    ups = float(np.mean(np.diff(late.values) > 0))
    if min(ups, 1 - ups) < _BOTH_WAYS:  # it goes one way
        return False
    if not surely * curve.jitter > least > 0:
        return False
    rises = better * (late if len(late.values) >= LEVELS else curve).trend >= SURE / 2
    return not (rises and better * (median(late.values) - median(curve.values[: -len(late.values)])) > 0)


def _restless(run: Signals, signal: Signal, better: float) -> Hit:
    series = signal.finite
    half = len(series) // 2
    late = series.value[half:]
    lost = np.maximum.accumulate(better * late) - better * late  # the largest change for the worse
    worst = int(lost.argmax())
    ends = int((better * late[: worst + 1]).argmax()), worst
    low, high = sorted((Level.of("", series, half + at, half + at) for at in ends), key=lambda level: level.value)
    return Hit(
        (f"{signal.tag} swings between ", low, " and ", high, f" in its last {len(late)} points{rate_in_words(run)}"),
        (signal.tag,),
        series.step[half:],
        {"lowest": low.value, "highest": high.value, "scatter": signal.descent.jitter},
    )
