"""Descents: a curve as a few robust levels, their errors and trends, in the words that rules of learning share.

The levels are medians of equal blocks. Their error is that of a median of the scatter about the line between
neighbours; a trend is told by Mann and Kendall's test; waves by the autocorrelation of what is left of the levels.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from summaries.auditing.statistics.course import bend
from summaries.robust import block_medians, changes, median, monotone_trend, sigma

if TYPE_CHECKING:
    from summaries.arrays import Floats

__all__ = ["LEVELS", "SURE", "Descent", "autocorrelation"]

LEVELS = 12
SURE = 3.0  # standard deviations: of a trend, or of a difference of levels, by chance


@dataclass(frozen=True)
class Descent:
    """A curve that should come down.

    Attributes:
        values: float64[n], n ≥ 2 finite values.
        count: how many levels tell its course, at most.
    """

    values: Floats
    count: int = LEVELS

    @cached_property
    def level(self) -> Floats:
        """float64[k]: the medians of blocks."""
        return block_medians(self.values, self.count)

    @cached_property
    def best(self) -> int:
        """The index of the lowest level."""
        return int(np.argmin(self.level))

    @property
    def lowest(self) -> float:
        """The lowest level."""
        return float(self.level[self.best])

    @property
    def first(self) -> float:
        """Where the curve began: its first point, or its first level if that is higher."""
        return max(float(self.values[0]), float(self.level[0]))

    @property
    def fall(self) -> float:
        """From the beginning to the lowest level."""
        return self.first - self.lowest

    @property
    def end(self) -> float:
        """The lower one of the last two levels: a single one may be high by chance."""
        return float(self.level[-2:].min())

    @cached_property
    def error(self) -> float:
        """Of a level: how far levels scatter about the line between their neighbours."""
        return bend(self.level)

    @cached_property
    def trend(self) -> float:
        """How surely the levels rise, or fall (below 0), in standard deviations."""
        return monotone_trend(self.level)

    @property
    def straightness(self) -> float:
        """The fall of the second half over that of the first: 1 of a straight line, near 0 of one that has settled."""
        half = (len(self.level) - 1) // 2
        first, second = self.level[0] - self.level[half], self.level[-1 - half] - self.level[-1]
        return float(second / first) if first > 0 else 0.0

    @property
    def jitter(self) -> float:
        """Robust standard deviation of the change from one value of the second half to the next, as of one of them."""
        late = self.values[len(self.values) // 2 :]
        return sigma(changes(late)) / float(np.sqrt(2)) if len(late) > 1 else 0.0

    def since(self, share: float) -> Descent:
        """The rest of the curve, after this share of its values."""
        return Descent(self.values[int(share * len(self.values)) :], self.count)


def autocorrelation(values: Floats) -> Floats:
    """float64[n]: how alike n ≥ 2 values are at each distance, from 1 at distance 0; all 0 if they are one value."""
    rest = values - median(values)
    reach = SURE * sigma(rest)
    rest = np.clip(rest, -reach, reach) if reach else rest
    rest = rest - rest.mean()
    spectrum = np.abs(np.fft.rfft(rest, 2 * len(rest))) ** 2
    product = np.fft.irfft(spectrum)[: len(rest)]
    return product / product[0] if product[0] > 0 else np.zeros(len(rest))
