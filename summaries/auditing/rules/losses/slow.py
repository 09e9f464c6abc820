"""GL313: a loss that is still a straight line when the run ends, and has come down by little: it has only begun."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from summaries.auditing.claims import Level, Shift, apart
from summaries.auditing.findings import Severity
from summaries.auditing.rules.losses.chance import guessing
from summaries.auditing.rules.progress import (
    at_best,
    highest_rate,
    is_early,
    rate_in_words,
    rate_is_dead,
    shares,
    validations,
)
from summaries.auditing.rules.rule import Hit, Hits, Limits, Ruleset, above, proportion, whole
from summaries.auditing.statistics.descent import SURE, Descent
from summaries.robust import changes, median, sigma

if TYPE_CHECKING:
    from summaries.arrays import Floats
    from summaries.auditing.claims import Message
    from summaries.auditing.signals.signals import Signal, Signals
    from summaries.reading.series import Series

__all__ = ["RULES"]

RULES = Ruleset("loss", "validation_loss")
_FEW, _NO_TREND = 10, 2.0  # points of an accuracy; standard deviations: less is no trend
_NOISE, _WORSE = 3, 0.02  # standard deviations of a change; of the first point, an end that is no progress
_AT_ONCE = 0.5  # of the sum of the rates, from one point to the next: a line through two points tells nothing


class SlowLearningLimits(Limits):
    """The thresholds of slow-learning."""

    fall: float = proportion(0.35)  # of the first level, at most
    straight: float = proportion(0.5)  # of the fall of the first half: that of the second, at least
    bends: float = above(1, 2.0)  # times the fall of the first half: that of the second, at most
    min_points: int = whole(8, 6)  # of a validation loss
    fewest: int = whole(6, 4)  # the same where the rate explains it
    sure_points: int = whole(20, 6)  # of one; of fewer, a fall is a note unless it is hardly one
    hardly: float = proportion(0.03)  # of the first level
    rests: float = proportion(0.01)  # of its level: the fall of a validation that does not fall, beside such a loss
    little: float = proportion(0.1)  # of the first level of a loss: the fall, where no accuracy rises
    low: float = proportion(0.5)  # of 1: an accuracy that is never higher, and does not rise
    low_rate: float = above(0, 1e-4)  # a rate that is not above it explains a slow fall
    usual_rate: float = above(0, 1e-3)  # a rate above it does not: then it is a note


@RULES.add("GL313", "slow-learning", Severity.WARNING, SlowLearningLimits, unless=guessing)
def slow_learning(run: Signals, limit: SlowLearningLimits) -> Hits:
    """The loss and its validation fall by little, and as fast at the end as at the beginning."""
    if run.concurrent_files:
        return
    objective = run.objective
    by_epochs = [objective] if objective and not run.of("validation_loss") and validations(run) else []
    hit: Hit | None
    for signal in [*run.of("validation_loss"), *by_epochs]:
        series = signal.finite
        least = limit.min_points if highest_rate(run) > limit.low_rate else limit.fewest
        if objective is None or min(len(series), len(objective.finite)) < least:
            continue
        slow = Descent(_by_the_rate(run, series))
        if not (_is_slow(slow, signal.descent.error, limit) and _falls_by_little(objective.descent, limit)):
            continue
        n = len(series)
        part = max(n // len(slow.level), 1)
        line = "nearly in a straight line" if _is_line(signal.descent, limit) else _as_the_rate(run)
        rate = highest_rate(run)
        sure = n >= limit.sure_points or slow.level[0] - slow.lowest <= limit.hardly * slow.level[0]
        sure = rate <= limit.low_rate or (sure and not rate > limit.usual_rate)
        first, last = (Level.of(signal.tag, series, low, low + part - 1) for low in (0, n - part))
        sure = sure and not is_early(run, objective.finite)
        hit = Hit(
            (Shift.of(first, last, "falls"), f" in the whole run, {line}{rate_in_words(run)}"),
            tuple(dict.fromkeys((signal.tag, *objective.tags))),
            series.step,
            {"first": first.value, "last": last.value, "straightness": slow.straightness},
            severity=None if sure else Severity.INFO,
        )
        yield hit if sure else _neither_falls(run, limit) or _shares_rest(run, limit) or hit
        return
    hit = _neither_falls(run, limit) or _shares_rest(run, limit)
    if hit is not None:
        yield hit


def _shares_rest(run: Signals, limit: SlowLearningLimits) -> Hit | None:
    """Accuracies and the like that are low and do not rise, while the loss that is trained falls by little."""
    loss, rest = run.objective, shares(run)
    if loss is None or not rest or min(len(one.finite) for one in (loss, *rest)) < _FEW:
        return None
    fell = loss.descent.level[0] - loss.descent.lowest
    low = all(one.finite.value.max() < limit.low * at_best(one) for one in rest)
    if fell > limit.little * abs(loss.descent.level[0]) or not low or is_early(run, loss.finite):
        return None
    if any(one.descent.trend >= _NO_TREND for one in rest):
        return None
    series, n = rest[0].finite, len(rest[0].finite)
    first, last = Level.of("", series, 0, n // 3 - 1), Level.of("", series, n - n // 3, n - 1)
    by_noise = " by more than its noise" if last.value > first.value else ""
    return Hit(
        (
            *(f"{rest[0].tag} does not rise{by_noise}: ", first, ", then ", last),
            rate_in_words(run),
        ),
        (rest[0].tag, *loss.tags),
        series.step,
        {"first": first.value, "last": last.value},
    )


def _neither_falls(run: Signals, limit: SlowLearningLimits) -> Hit | None:
    """Find a loss that ends hardly lower than it began, as its validation does: together, few points are enough."""
    signal, validation = run.objective, run.validation
    if signal is None or validation is None or rate_is_dead(run):
        return None
    series = signal.finite
    if min(len(series), len(validation.finite)) < limit.min_points:
        return None
    if is_early(run, series) or _gains(validation.finite.value) > limit.rests:
        return None
    curves = signal.descent, validation.descent
    if any(one.level[0] - one.lowest > max(limit.hardly * abs(one.level[0]), _NOISE * one.error) for one in curves):
        return None  # it fell, and is back
    falls = max(signal.descent.trend, validation.descent.trend) < -SURE
    begins = falls and signal.descent.straightness >= limit.straight
    if begins or _gains(series.value) > limit.hardly:
        return None
    n, how = len(series), "hardly falls" if _gains(series.value) > 0 else "does not fall"
    return Hit(
        (
            *(f"{signal.tag} {how}: ", *_first_and_late(signal), f"; nor does {validation.tag}: "),
            *_first_and_late(validation),
        ),
        (*signal.tags, *validation.tags),
        series.step,
        {"first": series.value[0], "last third": median(series.value[n - n // 3 :]), "points": n},
    )


def _first_and_late(signal: Signal) -> Message:
    """The first point and the last third, in words."""
    series, n = signal.finite, len(signal.finite)
    first, late = (Level.of("", series, low, high, tags=signal.tags) for low, high in ((0, 0), (n - n // 3, n - 1)))
    one, other = apart(first, late)
    return one, ", then ", other


def _gains(value: Floats) -> float:
    """How much lower the last third of n ≥ 3 values is than the first, or than a first point above it, as a share."""
    n, first = len(value), float(value[0])
    late, early = median(value[-(n // 3) :]), median(value[: n // 3])
    began = first if first > early + _NOISE * sigma(changes(value)) or late > (1 + _WORSE) * first > 0 else early
    return (began - late) / abs(late) if late else 0.0


def _is_slow(curve: Descent, error: float, limit: SlowLearningLimits) -> bool:
    """Whether a curve is a straight line that has come down by little, and by more than its noise."""
    is_straight = _is_line(curve, limit) and _is_surely_straight(curve, error, limit)
    return curve.trend < -SURE and is_straight and _falls_by_little(curve, limit)


def _is_line(curve: Descent, limit: SlowLearningLimits) -> bool:
    """Whether the second half of a curve falls about as far as the first."""
    return limit.straight <= curve.straightness <= limit.bends


def _is_surely_straight(curve: Descent, error: float, limit: SlowLearningLimits) -> bool:
    """Whether the second half falls as fast as the first, even if it is less than it seems by the error of a level."""
    middle, error = len(curve.level) // 2, error * math.sqrt(2)
    first, second = curve.level[0] - curve.level[middle], curve.level[middle] - curve.level[-1]
    return bool(second - error >= limit.straight / 2 * (first + error))


def _falls_by_little(curve: Descent, limit: SlowLearningLimits) -> bool:
    """Whether the levels of a positive curve have come down by a small part of the first one."""
    first = float(curve.level[0])
    return 0 <= first - curve.lowest <= limit.fall * first


def _as_the_rate(run: Signals) -> str:
    """How a loss falls that is a straight line over the sum of the learning rates."""
    rate = run.of("learning_rate")[0].finite.value
    if rate[-1] > median(rate):
        return "while the learning rate still rises"
    return "as the learning rate comes down" if rate[0] == rate.max() else "by as much as the learning rate lets it"


def _by_the_rate(run: Signals, series: Series) -> Floats:
    """The values of a series at equal distances of the sum of the learning rates: a rate that falls bends no line."""
    rates = [signal.finite for signal in run.of("learning_rate") if len(signal.finite) >= len(series)]
    if not rates or rates[0].value.min() < 0 or rates[0].value[-1] == rates[0].value.max():
        return series.value
    way = np.interp(series.step, rates[0].step, np.cumsum(rates[0].value))
    if changes(way).max() > _AT_ONCE * (way[-1] - way[0]):
        return series.value
    return np.interp(np.linspace(way[0], way[-1], len(way)), way, series.value)
