"""Student's t: how far the mean of a few values may lie from the truth by chance.

References: Student 1908, Biometrika 6(1); Abramowitz and Stegun 1964, 26.7.3 and 26.7.4, for whole degrees of freedom.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from summaries.arrays import Floats

__all__ = ["interval", "quantile"]

_SERIES_UP_TO = 200  # degrees of freedom; from there on the normal distribution with one correction is as good


@lru_cache(maxsize=256)  # groups of a sweep, ranks of a job: many have the same number of values
def quantile(probability: float, freedom: int) -> float:
    """The value that is exceeded in size, on either side, with this probability.

    Args:
        probability: between 0 and 1, both excluded.
        freedom: degrees of freedom, at least 1.

    >>> round(quantile(0.05, 2), 3), round(quantile(0.05, 10), 3), round(quantile(0.001, 1000), 3)
    (4.303, 2.228, 3.3)
    """
    low, high = 0.0, 1.0
    while _beyond(high, freedom) > probability:
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        if _beyond(middle, freedom) > probability:
            low = middle
        else:
            high = middle
    return high


def interval(values: Floats, confidence: float = 0.95) -> tuple[float, float]:
    """The confidence interval of the mean of n finite values; NaN and NaN for fewer than two.

    >>> low, high = interval(np.array([1.0, 2.0, 3.0]))
    >>> round(low, 2), round(high, 2)
    (-0.48, 4.48)
    """
    n = len(values)
    if n < 2:  # noqa: PLR2004 - one value shows no spread
        return math.nan, math.nan
    half = quantile(1 - confidence, n - 1) * float(values.std(ddof=1)) / math.sqrt(n)
    return float(values.mean()) - half, float(values.mean()) + half


def _beyond(t: float, freedom: int) -> float:
    """The probability of a value larger than `t` in size."""
    if freedom > _SERIES_UP_TO:
        z = t * (1 - 1 / (4 * freedom)) / math.sqrt(1 + t * t / (2 * freedom))
        return math.erfc(z / math.sqrt(2))
    angle = math.atan(t / math.sqrt(freedom))
    sine, cosine = math.sin(angle), math.cos(angle)
    if freedom == 1:
        return 1 - 2 * angle / math.pi
    first = 3 if freedom % 2 else 2
    term = total = cosine if freedom % 2 else 1.0
    for k in range(first, freedom - 1, 2):
        term *= cosine * cosine * (k - 1) / k
        total += term
    within = 2 / math.pi * (angle + sine * total) if freedom % 2 else sine * total
    return 1 - within
