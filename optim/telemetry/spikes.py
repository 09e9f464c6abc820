"""Tells at once that a value is a spike; the audit's rules judge a whole run, which is not there yet.

The thresholds are those of GL302 for a loss and of GL402 for a norm. The level and its noise come from earlier values
only, by the audit's own statistics. They are taken anew every 32 values, since that costs more than a comparison.
"""

from __future__ import annotations

import math
from collections import deque

import numpy as np

from summaries.robust import blocks, tail_reach

__all__ = ["FACTOR", "LEAST_POINTS", "LEAST_RISE", "SIGMAS", "SpikeDetector"]

SIGMAS = 8.0  # above the level, in standard deviations of the noise
LEAST_RISE = 0.1  # of a loss, relative to its level
FACTOR = 10.0  # of a norm, relative to its level
LEAST_POINTS = 30  # fewer show no level
_WINDOW = 256  # values that the level and its noise are taken from
_BEYOND = 2.5  # times the highest ordinary value: heavy tails have single high ones
_AGAIN = 32  # values after which they are taken anew


class SpikeDetector:
    """Compares each value with those before it.

    Args:
        logarithmic: whether ratios count rather than differences, as for norms.

    >>> detector = SpikeDetector()
    >>> [detector.is_spike(value) for value in [1.0, 1.1, 0.9, 1.0] * 10 + [1.1, 5.0]][-2:]
    [False, True]
    """

    def __init__(self, *, logarithmic: bool = False) -> None:
        self._logarithmic = logarithmic
        self._values: deque[float] = deque(maxlen=_WINDOW)
        self._level, self._noise, self._bar = 0.0, math.inf, math.inf
        self._most = 0.0  # how far above the level an ordinary value was, in standard deviations of the noise
        self._until = LEAST_POINTS  # values until the bar is set anew

    def is_spike(self, value: float) -> bool:
        """Whether the value is far above the level; from then on it counts as one of the values before."""
        if self._logarithmic:
            value = math.log10(value) if value > 0 else math.nan
        if not math.isfinite(value):
            return False
        if self._until == 0:
            self._set_bar()
            self._until = _AGAIN
        self._until -= 1
        self._values.append(value)
        if value > self._bar:
            return True
        self._most = max(self._most, (value - self._level) / self._noise)
        return False

    def _set_bar(self) -> None:
        values = np.array(self._values)
        cut = blocks(values, max(1, len(values) // _AGAIN))
        level = float(cut.median[-2:].max())  # of a falling value the earlier one: it is the higher bar
        nearest = np.minimum(np.arange(len(values)) * len(cut.median) // len(values), len(cut.median) - 1)
        span = float(cut.median.max() - cut.median.min())
        noise = max(float(np.median(cut.sigma)), 0.005 * span + 1e-3 * abs(level) + 1e-300)
        reach = max(SIGMAS, tail_reach((values - cut.median[nearest]) / noise), _BEYOND * self._most)
        least = math.log10(FACTOR) if self._logarithmic else LEAST_RISE * abs(level)
        self._level, self._noise, self._bar = level, noise, level + max(reach * noise, least)
