"""GL5xx: updates, slots and the learning rate."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from summaries.auditing.finding import Severity
from summaries.auditing.robust import blocks, median
from summaries.auditing.rule import Hit, Ruleset, above, at_least, fraction, whole
from summaries.auditing.rules.gradients import dead_variables

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from summaries.auditing.rule import Limits
    from summaries.auditing.signals import Signal, Signals

    Floats = NDArray[np.float64]

__all__ = ["RULES"]

RULES = Ruleset()
_WARM_UP_POINTS = 3  # or a twentieth of all: a low rate at first, and then the full one, is a warm-up too
_SETTLING = 0.6  # a ratio that falls as one over the step is 0.43 of what it was, from the second quarter to the last
_SLOT_ROLES = ("slot_mean", "slot_norm", "slot_max", "slot_min")
_SECOND_MOMENT = re.compile(
    r"(.*[_/.])?(v|v_?hat|vhat|nu|exp_avg_sqs?|max_exp_avg_sq|second_moment(_sqrt)?|accum(ulator)?|accum_update|rms|"
    r"mean_?squares?|ms|square_avg|acc_delta|sum|n|variance|velocity_sq)",
    re.IGNORECASE,
)


@RULES.add(
    "GL501", "update-ratio", Severity.WARNING, low=at_least(0, 1e-6), high=above(0, 0.1), min_points=whole(20, 4)
)
def update_ratio(run: Signals, limit: Limits) -> Iterator[Hit]:
    """A variable's updates are far too large, or too small, for its weights."""
    dead = dead_variables(run, limit["min_points"])
    for variable, (tag, step, ratio) in _ratios(run).items():
        if len(ratio) < limit["min_points"] or variable in dead:
            continue
        quarter = len(ratio) // 4
        early, late = median(ratio[quarter : 2 * quarter]), median(ratio[-quarter:])
        cut = blocks(ratio, 10)
        # A schedule brings the rate down to nothing in the end: too small is what never was enough.
        largest = float(cut.median.max())
        # Weights that start at zero, as biases do, grow, and their ratios fall as one over the step: that passes.
        if late > limit["high"] and late > _SETTLING * early:
            value, bound, how = late, limit["high"], "more than"
        elif 0 < largest < limit["low"]:
            value, bound, how = largest, limit["low"], "never as much as"
        else:
            continue
        yield Hit(
            f"the updates of {variable} are {value:.3g} of its weights, {how} {bound:g}",
            tag,
            (int(step[-quarter]) if how == "more than" else int(step[0]), int(step[-1])),
            {"ratio": value, "bound": bound, "points": len(ratio)},
        )


def _ratios(run: Signals) -> dict[str, tuple[str, NDArray[np.int64], Floats]]:
    """Each variable's update norm over its weight norm: as logged, or from both norms."""
    found = {}
    for variable, signal in run.for_variable("update_ratio").items():
        found[variable] = signal.tag, signal.finite.step, signal.finite.value
    weights = run.for_variable("weight_norm")
    for variable, signal in run.for_variable("update_norm").items():
        if variable in found or variable not in weights:
            continue
        a, b = signal.latest, weights[variable].latest
        step, i, j = np.intersect1d(a.step, b.step, return_indices=True)
        x, y = a.value[i], b.value[j]
        fine = np.isfinite(x) & np.isfinite(y) & (y > 0)
        found[variable] = signal.tag, step[fine], x[fine] / y[fine]
    return found


@RULES.add("GL502", "damaged-slot", Severity.ERROR)
def damaged_slot(run: Signals, limit: Limits) -> Iterator[Hit]:
    """An optimizer's slot is not finite, or a second moment is negative."""
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
                signal.tag,
                (int(series.step[at[0]]), int(series.step[at[-1]])),
                {"points": len(at), "of": len(series), "first value": str(series.value[at[0]])},
                len(at),
            )
            break


@RULES.add("GL503", "slot-stuck-at-zero", Severity.WARNING, min_points=whole(10))
def slot_stuck_at_zero(run: Signals, limit: Limits) -> Iterator[Hit]:
    """An optimizer's slot stays zero, although its variable has a gradient."""
    dead = dead_variables(run, limit["min_points"])
    for (slot, variable), signals in _slots(run).items():
        if variable in dead or min(len(signal.standing) for signal in signals) < limit["min_points"]:
            continue
        if all(bool((signal.standing.value == 0).all()) for signal in signals):
            step = signals[0].standing.step
            yield Hit(
                f"the slot {slot} of {variable} is zero at all {len(step)} points",
                signals[0].tag,
                (int(step[0]), int(step[-1])),
                {"points": len(step)},
            )


def _slots(run: Signals) -> dict[tuple[str, str], list[Signal]]:
    found = defaultdict(list)
    for signal in run.of(*_SLOT_ROLES):
        if len(signal.standing):
            found[signal.meaning.slot, signal.meaning.variable].append(signal)
    return found


