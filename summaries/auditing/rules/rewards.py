"""What rewards show: whether a policy has learnt, whether it still does, and whether a fall is more than chance."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from summaries.auditing.statistics.course import trend_between
from summaries.auditing.statistics.descent import Descent
from summaries.robust import OF_MEDIAN, block_medians, changes, median, sigma

if TYPE_CHECKING:
    from summaries.arrays import Floats
    from summaries.auditing.signals.signals import Signals

__all__ = ["FAR", "LEVELS", "SURE", "TREND", "fails", "is_harder", "is_learnt", "is_no_walk", "moves_at", "rises"]

LEVELS = 12  # medians of stretches
TREND = 4  # levels from the best one on, in which a trend can show
FAR = 3  # standard deviations of a random walk, or of a level
SURE = 2.0  # standard deviations of a trend by chance
_KEPT = 0.5  # of the range of a reward: what has been learnt, and is kept
_NEAR = 20  # points of a reward on each side of an update
_HARDER = re.compile(r"lesson|curriculum|terrain|difficulty", re.IGNORECASE)


def fails(run: Signals) -> bool:
    """Whether a reward is logged, has levels, and did not rise."""
    signal = run.main
    if signal is None or signal.meaning.role != "reward" or len(signal.finite) < TREND:
        return False
    return not is_learnt(run, int(signal.finite.step[0]))


def is_learnt(run: Signals, since: int) -> bool:
    """Whether the reward rose by a trend, and is still most of the way up; unknown if it is logged too rarely."""
    signal = run.main
    if signal is None or signal.meaning.role != "reward" or len(signal.finite) < TREND:
        return False
    series = signal.finite
    level = block_medians(series.value, LEVELS)
    error = max(signal.descent.error, OF_MEDIAN * signal.descent.jitter * np.sqrt(len(level) / len(series)))
    kept = max(_KEPT * (level.max() - level.min()), FAR * error)
    rose = level[-1] - level.min() >= kept and level.argmax() > level.argmin()
    falls = trend_between(series, since, int(series.step[-1])) < -SURE
    return bool(rose and not falls)


def is_harder(run: Signals) -> bool:
    """Whether a tag tells of a task that becomes harder by itself: not by steps of a setting."""
    stepwise = {setting.tag for setting in run.settings}
    return any(_HARDER.search(tag) for tag in run.all if tag not in stepwise)


def is_no_walk(value: Floats, high: int, low: int) -> bool:
    """Whether a value, or half of its fall, fell further than steps like its own lead by chance, in a random walk."""
    part, step, length = value[high : low + 1], FAR * sigma(changes(value)), low - high
    least = float(value[high] - value[low])
    while length:
        if (part[:-length] - part[length:]).max() > max(least, step * np.sqrt(length)):
            return True
        length, least = length // 2, (value[high] - value[low]) / 2
    return False


def rises(reward: Floats) -> bool:
    """Whether a reward rises by a trend, or its last third is above the first by more than it changes at once."""
    third = len(reward) // 3
    gained = median(reward[-third:]) - median(reward[:third])
    return Descent(-reward).trend < -SURE or gained > sigma(changes(reward))


def moves_at(run: Signals, step: int) -> bool:
    """Whether the reward has another level after a step than before, beyond its noise."""
    signal = run.main
    if signal is None or signal.meaning.role != "reward":
        return False
    series = signal.finite
    at = int(np.searchsorted(series.step, step))
    before, after = series.value[max(at - _NEAR, 0) : at], series.value[at : at + _NEAR]
    if min(len(before), len(after)) < TREND:
        return False
    return abs(median(after) - median(before)) > FAR * max(sigma(before), sigma(after))
