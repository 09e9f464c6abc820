"""GL207, GL307, GL308: what no longer changes, and what becomes slower."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from summaries.auditing.findings import Severity
from summaries.auditing.rules.rule import Hit, Hits, Limits, Ruleset, above, proportion, whole
from summaries.robust import median

if TYPE_CHECKING:
    from summaries.arrays import Floats
    from summaries.auditing.signals.signals import Signals

__all__ = ["RULES"]

RULES = Ruleset()
_RISEN = 0.1  # of the fall: a loss that ends higher is no plateau, but a rise, which other rules tell
_PARTS = 10  # blocks whose order shows a drift


class SlowingDownLimits(Limits):
    """The thresholds of slowing-down."""

    factor: float = above(1, 1.5)  # from the first tenth of the run to the last
    tau: float = proportion(0.8)  # Kendall's, of the times of ten stretches with their order
    min_points: int = whole(200, 20)  # of the tag with the most points


@RULES.add("GL207", "slowing-down", Severity.INFO, SlowingDownLimits)
def slowing_down(run: Signals, limit: SlowingDownLimits) -> Hits:
    """A step takes longer and longer, from the start of the run to its end."""
    signal = run.longest
    if signal is None or len(signal.latest) < limit.min_points:
        return
    series = signal.latest
    steps, secs = np.diff(series.step), np.diff(series.wall_time)
    fine = (steps > 0) & np.isfinite(secs) & (secs >= 0)
    if np.count_nonzero(fine) < limit.min_points / 2:
        return
    pace = _medians(secs[fine] / steps[fine], _PARTS)
    if not 0 < limit.factor * pace[0] < pace[-1] or _tau(pace) < limit.tau:
        return
    if 2 * np.diff(pace).max() > pace[-1] - pace[0]:  # at once: something was changed
        return
    yield Hit(
        f"a step takes {pace[0]:.3g} s at first and {pace[-1]:.3g} s in the end; it became slower all along",
        (signal.tag,),
        series.step,
        {"first seconds": pace[0], "last seconds": pace[-1], "factor": pace[-1] / pace[0]},
    )


def _medians(values: Floats, count: int) -> Floats:
    """float64[count]: the median of each of `count` stretches of equal length."""
    ends = np.arange(count + 1) * len(values) // count
    return np.array([median(values[low:high]) for low, high in pairwise(ends)])


def _tau(values: Floats) -> float:
    """Kendall's rank correlation with the order: the share of pairs that rise, less that of pairs that fall."""
    first, second = np.triu_indices(len(values), 1)
    return float(np.sign(values[second] - values[first]).mean())


class ConstantMetricLimits(Limits):
    """The thresholds of constant-metric."""

    min_points: int = whole(20, 3)  # of a loss or a metric


@RULES.add("GL307", "constant-metric", Severity.INFO, ConstantMetricLimits)
def constant_metric(run: Signals, limit: ConstantMetricLimits) -> Hits:
    """A loss or a metric has the same value at every point."""
    for signal in run.of("loss", "validation_loss", "metric", "reward"):
        series = signal.latest
        value = series.value[0] if len(series) else math.nan
        if len(series) >= limit.min_points and math.isfinite(value) and (series.value == value).all():
            message = f"{signal.tag} is {value:.6g} at all {len(series)} points"
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
        medians = _medians(series.value, count)
        best = float(medians.min())
        level = np.log(medians) if best > 0 else medians
        fall = level[0] - level.min()
        near = int(np.argmax(level <= level.min() + limit.band * fall))
        until = (near + 1) * len(series) // count - 1  # the level is the median of the points until then
        rest = len(series) - near * len(series) // count
        if not near or rest < limit.share * len(series) or level[-3:].min() > level.min() + _RISEN * fall:
            continue
        yield Hit(
            f"{signal.tag} comes down to {medians[near]:.4g} by step {series.step[until]}, and to {best:.4g} at best in"
            f" the {1 - (until + 1) / len(series):.0%} of its points after that",
            (signal.tag,),
            series.step[until:],
            {"level": medians[near], "best": best, "start": medians[0], "points": rest},
        )
