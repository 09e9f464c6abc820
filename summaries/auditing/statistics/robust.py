"""Statistics that outliers do not move: medians and spreads of blocks, and how far noise alone would reach."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["Blocks", "blocks", "in_sigmas", "median", "sigma", "since", "tail_reach"]

_ODDS = 200.0
NORMAL = 1.4826  # σ of a normal distribution, over its median absolute deviation


class Blocks(NamedTuple):
    """A series cut into stretches of equal length.

    Attributes:
        start: int64[k]: where each begins; neighbours may share a few points, so that the lengths are equal.
        length: points in each.
        median: float64[k].
        sigma: float64[k]: robust standard deviation about the median.
        error: float64[k]: standard error of the median, from neighbouring points' differences and from sigma.
    """

    start: NDArray[np.int64]
    length: int
    median: Floats
    sigma: Floats

    @property
    def error(self) -> Floats:
        """float64[k]: the standard error of each median, were the points independent."""
        return 1.2533 * self.sigma / math.sqrt(self.length)


def blocks(values: Floats, count: int) -> Blocks:
    """Cut n values into `count` stretches (at most n).

    Args:
        values: float64[n], n ≥ 1, finite.
        count: how many.
    """
    n = len(values)
    count = max(1, min(count, n))
    length = -(-n // count)
    start = (np.arange(count) * (n - length) * 2 + count - 1) // (2 * max(count - 1, 1))
    # sliding_window_view's windows, which take it longer to make than all else here takes for a short series
    windows = np.lib.stride_tricks.as_strided(values, (n - length + 1, length), values.strides * 2)
    table = windows[start]
    table.sort(axis=1)
    middle = _row_medians(table)
    table -= middle[:, None]
    np.abs(table, out=table).sort(axis=1)
    spread = _row_medians(table)
    return Blocks(start, length, middle, NORMAL * spread)


def in_sigmas(rise: float, noise: float) -> float:
    """How many standard deviations of the noise a rise is: a million, at most, for there may be no noise."""
    return rise / noise if rise < 1e6 * noise else 1e6


def _row_medians(ordered: Floats) -> Floats:
    length = ordered.shape[1]
    result: Floats = (ordered[:, (length - 1) // 2] + ordered[:, length // 2]) / 2
    return result


def median(values: Floats) -> float:
    """The median of n ≥ 1 values."""
    middle = len(values) // 2
    ordered = np.partition(values, (middle, (len(values) - 1) // 2))
    return float((ordered[middle] + ordered[(len(values) - 1) // 2]) / 2)


def sigma(values: Floats) -> float:
    """Robust standard deviation of n ≥ 1 values, about their median."""
    return NORMAL * median(np.abs(values - median(values)))


def since(shares: NDArray[np.bool_] | Floats, usual: float) -> int:
    """From which of n ≥ 1 points on, to the end, the shares exceed the usual by the most in all: where they rose.

    >>> since(np.array([0, 1, 0, 0, 1, 1, 0, 1, 1]), 0.5)
    4
    """
    excess = np.cumsum((shares - usual)[::-1])[::-1]
    return int(np.argmax(excess))


def tail_reach(residuals: Floats) -> float:
    """How far above the level noise alone may reach, in nearly all runs like this one.

    The upper tail is taken for Weibull's, ``P(x) = exp(-(x / a)^c)``, which fits normal and log-normal noise, with its
    shape between the 95 % and the 99 % quantile, or lower ones where values are few: a few spikes do not reach down to
    these. From 2,000 values on, the lower tail, which has no spikes, also tells, between the 1 % and the 0.1 %
    quantile, whether tails are heavier.

    Args:
        residuals: float64[n], about the level, over the standard deviation.
    """
    n = len(residuals)
    if n < 2000:  # noqa: PLR2004
        # So few values tell little of a tail. Noise with Student's t of 4 degrees of freedom, or log-normal noise with
        # σ = 0.5, seldom passes this, in units of its standard deviation.
        anchors = (0.3, 0.1) if n < 400 else (0.2, 0.05)  # noqa: PLR2004 - a spike may be five of a hundred points
        most = 13 + 4 * math.log10(max(n, 100) / 100) if n < 1000 else 40.0  # noqa: PLR2004
        return min(1.2 * _extrapolated(residuals, *anchors, n * _ODDS), most)
    # Two values at least are beyond the 0.1 % quantile.
    reach = 1.5 * _extrapolated(residuals, 0.05, 0.01, n * _ODDS)
    return min(max(reach, 1.5 * _extrapolated(-residuals, 0.01, 0.001, n * _ODDS)), 40.0)


def _extrapolated(values: Floats, high: float, low: float, odds: float) -> float:
    """The value that is exceeded once in `odds`, from those that are exceeded with probability `high` and `low`."""
    n = len(values)
    at = [min(n - 1, int(n * (1 - p))) for p in (high, low)]
    ordered = np.partition(values, at)
    x1, x2 = float(ordered[at[0]]), float(ordered[at[1]])
    if x1 <= 0 or x2 <= x1:
        return max(x2, 0.0)
    log1, log2 = -math.log(high), -math.log(low)
    shape = math.log(log2 / log1) / math.log(x2 / x1)
    return x2 * float(min((math.log(odds) / log2) ** (1 / shape), 1e6))
