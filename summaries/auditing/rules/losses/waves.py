"""GL314: a loss that goes up and down with each epoch: the data come in an order that the model can feel."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from summaries.auditing.findings import Severity
from summaries.auditing.rules.explanations import has_waves
from summaries.auditing.rules.rule import Hit, Hits, Limits, Ruleset, proportion, whole
from summaries.auditing.statistics.descent import LEVELS, autocorrelation
from summaries.robust import block_medians, sigma, stretch_medians

if TYPE_CHECKING:
    from summaries.arrays import Floats
    from summaries.auditing.signals.signals import Signals
    from summaries.reading.series import Series


__all__ = ["RULES"]

RULES = Ruleset("loss")
_PARTS = 4  # of a period: enough to see it rise and fall
_TIMES = 10  # times a level: from here on, percents are hard to read
_GROWS = 4  # times as large in the last third as in the first: no waves of data
_PERIODS = 6  # at least: fewer may be restarts of a rate that is not logged


class WavesLimits(Limits):
    """The thresholds of epoch-waves."""

    alike: float = proportion(0.4)  # the autocorrelation after a period, and after two
    smooth: float = proportion(0.3)  # that of neighbours
    size: float = proportion(0.05)  # of the level: the scatter about it
    min_points: int = whole(100, 60)  # of a loss


_USUAL = WavesLimits()


@RULES.add("GL314", "epoch-waves", Severity.WARNING, WavesLimits)
def epoch_waves(run: Signals, limit: WavesLimits) -> Hits:
    """The loss of steps has waves of one length throughout the run."""
    signal = run.objective
    if signal is None:
        return
    series = signal.finite
    period = period_of_waves(run, series, limit)
    if not period:
        return
    rest = _without_levels(series.value)
    steps = int(np.median(np.diff(series.step))) * period
    first, *_, last = (sigma(part) for part in np.array_split(rest, 3))
    profile = [float(rest[phase::period].mean()) for phase in range(period)]
    swing, why = max(profile) - min(profile), "the data come in the same order in every epoch, unshuffled"
    size = f"{swing:.0%} of its level" if swing < _TIMES else f"about {swing:.0f} times its level"
    if last > _GROWS * first:
        size = f"{first:.1%} of its level in the first third, and {last:.0%} in the last"
        why = "the training swings, as with a rate that is too high, or gradients that are never set to zero"
    yield Hit(
        f"{signal.tag} goes up and down every {steps} steps, by {size}: {why}",
        signal.tags,
        series.step,
        {"period": steps, "autocorrelation": autocorrelation(rest)[period], "scatter": sigma(rest)},
    )


def period_of_waves(run: Signals, series: Series, limit: WavesLimits = _USUAL) -> int:
    """The length of the waves of a loss, in points, that neither a rate nor a setting explains; 0 if there are none."""
    if len(series) < limit.min_points:
        return 0
    rest = _without_levels(series.value)
    if not rest.any() or rest[1:] @ rest[:-1] < limit.smooth * (rest @ rest):  # as in most runs: neighbours are unlike
        return 0
    like = autocorrelation(rest)
    period = _period(like, limit.alike)
    if not period or like[1] < limit.smooth or sigma(rest) < limit.size or has_waves(run, series, period, limit.alike):
        return 0
    return period if _rises(series.value, period, sigma(rest)) else 0


def _without_levels(value: Floats) -> Floats:
    """What is left of a loss without its levels, in units of these; nothing if they are not positive."""
    n, middles = len(value), block_medians(value, LEVELS)
    half = n / (2 * LEVELS)
    level = np.interp(np.arange(n), np.linspace(half, n - half, LEVELS), middles)
    return value / level - 1 if level.min() > 0 else np.zeros(len(value))


def _period(like: Floats, alike: float) -> int:
    """The distance at which values are alike again, having been unlike in between; 0 if there is none."""
    once = like[: len(like) // _PERIODS]
    unlike = np.flatnonzero(once < 0)
    if not len(unlike):
        return 0
    begin = int(unlike[0])
    period = begin + int(np.argmax(once[begin:]))
    return period if like[period] >= alike and like[2 * period] >= alike / 2 else 0


def _rises(value: Floats, period: int, scatter: float) -> bool:
    """Whether a positive loss rises in each period, by as much as it scatters: in stairs, it falls where one begins."""
    periods = len(value) / period
    parts = stretch_medians(value, min(int(_PARTS * periods), len(value)))
    rises = np.diff(np.log(np.maximum(parts, np.finfo(float).tiny)))
    return bool(rises[rises > 0].sum() > scatter * periods)
