"""GL312: a part of the objective that goes to nothing: the KL divergence of latents, or a discriminator's loss."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from summaries.auditing.claims import Level, Shift
from summaries.auditing.findings import Severity
from summaries.auditing.rules.rule import Hit, Hits, Limits, Ruleset, proportion, whole
from summaries.auditing.signals.loss_names import words
from summaries.robust import median

if TYPE_CHECKING:
    from summaries.auditing.signals.signals import Signals

__all__ = ["RULES"]

RULES = Ruleset()
_LATENT = re.compile(r"\b(?:kld?(?: div(?:ergence)?)?(?: loss)?|(?:train|val|loss)? ?kl)\b")
_OPPONENT = re.compile(r"\b(?:d|disc|dis|discriminator|netd)\b.*\bloss\b|\bloss\b.*\b(?:d|disc|discriminator|netd)\b")
_OF_POLICIES = re.compile(r"\b(?:approx|policy|ref|reward|coef|weight|beta|target)\b")
_TENTH = 10


class CollapsedPartLimits(Limits):
    """The thresholds of collapsed-part."""

    left: float = proportion(0.01)  # of the level of the first tenth
    nothing: float = proportion(0.02)  # nats: a divergence, or a discriminator's loss, that tells nothing
    share: float = proportion(0.4)  # of the points, at the end
    min_points: int = whole(20, 10)  # of a part


@RULES.add("GL312", "collapsed-part", Severity.WARNING, CollapsedPartLimits)
def collapsed_part(run: Signals, limit: CollapsedPartLimits) -> Hits:
    """The divergence of latents, or the loss of a discriminator, falls to nearly nothing, and stays there."""
    if run.of("reward"):
        return
    for signal in run.judged:
        what = _what(signal.tag)
        if not what:
            continue
        series = signal.finite
        if len(series) < limit.min_points or series.value.min() < 0:
            continue
        value, n = series.value, len(series)
        tenth = max(n // _TENTH, 1)
        bound = min(limit.left * median(value[:tenth]), limit.nothing)
        first = int(np.flatnonzero(np.append(np.inf, value) > bound)[-1])
        if n - first < limit.share * n or not first:
            continue
        before, after = Level.of(signal.tag, series, 0, tenth - 1), Level.of(signal.tag, series, first, n - 1)
        fall = Shift.of(before, after, "falls")
        evidence = {"early": before.value, "late": after.value}
        yield Hit((fall, f": {what}"), (signal.tag,), series.step[first:], evidence)


@lru_cache(maxsize=1 << 14)
def _what(tag: str) -> str:
    """What it means that this part is nothing; "" for any other tag."""
    text = words(tag)
    if _OF_POLICIES.search(text):
        return ""
    if _OPPONENT.search(text):
        return "the discriminator tells all apart, and the generator learns nothing from it"
    return "the latents carry nothing" if _LATENT.search(text) else ""
