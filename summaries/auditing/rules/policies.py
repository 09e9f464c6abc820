"""GL506: policies of reinforcement learning that no longer explore, or no longer change."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from summaries.auditing.findings import Severity
from summaries.auditing.rules.rule import Hit, Ruleset, fraction, whole
from summaries.auditing.statistics.robust import median

if TYPE_CHECKING:
    from collections.abc import Iterator

    from summaries.auditing.rules.rule import Limits
    from summaries.auditing.signals.signals import Signals

__all__ = ["RULES"]

RULES = Ruleset()
_ENTROPY = re.compile(r"(?:.*[/_. -])?(?:policy[_-])?entropy(?:[_-]loss)?", re.IGNORECASE)
_NO_POLICY = re.compile(r"cross|coef|target|alpha", re.IGNORECASE)
_KL = re.compile(r"(?:.*[/_. -])?(?:approx_?kl|kl(?:_div(?:ergence)?)?)", re.IGNORECASE)


@RULES.add("GL506", "policy-collapse", Severity.INFO, share=fraction(0.05), min_points=whole(40, 20))
def policy_collapse(run: Signals, limit: Limits) -> Iterator[Hit]:
    """The entropy of a policy vanishes in the first half of a run, or the policy does not change any more."""
    if not run.moving_target:
        return
    for signal in run.all.values():
        series = signal.finite
        size = np.abs(series.value)
        n = len(size)
        if n < limit["min_points"] or _NO_POLICY.search(signal.tag):
            continue
        early, later = median(size[: n // 10]), size[n // 2 :]
        if _ENTROPY.fullmatch(signal.tag) and _one_sided(series.value) and later.max() <= limit["share"] * early:
            what = f"falls from {early:.3g} to {median(later):.2g} within the first half: the policy does not explore"
        elif _KL.fullmatch(signal.tag) and early > 0 and not later.any():
            what = "is exactly 0 from the middle of the run on: the policy does not change any more"
        else:
            continue
        first = int(np.flatnonzero(size > limit["share"] * early)[-1]) + 1
        yield Hit(
            f"{signal.tag} {what}",
            signal.tag,
            (int(series.step[first]), int(series.step[-1])),
            {"early": early, "late": median(later)},
        )


def _one_sided(value: np.ndarray[tuple[int], np.dtype[np.float64]]) -> bool:
    """Whether it is the entropy of choices, or a loss made of it; that of densities has both signs."""
    return bool((value >= 0).all() or (value <= 0).all())
