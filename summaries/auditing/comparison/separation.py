"""Which hyperparameters separate good runs from bad ones: Kruskal and Wallis' test, with p-values by shuffling.

The test compares the ranks of runs, so a run that diverged is just the worst one, and a scale does not matter.
Shuffling needs no table and is right for few runs. Holm's correction keeps one false separation in twenty comparisons,
however many hyperparameters there are.

References: Kruskal and Wallis 1952, JASA 47(260); Holm 1979, Scand. J. Statist. 6(2); for ε² Tomczak and Tomczak 2014,
Trends in Sport Sciences 1(21); for the intraclass correlation Fisher 1925, Statistical Methods for Research Workers.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from summaries.auditing.comparison.results import Separation

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from summaries.arrays import Floats
    from summaries.auditing.comparison.results import Value


__all__ = ["ranks", "seeds_share", "separations"]

_SHUFFLES = 4999
_MOST_CELLS = 20_000_000  # of shuffled ranks, 160 MB: fewer shuffles for thousands of runs
_LEVELS = 8  # different numbers that are levels of their own; more are cut into quarters of the runs


def ranks(values: Floats) -> Floats:
    """float64[n]: the rank of each value, from 1; equal values share the mean of their ranks.

    >>> ranks(np.array([3.0, 1.0, np.inf, 3.0, np.inf]))
    array([2.5, 1. , 4.5, 2.5, 4.5])
    """
    _, where, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - (counts - 1) / 2)[where])


def separations(
    configurations: Sequence[Mapping[str, Value]], names: Sequence[str], outcomes: Floats
) -> tuple[Separation, ...]:
    """Test each hyperparameter, over all runs that state it.

    Args:
        configurations: of each run.
        names: the hyperparameters to test.
        outcomes: float64[n]: of each run, less is better; infinite for runs that diverged.

    Returns:
        Those that can be tested, the smallest p first.
    """
    tested = []
    for name in names:
        having = [i for i, configuration in enumerate(configurations) if name in configuration]
        levels = _levels([configurations[i][name] for i in having])
        if len(set(levels)) > 1 and len(having) > len(set(levels)):
            tested.append(_tested(name, levels, outcomes[having]))
    tested.sort(key=lambda separation: (separation.p, -separation.share))
    corrected, most = [], 0.0
    for number, separation in enumerate(tested):
        most = max(most, min(separation.p * (len(tested) - number), 1.0))
        corrected.append(replace(separation, p=most))
    return tuple(corrected)


def _levels(values: Sequence[Value]) -> list[str]:
    """The values in words; if there are many different numbers, the range of the quarter that each one is in."""
    numbers = [value for value in values if isinstance(value, float)]
    if len(numbers) < len(values) or len(set(numbers)) <= _LEVELS:
        return [f"{value:g}" if isinstance(value, float) else str(value) for value in values]
    ordered = ranks(np.array(numbers))
    quarter = np.minimum((4 * (ordered - 0.5) / len(numbers)).astype(int), 3)
    ends = {q: [x for x, own in zip(numbers, quarter, strict=True) if own == q] for q in set(quarter.tolist())}
    return [f"{min(ends[q]):.2g} to {max(ends[q]):.2g}" for q in quarter.tolist()]


def _tested(name: str, levels: Sequence[str], outcomes: Floats) -> Separation:
    names = list(dict.fromkeys(levels))
    member = np.array([[level == other for other in names] for level in levels], float)  # [runs, levels]
    ranked = ranks(outcomes)
    statistic = float(_between(ranked[None], member)[0])
    count = max(min(_SHUFFLES, _MOST_CELLS // len(levels)), 99)
    shuffled = np.random.default_rng(0).permuted(np.tile(ranked, (count, 1)), axis=1)
    as_large = int(np.count_nonzero(_between(shuffled, member) >= statistic * (1 - 1e-9)))
    n = len(levels)
    spread = float(ranked.var()) * 12 / (n * n - 1)  # ties make it less than one
    reached = ((level, outcomes[column > 0]) for level, column in zip(names, member.T, strict=True))
    ordered = sorted(((level, len(x), float(np.median(x))) for level, x in reached), key=lambda level: level[2])
    h = statistic / spread if spread else 0.0
    return Separation(name, min(h / (n - 1), 1.0), h, (1 + as_large) / (1 + count), tuple(ordered))


def _between(ranked: Floats, member: Floats) -> Floats:
    """float64[shuffles]: the H of Kruskal and Wallis, without the correction for ties."""
    n = member.shape[0]
    means = ranked @ member / member.sum(axis=0)
    return np.asarray(12 / (n * (n + 1)) * ((means - (n + 1) / 2) ** 2 @ member.sum(axis=0)))


def seeds_share(groups: Sequence[Floats]) -> float:
    """The share of the variance of ranks within groups: one minus Fisher's intraclass correlation.

    Args:
        groups: float64[n]: the outcomes of the runs of each group, less is better.

    Returns:
        From 0 to 1; NaN if there are fewer than two groups, or none has two runs.

    >>> seeds_share([np.array([1.0, 1.1]), np.array([2.0, 2.1]), np.array([3.0, 3.1])])
    0.11...
    """
    sizes = np.array([len(group) for group in groups])
    n, k = int(sizes.sum()), len(groups)
    if k < 2 or n <= k:  # noqa: PLR2004 - nothing to compare
        return math.nan
    ranked = np.split(ranks(np.concatenate(groups)), np.cumsum(sizes)[:-1])
    within = sum(float(((own - own.mean()) ** 2).sum()) for own in ranked) / (n - k)
    between = sum(len(own) * (float(own.mean()) - (n + 1) / 2) ** 2 for own in ranked) / (k - 1)
    usual = (n - float((sizes**2).sum()) / n) / (k - 1)  # runs in a group
    variance = between + (usual - 1) * within
    return 1 - max((between - within) / variance, 0.0) if variance else math.nan
