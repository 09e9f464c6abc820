"""The shape of a loss: its level by blocks, where it rises, and whether a learning rate's restarts explain that."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from summaries.auditing.statistics.robust import NORMAL, Blocks, blocks, median
from summaries.reading.series import Series

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from summaries.auditing.signals.signals import Signals
    from summaries.auditing.statistics.excursions import Peak

    Floats = NDArray[np.float64]

__all__ = [
    "Course",
    "bend",
    "explained_by_rate",
    "largest_rise",
    "level_between",
    "onset",
    "recur_as_restarts",
    "scatter_about_trend",
    "without_zeros",
]


@dataclass(frozen=True)
class Course:
    """Where a series starts, goes and ends.

    Attributes:
        median: of all.
        blocks: its course.
        noise: robust standard deviation of a point about the course.
        early: the level of the first third, but for its first part: a twentieth of all.
        late: the level of the last third.
    """

    values: Floats
    median: float
    blocks: Blocks
    noise: float
    early: float
    late: float

    @staticmethod
    def of(values: Floats, count: int = 30) -> Course:
        """The course of n ≥ 5 finite values, in up to `count` blocks."""
        n = len(values)
        cut = blocks(values, min(count, n // 5))
        noise = max(median(cut.sigma), NORMAL * median(np.abs(np.diff(values))) / math.sqrt(2))
        early, late = (_clipped_mean(part, noise) for part in (values[n // 20 : n // 3], values[-(n // 3) :]))
        return Course(values, median(values), cut, noise, early, late)

    def error_of_rise(self, best: int, tail: int) -> float:
        """Standard error of the difference between a block's median and the median of the last `tail` blocks'.

        From the noise of all, or from that around these two, whichever is less: the one is too large where another
        part is much noisier, the other where a block has a slope.
        """
        sigmas = self.blocks.sigma  # one block's alone is too uncertain
        a, b = sigmas[max(best - 1, 0) : best + 2].max(), sigmas[-2:].max()
        noise = min(math.hypot(a, b), math.sqrt(2) * self.noise)
        within = 1.2533 * noise / math.sqrt(self.blocks.length)
        return max(within, 0.6 * bend(self.blocks.median) * math.sqrt(1 + 1 / tail))

    @cached_property
    def error_of_thirds(self) -> float:
        """Standard error of the difference between the late level and the early one.

        From the means of ten batches, of six and of thirty: of noise that is correlated, they scatter more than means
        of as many independent points would.
        """
        n = len(self.values)
        counts = [count for count in (6, 10, 30) if n >= 2 * count]
        means = [(n // count, self.values[n % count :].reshape(count, -1).mean(axis=1)) for count in counts]
        noise = max([self.noise, *(math.sqrt(length) * scatter_about_trend(mean) for length, mean in means)])
        return noise * math.sqrt(1 / (n // 3 - n // 20) + 1 / (n // 3))

    def fell(self, sigmas: float, least: float) -> bool:
        """Whether the end is lower than the start, by more than chance.

        Of the first points, fewer than a third, the fall must be `least` at least: a network's output biases are learnt
        there, and averages begin with a few points' noise.
        """
        if self.early - self.late > sigmas * self.error_of_thirds:
            return True
        n = len(self.values)
        last = self.noise / math.sqrt(n // 3)
        points = n // 9
        while points:
            # Of fewer points, there are more to choose from, and their mean is less normal.
            bar = sigmas + 0.5 + 1.5 * (1 - math.log(points) / math.log(n // 3))
            start = _clipped_mean(self.values[:points], self.noise) if points > 1 else self.values[0]
            if start - self.late > max(bar * math.hypot(self.noise / math.sqrt(points), last), least):
                return True
            points //= 3
        return False


def without_zeros(series: Series) -> Series:
    """A loss where it is not zero, if it often is, as a hinge's: zeros do not tell how far the others reach."""
    fine = series.value != 0
    if np.count_nonzero(fine) > 0.95 * len(fine):
        return series
    return Series(series.tag, series.step[fine], series.wall_time[fine], series.value[fine])


def bend(values: Floats) -> float:
    """Robust standard deviation of points about the line between their neighbours, for independent ones; 0 of < 3."""
    return NORMAL * median(np.abs(np.diff(values, 2))) / math.sqrt(6) if len(values) > 2 else 0.0  # noqa: PLR2004


def scatter_about_trend(values: Floats, degree: int = 1) -> float:
    """Standard deviation of n > degree + 1 points about the polynomial through them: the straight line, of degree 1."""
    n = len(values)
    basis, _ = np.linalg.qr(np.vander(np.linspace(-1, 1, n), degree + 1))
    rest = values - basis @ (basis.T @ values)
    return math.sqrt(float(rest @ rest) / (n - degree - 1))


def largest_rise(values: Floats) -> float:
    """How far n ≥ 1 values rise above an earlier one, at most."""
    return float((values - np.minimum.accumulate(values)).max())


