"""Statistics that outliers do not move: medians and spreads of blocks, and how far noise alone would reach."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["Blocks", "blocks", "median", "sigma", "tail_reach"]

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
    start = np.linspace(0, n - length, count).round().astype(np.int64)
    table = np.lib.stride_tricks.sliding_window_view(values, length)[start]
    middle = _row_medians(np.sort(table, axis=1))
    spread = _row_medians(np.sort(np.abs(table - middle[:, None]), axis=1))
    return Blocks(start, length, middle, NORMAL * spread)


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


def tail_reach(deviations: Floats, chances: float = 200.0) -> float:
    """How large the largest of such deviations gets by noise alone, in all but one of `chances` runs like this one.

    The tail above the 80 % quantile is taken for Weibull's, ``P(x) = exp(-(x / a)^c)``, which fits the tails of normal
    and of log-normal noise; from 2,000 values on its shape is also taken between the 99 % and the 99.9 % quantile,
    which shows tails that are heavier than that.

    Args:
        deviations: float64[n], from what was expected, in any unit.
        chances: see above.
    """
    n = len(deviations)
    reach = _extrapolated(deviations, 0.2, 0.05, n * chances)
    if n >= 2000:  # noqa: PLR2004 - two values are beyond the 99.9 % quantile
        reach = max(reach, _extrapolated(deviations, 0.01, 0.001, n * chances))
    return reach


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
