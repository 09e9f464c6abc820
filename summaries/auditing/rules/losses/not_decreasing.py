"""GL303: losses that do not go down, and validations that stay as they are: nothing is learnt."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from summaries.auditing.claims import Extreme, Level, Move, NotBetter, Point, Share, apart
from summaries.auditing.findings import Severity
from summaries.auditing.rules.losses.divergence import loss_diverges
from summaries.auditing.rules.losses.waves import period_of_waves
from summaries.auditing.rules.progress import is_early, is_of_other_data
from summaries.auditing.rules.rule import Hit, Hits, Limits, Ruleset, above, at_least, proportion, whole
from summaries.auditing.statistics.course import Course, may_be_a_score
from summaries.auditing.statistics.descent import SURE
from summaries.robust import changes, median, sigma

if TYPE_CHECKING:
    from summaries.arrays import Bools, Floats, Ints
    from summaries.auditing.claims import Message
    from summaries.auditing.signals.signals import Signal, Signals
    from summaries.reading.series import Series

__all__ = ["RULES"]

RULES = Ruleset("loss", "validation_loss", "metric", "auxiliary_loss")
_OF_SHARES = 5  # times a small change: what biases alone bring, while the same class is told of all
_FEW = 5  # levels that show a trend
_BEGINNING = 0.1  # of the steps: a run that starts later may have learnt before
_BACK = 2  # standard deviations: an end that is no further below the start is no progress
_HIDES = 3  # standard errors that noise may hide on top of a fall
_SIGMAS = 4.0  # of the noise: a first point that is so much higher stands out
_FALLS = 2  # standard errors: a fall by less is none, and a rise by more is one


class LossNotDecreasingLimits(Limits):
    """The thresholds of loss-not-decreasing."""

    min_points: int = whole(30, 20)  # of a loss that has noise
    few_points: int = whole(20, 5)  # of a loss that hardly changes
    no_change: float = at_least(0, 0.01)  # of the level: the range of a loss that hardly changes
    times: float = above(1, 3.0)  # the first point: what is much worse
    worse: float = proportion(0.25)  # of the points, that are much worse
    sigmas: float = above(0, 4.0)  # standard errors: a loss that falls further has learnt
    max_decline: float = at_least(0, 0.04)  # of the level: what a loss may fall, with its noise, and be certain not to
    max_hidden: float = at_least(0, 0.2)  # of the level: what noise may hide; beyond that there is no telling
    opponents: float = proportion(0.05)  # of the level: the range of the levels of two opponents' losses
    still: float = at_least(0, 0.001)  # of the level: the range of validations that are all the same
    min_validations: int = whole(4, 2)  # of a loss
    min_shares: int = whole(9, 4)  # of a metric that is a share, such as an accuracy
    worthwhile: float = at_least(0, 0.1)  # of the level: a fall in the first points only
    low_level: float = at_least(0, 0.1)  # of a loss: there is nothing left to learn
    learnt: float = proportion(0.9)  # of a metric that is a share: below it, there is


@RULES.add("GL303", "loss-not-decreasing", Severity.WARNING, LossNotDecreasingLimits, unless=loss_diverges)
def loss_not_decreasing(run: Signals, limit: LossNotDecreasingLimits) -> Hits:
    """The loss does not go down over the whole run."""
    if run.moving_target:
        yield from _opponents_rest(run, limit)
        return
    hit, is_low, signal = None, False, run.objective
    if signal is not None:
        series = signal.finite
        if len(series) and series.step[0] > _BEGINNING * series.step[-1]:
            return
        is_low = bool(len(series)) and median(np.abs(series.value)) <= limit.low_level
        is_low = is_low and not _is_left_to_learn(run, limit)
        hit = None if is_low else _flat(run, signal, series, limit)
        if _is_no_more_than_a_note(hit) and len(series) >= _FEW:
            hit = _worse_than_at_first(signal, series, limit) or hit
    if _is_no_more_than_a_note(hit) and not is_low:
        hit = _not_moved(run, limit) or hit
    if hit is not None:
        yield hit


def _opponents_rest(run: Signals, limit: LossNotDecreasingLimits) -> Hits:
    """Find two opponents whose losses both stay where they were: neither learns."""
    losses = [signal for signal in run.of("auxiliary_loss", "loss") if len(signal.finite) >= 2 * limit.few_points]
    levels = [signal.descent.level for signal in losses]
    others = [*run.of("metric"), *(signal for signal in run.of("") if is_of_other_data(signal.tag))]
    others = [signal for signal in others if len(signal.finite) >= _FEW]  # where they move, the balance rests
    if len(losses) < 2 or run.of("reward") or any(abs(one.descent.trend) > SURE for one in others):  # noqa: PLR2004
        return
    if all(np.ptp(level) < limit.opponents * np.abs(level).min() for level in levels):
        series = losses[0].finite
        what = f"{losses[0].tag} hardly changes in {len(series)} points: ", *_ends(series, losses[0].tags)
        yield Hit(
            (*what, f"; nor does {losses[1].tag}"),
            [signal.tag for signal in losses],
            series.step,
            _range(series.value),
        )


def _is_no_more_than_a_note(hit: Hit | None) -> bool:
    return hit is None or hit.severity is Severity.INFO


def _flat(run: Signals, signal: Signal, series: Series, limit: LossNotDecreasingLimits) -> Hit | None:
    """Find a loss that ends where it was, as far as its noise shows."""
    hit = _unchanged(run, signal, series, limit) if len(series) >= limit.few_points else None
    if hit is None and len(series) >= limit.min_points:
        hit = _back_at_its_start(run, signal, series, limit) or _not_falling(run, signal, series, limit)
    return hit


def _unchanged(run: Signals, signal: Signal, series: Series, limit: LossNotDecreasingLimits) -> Hit | None:
    """Find a loss whose whole range is a small part of its level: nothing there is noise, or worth being learnt."""
    value = series.value
    if np.ptp(value) > limit.no_change * abs(median(value)):
        return None
    message = f"{signal.tag} hardly changes in {len(value)} points: ", *_ends(series, signal.tags)
    return Hit(
        message, signal.tags, series.step, _range(value), severity=Severity.INFO if is_early(run, series) else None
    )


def _ends(series: Series, tags: tuple[str, ...]) -> Message:
    """The first and the last value, in words."""
    first, last = (Level.of("", series, at, at, tags=tags) for at in (0, len(series) - 1))
    one, other = apart(first, last)
    return one, ", then ", other


def _not_moved(run: Signals, limit: LossNotDecreasingLimits) -> Hit | None:
    """Find validations that all give the same: the data are the same each time, so the model is, too.

    The training loss must not have fallen either, so that nothing was learnt before the first of them.
    """
    for signal in [*run.of("validation_loss"), *run.of("metric")]:
        series = signal.finite
        value = series.value
        if not _is_still(signal, value, limit):
            continue
        objective = run.objective
        is_share = signal.meaning.role == "metric"
        if objective is None or _validates_better(run, _OF_SHARES * limit.no_change if is_share else limit.no_change):
            return None
        value_then = objective.finite.value
        if _has_fallen(value_then[len(value_then) // 4 :] if is_share else value_then, limit):
            return None
        when = " after its first quarter" if is_share and _has_fallen(value_then, limit) else ""
        what = f"hardly changes in {len(value)} validations: ", *_ends(series, signal.tags)
        all_ = Share.since("", series, 0, "exactly", float(value[0]))
        same = "is ", all_.said(f"{value[0]:.4g} at all {len(value)} points")
        return Hit(
            (f"{signal.tag} ", *(what if np.ptp(value) else same), f"; nor does {objective.tag} fall{when}"),
            (signal.tag,),
            series.step,
            _range(value),
        )
    return None


def _range(value: Floats) -> dict[str, float]:
    """The evidence that values hardly change."""
    return {"first": value[0], "last": value[-1], "range": np.ptp(value), "points": len(value)}


def _is_still(signal: Signal, value: Floats, limit: LossNotDecreasingLimits) -> bool:
    """Whether validations all give the same, but not nothing; or a metric that is a share, such as an accuracy."""
    if not len(value) or abs(value[-1] - value[0]) > 2 * limit.still * abs(value[0]):  # as in most runs
        return False
    if signal.meaning.role == "metric":
        return len(value) >= limit.min_shares and 0 < value[0] < limit.learnt and not np.ptp(value)
    still = limit.still * abs(median(value))
    return bool(len(value) >= limit.min_validations and value.any() and np.ptp(value) <= still)


def _validates_better(run: Signals, share: float) -> bool:
    """Whether a validation loss, which has no noise, came down by more than a small part of its level."""
    values = [signal.finite.value for signal in run.of("validation_loss") if len(signal.finite)]
    return any(value[0] - value.min() > share * abs(median(value)) for value in values)


def _has_fallen(value: Floats, limit: LossNotDecreasingLimits) -> bool:
    """Whether a training loss came down by more than its noise and a small part of its level; unknown counts as yes."""
    if len(value) < _FEW:
        return True
    course = Course.of(value)
    least = limit.no_change * abs(course.median)
    falls = max(course.early, float(value[0])) - course.late
    return falls > least and course.fell(limit.sigmas, least)


def _back_at_its_start(run: Signals, signal: Signal, series: Series, limit: LossNotDecreasingLimits) -> Hit | None:
    """Find a loss that explodes in its first third, and ends no lower than its first point, by more than its noise."""
    value, n = series.value, len(series)
    start, top, last = float(value[0]), int(np.argmax(value[: n // 3])), value[-(n // 3) :]
    if top not in _much_worse(value, limit):  # as in most runs
        return None
    end, noise = median(last), sigma(last)
    if start - end > min(_BACK * noise, limit.max_hidden * start):
        return None
    top = int(np.argmax(value))
    rise = Move.of(signal.tag, series, 0, top, "rises", tags=signal.tags)
    level = Level.of("", series, n - max(n // 10, 1), n - 1, tags=signal.tags)
    nothing = NotBetter("", tags=signal.tags)
    metrics = (one for one in run.of("metric") if len(one.finite) >= _FEW)
    others = _validates_better(run, limit.no_change) or any(abs(one.descent.trend) > SURE for one in metrics)
    told = (": ", nothing) if nothing.holds(series) and not others else ()
    recovers = start - median(value[-max(n // 10, 1) :]) > min(_BACK * noise, limit.max_hidden * start)
    return Hit(
        (rise, ", then it is ", level, *told),
        signal.tags,
        series.step,
        {"first": start, "highest": value[top], "last third": end, "noise": noise, "points": n},
        severity=Severity.INFO if recovers else None,
    )


def _much_worse(value: Floats, limit: LossNotDecreasingLimits) -> Ints:
    """The points of a positive loss that are far above the first one, beyond its noise in logarithms, by index."""
    worse: Ints = (value > limit.times * value[0]).nonzero()[0]
    if not len(worse) or value.min() <= 0:
        return worse[:0]
    noise = sigma(changes(np.log(value)))  # of the difference of two points: the first may be low by chance, too
    beyond: Bools = np.log(value[worse] / value[0]) > limit.sigmas * noise
    return worse[beyond]


def _worse_than_at_first(signal: Signal, series: Series, limit: LossNotDecreasingLimits) -> Hit | None:
    """Find a loss that a good part of the run made much worse than it was untrained, and that came back.

    If it stays, GL304 reports it, unless only the first point is low.
    """
    value, n = series.value, len(series)
    worse = _much_worse(value, limit)
    if len(worse) < max(limit.worse * n, 2) or median(value[-max(n // 5, 3) :]) > limit.times * value[0]:
        return None
    top = int(np.argmax(value))
    first = Level.of("", series, 0, 0, tags=signal.tags)
    high = Extreme("", Point.of(series, top), int(series.step[0]), int(series.step[-1]), tags=signal.tags)
    return Hit(
        (
            *(f"{signal.tag} is ", first, f", and over {limit.times:g} times that at"),
            *(f" {len(worse)} of {len(value)} points; ", high),
        ),
        signal.tags,
        series.step[worse],
        {"first": value[0], "highest": value[top], "worse": len(worse), "points": len(value)},
    )


def _not_falling(run: Signals, signal: Signal, series: Series, limit: LossNotDecreasingLimits) -> Hit | None:
    """Find a loss whose last third is not lower than its first, by more than the noise."""
    course = Course.of(series.value)
    n, level = len(series), abs(course.median)
    if course.fell(limit.sigmas, limit.worthwhile * level):
        return None
    fall, error = course.early - course.late, course.error_of_thirds
    hidden = max(fall, 0.0) + _HIDES * error
    if hidden > limit.max_hidden * level:
        return None  # too noisy to tell
    rises = fall < -_FALLS * error
    flat = rises or (hidden < limit.max_decline * level and fall <= _FALLS * error)
    sure = flat and not may_be_a_score(series.value) and not is_early(run, series)
    how = "" if flat else f"; its noise could hide a decrease by {hidden / level:.1%}"
    early = Level.of("", series, 0, n // 3 - 1, tags=signal.tags)
    late = Level.of("", series, n - n // 3, n - 1, tags=signal.tags)
    if not flat and period_of_waves(run, series):  # GL314 tells of it
        return None
    noise = " by more than its noise" if flat and early.value > late.value else ""
    scatter = sigma(changes(series.value)) / math.sqrt(2)
    if series.value[0] - late.value > _SIGMAS * scatter:  # it comes down at once, by little
        early, noise = Level.of("", series, 0, 0, tags=signal.tags), ""
    one, other = apart(early, late)
    not_falls = "does not clearly decrease"
    if flat:
        not_falls = "does not decrease" if noise or early.value <= late.value else "hardly decreases"
    return Hit(
        (
            *(f"{signal.tag} {not_falls}{noise} in {n} points: ", one, ", then ", other),
            how,
        ),
        signal.tags,
        series.step,
        {"first third": course.early, "last third": course.late, "standard error": error, "points": n},
        severity=None if sure else Severity.INFO,
    )


def _is_left_to_learn(run: Signals, limit: LossNotDecreasingLimits) -> bool:
    """Whether the metrics that are shares, such as accuracies, show that a low loss has not converged."""
    levels = [median(value[-(len(value) // 3) :]) for value in map(_share, run.of("metric")) if len(value)]
    return bool(levels) and max(levels) < limit.learnt


def _share(metric: Signal) -> Floats:
    """The values of a metric, if all are shares, and not just 0; else none."""
    value = metric.finite.value
    return value if len(value) and 0 <= value.min() <= value.max() <= 1 and value.any() else value[:0]
