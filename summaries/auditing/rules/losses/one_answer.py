"""GL316: metrics of a model that answers the same to every example: all are positive, or nothing is found."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from summaries.auditing.claims import Share
from summaries.auditing.findings import Severity
from summaries.auditing.rules.losses.validations import validation_collapses
from summaries.auditing.rules.progress import at_best
from summaries.auditing.rules.rule import Hit, Hits, Limits, Ruleset, proportion, whole
from summaries.auditing.signals.loss_names import words
from summaries.auditing.signals.roles import higher_is_better
from summaries.robust import after_last
from summaries.words import beside

if TYPE_CHECKING:
    from summaries.auditing.signals.signals import Signal, Signals

__all__ = ["RULES"]

RULES = Ruleset("metric")
_RECALL, _PRECISION = re.compile(r"\b(?:recall|sensitivity)\b"), re.compile(r"\bprecision\b")


class OneAnswerLimits(Limits):
    """The thresholds of one-answer."""

    min_points: int = whole(8, 6)  # of a metric
    min_zeros: int = whole(12, 8)  # of a metric that never was above 0
    share: float = proportion(0.8)  # of the points, up to the last, at which nothing is found


@RULES.add("GL316", "one-answer", Severity.WARNING, OneAnswerLimits, unless=validation_collapses)
def one_answer(run: Signals, limit: OneAnswerLimits) -> Hits:
    """A recall is always 1 beside a precision that never changes, or metrics are 0 throughout, or come to it."""
    if run.moving_target:  # a policy may yet succeed: GL506 judges it
        return
    enough = [one for one in run.of("metric") if len(one.finite) >= limit.min_points]
    yield from _all_are_positive(enough)
    yield from _nothing_is_found([one for one in enough if higher_is_better(one.tag)], limit)


def _all_are_positive(metrics: list[Signal]) -> Hits:
    """Find a recall of 1 at all points beside a precision that never changes."""
    precisions = [one for one in metrics if _PRECISION.search(words(one.tag))]
    for recall in [one for one in metrics if _RECALL.search(words(one.tag))]:
        stem, series = _RECALL.sub("", words(recall.tag)), recall.finite
        for precision in [one for one in precisions if _PRECISION.sub("", words(one.tag)) == stem]:
            same = float(precision.finite.value[0])
            ones = Share.since("", series, 0, "exactly", at_best(recall))
            never = Share.since("", precision.finite, 0, "exactly", same, tags=(precision.tag,))
            if ones.count == ones.of and never.count == never.of and same < at_best(precision):
                told = f"{recall.tag} is ", ones, f", and {precision.tag} ", never, ": every example counts as positive"
                evidence = {"value": same, "points": len(series)}
                yield Hit(told, (recall.tag, precision.tag), series.step, evidence, len(series))


def _nothing_is_found(metrics: list[Signal], limit: OneAnswerLimits) -> Hits:
    """Find metrics that are 0 throughout, or for most of the run, to its end."""
    found: dict[str, Share] = {}
    for signal in metrics:
        series, n = signal.finite, len(signal.finite)
        since = after_last(series.value != 0)
        if n - since >= max(limit.min_points if since else limit.min_zeros, limit.share * n):
            zero = Share.since("", series, since, "exactly", 0.0)
            points = f"its last {n - since} of {n} points" if since else f"all {n} points"
            found[signal.tag] = zero.said(f"exactly 0 at {points}")
    if found:
        (tag, zero), *others = found.items()
        more = beside([other for other, _ in others])
        evidence = {"value": 0.0, "points": zero.of}
        yield Hit((f"{tag} is ", zero, more), tuple(found), [zero.first], evidence, zero.of)
