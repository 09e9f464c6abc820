"""GL504: the learning rate, compared with what schedules do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from summaries.auditing.findings import Severity
from summaries.auditing.rules.rule import Hit, Hits, Limits, Ruleset, above, proportion, whole
from summaries.robust import median

if TYPE_CHECKING:
    from summaries.arrays import Bools, Floats, Ints
    from summaries.auditing.signals.signals import Signal, Signals


__all__ = ["RULES"]

RULES = Ruleset()
_WARM_UP_POINTS, _WARM_UP = 3, 20  # points, or a twentieth: a low rate followed by the full one is a warm-up too
_ZEROS = 2.0  # points: fewer zeros in a row are those of a start or an end
_CYCLE = 2  # times as high as the point before: the beginning of a cycle
_FREQUENT = 6, 0.1  # changes, and as a share of the points: more of them are the cycles of a schedule
_RESTART = 0.45  # of a cycle's highest rate: no restart is lower
_ENDED = 0.01  # of a cycle's highest rate: it has come down
_RAMP = 0.75  # of the rate before it fell to zero: a rise from less is a ramp
_AROUND, _ABRUPT = 6, 4  # points on each side of a change, and how many times the usual change there it must be
_MOST = 0.9  # of the steps at which a rate is zero: another rate that is positive there is that of other parameters
_DEEP, _AT_ONCE = 3, 0.6  # times: no ramp falls so far; the share of it that must be made good from point to point
_HIGH = 0.2  # of the largest rate: a schedule that reaches zero from below this has decayed
_BACK, _ALIKE = 3, 0.3  # points until it is back, and how far it may then be from the rate before, as a share of it
_EVEN = 1.5  # by which factor a step of a ramp may exceed the one before, in difference or in ratio


class LearningRateLimits(Limits):
    """The thresholds of learning-rate."""

    jump: float = above(1, 2.0)  # from one point to the next, up or down
    max_zero: float = proportion(0.05)  # of the points, in a row: the start of a warm-up, or the end of a decay
    min_points: int = whole(10)  # of a rate


@RULES.add("GL504", "learning-rate", Severity.WARNING, LearningRateLimits, needs=("learning_rate",))
def learning_rate(run: Signals, limit: LearningRateLimits) -> Hits:
    """The learning rate is zero, negative or not finite, or jumps in a way that no schedule does."""
    for signal in run.of("learning_rate"):
        series = signal.standing
        value, step = series.value, series.step
        bad = ~np.isfinite(value) | (value < 0)
        if bad.any():
            at, what, severity = np.flatnonzero(bad), "is not a rate", Severity.ERROR
        elif len(value) < limit.min_points:
            continue
        elif len(at := _zeros(value, limit.max_zero, signal)):
            what, severity = "is zero", Severity.ERROR if len(at) == len(value) else Severity.WARNING
            if _others_learn(run, signal, step[at]):
                what, severity = "is zero while another is not, as for frozen parameters", Severity.INFO
        elif not run.logger.adapts_rate and len(at := _jumps(value, limit.jump, signal)):
            what, severity = "jumps in a way that no schedule does", Severity.WARNING
        else:
            continue
        first = int(at[0])
        before = f", after {value[first - 1]:.4g}" if first else ""
        yield Hit(
            f"{signal.tag} {what}: {value[first]:.4g} at step {step[first]}{before}"
            f"{'' if len(at) == 1 else f'; {len(at)} such points'}",
            (signal.tag,),
            step[at],
            {"value": str(value[first]), "points": len(at), "of": len(value)},
            len(at),
            severity,
        )


def _starts(signal: Signal) -> Ints:
    """The standing points that begin a session, by index: of the run, after a session start, or of a file."""
    step, standing = signal.series.step, signal.standing.step
    cuts = {0, *(before for before, _ in signal.series.restarts), *signal.file_starts}
    starts = np.searchsorted(standing, step[sorted(cut for cut in cuts if cut < len(step))])
    return starts[starts < len(standing)]


def _others_learn(run: Signals, signal: Signal, steps: Ints) -> bool:
    """Whether the rate of another group of parameters is positive at nearly all of these steps."""
    learns = np.zeros(len(steps), bool)
    for other in run.of("learning_rate"):
        series = other.finite
        if other is not signal and len(series):
            last = np.searchsorted(series.step, steps, "right") - 1
            learns |= series.value[np.maximum(last, 0)] > 0
    return bool(np.count_nonzero(learns) >= _MOST * len(steps))


def _zeros(value: Floats, max_zero: float, signal: Signal) -> Ints:
    """Where the rate is zero, except for the start of a warm-up, the end of a decay, and the low points of cycles."""
    at = np.flatnonzero(value == 0)
    if not len(at) or len(at) == len(value):
        return at
    fine, starts = max(_ZEROS, max_zero * len(value)), _starts(signal)
    stretches = np.split(at, np.flatnonzero(np.diff(at) > 1) + 1)
    wrong = [zeros for zeros in stretches if len(zeros) > fine or _drops_out(value, zeros[0], zeros[-1] + 1, starts)]
    return np.concatenate([at[:0], *wrong])


def _drops_out(value: Floats, first: int, end: int, starts: Ints) -> bool:
    """Whether the rate drops to these zeros, and no ramp leads up from them; a zero at the last point is fine."""
    if first == 0 or value[first - 1] <= _HIGH * value.max() or first in starts:
        return False
    if end == len(value):
        return end - first > 1
    after = value[end : end + 2]
    rises = len(after) < 2 or after[1] > after[0]  # noqa: PLR2004 - a ramp of one point so far
    return not (rises and after[0] < _RAMP * value[first - 1])


def _jumps(value: Floats, jump: float, signal: Signal) -> Ints:
    """Where the rate jumps beyond all earlier rates, to a height that no restart has, or away and back."""
    ratio = np.where(value[:-1] > 0, value[1:] / value[:-1], 1.0)
    factor = np.maximum(ratio, 1 / ratio)
    changed = np.flatnonzero(factor > jump) + 1
    changed = changed[changed > max(_WARM_UP_POINTS, len(value) // _WARM_UP)]
    if not len(changed):
        return changed
    few, share = _FREQUENT
    if len(changed) > max(few, share * len(value)):
        beyond = value[changed] > jump * np.maximum.accumulate(value)[changed - 1]
        return changed[beyond & (factor[changed - 1] > jump * median(factor[changed - 1]))]
    starts = _starts(signal)
    down = starts[value[starts] < value[starts - 1]]
    changed = np.setdiff1d(changed, np.concatenate([down, *(starts + i for i in range(1, _WARM_UP_POINTS))]))
    astray = _astray(value, changed, jump)
    wrong = [at for at, far in zip(changed.tolist(), astray, strict=True) if far or _comes_back(value, at)]
    return np.array([at for at in wrong if _abrupt(value, at)], np.int64)


def _abrupt(value: Floats, at: int) -> bool:
    """Whether the rate changes more at a point than around it, and more than a steady ramp would."""
    around = np.abs(np.diff(value[max(at - _AROUND, 0) : at + _AROUND]))
    before, last, now = value[at - 2 : at + 1]
    even = now - last <= _EVEN * (last - before) or 0 < now * before <= _EVEN * last**2
    return bool(abs(now - last) > _ABRUPT * median(around) and not (before < last < now and even))


def _astray(value: Floats, at: Ints, jump: float) -> Bools:
    """At which of these points the rate rises beyond all earlier rates, or to a height that no cycle had."""
    largest = np.maximum.accumulate(value)
    cycles = np.flatnonzero(value[1:] > _CYCLE * value[:-1]) + 1
    peak = np.concatenate([np.maximum.accumulate(cycle) for cycle in np.split(value, cycles)])
    peak[cycles] = largest[cycles]  # of one point, so far
    before, now = value[at - 1], value[at]
    # Where a cycle has come to its end, another may begin with a ramp of its own, as after layers are thawed.
    begins = (before <= _ENDED * peak[at - 1]) & (value[np.minimum(at + 1, len(value) - 1)] > now)
    result: Bools = (now > before) & ((now > jump * largest[at - 1]) | ((now < _RESTART * peak[at - 1]) & ~begins))
    return result


def _comes_back(value: Floats, at: int) -> bool:
    """Whether the rate is back within three points, and not by a ramp, whose first point may be half way up."""
    if value[at - 1] < _DEEP * value[at] < _DEEP * value[at - 1]:
        return False
    near = np.flatnonzero(np.abs(value[at + 1 : at + 1 + _BACK] / value[at - 1] - 1) < _ALIKE)
    if not len(near):
        return False
    largest = np.abs(np.diff(value[at : at + 2 + near[0]])).max()
    return bool(largest > _AT_ONCE * abs(value[at] - value[at - 1]))