def onset(values: Floats, cut: Blocks, best: int, rise: float, scale: float) -> int:
    """Where a rise behind a best block begins, by index: behind the last block that is still near the best one.

    Args:
        values: float64[n].
        cut: their blocks.
        best: which block is lowest.
        rise: how far it goes.
        scale: beside which a rise by 3 % is none, as the loss had it until then.
    """
    above = cut.median[best:] - cut.median[best]
    error = median(cut.error[max(best - 2, 0) : best + 3])  # there: a loss that explodes is noisier later
    near = above <= min(max(4 * error, 0.03 * min(rise, scale)), 0.5 * rise)
    last = best + int(np.flatnonzero(near)[-1])
    start = int(cut.start[last])
    part = values[start : start + 3 * cut.length]
    # Between these two levels the sum of what is above their middle is least where the rise begins.
    step = float(cut.median[min(last + 2, len(cut.median) - 1)] - cut.median[last])
    middle = float(cut.median[last]) + min(step, scale) / 2
    return start + int(np.argmin(np.cumsum(np.append(0.0, part - middle))))


def _clipped_mean(values: Floats, noise: float) -> float:
    """The mean, of values no further than 4 σ from their median: as efficient as the mean, nearly as robust."""
    middle = median(values)
    return float(np.clip(values, middle - 4 * noise, middle + 4 * noise).mean())


def explained_by_rate(run: Signals, series: Series, first: int, last: int, until: int | None = None) -> bool:
    """Whether a learning rate went up again while a series rose: a warm restart.

    Args:
        run: has the rates.
        series: what rose.
        first: index from which a restart would explain it; it may be negative.
        last: index up to which.
        until: index up to which the rise lasted, if it did not come back: no longer than a cycle of the rate.
    """
    begin, end = int(series.step[max(first, 0)]), int(series.step[min(last, len(series) - 1)])
    lasted = begin if until is None else int(series.step[until])
    return any(
        begin <= step <= end and lasted - step <= cycle
        for signal in run.of("learning_rate")
        for step, cycle in _restarts(signal.finite)
    )


def recur_as_restarts(values: Floats, peaks: Sequence[Peak]) -> bool:
    """Whether peaks are such as warm restarts make, or the stages of a curriculum, where no rate is logged to tell.

    They undo less than half of what was learnt, and begin where cycles do, of one length or each of twice the length
    before; there the loss goes up every time. Of two cycles, only the one peak tells: it must take its time.
    """
    n = len(values)
    if all(peak.points == 1 for peak in peaks) or not all(_undoes_a_part(values, peak) for peak in peaks):
        return False
    starts = np.array([peak.first for peak in peaks])
    k = np.arange(1.0, len(peaks) + 1)
    grids: list[Floats] = [np.arange(1.0, cycles) * n / cycles for cycles in range(2, 11)]
    grids += [(2.0 ** np.arange(1.0, cycles) - 1) * n / (2.0**cycles - 1) for cycles in range(2, 5)]
    grids += [k * starts[0], (2.0**k - 1) * starts[0]] if len(peaks) > 1 else []
    for grid in grids:
        away = np.abs(starts[:, None] - grid)
        if (away.min(axis=1) <= max(3.0, 0.005 * n)).all():
            others = grid[away.min(axis=0) > max(3.0, 0.005 * n)]
            rises = [_goes_up(values, at) for at in others.astype(int)]
            least = 0.25 * min(_goes_up(values, peak.first) for peak in peaks)
            if all(rise > least for rise in rises) and (len(grid) > 1 or _lasts(values, peaks[0]) > max(5, 0.015 * n)):
                return True
    return False


def _undoes_a_part(values: Floats, peak: Peak) -> bool:
    """Whether a peak undoes less than half of what was learnt until then."""
    if not peak.first:
        return False
    learnt = float(blocks(values[: peak.first], 30).median.max()) - peak.level
    height = float(np.quantile(values[peak.first : peak.last + 1], 0.9)) - peak.level  # a top would be the noise's
    return height <= 0.5 * learnt


def _goes_up(values: Floats, at: int) -> float:
    """How much higher a hundredth of the values is than the hundredth before it."""
    width = max(3, len(values) // 100)
    return median(values[at : at + width]) - median(values[max(at - width, 0) : at])


def _lasts(values: Floats, peak: Peak) -> int:
    """For how many points a peak is half as high as at first."""
    above = values[peak.first : peak.last + 1] - peak.level
    return int(np.count_nonzero(above > np.quantile(above, 0.9) / 2))


def _restarts(rate: Series) -> Iterator[tuple[int, int]]:
    """Where a rate that had come down goes up again, and how many steps its cycle before that took.

    The points of a warm-up, from the run's beginning, are all higher than any before: it is no restart.
    """
    value, step = rate.value, rate.step
    if not len(value) or value.min() < 0:
        return
    highest = np.maximum.accumulate(value)[:-1]
    at = np.flatnonzero((value[1:] > 1.5 * value[:-1]) & (value[:-1] < 0.7 * highest)) + 1
    began = int(step[0])
    for k in at[np.diff(at, prepend=-1) > 1].tolist():  # of a warm-up after a restart, the first point
        yield int(step[k]), int(step[k]) - began
        began = int(step[k])


def level_between(series: Series, start: int, stop: int, low: float, high: float) -> tuple[float, float]:
    """The median of a series over a part of the steps from `start` to `stop`, and its standard error; NaN if empty."""
    a, b = start + low * (stop - start), start + high * (stop - start)
    part = series.value[(series.step >= a) & (series.step <= b)]
    if not len(part):
        return math.nan, math.nan
    middle = median(part)
    return middle, 1.2533 * NORMAL * median(np.abs(part - middle)) / math.sqrt(len(part))
