"""Groups of runs with the same hyperparameters: their means, their outliers, and groups whose seeds disagree."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from summaries.auditing.comparison.outcomes import ranked
from summaries.auditing.comparison.results import Estimate, Group, Outlier
from summaries.auditing.statistics.student import interval, quantile

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from summaries.auditing.comparison.results import Member

__all__ = ["grouped", "outliers"]

_CHANCE = 0.01  # of populations in which nothing is odd and an outlier is found; Rosner 1983, Technometrics 25(2)
_FEWEST = 3  # runs in a group, to say which one is the odd one out
_FEWEST_QUARTERED = 8  # runs in all, for quarters to mean something


def grouped(
    members: Sequence[Member], by: Sequence[str], measure: str, *, maximize: bool, seeds: bool = True
) -> tuple[Group, ...]:
    """Group the runs by the values of some hyperparameters; the group whose median run is best comes first.

    Args:
        members: best first.
        by: the hyperparameters.
        measure: "final" or "best".
        maximize: whether larger values are better.
        seeds: whether the runs of a group differ in nothing but the seed, so that they should agree.
    """
    alike: dict[str, list[Member]] = {}
    for member in members:
        alike.setdefault(repr([member.hyperparameters.get(name) for name in by]), []).append(member)
    quarter = len(members) // 4 if seeds and len(members) >= _FEWEST_QUARTERED and len(alike) > 1 else 0
    rank = {member.run: number for number, member in enumerate(members)}
    level = {member.run: ranked(getattr(member, measure), maximize=maximize) for member in members}
    groups = [_group(own, by, rank, quarter) for own in alike.values()]
    return tuple(sorted(groups, key=lambda group: (float(np.median([level[run] for run in group.runs])), group.runs)))


def _group(own: Sequence[Member], by: Sequence[str], rank: Mapping[str, int], quarter: int) -> Group:
    values = own[0].hyperparameters
    ranks = [rank[member.run] for member in own]
    return Group(
        {name: values[name] for name in by if name in values},
        tuple(member.run for member in own),
        _estimate([member.final for member in own]),
        _estimate([member.best for member in own]),
        sum(member.diverged for member in own),
        min(ranks) < quarter and max(ranks) >= len(rank) - quarter,
    )


def _estimate(values: Sequence[float]) -> Estimate:
    finite = np.array([value for value in values if math.isfinite(value)])
    return Estimate(float(finite.mean()) if len(finite) else math.nan, *interval(finite), len(finite))


def outliers(members: Sequence[Member], groups: Sequence[Group], measure: str) -> tuple[Outlier, ...]:
    """The runs that lie far from the others of their group, by the spread within all groups together.

    Each run is compared with the mean of the others of its group by Student's t, whose variance comes from all other
    runs; the one that is furthest away is an outlier if its t is beyond what chance gives in one population of a
    hundred. It is taken out, and the rest is tested again (Rosner's generalized extreme Studentized deviate). Values
    are logarithms if all are positive. A run that diverged is an outlier if most runs of its group did not.
    """
    value = {member.run: float(getattr(member, measure)) for member in members}
    finite = [x for x in value.values() if math.isfinite(x)]
    log = bool(finite) and min(finite) > 0
    odd, left = [], []
    for group in groups:
        own = {run: value[run] for run in group.runs if math.isfinite(value[run])}
        if len(group.runs) < _FEWEST or 2 * len(own) <= len(group.runs):
            continue
        usual = float(np.median(list(own.values())))
        odd += [Outlier(run, value[run], usual, math.inf) for run in group.runs if run not in own]
        left.append({run: math.log(x) if log else x for run, x in own.items()})
    while (furthest := _furthest(left)) is not None:
        run, t, group_left = furthest
        usual = float(np.median([value[other] for other in group_left if other != run]))
        odd.append(Outlier(run, value[run], usual, t))
        del group_left[run]
    return tuple(sorted(odd, key=lambda outlier: -abs(outlier.deviations)))


def _furthest(groups: Sequence[dict[str, float]]) -> tuple[str, float, dict[str, float]] | None:
    """The run that lies furthest from the others of its group, its t, and its group; None if that may be chance."""
    groups = [group for group in groups if len(group) >= _FEWEST]
    count = sum(map(len, groups))
    freedom = count - len(groups) - 1
    if freedom < _FEWEST:
        return None
    within = sum(len(group) * float(np.var(list(group.values()))) for group in groups)
    best: tuple[str, float, dict[str, float]] | None = None
    for group in groups:
        n, mean = len(group), sum(group.values()) / len(group)
        for run, x in group.items():
            share = (x - mean) ** 2 * n / (n - 1)  # of the sum of squares, which goes with this run
            rest = max(within - share, 0.0) / freedom
            t = math.copysign(math.sqrt(share / rest), x - mean) if rest else 0.0
            if best is None or abs(t) > abs(best[1]):
                best = run, t, group
    if best is None or abs(best[1]) <= quantile(_CHANCE / count, freedom):
        return None
    return best
