"""GL507: a learning rate that has all but vanished for much of a run, in which the loss stands."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from summaries.auditing.claims import Move, Share
from summaries.auditing.findings import Severity
from summaries.auditing.rules.rule import Hit, Hits, Limits, Ruleset, proportion, whole
from summaries.auditing.signals.loss_names import words
from summaries.auditing.statistics.course import trend_between
from summaries.auditing.statistics.descent import Descent
from summaries.robust import after_last

if TYPE_CHECKING:
    from summaries.auditing.signals.signals import Signal, Signals
    from summaries.reading.series import Series

__all__ = ["RULES"]

RULES = Ruleset("learning_rate", "loss")
_RATE = re.compile(r"(?:.* )?(?:alpha|eta|step size)")
_VISIBLE = 0.01  # of the level: a fall by less is none
_SURE = 3.0  # standard deviations of a trend by chance


class DeadRateLimits(Limits):
    """The thresholds of dead-rate."""

    left: float = proportion(0.005)  # of the highest rate
    share: float = proportion(0.4)  # of the steps of the run, at its end
    min_points: int = whole(10, 5)  # of a rate


@RULES.add("GL507", "dead-rate", Severity.WARNING, DeadRateLimits)
def dead_rate(run: Signals, limit: DeadRateLimits) -> Hits:
    """The learning rate is far below its highest for a good part of the run, and the loss does not fall there."""
    alive = set()
    hits = []
    for signal in [*run.of("learning_rate"), *_by_other_names(run)]:
        series = signal.finite
        if len(series) < limit.min_points or series.value.min() < 0 or not series.value.any():
            continue
        value, step = series.value, series.step
        top = int(np.argmax(value))
        first = after_last(value > limit.left * value[top])
        late = step[-1] - limit.share * (step[-1] - step[0])
        lasts = first < len(value) and step[first] <= late
        losses = [*filter(None, (run.objective,)), *run.of("validation_loss")]
        falls = lasts and any(_falls_since(loss.finite, int(late)) for loss in losses)
        if not lasts or falls or not value[first:].any():  # GL504 tells of rates that are zero
            alive.add(signal.tag)
            continue
        low = Share.since("", series, first, "at most", float(limit.left * value[top]))
        fall = Move.of(signal.tag, series, top, len(value) - 1, "falls")
        since = low.said(f" and is below {100 * limit.left:g} % of it since step {step[first]}")
        hits.append(
            Hit(
                (fall, ",", since, ": the updates are too small to learn"),
                (signal.tag,),
                step[first:],
                {"highest": value[top], "last": value[-1]},
            )
        )
    if not alive:  # other parameters still learn
        yield from hits[:1]


def _falls_since(loss: Series, step: int) -> bool:
    """Whether a loss falls by a trend from a step on, and by a visible part of its level."""
    late = Descent(loss.value[loss.step >= step])
    moved = float(late.level[0] - late.level[-1]) if len(late.values) else 0.0
    visible = moved > _VISIBLE * abs(float(late.level[-1])) if moved else False
    return visible and trend_between(loss, step, int(loss.step[-1])) < -_SURE


def _by_other_names(run: Signals) -> list[Signal]:
    """Tags that textbooks call a rate, and that behave like one: they only fall, and stay positive."""
    named = [signal for signal in run.of("") if _RATE.fullmatch(words(signal.tag)) and len(signal.finite)]
    return [signal for signal in named if (np.diff(signal.finite.value) <= 0).all() and signal.finite.value[-1] > 0]
