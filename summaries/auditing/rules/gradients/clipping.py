"""GL404 and GL405: how often gradients are clipped."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from summaries.auditing.findings import Severity
from summaries.auditing.rules.progress import learns
from summaries.auditing.rules.rule import Hit, Hits, Limits, Ruleset, proportion, whole
from summaries.auditing.signals.signals import common_points
from summaries.robust import since

if TYPE_CHECKING:
    from collections.abc import Iterator

    from summaries.arrays import Floats, Ints
    from summaries.auditing.signals.signals import Signals


__all__ = ["RULES"]

RULES = Ruleset()
_ROUNDING = 1e-5  # of a bound: a norm that is no further above it was not clipped
_ROLES = ("clipped", "clipped_fraction", "global_norm")


def _clipping(run: Signals) -> Iterator[tuple[str, Ints, Floats]]:
    """What the run logs about clipping, from the most direct signal.

    Yields:
        A tag; int64[n], its steps; float64[n], whether each step was clipped, or which share of the steps, 0 to 1.
    """
    for role in ("clipped", "clipped_fraction"):
        signals = [signal for signal in run.of(role) if len(signal.finite) and not _of_a_policy(run, signal.tag)]
        if signals:
            for signal in signals:
                yield signal.tag, signal.finite.step, signal.finite.value
            return
    if any(norm.tag.endswith("gnorm") for norm in run.of("global_norm")):  # fairseq and metaseq log percent
        for signal in run.of("clipped_percent")[:1]:
            yield signal.tag, signal.finite.step, signal.finite.value / 100
            return
    norms, bounds, after = (run.of(role) for role in ("global_norm", "clip_norm", "clipped_global_norm"))
    for norm in norms[:1]:
        for other in (*bounds, *after)[:1]:
            step, length, bound = common_points(norm, other)
            yield norm.tag, step, (length > bound * (1 + _ROUNDING)).astype(np.float64)


def _of_a_policy(run: Signals, tag: str) -> bool:
    """Whether a `clip_fraction` is PPO's, which clips ratios of probabilities and not gradients."""
    return run.moving_target and "grad" not in tag.lower()


class ClippingSaturatedLimits(Limits):
    """The thresholds of clipping-saturated."""

    fraction: float = proportion(0.9)  # of the steps that are clipped
    min_points: int = whole(100)  # of flags, one for each step
    min_shares: int = whole(20)  # of shares, each of which covers many steps


@RULES.add("GL404", "clipping-saturated", Severity.WARNING, ClippingSaturatedLimits, needs=_ROLES)
def clipping_saturated(run: Signals, limit: ClippingSaturatedLimits) -> Hits:
    """Nearly every step is clipped: the bound sets the length of the steps, and the gradient only their direction."""
    for tag, step, share in _clipping(run):
        half = len(share) // 2
        steps = np.isin(share, (0.0, 1.0)).all() and run.all[tag].meaning.role != "clipped_fraction"
        enough = limit.min_points if steps else limit.min_shares  # a share covers many steps
        if len(share) < enough or not share[half:].mean() >= limit.fraction:
            continue
        start = min(since(share, limit.fraction), half)
        clipped = float(share[start:].mean())
        when = f" since step {step[start]}" if start else ""
        what = f"{min(clipped, 0.999):.1%} of the steps{when} were" if clipped != 1 else f"every step{when} was"
        yield Hit(
            f"{what} clipped",
            (tag,),
            step[start:],
            {"fraction": clipped, "fraction in all": share.mean(), "points": len(share)},
            severity=Severity.INFO if learns(run) else None,
        )


class ClippingNeverActsLimits(Limits):
    """The thresholds of clipping-never-acts."""

    min_points: int = whole(50)  # of the signal that shows clipping


@RULES.add("GL405", "clipping-never-acts", Severity.INFO, ClippingNeverActsLimits, needs=_ROLES)
def clipping_never_acts(run: Signals, limit: ClippingNeverActsLimits) -> Hits:
    """Clipping is on, but not a single step was clipped."""
    for tag, step, share in _clipping(run):
        if len(share) >= limit.min_points and not share.any():
            yield Hit(f"none of {len(share)} steps were clipped", (tag,), step, {"points": len(share)})
