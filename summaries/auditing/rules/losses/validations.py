"""GL311: validations that collapse, or give exactly the same from some point on, while the training goes on."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from summaries.auditing.claims import Move, Share
from summaries.auditing.findings import Severity
from summaries.auditing.rules.losses.overfitting import overfitting
from summaries.auditing.rules.rule import Hit, Hits, Limits, Ruleset, proportion, whole
from summaries.auditing.signals.loss_names import words
from summaries.auditing.statistics.course import typical
from summaries.robust import block_medians, changes, sigma
from summaries.words import beside

if TYPE_CHECKING:
    from summaries.auditing.signals.signals import Signal, Signals

__all__ = ["RULES"]

RULES = Ruleset("validation_loss", "metric")
_HIGHER = re.compile(r"\b(?:acc\w*|precision|recall|f ?1|m?ap|map \d+|auc|auroc|m?io ?u|dice|r ?2|bleu\d?|rouge\w*)\b")
_LEVELS, _LAST = 12, 3  # of a metric, and those at the end, which all must be low
_VANISHED = 1e-3  # of the highest rate
_SIGMAS = 3.0  # standard deviations of the change from one validation to the next


class ValidationCollapsesLimits(Limits):
    """The thresholds of validation-collapses."""

    lost: float = proportion(0.5)  # of the best level of a metric
    good: float = proportion(0.1)  # of 1, or of 100 %: the best level, at least
    share: float = proportion(0.3)  # of the validations, all the same, at the end
    min_points: int = whole(12, 12)  # of a metric
    min_same: int = whole(5, 3)  # validations in a row


@RULES.add("GL311", "validation-collapses", Severity.WARNING, ValidationCollapsesLimits, unless=overfitting)
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
        least = min((1 - limit.lost) * level[best], level[best] - _SIGMAS * sigma(changes(value)))
        was_good = level[best] >= limit.good * (100 if level.max() > 1 else 1)
        if not was_good or _LEVELS - best <= _LAST or level[-_LAST:].max() > least:
            continue
        end = typical(value, len(value) - 1)
        high = int(np.flatnonzero(value[:end] >= level[best])[-1])
        fall = Move.of(signal.tag, series, high, end, "falls")
        if value[end] <= least:
            hits.append(Hit((fall,), (signal.tag,), series.step[high:], {"best": value[high], "end": value[end]}))
    return hits


def _stuck(run: Signals, limit: ValidationCollapsesLimits) -> list[Hit]:
    """Validation losses that varied, and then are the same to the last digit, while a training loss still varies."""
    hits = []
    for signal in [] if _rate_is_dead(run) else run.of("validation_loss"):
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


def _rate_is_dead(run: Signals) -> bool:
    """Whether a learning rate has all but vanished, which explains it: GL504 and GL507 tell of that."""
    rates = [signal.finite.value for signal in run.of("learning_rate") if len(signal.finite)]
    return any(rate[-1] <= _VANISHED * rate.max() for rate in rates)


def _last_change(signal: Signal) -> int:
    """The index from which on all values are the last one; 0 if they always were, or there are none."""
    value = signal.finite.value
    return int(np.flatnonzero(np.append(True, np.diff(value) != 0))[-1]) if len(value) else 0


def _trains(run: Signals, step: int) -> bool:
    """Whether a training loss has several values from a step on."""
    losses = (signal.finite for signal in run.of("loss"))
    return any(len(np.unique(loss.value[loss.step > step])) > 2 for loss in losses)  # noqa: PLR2004 - and a last one
