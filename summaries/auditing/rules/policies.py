"""GL506: policies of reinforcement learning that no longer explore, or no longer change."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from summaries.auditing.findings import Severity
from summaries.auditing.rules.rule import Hit, Ruleset, fraction, whole
from summaries.auditing.statistics.robust import blocks, median, monotone_trend

if TYPE_CHECKING:
    from collections.abc import Iterator

    from summaries.auditing.rules.rule import Limits
    from summaries.auditing.signals.signals import Signals

__all__ = ["RULES"]

RULES = Ruleset()
_LEVELS = 12  # medians of stretches
_SURE = 2.0  # standard deviations of a trend by chance
_ENTROPY = re.compile(r"(?:.*[/_. -])?(?:policy[_-])?entropy(?:[_-]loss)?", re.IGNORECASE)
_NO_POLICY = re.compile(r"cross|coef|target|alpha", re.IGNORECASE)
_KL = re.compile(r"(?:.*[/_. -])?(?:approx_?kl|kl(?:_div(?:ergence)?)?)", re.IGNORECASE)


@RULES.add(
    "GL506", "policy-collapse", Severity.INFO, share=fraction(0.05), lost=fraction(0.75), min_points=whole(40, 20)
)
def policy_collapse(run: Signals, limit: Limits) -> Iterator[Hit]:
    """A policy loses most of its reward, its entropy vanishes in the first half of a run, or it changes no more."""
    if not run.moving_target:
        return
    yield from _reward_lost(run, limit)
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


def _reward_lost(run: Signals, limit: Limits) -> Iterator[Hit]:
    """Find a reward that fell by a trend, and ends with most of what was gained lost."""
    signal = run.main
    if signal is None or signal.meaning.role != "reward" or len(signal.finite) < limit["min_points"]:
        return
    series = signal.finite
    cut = blocks(series.value, _LEVELS)
    level = cut.median
    best = int(np.argmax(level))
    gained = float(level[best] - level[: best + 1].min())
    end = median(level[-_LEVELS // 4 :])
    clear = gained > 2 * median(cut.sigma) and level[best] - end >= limit["lost"] * gained
    if not clear or len(level) - best < 3 or monotone_trend(level[best:]) > -_SURE:  # noqa: PLR2004 - no trend
        return
    since = int(cut.start[best]) + cut.length - 1
    yield Hit(
        f"{signal.tag} falls from {level[best]:.4g} to {level[-1]:.4g}: of the {gained:.4g} gained, most is lost",
        signal.tag,
        (int(series.step[since]), int(series.step[-1])),
        {"best": float(level[best]), "end": float(level[-1]), "gained": gained},
    )


def _one_sided(value: np.ndarray[tuple[int], np.dtype[np.float64]]) -> bool:
    """Whether it is the entropy of choices, or a loss made of it; that of densities has both signs."""
    return bool((value >= 0).all() or (value <= 0).all())
