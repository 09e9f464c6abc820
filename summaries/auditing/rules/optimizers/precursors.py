"""GL505 and GL508: what comes before the loss rises: updates that grow, and an oscillation that will."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from summaries.auditing.findings import Severity
from summaries.auditing.rules.rule import Hit, Hits, Limits, Ruleset, above, at_least, whole
from summaries.auditing.statistics.excursions import Excursions, Peak
from summaries.words import counted

if TYPE_CHECKING:
    from summaries.arrays import Floats, Ints
    from summaries.auditing.signals.signals import Signals

__all__ = ["RULES"]

RULES = Ruleset(of_moments=True)
_NOTHING = np.empty(0, np.int64), np.empty(0)
_FEWEST = 60  # points that show a level beside its noise


class UpdateSpikeFirstLimits(Limits):
    """The thresholds of update-spike-first."""

    sigmas: float = above(0, 8.0)  # of the noise of a point, as for a spike of the loss
    min_rise: float = at_least(0, 0.1)  # of the range
    ahead: int = whole(10)  # points of the updates, at most


@RULES.add("GL505", "update-spike-first", Severity.INFO, UpdateSpikeFirstLimits, needs=("update_norm",))
def update_spike_first(run: Signals, limit: UpdateSpikeFirstLimits) -> Hits:
    """The norm of the updates jumps a few points before the loss does."""
    if run.moving_target or not run.of("update_norm"):
        return
    spikes = [(signal, signal.finite, _peaks(signal.finite.value, limit)) for signal in run.of("loss")]
    steps, norm = _update_norm(run) if any(peaks for _, _, peaks in spikes) else _NOTHING
    jumps = [peak.first for peak in _peaks(norm, limit)]
    for signal, series, peaks in spikes:
        pairs = []
        for peak in peaks:
            at = int(np.searchsorted(steps, series.step[peak.first]))  # of the updates: the first one not before it
            ahead = [at - jump for jump in jumps if 0 < at - jump <= limit.ahead]
            pairs += [(peak, min(ahead))] if ahead else []
        if not pairs:
            continue
        lags = [lag for _, lag in pairs]
        lead = " to ".join(map(str, sorted({min(lags), max(lags)})))
        yield Hit(
            f"the norm of the updates jumps {lead} point{'s' * (max(lags) > 1)} before {signal.tag} does,"
            f" at {counted(len(pairs), 'spike')}",
            (signal.tag,),
            (series.step[pairs[0][0].first], series.step[pairs[-1][0].last]),
            {"points ahead": np.median(lags)},
            len(pairs),
        )


class SpikeForetoldLimits(Limits):
    """The thresholds of spike-foretold."""

    rise: float = above(1, 8.0)  # times the recent losses: what the oscillation alone will come to
    within: int = whole(100)  # steps


@RULES.add("GL508", "spike-foretold", Severity.INFO, SpikeForetoldLimits, needs=("forecast_rise",))
def spike_foretold(run: Signals, limit: SpikeForetoldLimits) -> Hits:
    """The oscillation that Adam makes itself is forecast to exceed the loss many times."""
    for signal in run.of("forecast_rise"):
        step, rise = signal.finite.step, signal.finite.value
        high = np.flatnonzero(rise > limit.rise)
        if not len(high):
            continue
        steps = step[high]
        alarms = high[np.diff(steps, prepend=steps[0] - limit.within - 1) > limit.within]
        at = int(alarms[0])
        yield Hit(
            f"from step {step[at]}, Adam's own oscillation is forecast to reach {rise[at]:.3g} times the loss"
            f"{f'; {len(alarms)} such forecasts' if len(alarms) > 1 else ''}",
            (signal.tag,),
            steps,
            {"rise": rise[at], "highest": rise.max(), "forecasts": len(alarms)},
            len(alarms),
        )


def _peaks(values: Floats, limit: UpdateSpikeFirstLimits) -> list[Peak]:
    if len(values) < _FEWEST:
        return []
    return Excursions.of(values, limit.sigmas, limit.min_rise).returned


def _update_norm(run: Signals) -> tuple[Ints, Floats]:
    """The norm of all updates, from those of the variables, at the steps that all of them have."""
    parts = [signal.finite for signal in run.for_variable("update_norm").values()]
    steps = reduce(np.intersect1d, (part.step for part in parts))
    squares = sum(part.value[np.searchsorted(part.step, steps)] ** 2 for part in parts)
    return steps, np.sqrt(squares)
