"""GL501 to GL503: the updates of variables, and the slots of optimizers."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from summaries.auditing.findings import Severity
from summaries.auditing.rules.gradients.variables import dead_variables, upper_quartile_of_others
from summaries.auditing.rules.rule import Hit, Hits, Limits, Ruleset, above, at_least, proportion, whole
from summaries.auditing.signals.signals import common_points
from summaries.robust import block_medians, median, since

if TYPE_CHECKING:
    from summaries.arrays import Bools, Floats, Ints
    from summaries.auditing.signals.signals import Signal, Signals


__all__ = ["RULES"]

RULES = Ruleset()
_SETTLING = 0.6  # a ratio like one over the step falls to 0.43 of its value from the second quarter to the last
_BIAS = re.compile(r"(.*[_/.])?(b\d*|bias|beta|offset)(:0)?", re.IGNORECASE)
_SLOT_ROLES = ("slot_mean", "slot_norm", "slot_max", "slot_min")
_SECOND_MOMENT = re.compile(
    r"(.*[_/.])?(v|v_?hat|vhat|nu|exp_avg_sqs?|max_exp_avg_sq|second_moment(_sqrt)?|accum(ulator)?|accum_update|rms|"
    r"mean_?squares?|ms|square_avg|acc_delta|sum|n|variance|velocity_sq)",
    re.IGNORECASE,
)


class UpdateRatioLimits(Limits):
    """The thresholds of update-ratio."""

    low: float = at_least(0, 1e-6)  # of the weights, at every point
    high: float = above(0, 0.1)  # of the weights, for a good part of the run
    least_weight: float = proportion(0.1)  # of other variables' norms: what a norm near zero is taken for
    min_points: int = whole(20, 4)  # of a ratio


@RULES.add("GL501", "update-ratio", Severity.WARNING, UpdateRatioLimits, needs=("update_ratio", "update_norm"))
def update_ratio(run: Signals, limit: UpdateRatioLimits) -> Hits:
    """The updates of a variable are far too large or too small for its weights."""
    dead = dead_variables(run, limit.min_points)
    weights = _weights(run, limit.least_weight)
    for variable, (tag, step, ratio) in _ratios(run).items():
        if len(ratio) < limit.min_points or variable in dead:
            continue
        held = ratio * weights.get(variable, 1.0)
        large = _too_large(held, limit.high)
        # A schedule may lower the rate to zero in the end: the ratio is too small only if it never was large enough.
        largest = float(block_medians(ratio, 10).max())
        if large.any():
            at = np.flatnonzero(large)
            value, bound, how = median(ratio[at]), limit.high, "more than"
        elif 0 < largest < limit.low:
            at = np.arange(len(ratio))
            value, bound = largest, limit.low
            how = "never as much as" if ratio.max() < bound else "usually less than"
        else:
            continue
        yield Hit(
            f"the updates of {variable} are {value:.3g} of its weights, {how} {bound:g}",
            (tag,),
            step[at],
            {"ratio": value, "bound": bound, "points": len(ratio)},
        )


def _too_large(ratio: Floats, high: float) -> Bools:
    """At which points the ratio is above `high`, if it is so for a quarter of the run or more; else none."""
    quarter = len(ratio) // 4
    second, third = (median(ratio[i * quarter : (i + 1) * quarter]) for i in (1, 2))
    last = median(ratio[-quarter:])
    above = ratio > high
    # Weights that start at zero grow, and their ratios fall like one over the step: that is fine.
    if last > high and last > _SETTLING * second:
        above[: since(above, 0.5)] = False
    elif min(second, third) > high:  # a schedule may lower it in the end
        above[: since(above[: 3 * quarter], 0.5)] = False
    else:
        above[:] = False
    return above


def _weights(run: Signals, least: float) -> dict[str, float]:
    """Factors for the ratios of variables whose weights are near zero, to compare updates with larger weights.

    Those are `least` times the norm of the other variables' weights; for a bias, the norm itself.
    """
    finite = {variable: signal.finite.value for variable, signal in run.for_variable("weight_norm").items()}
    norms = {variable: median(value) for variable, value in finite.items() if len(value)}
    weights = {}
    for variable, usual in upper_quartile_of_others(norms).items():
        enough = usual if _BIAS.fullmatch(variable) else least * usual
        weights[variable] = norms[variable] / max(norms[variable], enough) if enough else 1.0
    return weights


def _ratios(run: Signals) -> dict[str, tuple[str, Ints, Floats]]:
    """The update norm over the weight norm of each variable: as logged, or computed from both norms."""
    logged = run.for_variable("update_ratio")
    ratios = {variable: (signal.tag, signal.finite.step, signal.finite.value) for variable, signal in logged.items()}
    weights = run.for_variable("weight_norm")
    for variable, signal in run.for_variable("update_norm").items():
        if variable not in ratios and variable in weights:
            step, update, weight = common_points(signal, weights[variable])
            ratios[variable] = signal.tag, step, update / weight
    return ratios


@RULES.add("GL502", "damaged-slot", Severity.ERROR, needs=_SLOT_ROLES, of_moments=True)
def damaged_slot(run: Signals, limit: Limits) -> Hits:
    """A slot of the optimizer is not finite, or a second moment is negative."""
    for (slot, variable), signals in _slots(run).items():
        for signal in signals:
            series = signal.standing
            bad, what = ~np.isfinite(series.value), "not finite"
            if not bad.any() and (signal.meaning.role == "slot_norm" or _SECOND_MOMENT.fullmatch(slot)):
                bad, what = series.value < 0, "negative, which a sum of squares cannot be"
            if not bad.any():
                continue
            at = np.flatnonzero(bad)
            yield Hit(
                f"the slot {slot} of {variable} is {what}: {signal.meaning.role[5:]} {series.value[at[0]]:.4g} at step"
                f" {series.step[at[0]]}",
                (signal.tag,),
                series.step[at],
                {"points": len(at), "of": len(series), "first value": str(series.value[at[0]])},
                len(at),
            )
            break


class SlotStuckAtZeroLimits(Limits):
    """The thresholds of slot-stuck-at-zero."""

    min_points: int = whole(10)  # of a slot, and of its variable's gradient


@RULES.add("GL503", "slot-stuck-at-zero", Severity.WARNING, SlotStuckAtZeroLimits, needs=_SLOT_ROLES)
def slot_stuck_at_zero(run: Signals, limit: SlotStuckAtZeroLimits) -> Hits:
    """A slot of the optimizer stays zero, although its variable has a gradient."""
    dead = {variable for variable, (_, since) in dead_variables(run, limit.min_points).items() if not since}
    for (slot, variable), signals in _slots(run).items():
        if variable in dead or min(len(signal.standing) for signal in signals) < limit.min_points:
            continue
        if all(bool((signal.standing.value == 0).all()) for signal in signals):
            step = signals[0].standing.step
            message = f"the slot {slot} of {variable} is zero at all {len(step)} points"
            yield Hit(message, (signals[0].tag,), step, {"points": len(step)})


def _slots(run: Signals) -> dict[tuple[str, str], list[Signal]]:
    """The signals of each slot of each variable: (slot, variable) → signals with points."""
    signals = defaultdict(list)
    for signal in run.of(*_SLOT_ROLES):
        if len(signal.standing):
            signals[signal.meaning.slot, signal.meaning.variable].append(signal)
    return signals
