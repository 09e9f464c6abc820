"""GL310: a loss that falls below what its kind allows, or without end: the sign is wrong, or nothing bounds it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from summaries.auditing.claims import Move, Share
from summaries.auditing.findings import Severity
from summaries.auditing.rules.rule import Hit, Hits, Limits, Ruleset, above, whole
from summaries.auditing.signals.loss_names import words
from summaries.robust import median

if TYPE_CHECKING:
    from summaries.auditing.signals.signals import Signal, Signals

__all__ = ["RULES"]

RULES = Ruleset("loss", "validation_loss")
_NOT_NEGATIVE = re.compile(
    r"\b(?:mse|mae|rmse|huber|smooth l 1|hinge|(?:cross|binary) ?(?:cross)? ?entropy|xent|bce|ce|perplexity|ppl|dice|"
    r"(?:mean|root mean) (?:squared?|absolute) error)\b"
)
_ROUNDING = 1e-6  # of the largest value: a sum of rounded parts may be as far below zero


class UnboundedLossLimits(Limits):
    """The thresholds of unbounded-loss."""

    times: float = above(1, 1000.0)  # the first values and 1, below zero
    min_points: int = whole(10, 5)  # of a loss


@RULES.add("GL310", "unbounded-loss", Severity.ERROR, UnboundedLossLimits)
def unbounded_loss(run: Signals, limit: UnboundedLossLimits) -> Hits:
    """A loss falls below the least that its kind can be, or faster and faster without end."""
    objective = [] if run.objective is None else [run.objective]
    for signal in {one.tag: one for one in (*objective, *run.of("loss", "validation_loss"))}.values():
        if len(signal.finite) >= limit.min_points and signal.finite.value.min() < 0:
            hit = _below_its_bound(signal) or _without_end(signal, limit)
            if hit is not None:
                yield hit
                return


def _below_its_bound(signal: Signal) -> Hit | None:
    """Find values below zero of a loss that is a distance, or the cross-entropy of classes."""
    series = signal.finite
    below = np.flatnonzero(series.value < -_ROUNDING * np.abs(series.value).max())
    if not len(below) or not _NOT_NEGATIVE.search(words(signal.tag)):
        return None
    first, n = int(below[0]), len(series)
    bound = float(-_ROUNDING * np.abs(series.value).max())
    told = Share.since("", series, 0, "below", bound, tags=signal.tags).said(f"negative at {len(below)} of {n} points")
    return Hit(
        (
            f"{signal.tag} is ",
            told,
            ", which its kind cannot be",
        ),
        signal.tags,
        series.step[first:],
        {"lowest": series.value.min(), "points": len(below), "of": n},
        len(below),
    )


def _without_end(signal: Signal, limit: UnboundedLossLimits) -> Hit | None:
    """Find a loss that ends far below zero, and still falls as fast as ever."""
    series = signal.finite
    value, n = series.value, len(series)
    tenth = max(n // 10, 1)
    start, end = median(value[:tenth]), median(value[-tenth:])
    still = median(value[-3 * tenth : -2 * tenth]) - end > (start - end) / n * tenth
    if end > -limit.times * (abs(value[0]) + 1) or not still:
        return None
    return Hit(
        (Move.of(signal.tag, series, 0, n - 1, "falls", tags=signal.tags), ": nothing bounds it, or its sign is wrong"),
        signal.tags,
        series.step,
        {"first": value[0], "last": value[-1]},
    )
