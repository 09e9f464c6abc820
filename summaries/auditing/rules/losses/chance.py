"""GL309: a classifier that has hardly left what guessing gives: its loss ends near the logarithm of the classes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from summaries.auditing.claims import Level, Shift
from summaries.auditing.findings import Severity
from summaries.auditing.rules.losses.not_decreasing import loss_not_decreasing
from summaries.auditing.rules.progress import is_early
from summaries.auditing.rules.rule import Hit, Hits, Limits, Ruleset, proportion, whole
from summaries.robust import block_medians, median, monotone_trend

if TYPE_CHECKING:
    from summaries.arrays import Floats
    from summaries.auditing.signals.signals import Signals

__all__ = ["RULES"]

RULES = Ruleset("loss")
_USUAL = 2, 3, 4, 5, 10, 20, 100, 128, 200, 256, 1000, 10_000, 30_522, 32_000, 50_257, 50_304, 65_536, 128_256, 151_936
"""Numbers of classes, and of tokens, that data sets and tokenizers have."""
_LEVELS = 12
_STRAIGHT = 0.5  # of the slope of the first half: a curve whose second half falls as fast has only begun


class GuessingLimits(Limits):
    """The thresholds of guessing."""

    near: float = proportion(0.05)  # of the logarithm of the classes: the first level
    fall: float = proportion(0.1)  # of the first level, at most
    chance: float = proportion(0.5)  # of 1 / classes, by which an accuracy may be above it
    min_points: int = whole(20, 10)  # of a loss


@RULES.add("GL309", "guessing", Severity.WARNING, GuessingLimits, unless=loss_not_decreasing)
def guessing(run: Signals, limit: GuessingLimits) -> Hits:
    """The loss starts where guessing among the classes does, and has fallen by less than a tenth when the run ends."""
    signal = run.objective
    if signal is None or len(signal.finite) < limit.min_points or is_early(run, signal.finite):
        return
    series = signal.finite
    n, level = len(series), block_medians(series.value, min(_LEVELS, len(series) // 2))
    start, end = float(level[0]), float(level[-1])
    classes = _classes(start, limit.near)
    if not classes or not -limit.near * start <= start - end <= limit.fall * start:
        return
    sure = _at_chance(run, classes, limit.chance)
    if not (sure or _only_begins(level)):
        return
    twelfth = max(n // _LEVELS, 1)
    first = Level.of(signal.tag, series, 0, twelfth - 1, tags=signal.tags)
    last = Level.of(signal.tag, series, n - twelfth, n - 1, tags=signal.tags)
    if not first.value > last.value:
        return
    rates = [one.finite.value for one in run.of("learning_rate") if len(one.finite)]
    rate = f"; the learning rate is {max(map(np.max, rates)):.3g} at most" if rates else ""
    yield Hit(
        (
            *(Shift.of(first, last, "falls"), " in the whole run, and"),
            f" {math.log(classes):.4g} = ln {classes} is guessing among {classes}{rate}",
        ),
        signal.tags,
        series.step,
        {"first": first.value, "last": last.value, "classes": classes},
        severity=None if sure else Severity.INFO,
    )


def _classes(level: float, near: float) -> int:
    """The number of classes that guessing at this loss suggests; 0 if there is none."""
    nearest = min(_USUAL, key=lambda classes: abs(math.log(classes) - level))
    return nearest if abs(math.log(nearest) - level) <= near * math.log(nearest) else 0


def _at_chance(run: Signals, classes: int, chance: float) -> bool:
    """Whether an accuracy is logged, and all that are end as guesses would."""
    accuracies = [signal.finite.value for signal in run.of("metric") if "acc" in signal.tag.lower()]
    ends = [median(value[-max(len(value) // 10, 1) :]) for value in accuracies if len(value)]
    percent = 100.0 if max(ends, default=0.0) > 1 else 1.0
    return bool(ends) and max(ends) <= (1 + chance) / classes * percent


def _only_begins(level: Floats) -> bool:
    """Whether levels fall by a trend, and in the second half as fast as in the first."""
    half = len(level) // 2
    first, second = float(level[0] - level[half]), float(level[half] - level[-1])
    return monotone_trend(level) <= -3 and second >= _STRAIGHT * first > 0  # noqa: PLR2004 - standard deviations
