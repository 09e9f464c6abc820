"""Excursions: stretches of points that stand out of a series by more than its own noise explains."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from summaries.robust import NORMAL, TAIL_TELLS, Blocks, blocks, changes, row_medians, sigma, tail_reach, windows

if TYPE_CHECKING:
    from summaries.arrays import Bools, Floats, Ints


__all__ = ["SHORT", "Excursions", "Peak"]

SHORT = 300  # values; among fewer, a block of a falling loss is all slope, and the crest of a hump stands out
_BLOCK, _FEWEST, _MOST = 20, 8, 64  # values of a block if there are few of them; blocks at least and at most
_NEIGHBOURS = 3  # blocks on each side that determine what the level of a block should be
_NEAREST, _AROUND = 5, 12  # values on each side that determine the level and the noise, where blocks are all slope
_SLIGHT, _SLIGHTEST = 0.005, 1e-3  # of the range of levels, and of the level: noise is taken for no less
_OF_LEVEL, _LARGE, _VISIBLE = 5, 0.1, 0.02  # times `min_rise`: enough of a positive level that is a tenth of the range
_BESIDE = 0.75  # times `sigmas`: as far out are the points beside the highest one that belong to its stretch
_IN_RATIOS = 1.5  # times `sigmas`: as far out in ratios is what differences hide, where a loss falls fast
_OUT, _TOP_OUT = 2.5, 5  # standard deviations of ratios: as far out is each point of a stretch, and its highest
_LASTING = 3  # points in a row, or among four
_LESSER = 0.25  # of the highest certain peak: beside it, lesser ones count from there on
_IN_A_ROW = 0.6  # of the reach of the tail: points in a row need to be only as far out
_MANY = 3  # peaks; of more, none is a chance of the tail
_ALONE, _ALONE_IN_RATIOS = 2.5, 2.0  # times as far out as all others: a peak of one or two points
_FIRST, _SECOND = 2.0, 1.25  # times as far out as all others: the higher and the lower one of a pair
_PERIODIC, _SPACED = 4, 5  # points that recur both ways, and their distance: by chance, in one run of fifty


class Peak(NamedTuple):
    """A stretch of points far above the level around it.

    Attributes:
        first: index of the first point.
        last: index of the last point.
        top: index of the highest point.
        points: number of points that stand out.
        level: the level around it.
        sigmas: how many standard deviations the highest point lies above the level.
        lasting: whether three of its points are in a row, or among four in a row.
    """

    first: int
    last: int
    top: int
    points: int
    level: float
    sigmas: float
    lasting: bool = False


class _Heights(NamedTuple):
    """How far points are from their level, in standard deviations: float64[n] each.

    Attributes:
        deviation: above the higher one of the levels before and after.
        centred: from the level between them.
        ratio: above the higher level, on a logarithmic scale; infinite if there is none.
    """

    deviation: Floats
    centred: Floats
    ratio: Floats


class _Usual(NamedTuple):
    """What each of n values should be, judging by those around it.

    Attributes:
        level: float64[n]: the higher one of the levels before and after; infinite if none is known before.
        centre: float64[n]: the level between them.
        noise: float64[n]: standard deviation about the centre.
        span: range of the levels.
        length: number of points that make up a level.
    """

    level: Floats
    centre: Floats
    noise: Floats
    span: float
    length: int


@dataclass(frozen=True)
class Excursions:
    """Where a series rises above its own noise.

    A point is compared with the higher one of the levels before and after it, so that neither a fall nor a lasting rise
    counts, and with the noise there. A level is the median of the medians of three blocks. A single point must lie
    further out than the tail of the noise reaches (see `robust.tail_reach`); three in a row need not.

    Attributes:
        returned: the stretches after which the series is back on its level.
        unreturned: the stretch that lasts to the end, if there is one.
        reach: number of points that determine a level: points in a block times blocks.
    """

    returned: list[Peak]
    unreturned: Peak | None
    reach: int

    @staticmethod
    def of(
        values: Floats, sigmas: float, min_rise: float, *, medians: bool = False, nearest: bool = False
    ) -> Excursions:
        """Find what stands out of n ≥ 20 finite values.

        Args:
            values: float64[n].
            sigmas: the least number of standard deviations above the level.
            min_rise: the least rise above the level, as a fraction of the range of levels.
            medians: whether the values are medians, whose noise does not have heavy tails.
            nearest: take levels from the nearest points instead of blocks, because in a short run a block of a falling
                loss is all slope. Longer stretches are not found then.
        """
        n = len(values)
        usual = _of_neighbours(values) if nearest else _of_blocks(values)
        reach = usual.length * _NEIGHBOURS
        rise = values - usual.level
        enough = rise > _least_rise(values, usual.level, usual.span, min_rise)
        if not enough.any():
            return Excursions([], None, reach)
        deviation = rise / usual.noise
        high = (deviation > _BESIDE * sigmas) & enough
        if n < TAIL_TELLS or high.any():  # where a loss falls fast, few points overestimate the noise
            ratio = _log_ratios(values, usual)
            high |= (ratio > _IN_RATIOS * sigmas) & np.isfinite(ratio) & enough
            high &= ratio > _OUT
        if not high.any():
            return Excursions([], None, reach)
        heights = _Heights(deviation, (values - usual.centre) / usual.noise, ratio)
        stretches = _peaks(values, heights, high, usual.level, usual.length)
        if n < SHORT:
            stretches = [peak for peak in stretches if _jumps(values, peak)]
        peaks = _sure(stretches, heights, usual.length, sigmas, medians=medians)
        if peaks:  # beside a certain one, lesser ones count too
            sure, enough_beside = set(peaks), max(sigmas, _LESSER * max(peak.sigmas for peak in peaks))
            peaks = [peak for peak in stretches if peak in sure or peak.sigmas > enough_beside]
        open_end = [peak for peak in peaks if peak.last >= n - 2]
        return Excursions([peak for peak in peaks if peak.last < n - 2], open_end[0] if open_end else None, reach)

    @staticmethod
    def of_stretches(values: Floats, sigmas: float, min_rise: float, count: int = 400) -> Excursions:
        """Find longer stretches: the same for the medians of `count` stretches of at least as many values."""
        cut = blocks(values, count)
        excursions = Excursions.of(cut.median, sigmas, min_rise, medians=cut.length > 2)  # noqa: PLR2004 - of two, means

        def whole(peak: Peak) -> Peak:
            first, last = int(cut.start[peak.first]), int(cut.start[peak.last]) + cut.length - 1
            top = first + int(np.argmax(values[first : last + 1]))
            return Peak(first, last, top, last + 1 - first, peak.level, peak.sigmas)

        unreturned = whole(excursions.unreturned) if excursions.unreturned else None
        return Excursions([whole(peak) for peak in excursions.returned], unreturned, excursions.reach * cut.length)


def _least_rise(values: Floats, level: Floats, span: float, min_rise: float) -> Floats:
    """How far a spike must rise above each level."""
    least: Floats | float = min_rise * span
    if values.min() > 0:  # else a level says nothing about the scale of the loss
        least = np.where(level > _LARGE * span, np.minimum(least, _OF_LEVEL * min_rise * level), least)
    return np.asarray(np.maximum(least, _VISIBLE * np.abs(level)))


def _log_ratios(values: Floats, usual: _Usual) -> Floats:
    """How far values stand out on a logarithmic scale, where noise in ratios is symmetric, in standard deviations.

    Infinite if a value is not positive, because then there are no ratios.
    """
    if values.min() <= 0:
        return np.full(len(values), np.inf)
    noise = sigma(np.log(values / usual.centre))
    return np.asarray(np.log(values / usual.level) / max(noise, 1e-300))


def _on_a_grid(centred: Floats, length: int, sigmas: float) -> bool:
    """Whether points stand out both ways at multiples of one distance, like the last, small batch of each epoch."""
    at = np.flatnonzero(np.abs(centred) > sigmas)
    at = at[at >= length]  # the first fall is not noise
    at = at[np.diff(at, prepend=-length) >= _SPACED]  # take the first of neighbours
    both = len(at) >= _PERIODIC and centred[at].min() < 0 < centred[at].max()
    return bool(both and np.gcd.reduce(np.diff(at)) >= _SPACED)


def _of_blocks(values: Floats) -> _Usual:
    """Levels and noise from blocks of up to a 64th of the values."""
    n = len(values)
    cut = blocks(values, max(n // min(max(n // _BLOCK, _FEWEST), _MOST), 1))
    owner = np.repeat(np.arange(len(cut.start)), changes(np.append(cut.start, n)))
    centre = np.interp(np.arange(n), cut.start + (cut.length - 1) / 2, cut.median)
    level, noise = _expected(cut, blocks(values - centre, len(cut.start)).sigma)
    span = float(cut.median.max() - cut.median.min())
    noise = _at_least(noise, level, span)
    return _Usual(level[owner], centre, noise[owner], span, cut.length)


def _of_neighbours(values: Floats) -> _Usual:
    """Levels from the five nearest points on each side, and the noise from the 25 around."""
    side = _NEAREST
    before, after = _before_and_after(values, side)
    centre = (np.append(after[:1], before[1:]) + np.append(after[:-1], before[-1:])) / 2
    noise = NORMAL * _medians_around(np.abs(values - centre), np.arange(len(values)), _AROUND)
    span = float(centre.max() - centre.min())
    before[:side] = np.inf
    level = np.fmax(before, after)
    return _Usual(level, centre, _at_least(noise, level, span), span, side)


def _at_least(noise: Floats, level: Floats, span: float) -> Floats:
    """The noise, but at least a small part of the level and of the range."""
    return np.maximum(noise, _SLIGHT * span + _SLIGHTEST * np.abs(np.where(np.isfinite(level), level, 0.0)) + 1e-300)


def _expected(cut: Blocks, sigmas: Floats) -> tuple[Floats, Floats]:
    """For each block, the level and the noise judging by its neighbours; `sigmas` is the noise within each block."""
    k, side = len(cut.median), _NEIGHBOURS
    before, after = _before_and_after(cut.median, side)
    before[0] = np.inf  # nothing came before the first block, so its level is unknown
    level = np.fmax(before, after)
    bends = np.abs(changes(changes(cut.median))) * (NORMAL / math.sqrt(6)) if k > 2 else np.zeros(1)  # noqa: PLR2004
    return level, np.hypot(_medians_around(bends, np.arange(k) - 1, side), _medians_around(sigmas, np.arange(k), side))


def _before_and_after(values: Floats, side: int) -> tuple[Floats, Floats]:
    """For each value, the medians of up to `side` values before and after it; NaN before the first, after the last."""
    n = len(values)
    before, after = np.full(n, np.nan), np.full(n, np.nan)
    if n > side:
        every = row_medians(np.sort(windows(values, side), axis=1))
        before[side:], after[:-side] = every[:-1], every[1:]
    head, tail = values[:side].tolist(), values[-side:].tolist()
    for i in range(1, min(side, n)):  # there are fewer at the ends
        before[i], after[-1 - i] = _median_of_few(head[:i]), _median_of_few(tail[-i:])
    return before, after


def _median_of_few(values: list[float]) -> float:
    """What `median` returns, in a third of the time."""
    ordered = sorted(values)
    return (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2


def _medians_around(values: Floats, index: Ints, side: int) -> Floats:
    """The medians of the 2 · side + 1 values nearest to each index, also at the ends: no single value decides."""
    width = min(2 * side + 1, len(values))
    every = row_medians(np.sort(windows(values, width), axis=1))
    return every[np.minimum(np.maximum(index - side, 0), len(every) - 1)]


def _peaks(values: Floats, heights: _Heights, high: Bools, level: Floats, length: int) -> list[Peak]:
    """The stretches of high points whose highest point stands out of the noise of ratios too."""
    at = np.flatnonzero(high)
    peaks = []
    for stretch in np.split(at, np.flatnonzero(np.diff(at) > max(length // 2, _LASTING)) + 1):
        top = int(stretch[np.argmax(values[stretch])])
        if heights.ratio[top] > _TOP_OUT:
            alike = stretch[heights.ratio[stretch] > _TOP_OUT]
            in_a_row = bool((alike[2:] - alike[:-2] <= _LASTING).any())
            first, last, far = int(stretch[0]), int(stretch[-1]), float(heights.deviation[top])
            peaks.append(Peak(first, last, top, len(stretch), float(level[top]), far, in_a_row))
    return peaks


def _jumps(values: Floats, peak: Peak) -> bool:
    """Whether one step to the next makes half of the rise to the highest point."""
    part = values[max(peak.first - 1, 0) : peak.top + 1]
    return bool(2 * np.diff(part).max(initial=0.0) >= values[peak.top] - peak.level)


def _sure(stretches: list[Peak], heights: _Heights, length: int, sigmas: float, *, medians: bool) -> list[Peak]:
    """The stretches that noise cannot explain, however long its tails are; medians do not have long tails."""
    bar = max(sigmas, tail_reach(heights.centred))
    row = max(sigmas, _IN_A_ROW * bar)
    peaks = [peak for peak in stretches if peak.sigmas > bar or (peak.lasting and peak.sigmas > row)]
    if _on_a_grid(heights.centred, length, _BESIDE * sigmas):
        return []
    if medians or len(peaks) > _MANY:
        return peaks
    peaks = _beyond_the_rest(peaks, heights.deviation, -heights.centred, length, _ALONE)
    if np.isfinite(heights.ratio[-1]):
        peaks = _beyond_the_rest(peaks, heights.ratio, np.zeros(1), length, _ALONE_IN_RATIOS)
    return (
        peaks
        or _pair(stretches, heights.deviation, -heights.centred, length, sigmas)
        or _pair(stretches, heights.ratio, np.zeros(1), length, _IN_RATIOS * sigmas)
    )


def _beyond_the_rest(peaks: list[Peak], above: Floats, below: Floats, length: int, factor: float) -> list[Peak]:
    """Of up to three peaks, drop single points that are not far beyond all others: heavy tails have such points."""
    others = _others(peaks, above, below, length)
    return [peak for peak in peaks if peak.points >= _LASTING or above[peak.top] > factor * others]


def _others(peaks: list[Peak], above: Floats, below: Floats, length: int) -> float:
    """How far all other points are from the level, without the peaks, their ways back, and the first fall."""
    rest = above.copy()
    for peak in peaks:
        rest[peak.first : peak.last + 1 + length] = 0.0
    return max(float(rest.max()), float(below[length:].max(initial=0.0)))


def _pair(stretches: list[Peak], above: Floats, below: Floats, length: int, sigmas: float) -> list[Peak]:
    """The highest stretch, if two neighbours in it are further out than all other points, which chance rarely does.

    In smoothed noise, neighbours are similar too, but it takes longer to rise.
    """
    highest = max(stretches, key=lambda peak: float(above[peak.top]), default=None)
    if highest is None or highest.top - highest.first >= _LASTING or not sigmas <= above[highest.top] < np.inf:
        return []
    others = _others([highest], above, below, length)
    second = above[[max(highest.top - 1, 0), min(highest.top + 1, len(above) - 1)]].max()
    apart = above[highest.top] > _FIRST * others and second > max(_SECOND * others, sigmas / 2)
    return [highest] if apart else []
