"""GL404 and GL405: how often gradients are clipped."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from summaries.auditing.findings import Severity
from summaries.auditing.rules.rule import Hit, Limits, Ruleset, proportion, whole
from summaries.robust import since

if TYPE_CHECKING:
    from collections.abc import Iterator

    from summaries.arrays import Floats, Ints
    from summaries.auditing.signals.signals import Signals


__all__ = ["RULES"]

RULES = Ruleset()
_ROLES = ("clipped", "clipped_fraction", "global_norm")


class _Clipping(NamedTuple):
    """Whether each step was clipped, or which share of the steps: float64[n], 0 to 1."""

    tag: str
    step: Ints
    share: Floats


def _clipping(run: Signals) -> Iterator[_Clipping]:
    """What the run logs about clipping, from the most direct signal."""
    for role in ("clipped", "clipped_fraction"):
        signals = [signal for signal in run.of(role) if len(signal.finite) and not _of_a_policy(run, signal.tag)]
        if signals:
            for signal in signals:
                yield _Clipping(signal.tag, signal.finite.step, signal.finite.value)
            return
    if any(norm.tag.endswith("gnorm") for norm in run.of("global_norm")):  # fairseq and metaseq log percent
        for signal in run.of("clipped_percent")[:1]:
            yield _Clipping(signal.tag, signal.finite.step, signal.finite.value / 100)
            return
    norms, bounds, after = (run.of(role) for role in ("global_norm", "clip_norm", "clipped_global_norm"))
    for norm in norms[:1]:
        for other in (*bounds, *after)[:1]:
            a, b = norm.latest, other.latest
            step, i, j = np.intersect1d(a.step, b.step, assume_unique=False, return_indices=True)
            x, y = a.value[i], b.value[j]
            fine = np.isfinite(x) & np.isfinite(y) & (y > 0)
            yield _Clipping(norm.tag, step[fine], (x[fine] > y[fine] * (1 + 1e-5)).astype(np.float64))


def _of_a_policy(run: Signals, tag: str) -> bool:
    """Whether a `clip_fraction` is PPO's, which clips ratios of probabilities and not gradients."""
    return run.moving_target and "grad" not in tag.lower()


class ClippingSaturatedLimits(Limits):
    """The thresholds of clipping-saturated."""

    fraction: float = proportion(0.9)  # of the steps that are clipped
    min_points: int = whole(100)  # of flags, one for each step
    min_shares: int = whole(20)  # of shares, each of which covers many steps


@RULES.add("GL404", "clipping-saturated", Severity.WARNING, ClippingSaturatedLimits, needs=_ROLES)
def clipping_saturated(run: Signals, limit: ClippingSaturatedLimits) -> Iterator[Hit]:
    """Nearly every step is clipped: the bound sets the length of the steps, and the gradient only their direction."""
    for tag, step, share in _clipping(run):
        half = len(share) // 2
        steps = np.isin(share, (0.0, 1.0)).all() and run.all[tag].meaning.role != "clipped_fraction"
        enough = limit.min_points if steps else limit.min_shares  # a share covers many steps
        if len(share) < enough or not share[half:].mean() >= limit.fraction:
            continue
        start = min(since(share, limit.fraction), half)
        first, clipped = int(step[start]), float(share[start:].mean())
        when = f" since step {first}" if start else ""
        yield Hit(
            f"every step{when} was clipped"
            if clipped == 1
            else f"{min(clipped, 0.999):.1%} of the steps{when} were clipped",
            tag,
            (first, int(step[-1])),
            {"fraction": clipped, "fraction in all": float(share.mean()), "points": len(share)},
        )


class ClippingNeverActsLimits(Limits):
    """The thresholds of clipping-never-acts."""

    min_points: int = whole(50)  # of what tells of clipping


@RULES.add("GL405", "clipping-never-acts", Severity.INFO, ClippingNeverActsLimits, needs=_ROLES)
def clipping_never_acts(run: Signals, limit: ClippingNeverActsLimits) -> Iterator[Hit]:
    """Clipping is on, but not a single step was clipped."""
    for tag, step, share in _clipping(run):
        if len(share) >= limit.min_points and not share.any():
            steps = int(step[0]), int(step[-1])
            yield Hit(f"none of {len(share)} steps were clipped", tag, steps, {"points": len(share)})
