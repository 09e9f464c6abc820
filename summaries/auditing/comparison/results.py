"""What a comparison of runs says, as plain data."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from summaries.auditing.curves import Curve
    from summaries.errors import Fault

    Value = bool | float | str

__all__ = ["Comparison", "Estimate", "Group", "Member", "Outlier", "Separation", "Taught"]


@dataclass(frozen=True, slots=True)
class Estimate:
    """The mean over some runs, and how well it is known.

    Attributes:
        mean: of the runs whose value is finite; NaN if there is none.
        low: lower end of its 95 % confidence interval, by Student's t; NaN for fewer than two runs.
        high: upper end.
        runs: number of finite values.
    """

    mean: float
    low: float
    high: float
    runs: int


@dataclass(frozen=True, slots=True, eq=False)
class Member:
    """One run of a comparison.

    Attributes:
        run: its name.
        hyperparameters: name → value.
        final: the metric at the end: the median of the last tenth of its points; infinite, with the sign of the worse
            side, if that is not finite, or the last two points are not.
        best: the best of such medians.
        best_step: the step where that tenth ends.
        label: "good" or "bad" if the user marked the run, else "".
        verdict: "good" or "bad" by what the marks teach; "" without marks.
        curve: the metric, thinned.
    """

    run: str
    hyperparameters: Mapping[str, Value]
    final: float
    best: float
    best_step: int
    label: str
    verdict: str
    curve: Curve

    @property
    def diverged(self) -> bool:
        """Whether the metric is not finite at the end."""
        return not math.isfinite(self.final)


@dataclass(frozen=True, slots=True)
class Group:
    """The runs with the same hyperparameters, apart from the seed.

    Attributes:
        hyperparameters: those that the runs are grouped by, with their values.
        runs: names, best first.
        final: over the final values of its runs.
        best: over their best values.
        diverged: how many runs ended without a finite value.
        disagree: whether one seed is among the best quarter of all runs, and another among the worst quarter; False if
            the runs differ in more than the seed.
    """

    hyperparameters: Mapping[str, Value]
    runs: tuple[str, ...]
    final: Estimate
    best: Estimate
    diverged: int
    disagree: bool


@dataclass(frozen=True, slots=True)
class Separation:
    """How well one hyperparameter separates good runs from bad ones.

    Attributes:
        hyperparameter: its name.
        share: the share of the variance of the runs' ranks that its values explain: ε², from 0 to 1.
        statistic: the H of Kruskal and Wallis.
        p: how often shuffled runs give such a statistic, multiplied by Holm for the number of hyperparameters.
        levels: (value, or range of values, in words; number of runs; median of their final values), best first.
    """

    hyperparameter: str
    share: float
    statistic: float
    p: float
    levels: tuple[tuple[str, int, float], ...]


@dataclass(frozen=True, slots=True)
class Outlier:
    """A run that differs from the others of its group.

    Attributes:
        run: its name.
        final: its final value.
        usual: the median of the other runs of its group.
        deviations: how far it is from the others, in standard deviations (externally Studentized); infinite if the run
            diverged and its group did not.
    """

    run: str
    final: float
    usual: float
    deviations: float


@dataclass(frozen=True, slots=True)
class Taught:
    """What the marked runs teach: the metric that tells the good from the bad, and where.

    Attributes:
        good: number of runs marked as good.
        bad: number of runs marked as bad.
        auc: how often a good run is better than a bad one in the metric (Mann and Whitney's U over its maximum).
        cut: the value that separates them best (largest J of Youden).
        candidates: how many metrics were tried.
    """

    good: int
    bad: int
    auc: float
    cut: float
    candidates: int


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """Runs beside each other.

    Attributes:
        metric: the tag that they are compared by.
        measure: "final" or "best": which value of the metric ranks the runs.
        maximize: whether larger values are better.
        by: the hyperparameters that the runs are grouped by.
        members: the runs, best first.
        groups: the one with the best median run first.
        separations: one for each hyperparameter that varies, the strongest first.
        outliers: runs that differ from the others of their group, the furthest first.
        within: the share of the variance of ranks that groups do not explain: one minus the intraclass correlation; NaN
            if no group has two runs.
        identical: runs whose metric is bit for bit the same, although they differ in name.
        taught: what marked runs teach; None if none are marked.
        left_out: runs without the metric, and files that cannot be read: (name, reason).
        faults: the faults of the runs' files.
        unread: the number of entries of `left_out` that could not be read.
    """

    metric: str
    measure: str
    maximize: bool
    by: tuple[str, ...]
    members: tuple[Member, ...]
    groups: tuple[Group, ...]
    separations: tuple[Separation, ...]
    outliers: tuple[Outlier, ...]
    within: float
    identical: tuple[tuple[str, ...], ...]
    taught: Taught | None
    left_out: tuple[tuple[str, str], ...]
    faults: tuple[Fault, ...] = ()
    unread: int = 0

    @property
    def explained(self) -> str:
        """Which share of the variance of the runs' ranks the groups explain, in words; "" if that is unknown."""
        if math.isnan(self.within):
            return ""
        share = f"{1 - self.within:.0%} of the variance of the runs' ranks"
        if {one.hyperparameter for one in self.separations} <= set(self.by):
            return f"the configurations explain {share}, the seeds the rest"
        return f"groups by {' and '.join(self.by)} explain {share}"
