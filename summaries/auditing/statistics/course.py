"""The course of a loss: its level in blocks, how far it falls, and where it rises."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np

from summaries.reading.series import Series
from summaries.robust import NORMAL, OF_MEDIAN, Blocks, block_medians, blocks, changes, mean, median, monotone_trend

if TYPE_CHECKING:
    from summaries.arrays import Floats


__all__ = [
    "Course",
    "bend",
    "largest_rise",
    "level_between",
    "may_be_a_score",
    "onset",
    "scatter_about_trend",
    "trend_between",
    "typical",
    "value_at",
    "without_zeros",
]


_MANY = 50  # points; of fewer, five neighbours may lie on a slope
_BATCHES = 6, 10, 30  # means, whose scatter shows whether noise is correlated
_FIRST = 20  # the first twentieth of the points is no part of the early level: networks learn output biases there
_BEND_OF_MEDIANS = 0.6  # of the bend of the medians of blocks: what it shows of their error
_STRICTER, _STRICTEST = 0.5, 1.5  # standard errors more that a fall in a third of the points, or in few, must be
_NONZERO = 0.95  # of the values: if more are not zero, the zeros say little
_CLIPPED = 4  # standard deviations around the median, to which values are clipped
_NEAR, _NEAR_SHARE = 4, 0.03  # errors of the lowest level, and of the rise: what is near the lowest level
_JUMP, _CREPT = 2, 4  # a jump makes a half of a rise, and the level crept by less than a quarter of it before


@dataclass(frozen=True)
class Course:
    """Where a series starts, how it goes, and where it ends.

    Attributes:
        values: float64[n], n ≥ 5 finite values.
        blocks: the series in blocks.
    """

    values: Floats
    blocks: Blocks

    @staticmethod
    def of(values: Floats, count: int = 30) -> Course:
        """Describe n ≥ 5 finite values, in up to `count` blocks."""
        return Course(values, blocks(values, min(count, len(values) // 5)))

    @cached_property
    def median(self) -> float:
        """The median of all values."""
        return median(self.values)

    @cached_property
    def noise(self) -> float:
        """Robust standard deviation of a point about the course."""
        return max(median(self.blocks.sigma), NORMAL * median(np.abs(changes(self.values))) / math.sqrt(2))

    @cached_property
    def early(self) -> float:
        """The level of the first third, without the first twentieth of the series."""
        n = len(self.values)
        return _clipped_mean(self.values[n // _FIRST : n // 3], self.noise)

    @cached_property
    def late(self) -> float:
        """The level of the last third."""
        return _clipped_mean(self.values[-(len(self.values) // 3) :], self.noise)

    def error_of_rise(self, best: int, tail: int) -> float:
        """Standard error of the rise from the median of block `best` to the median of the last `tail` blocks.

        It comes from the noise of the whole series or the noise around these blocks, whichever is smaller: the first is
        too large if another part is much noisier, the second if a block has a slope.
        """
        sigmas = self.blocks.sigma  # that of a single block is too uncertain
        a, b = sigmas[max(best - 1, 0) : best + 2].max(), sigmas[-2:].max()
        noise = min(math.hypot(a, b), math.sqrt(2) * self.noise)
        within = OF_MEDIAN * noise / math.sqrt(self.blocks.length)
        return max(within, _BEND_OF_MEDIANS * bend(self.blocks.median) * math.sqrt(1 + 1 / tail))

    @cached_property
    def error_of_thirds(self) -> float:
        """Standard error of the difference between the late and the early level.

        It comes from the means of 6, 10 and 30 batches: if noise is correlated, they scatter more than the means of as
        many independent points would.
        """
        n = len(self.values)
        counts = [count for count in _BATCHES if n >= 2 * count]
        sums = [np.add.reduce(self.values[n % count :].reshape(count, -1), axis=1) for count in counts]
        means = [(n // count, total / (n // count)) for count, total in zip(counts, sums, strict=True)]
        noise = max([self.noise, *(math.sqrt(length) * scatter_about_trend(mean) for length, mean in means)])
        return noise * math.sqrt(1 / (n // 3 - n // _FIRST) + 1 / (n // 3))

    def fell(self, sigmas: float, least: float) -> bool:
        """Whether the end is lower than the start by more than chance.

        If only the first points are higher, fewer than a third, the fall must be at least `least`: networks learn their
        output biases there, and averages start with the noise of a few points.

        Args:
            sigmas: how many standard errors the fall must be.
            least: smallest fall that counts in the first points.
        """
        if self.early - self.late > sigmas * self.error_of_thirds:
            return True
        n = len(self.values)
        last = self.noise / math.sqrt(n // 3)
        points = n // 9
        while points:
            # The fewer the points, the more there are to choose from, and the less normal their mean is.
            bar = sigmas + _STRICTER + _STRICTEST * (1 - math.log(points) / math.log(n // 3))
            start = _clipped_mean(self.values[:points], self.noise) if points > 1 else self.values[0]
            if start - self.late > max(bar * math.hypot(self.noise / math.sqrt(points), last), least):
                return True
            points //= 3
        return False


def without_zeros(series: Series) -> Series:
    """Drop the zeros of a loss that often is zero, such as a hinge loss: they say nothing about the other values."""
    fine = series.value != 0
    if np.count_nonzero(fine) > _NONZERO * len(fine):
        return series
    return Series(series.tag, series.step[fine], series.wall_time[fine], series.value[fine])


def bend(values: Floats) -> float:
    """Robust standard deviation of independent points about the line between their neighbours; 0 for under 3."""
    return NORMAL * median(np.abs(changes(changes(values)))) / math.sqrt(6) if len(values) > 2 else 0.0  # noqa: PLR2004


def scatter_about_trend(values: Floats, degree: int = 1) -> float:
    """Standard deviation of n > degree + 1 points about the polynomial that fits them best; degree 1 is a line."""
    n = len(values)
    basis = _polynomials(n, degree)
    rest = values - basis @ (basis.T @ values)
    return math.sqrt(float(rest @ rest) / (n - degree - 1))


@lru_cache(maxsize=64)  # for the few numbers of means and of blocks
def _polynomials(n: int, degree: int) -> Floats:
    """float64[n, degree + 1]: an orthonormal basis of the polynomials on n points at even distances."""
    basis: Floats = np.linalg.qr(np.vander(np.linspace(-1, 1, n), degree + 1))[0]
    basis.flags.writeable = False
    return basis


def largest_rise(values: Floats) -> float:
    """The largest rise of n ≥ 1 values above an earlier one."""
    return float((values - np.minimum.accumulate(values)).max())


def onset(values: Floats, cut: Blocks, best: int, rise: float, scale: float) -> int:
    """The index at which a rise from the lowest block begins: after the last block that is still near the lowest.

    Args:
        values: float64[n].
        cut: the blocks of the values.
        best: index of the lowest block.
        rise: how far the values rise.
        scale: the range of the loss until then; a rise by less than 3 % of it does not count.
    """
    jump = _jump(cut.median, best, rise, scale)
    rise -= float(cut.median[jump] - cut.median[best])
    best = jump
    above = cut.median[best:] - cut.median[best]
    error = median(cut.error[max(best - 2, 0) : best + 3])  # near there: a loss that explodes is noisier later
    near = above <= min(max(_NEAR * error, _NEAR_SHARE * min(rise, scale)), rise / 3)
    last = best + int(np.flatnonzero(near)[-1])
    start = int(cut.start[last])
    part = values[start : start + 3 * cut.length]
    # The cumulative sum of the values above the middle of the two levels is lowest where the rise begins.
    step = float(cut.median[min(last + 2, len(cut.median) - 1)] - cut.median[last])
    middle = float(cut.median[last]) + min(step, scale) / 2
    return start + int(np.argmin(np.cumsum(np.append(0.0, part - middle))))


def _jump(level: Floats, best: int, rise: float, scale: float) -> int:
    """The block before a jump that makes most of a rise, if the level had hardly left its course; else the best block.

    A jump takes two blocks at most.
    """
    if len(level) - best < 4:  # noqa: PLR2004
        return best
    up = level[best + 2 :] - level[best:-2]
    at = int(np.argmax(up))
    crept = float(level[best + at] - level[best])
    return best + at if _JUMP * up[at] > rise and _CREPT * crept < min(rise, scale) else best


def _clipped_mean(values: Floats, noise: float) -> float:
    """The mean of values clipped to 4 σ around their median: nearly as efficient as the mean, and robust."""
    middle = median(values)
    reach = _CLIPPED * noise
    return mean(np.minimum(np.maximum(values, middle - reach), middle + reach))


def level_between(series: Series, start: int, stop: int, low: float, high: float) -> tuple[float, float]:
    """The median of a series over a part of the steps from `start` to `stop`, and its standard error; NaN if empty.

    The part is given by shares of that range: 0.0 to 0.2 is its first fifth.
    """
    a, b = start + low * (stop - start), start + high * (stop - start)
    part = series.value[(series.step >= a) & (series.step <= b)]
    if not len(part):
        return math.nan, math.nan
    middle = median(part)
    return middle, OF_MEDIAN * NORMAL * median(np.abs(part - middle)) / math.sqrt(len(part))


def value_at(series: Series, step: int) -> float:
    """The value of n ≥ 1 points at a step, or at the one nearest to it."""
    return float(series.value[np.argmin(np.abs(series.step - step))])


def typical(values: Floats, last: int) -> int:
    """The index of a point with the median of five points, or of three if there are few: those until `last`.

    >>> typical(np.array([2.0, 1.0, 1.3, 1.1, 1.2, 9.0, 9.0]), 4)
    4
    """
    first = max(last - (4 if len(values) >= _MANY else 2), 0)
    part = values[first : last + 1]
    middle = np.partition(part, (len(part) - 1) // 2)[(len(part) - 1) // 2]
    return first + int(np.flatnonzero(part == middle)[-1])


def trend_between(series: Series, start: int, stop: int, count: int = 30) -> float:
    """How surely a series rises or falls from step `start` to `stop`: the `monotone_trend` of `count` blocks."""
    part = series.value[(series.step >= start) & (series.step <= stop)]
    return monotone_trend(block_medians(part, count)) if len(part) > 1 else 0.0


def may_be_a_score(values: Floats) -> bool:
    """Whether n ≥ 3 values may be a score that is called a loss: shares, lowest at first, that go up and settle.

    A loss that diverges is lowest later, leaves the range from 0 to 1, or rises ever faster.
    """
    first, second, third = (median(part) for part in np.array_split(values, 3))
    start = values[: max(len(values) // 10, 1)]
    shares = values.min() >= 0 and values.max() <= 1
    return bool(shares and median(start) < first < second <= third and third - second < second - first)
