"""GL307 and GL308: losses and metrics that do not change, or no longer."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from summaries.auditing.claims import Level, Share, Shift
from summaries.auditing.findings import Severity
from summaries.auditing.rules.losses.one_answer import one_answer
from summaries.auditing.rules.rule import Hit, Hits, Limits, Ruleset, proportion, whole
from summaries.robust import median, stretch_medians

if TYPE_CHECKING:
    from summaries.auditing.signals.signals import Signals

__all__ = ["RULES"]

RULES = Ruleset()
_RISEN = 0.1  # of the fall: a loss that ends higher is no plateau, but a rise, which other rules tell


class ConstantMetricLimits(Limits):
    """The thresholds of constant-metric."""

    min_points: int = whole(20, 3)  # of a loss or a metric


@RULES.add("GL307", "constant-metric", Severity.INFO, ConstantMetricLimits, unless=one_answer)
def constant_metric(run: Signals, limit: ConstantMetricLimits) -> Hits:
    """A loss or a metric has the same value at every point."""
    for signal in run.of("loss", "validation_loss", "metric", "reward"):
        series = signal.latest
        value = series.value[0] if len(series) else math.nan
        if len(series) >= limit.min_points and math.isfinite(value) and (series.value == value).all():
            same = Share.since("", series, 0, "exactly", float(value))
            message = f"{signal.tag} is ", same.said(f"{value:.6g} at all {len(series)} points")
            evidence = {"value": value, "points": len(series)}
            yield Hit(message, (signal.tag,), series.step, evidence, len(series))


class PlateauLimits(Limits):
    """The thresholds of plateau."""

    share: float = proportion(0.5)  # of the points, on the plateau
    band: float = proportion(0.05)  # of the whole fall, above the best level
    min_points: int = whole(60, 30)  # of a loss


@RULES.add("GL308", "plateau", Severity.INFO, PlateauLimits, needs=("loss", "validation_loss"))
def plateau(run: Signals, limit: PlateauLimits) -> Hits:
    """The loss came near its best level early, stays near it, and the rest of the run brings nothing more."""
    for signal in [] if run.moving_target or run.concurrent_files else run.of("loss", "validation_loss"):
        series = signal.finite
        if len(series) < limit.min_points:
            continue
        count = min(len(series) // 5, 30)
        medians = stretch_medians(series.value, count)
        best = float(medians.min())
        level = np.log(medians) if best > 0 else medians
        fall = level[0] - level.min()
        near = int(np.argmax(level <= level.min() + limit.band * fall))
        until = (near + 1) * len(series) // count - 1  # the level is the median of the points until then
        rest = len(series) - near * len(series) // count
        most = level.min() + _RISEN * fall
        begins_below = float(series.value[0]) <= medians[near]  # it came down from a jump, and learnt nothing by that
        if (
            begins_below
            or not near
            or rest < limit.share * len(series)
            or level[-3:].min() > most
            or median(level[near:]) > most
        ):
            continue
        top = int(np.argmax(series.value[: until + 1]))
        first, late = (Level.of(signal.tag, series, *ends) for ends in ((top, top), (until, len(series) - 1)))
        down = Shift.of(first, late, "falls")
        if not down.holds(series):  # in four digits, it does not
            continue
        yield Hit(
            (down, f", its level for {(len(series) - until) / len(series):.0%} of its points"),
            (signal.tag,),
            series.step[until:],
            {"level": medians[near], "best": best, "start": medians[0], "points": rest},
        )
