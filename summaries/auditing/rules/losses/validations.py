"""GL311: validations that collapse, or give exactly the same from some point on, while the training goes on."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from summaries.auditing.claims import Lost, Point, Share
from summaries.auditing.findings import Severity
from summaries.auditing.rules.rule import Hit, Hits, Limits, Ruleset, proportion, whole
from summaries.auditing.signals.loss_names import words
from summaries.auditing.statistics.course import typical
from summaries.robust import block_medians, sigma
from summaries.words import beside

if TYPE_CHECKING:
    from summaries.auditing.signals.signals import Signal, Signals

__all__ = ["RULES"]

RULES = Ruleset("validation_loss", "metric")
_HIGHER = re.compile(r"\b(?:acc\w*|precision|recall|f ?1|m?ap|map \d+|auc|auroc|m?io ?u|dice|r ?2|bleu\d?|rouge\w*)\b")
_LEVELS = 12
_SIGMAS = 4.0  # of the noise of a level


class ValidationCollapsesLimits(Limits):
    """The thresholds of validation-collapses."""

    lost: float = proportion(0.5)  # of the best level of a metric
    share: float = proportion(0.3)  # of the validations, all the same, at the end
    min_points: int = whole(10, 5)  # of a metric
    min_same: int = whole(5, 3)  # validations in a row


@RULES.add("GL311", "validation-collapses", Severity.WARNING, ValidationCollapsesLimits)
def validation_collapses(run: Signals, limit: ValidationCollapsesLimits) -> Hits:
    """A metric loses half of its best level for good, or validations are exactly the same from some point on."""
    if run.moving_target:
        return
    for found in (_lost(run, limit), _stuck(run, limit)):
        if found:
            hit, *others = found
            tags = [tag for other in others for tag in other.tags]
            told = hit.message if isinstance(hit.message, tuple) else (hit.message,)
            yield Hit((*told, beside(tags, "does")), (*hit.tags, *tags), hit.steps, hit.evidence)


def _lost(run: Signals, limit: ValidationCollapsesLimits) -> list[Hit]:
    """Metrics of which higher is better, whose level falls from its best by half or more, and stays there."""
    hits = []
    for signal in run.of("metric"):
        series = signal.finite
        if len(series) < limit.min_points or not _HIGHER.search(words(signal.tag)) or series.value.min() < 0:
            continue
        value = series.value
        level = block_medians(value, _LEVELS)
        best = int(np.argmax(level))
        after = level[best + 1 :]
        least = (1 - limit.lost) * level[best]
        noise = sigma(np.diff(level)) if len(level) > 1 else 0.0
        if (
            len(after) < _LEVELS // 4
            or after[-(_LEVELS // 4) :].max() > least
            or level[best] - after[-1] < _SIGMAS * noise
        ):
            continue
        end = typical(value, len(value) - 1)
        high = int(np.argmax(value[: end + 1]))
        low = int(np.argmin(value[: high + 1]))
        fall = Lost(signal.tag, Point.of(series, high), Point.of(series, end), "falls", Point.of(series, low))
        if fall.holds(series):
            hits.append(Hit((fall,), (signal.tag,), series.step[high:], {"best": value[high], "end": value[end]}))
    return hits


def _stuck(run: Signals, limit: ValidationCollapsesLimits) -> list[Hit]:
    """Validation losses that varied, and then are the same to the last digit, while a training loss still varies."""
    hits = []
    for signal in run.of("validation_loss"):
        series = signal.finite
        first = _last_change(signal)
        same = len(series) - first
        if not first or same < max(limit.min_same, limit.share * len(series)) or not series.value[-1]:
            continue
        if _trains(run, int(series.step[first])):
            all_ = Share.since("", series, first, "exactly", float(series.value[-1]))
            words_ = f"exactly {series.value[-1]:.6g} at its last {same} of {len(series)} points"
            message = f"{signal.tag} is ", all_.said(words_), ", while the training loss goes on"
            hits.append(Hit(message, (signal.tag,), series.step[first:], {"value": series.value[-1], "points": same}))
    return hits


def _last_change(signal: Signal) -> int:
    """The index from which on all values are the last one; 0 if they always were, or there are none."""
    value = signal.finite.value
    return int(np.flatnonzero(np.append(True, np.diff(value) != 0))[-1]) if len(value) else 0


def _trains(run: Signals, step: int) -> bool:
    """Whether a training loss has several values from a step on."""
    losses = (signal.finite for signal in run.of("loss"))
    return any(len(np.unique(loss.value[loss.step > step])) > 2 for loss in losses)  # noqa: PLR2004 - and a last one
