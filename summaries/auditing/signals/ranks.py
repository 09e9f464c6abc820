"""The ranks of one job: which runs they are, and a tag of all of them side by side."""

from __future__ import annotations

import re
from functools import lru_cache, reduce
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from summaries.arrays import Floats, Ints
    from summaries.auditing.signals.signals import Signals


__all__ = ["RANKS", "Beside", "beside", "jobs"]

RANKS = r"(?:^|(?<=/))rank[=_-]?\d+(?=/|$)"
"""The part of a run's name that differs between the ranks of a job: a directory such as `rank=3`, unless configured."""


def jobs(names: Iterable[str], pattern: str = RANKS) -> list[tuple[str, ...]]:
    """The runs that are ranks of one job: at least two, whose names differ only where the pattern matches.

    One of them must be rank 0, if they have numbers: `rank=4` and `rank=8` are a sweep over the rank of an adapter.

    >>> jobs(["a/rank=0", "a/rank=10", "a/rank=2", "b/rank=4", "b/rank=8", "c"])
    [('a/rank=0', 'a/rank=2', 'a/rank=10')]
    """
    alike: dict[str, list[tuple[list[int | str], str]]] = {}
    for name in names:
        if match := _compiled(pattern).search(name):
            rank = [int(part) if part.isdecimal() else part for part in re.split(r"(\d{1,18})", match[0])]
            alike.setdefault(f"{name[: match.start()]}\0{name[match.end() :]}", []).append((rank, name))
    ordered = [sorted(job) for job in alike.values() if len(job) > 1]
    return [tuple(name for _, name in job) for job in ordered if not any(job[0][0][1:2])]


class Beside(NamedTuple):
    """A tag of k ranks, at the n steps that all of them have.

    Attributes:
        tag: the tag.
        ranks: the ranks that have it, k of them.
        step: int64[n], rising.
        value: float64[k, n].
        wall_time: float64[k, n], seconds since the epoch.
    """

    tag: str
    ranks: tuple[Signals, ...]
    step: Ints
    value: Floats
    wall_time: Floats


def beside(ranks: Sequence[Signals], tag: str) -> Beside:
    """Put the points of a tag that stand after restarts side by side, for all ranks that have it: at least one."""
    having = tuple(rank for rank in ranks if tag in rank.all)
    columns = [rank.all[tag].latest for rank in having]
    step = _shared([series.step for series in columns])
    points = [(series, _where(step, series.step)) for series in columns]
    values = np.array([series.value[at] for series, at in points])
    return Beside(tag, having, step, values, np.array([series.wall_time[at] for series, at in points]))


def _where(step: Ints, steps: Ints) -> slice | Ints:
    """Where some steps are among all of a rank, which rise: if there are no more, as a rule, each is at its place."""
    return slice(None) if len(steps) == len(step) else np.searchsorted(steps, step)


def _shared(steps: Sequence[Ints]) -> Ints:
    """The steps that all have, rising: as a rule, all have the same."""
    first, *others = steps
    if (first[1:] > first[:-1]).all() and all(np.array_equal(first, other) for other in others):
        return first
    return reduce(np.intersect1d, steps)


@lru_cache(maxsize=8)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
