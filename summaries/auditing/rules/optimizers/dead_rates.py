"""GL507: a learning rate that has all but vanished for much of a run, in which the loss stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from summaries.auditing.claims import Move, Share
from summaries.auditing.findings import Severity
from summaries.auditing.rules.rule import Hit, Hits, Limits, Ruleset, proportion, whole
from summaries.auditing.statistics.course import trend_between

if TYPE_CHECKING:
    from summaries.auditing.signals.signals import Signals

__all__ = ["RULES"]

RULES = Ruleset("learning_rate")
_SURE = 3.0  # standard deviations of a trend by chance


class DeadRateLimits(Limits):
    """The thresholds of dead-rate."""

    left: float = proportion(0.001)  # of the highest rate
    share: float = proportion(0.4)  # of the steps of the run, at its end
    min_points: int = whole(10, 5)  # of a rate


@RULES.add("GL507", "dead-rate", Severity.WARNING, DeadRateLimits)
def dead_rate(run: Signals, limit: DeadRateLimits) -> Hits:
    """The learning rate is far below its highest for a good part of the run, and the loss does not fall there."""
    alive = set()
    hits = []
    for signal in run.of("learning_rate"):
        series = signal.finite
        if len(series) < limit.min_points or series.value.min() < 0 or not series.value.any():
            continue
        value, step = series.value, series.step
        top = int(np.argmax(value))
        first = int(np.flatnonzero(value > limit.left * value[top])[-1]) + 1
        late = step[-1] - limit.share * (step[-1] - step[0])
        lasts = first < len(value) and step[first] <= late
        falls = run.objective is not None and trend_between(run.objective.finite, int(late), int(step[-1])) < -_SURE
        if not lasts or falls or not value[first:].any():  # GL504 tells of rates that are zero
            alive.add(signal.tag)
            continue
        low = Share.since("", series, first, "at most", float(limit.left * value[top]))
        fall = Move.of(signal.tag, series, top, len(value) - 1, "falls")
        since = low.said(f" and is below {limit.left:g} of that since step {step[first]}")
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