@RULES.add(
    "GL504", "learning-rate", Severity.WARNING, jump=above(1, 2.0), max_zero=fraction(0.05), min_points=whole(10)
)
def learning_rate(run: Signals, limit: Limits) -> Iterator[Hit]:
    """The learning rate is zero, negative or not finite, or jumps as no schedule does."""
    for signal in run.of("learning_rate"):
        series = signal.standing
        value, step = series.value, series.step
        bad = ~np.isfinite(value) | (value < 0)
        if bad.any():
            at, what, severity = np.flatnonzero(bad), "is not a rate", Severity.ERROR
        elif len(value) < limit["min_points"]:
            continue
        elif len(at := _zeros(value, limit["max_zero"])):
            what, severity = "is zero", Severity.ERROR if len(at) == len(value) else Severity.WARNING
            if _others_learn(run, signal, step[at]):
                what, severity = "is zero while another is not, as that of frozen parameters", Severity.INFO
        elif len(at := _jumps(value, limit["jump"])):
            what, severity = "jumps as no schedule does", Severity.WARNING
        else:
            continue
        first = int(at[0])
        before = f", after {value[first - 1]:.4g}" if first else ""
        yield Hit(
            f"{signal.tag} {what}: {value[first]:.4g} at step {step[first]}{before}"
            f"{'' if len(at) == 1 else f'; {len(at)} such points'}",
            signal.tag,
            (int(step[first]), int(step[at[-1]])),
            {"value": str(value[first]), "points": len(at), "of": len(value)},
            len(at),
            severity,
        )


def _others_learn(run: Signals, signal: Signal, steps: NDArray[np.int64]) -> bool:
    """Whether at these steps, but for a few at either end, the rate of another group of parameters is positive."""
    learns = np.zeros(len(steps), bool)
    for other in run.of("learning_rate"):
        series = other.finite
        if other is not signal and len(series):
            last = np.searchsorted(series.step, steps, "right") - 1
            learns |= series.value[np.maximum(last, 0)] > 0
    return bool(np.count_nonzero(learns) >= 0.9 * len(steps))


def _zeros(value: Floats, max_zero: float) -> NDArray[np.int64]:
    """Where the rate is zero, but for a warm-up's first points and a decay's last."""
    at = np.flatnonzero(value == 0)
    if not len(at) or len(at) == len(value):
        return at
    fine = max(2.0, max_zero * len(value))
    nonzero = np.flatnonzero(value)
    leading, trailing = int(nonzero[0]), len(value) - 1 - int(nonzero[-1])
    inside = at[(at > nonzero[0]) & (at < nonzero[-1])]
    # A schedule that comes down to zero and starts again touches it; it does not drop to it.
    dropped = inside[value[inside - 1] > 0.2 * value.max()]
    found = list(dropped)
    if leading > fine:
        found += list(at[:leading])
    if trailing > fine or (trailing and value[nonzero[-1]] > 0.2 * value.max() and trailing > 1):
        found += list(at[len(at) - trailing :])
    return np.array(sorted(found), np.int64)


def _jumps(value: Floats, jump: float) -> NDArray[np.int64]:
    """Where the rate jumps beyond all that it was, to where no restart leads, or away and back."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(value[:-1] > 0, value[1:] / value[:-1], 1.0)
    changed = np.flatnonzero((ratio > jump) | (ratio < 1 / jump)) + 1
    changed = changed[changed >= max(_WARM_UP_POINTS, len(value) // 20)]
    if len(changed) > max(6, 0.1 * len(value)):
        return changed[:0]  # such changes are this schedule's way
    found = [
        at for at in changed.tolist() if _abrupt(value, at) and (_astray(value, at, jump) or _comes_back(value, at))
    ]
    return np.array(found, np.int64)


def _abrupt(value: Floats, at: int) -> bool:
    """Whether the rate changes more at a point than around it: the foot of a ramp does not."""
    around = np.abs(np.diff(value[max(at - 6, 0) : at + 6]))
    return bool(abs(value[at] - value[at - 1]) > 4 * median(around))


def _astray(value: Floats, at: int, jump: float) -> bool:
    """Whether the rate rises beyond all that it was, or to a height that no cycle had."""
    if value[at] <= value[at - 1]:
        return False
    beyond = value[at] > jump * value[:at].max()
    return bool(beyond or value[at] < 0.45 * _last_peak(value[:at]))


def _comes_back(value: Floats, at: int) -> bool:
    """Whether the rate is back within three points."""
    back = value[at + 1 : at + 4]
    return bool(len(back) and (np.abs(back / value[at - 1] - 1) < 0.3).any())  # noqa: PLR2004


def _last_peak(value: Floats) -> float:
    """The rate's height in its latest cycle: the maximum since it last rose by a lot."""
    rises = np.flatnonzero(value[1:] > 2 * value[:-1])
    start = int(rises[-1]) + 1 if len(rises) and len(value) - rises[-1] > 2 else 0  # noqa: PLR2004
    return float(value[start:].max())
