"""What marked runs teach: which metric tells the good from the bad, and at which value.

References: Mann and Whitney 1947, Ann. Math. Statist. 18(1); Youden 1950, Cancer 3(1).
"""

from __future__ import annotations

import fnmatch
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from summaries.auditing.comparison.outcomes import ranked
from summaries.auditing.comparison.separation import ranks

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from summaries.arrays import Bools, Floats
    from summaries.auditing.comparison.outcomes import Outcome


__all__ = ["Lesson", "learnt", "marked"]

_MEASURES = ("final", "best")


def marked(names: Iterable[str], labels: Mapping[str, str], good: Sequence[str], bad: Sequence[str]) -> dict[str, str]:
    """Run → "good" or "bad", by shell patterns or else by labels.

    If there are patterns of one kind only, runs without a label are of the other kind.

    Raises:
        ValueError: patterns of both kinds match a run.

    >>> marked(["a1", "a2", "b"], {}, good=["a*"], bad=[])
    {'a1': 'good', 'a2': 'good', 'b': 'bad'}
    """
    rest = "" if bool(good) == bool(bad) else "bad" if good else "good"
    chosen = {}
    for name in names:
        kinds = [kind for kind, patterns in (("good", good), ("bad", bad)) if _matches(name, patterns)]
        label = kinds[0] if kinds else labels.get(name, rest)
        if len(kinds) > 1:
            raise ValueError(f"a run must be good or bad, got patterns of both kinds that match {name}")
        if label:
            chosen[name] = label
    return chosen


def _matches(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


class Lesson(NamedTuple):
    """The metric and measure that tell best, how well, the value that separates, and how many were tried."""

    metric: str
    measure: str
    auc: float
    cut: float
    candidates: int


def learnt(
    runs: Mapping[str, Mapping[str, Outcome]], labels: Mapping[str, str], metrics: Sequence[str], *, maximize: bool
) -> Lesson:
    """Find the metric that tells the marked runs apart best; the first one among equals.

    Args:
        runs: run → tag → outcome.
        labels: run → "good" or "bad".
        metrics: the tags to try; those that a marked run lacks are left out.
        maximize: whether larger values are better.

    Raises:
        ValueError: the marked runs are all good or all bad, or have no metric in common.
    """
    names = [name for name in runs if name in labels]
    good = np.array([labels[name] == "good" for name in names], bool)
    if good.all() or not good.any():
        what = "none" if not len(good) else "only good ones" if good.all() else "only bad ones"
        raise ValueError(f"marks must name at least one good and one bad run, got {what}")
    tried = [(tag, measure) for tag in metrics for measure in _MEASURES if all(tag in runs[name] for name in names)]
    if not tried:
        raise ValueError("the marked runs have no loss in common: name a tag as the metric")
    lessons = []
    for tag, measure in tried:
        values = np.array([ranked(getattr(runs[name][tag], measure), maximize=maximize) for name in names])
        cut = _cut(values, good)
        lessons.append(Lesson(tag, measure, _auc(values, good), -cut if maximize else cut, len(tried)))
    return max(lessons, key=lambda lesson: lesson.auc)


def _auc(values: Floats, good: Bools) -> float:
    """How often a good run has a smaller value than a bad one; equal ones count half."""
    n_good, n_bad = int(good.sum()), int((~good).sum())
    return float((ranks(values)[~good].sum() - n_bad * (n_bad + 1) / 2) / (n_good * n_bad))


def _cut(values: Floats, good: Bools) -> float:
    """The value up to which runs count as good, such that Youden's J is largest; halfway to the next value."""
    levels = np.unique(values)
    j = [np.mean(values[good] <= level) - np.mean(values[~good] <= level) for level in levels]
    at = int(np.argmax(j))
    above = levels[at + 1] if at + 1 < len(levels) else levels[at]
    return float((levels[at] + above) / 2 if np.isfinite(above) else levels[at])
