"""Statistics over runs, by name: float64[steps, runs] → float64[steps], NaN where a run has no value. Pure (no I/O)."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Statistic = Callable[[NDArray[np.float64]], NDArray[np.float64]]

__all__ = ["over_runs", "statistic"]

_QUANTILE = re.compile(r"q(0(?:\.\d+)?|1(?:\.0*)?|\.\d+)")


def statistic(name: str, ddof: int = 1) -> Statistic:
    """The function that a name stands for.

    Args:
        name: mean, median, std, min, max; count, of the values; mean+std, mean-std; or a quantile, such as q0.25, which
            is interpolated linearly.
        ddof: what is subtracted from the number of values in the variance's denominator.

    Returns:
        A function of float64[k, n], without NaN and with n of at least 1, that returns float64[k]. The standard
        deviation of `ddof` values or fewer is NaN; that of infinities, too.

    Raises:
        ValueError: there is no such statistic.

    >>> statistic("q0.25")(np.array([[0.0, 2.0, 4.0], [0.0, 4.0, 8.0]]))
    array([1., 2.])
    """
    if (match := _QUANTILE.fullmatch(name)) is not None:
        return partial(np.quantile, q=float(match[1]), axis=1)
    statistics: dict[str, Statistic] = {
        "mean": _mean,
        "median": partial(np.median, axis=1),
        "std": partial(_std, ddof=ddof),
        "min": partial(np.min, axis=1),
        "max": partial(np.max, axis=1),
        "count": lambda values: np.full(len(values), float(values.shape[1])),
        "mean+std": lambda values: _mean(values) + _std(values, ddof),
        "mean-std": lambda values: _mean(values) - _std(values, ddof),
    }
    if name not in statistics:
        raise ValueError(
            f"a statistic must be one of {', '.join(statistics)}, or a quantile from q0 to q1 such as q0.25, "
            f"got {name!r}"
        )
    return statistics[name]


def over_runs(values: NDArray[np.float64], statistics: Sequence[Statistic]) -> list[NDArray[np.float64]]:
    """Each statistic at each step, over the runs that have a value there.

    Args:
        values: float64[k, n], the values of n runs at k steps; NaN for none. Each step has at least one.
        statistics: functions from `statistic`.

    Returns:
        float64[k] for each statistic.

    >>> over_runs(np.array([[1.0, np.nan, 3.0], [4.0, np.nan, np.nan]]), [statistic("mean"), statistic("count")])
    [array([2., 4.]), array([2., 1.])]
    """
    absent = np.isnan(values)
    counts = values.shape[1] - np.count_nonzero(absent, axis=1)
    results = [np.empty(len(values)) for _ in statistics]
    for count in np.unique(counts).tolist():  # rows of as many values make an array without gaps
        rows = np.flatnonzero(counts == count)
        dense = values[rows][~absent[rows]].reshape(len(rows), count)
        with np.errstate(invalid="ignore", over="ignore"):  # infinities
            for result, function in zip(results, statistics, strict=True):
                result[rows] = function(dense)
    return results


def _mean(values: NDArray[np.float64]) -> NDArray[np.float64]:
    mean: NDArray[np.float64] = np.mean(values, axis=1)
    return mean


def _std(values: NDArray[np.float64], ddof: int) -> NDArray[np.float64]:
    if values.shape[1] <= ddof:
        return np.full(len(values), np.nan)
    std: NDArray[np.float64] = np.std(values, axis=1, ddof=ddof)
    return std
