"""GL61x: the ranks of one job beside each other. These rules see a job's first rank, which knows all of them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from summaries.auditing.findings import Severity
from summaries.auditing.rules.rule import Hit, Hits, Limits, Ruleset, above, at_least, whole
from summaries.auditing.signals.ranks import Beside, beside
from summaries.auditing.statistics.student import quantile
from summaries.robust import NORMAL, OF_MEDIAN, median

if TYPE_CHECKING:
    from collections.abc import Iterator

    from summaries.arrays import Bools, Floats
    from summaries.auditing.signals.signals import Signals


__all__ = ["RULES"]

RULES = Ruleset("ranks")
_REDUCED = "learning_rate", "clip_norm", "loss_scale", "global_norm", "weight_norm", "loss", "validation_loss"
_MOSTLY = 0.9  # of the steps: a value that is reduced over all ranks is the same on most of them at nearly every step


def _jobs(run: Signals, least: float, *roles: str) -> Iterator[tuple[Beside, str]]:
    """Each tag with one of these roles that several ranks have at `least` common steps or more; and its role."""
    tags = {signal.tag: signal.meaning.role for rank in run.ranks for signal in rank.of(*roles)}
    for tag, role in tags.items():
        job = beside(run.ranks, tag)
        if len(job.ranks) > 1 and len(job.step) >= least:
            yield job, role


class RankNotReducedLimits(Limits):
    """The thresholds of rank-not-reduced."""

    tolerance: float = above(0, 0.15)  # of a factor √k or k
    min_points: int = whole(10, 2)  # steps that the ranks have in common


@RULES.add("GL612", "rank-not-reduced", Severity.ERROR, RankNotReducedLimits)
def rank_not_reduced(run: Signals, limit: RankNotReducedLimits) -> Hits:
    """The gradient norm of one of k ranks is off by √k or k, as if its gradient had been reduced in another way."""
    for job, _ in _jobs(run, limit.min_points, "global_norm"):
        ranks = len(job.ranks)
        fine = (np.isfinite(job.value) & (job.value > 0)).all(axis=0)
        if ranks < 3 or np.count_nonzero(fine) < limit.min_points:  # noqa: PLR2004 - of two, which one is off?
            continue
        ratios = np.log(job.value[:, fine]) - np.log(np.median(job.value[:, fine], axis=0))
        off = np.median(ratios, axis=1)
        error = OF_MEDIAN * NORMAL * np.median(np.abs(ratios - off[:, None]), axis=1) / math.sqrt(ratios.shape[1])
        reach = np.log1p(limit.tolerance)
        far = np.flatnonzero(np.abs(off) > reach)
        if len(far) != 1 or 2 * error.max() > reach:  # else a factor could fit by chance
            continue
        own = int(far[0])
        power = next((p for p in (0.5, 1.0) if abs(abs(off[own]) - p * math.log(ranks)) <= reach), None)
        if power is not None:
            factor = f"{'√' if power < 1 else ''}{ranks}"
            yield Hit(
                f"{job.tag} is {math.exp(abs(off[own])):.3g} times as {'large' if off[own] > 0 else 'small'} as on the"
                f" other ranks, which is {factor}: on {ranks} ranks, its gradient is not reduced like theirs",
                (job.tag,),
                job.step,
                {"factor": math.exp(off[own]), "ranks": ranks},
                run=job.ranks[own].name,
            )


class RanksDifferLimits(Limits):
    """The thresholds of ranks-differ."""

    tolerance: float = above(0, 1e-3)  # of the value on most ranks
    min_points: int = whole(10, 2)  # steps that the ranks have in common


@RULES.add("GL611", "ranks-differ", Severity.ERROR, RanksDifferLimits, unless=rank_not_reduced)
def ranks_differ(run: Signals, limit: RanksDifferLimits) -> Hits:
    """A value that is the same on most ranks differs on one; or it was the same on all, and no longer is."""
    for job, role in _jobs(run, limit.min_points, *_REDUCED):
        middle = _middle(job)
        same = (job.value == middle) | (np.isnan(job.value) & np.isnan(middle))
        alike = same | (np.abs(job.value - middle) <= limit.tolerance * np.abs(middle))
        agreeing = alike.sum(axis=0)
        if len(job.ranks) > 2 and np.mean(2 * agreeing > len(job.ranks)) >= _MOSTLY:  # noqa: PLR2004 - a majority
            yield from _odd_ranks(job, alike, middle)
        else:
            yield from _parted(job, agreeing == len(job.ranks), 0 if role == "learning_rate" else limit.min_points)


def _middle(job: Beside) -> Floats:
    """float64[n]: the median of the ranks, as the value of one of them."""
    return np.asarray(np.sort(job.value, axis=0)[len(job.ranks) // 2])


def _odd_ranks(job: Beside, alike: Bools, middle: Floats) -> Hits:
    for rank, own, agrees in zip(job.ranks, job.value, alike, strict=True):
        at = np.flatnonzero(~agrees)
        if not len(at):
            continue
        first = at[0]
        yield Hit(
            f"{job.tag} is {own[first]:.4g} at step {job.step[first]}, on most of the {len(job.ranks)} ranks"
            f" {middle[first]:.4g}; it differs at {len(at)} of {len(job.step)} steps",
            (job.tag,),
            job.step[at],
            {"value": own[first], "most ranks": middle[first], "ranks": len(job.ranks)},
            len(at),
            run=rank.name,
        )


def _parted(job: Beside, agree: Bools, least: float) -> Hits:
    """What was the same on all ranks for `least` points or more, and then at fewer than half of the steps."""
    if agree.all():
        return
    first = int(np.argmin(agree))
    if first < least or 2 * agree[first:].sum() >= len(agree) - first:
        return
    differing = np.flatnonzero(~agree)
    low, high = float(job.value[:, first].min()), float(job.value[:, first].max())
    yield Hit(
        f"{job.tag} is not the same on all {len(job.ranks)} ranks from step {job.step[first]} on:"
        f" it is {low:.4g} to {high:.4g} there",
        (job.tag,),
        job.step[differing],
        {"least": low, "most": high, "ranks": len(job.ranks)},
        len(differing),
    )


class StragglingRankLimits(Limits):
    """The thresholds of straggling-rank."""

    share: float = above(0, 0.1)  # of the time of the slowest other rank, on top of it
    min_points: int = whole(20, 2)  # steps that the ranks have in common


@RULES.add("GL613", "straggling-rank", Severity.WARNING, StragglingRankLimits)
def straggling_rank(run: Signals, limit: StragglingRankLimits) -> Hits:
    """One rank takes longer than the others for the same steps."""
    longest = [rank.longest.tag for rank in run.ranks if rank.longest is not None]
    if len(longest) < len(run.ranks) or len(run.ranks) < 2:  # noqa: PLR2004 - one has nobody to wait for
        return
    job = beside(run.ranks, longest[0])
    if len(job.ranks) < len(run.ranks) or len(job.step) < limit.min_points:
        return
    took = job.wall_time[:, -1] - job.wall_time[:, 0]
    slow = int(np.argmax(took))
    others = np.delete(took, slow)
    if not np.isfinite(took).all() or others.min() <= 0 or took[slow] <= (1 + limit.share) * others.max():
        return
    usual = median(others)
    yield Hit(
        f"it takes {took[slow]:.4g} s for the steps {job.step[0]} to {job.step[-1]}, the other"
        f" {'ranks' if len(others) > 1 else 'rank'} {usual:.4g} s",
        (job.tag,),
        job.step,
        {"seconds": took[slow], "other ranks": usual, "factor": took[slow] / usual},
        run=job.ranks[slow].name,
    )


@RULES.add("GL614", "first-non-finite-rank", Severity.ERROR)
def first_non_finite_rank(run: Signals, limit: Limits) -> Hits:
    """A loss or norm is not finite on one rank before it is on the others."""
    for job, _ in _jobs(run, 1, "loss", "global_norm"):
        bad = ~np.isfinite(job.value)
        since = np.where(bad.any(axis=1), bad.argmax(axis=1), len(job.step))
        first = np.flatnonzero(since == since.min())
        if len(first) == len(job.ranks):  # on none, or on all at the same step
            continue
        at = since.min()
        later = int(np.count_nonzero(since < len(job.step))) - len(first)
        also = f" and on {len(first) - 1} more" if len(first) > 1 else ""
        yield Hit(
            f"{job.tag} is {job.value[first[0], at]:g} at step {job.step[at]} here{also}, first of {len(job.ranks)}"
            f" ranks; on the others it is {f'so later, on {later}' if later else 'finite'}",
            (job.tag,),
            job.step[at : at + 1],
            {"ranks": len(job.ranks), "first": len(first), "later": later},
            run=job.ranks[first[0]].name,
        )


class RankLossStandsOutLimits(Limits):
    """The thresholds of rank-loss-stands-out."""

    odds: float = above(0, 1e-3)  # of a false alarm in a job whose ranks are alike
    min_difference: float = at_least(0, 0.05)  # of the median loss
    min_points: int = whole(20, 2)  # steps that the ranks have in common


@RULES.add("GL615", "rank-loss-stands-out", Severity.WARNING, RankLossStandsOutLimits)
def rank_loss_stands_out(run: Signals, limit: RankLossStandsOutLimits) -> Hits:
    """The loss of one rank, on its own part of the data, differs from the others' by more than theirs differ."""
    for job, _ in _jobs(run, limit.min_points, "loss", "validation_loss"):
        fine = np.isfinite(job.value).all(axis=0)
        ranks = len(job.ranks)
        if ranks < 4 or np.count_nonzero(fine) < limit.min_points:  # noqa: PLR2004 - three others have a spread
            continue
        values = job.value[:, fine]
        middle = np.median(values, axis=0)
        off = np.median(values - middle, axis=1)
        for own, rank in enumerate(job.ranks):
            others = np.delete(off, own)
            spread = float(others.std(ddof=1)) * math.sqrt(1 + 1 / (ranks - 1))
            difference = float(off[own] - others.mean())
            if not spread or abs(difference) <= limit.min_difference * abs(median(middle)):
                continue
            if abs(difference) > quantile(limit.odds / ranks, ranks - 2) * spread:
                yield Hit(
                    f"{job.tag} is {abs(difference):.3g} {'above' if difference > 0 else 'below'} that of the other"
                    f" {ranks - 1} ranks, which differ by {float(np.ptp(others)):.2g}",
                    (job.tag,),
                    job.step,
                    {"difference": difference, "spread": spread, "ranks": ranks},
                    run=rank.name,
                )
