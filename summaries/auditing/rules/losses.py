"""GL3xx: losses."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from summaries.auditing.findings import Severity
from summaries.auditing.rules import overflows
from summaries.auditing.rules.rule import Hit, Ruleset, above, at_least, whole
from summaries.auditing.rules.warm_restarts import explained_by_rate, recur_as_restarts
from summaries.auditing.statistics.course import (
    Course,
    bend,
    largest_rise,
    level_between,
    scatter_about_trend,
    without_zeros,
)
from summaries.auditing.statistics.excursions import Excursions
from summaries.auditing.statistics.robust import blocks, median
from summaries.reading.series import Series
from summaries.words import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from summaries.auditing.rules.rule import Limits
    from summaries.auditing.signals.signals import Signal, Signals

__all__ = ["RULES"]

RULES = Ruleset()
_FEW = 5  # points at the end; fewer may be a spike


@RULES.add("GL301", "non-finite-loss", Severity.ERROR, **overflows.THRESHOLDS)
def non_finite_loss(run: Signals, limit: Limits) -> Iterator[Hit]:
    """A loss is NaN or infinite."""
    for signal in run.of("loss", "validation_loss", "auxiliary_loss"):
        series = signal.standing
        if len(signal.finite) == len(series):
            continue
        at = np.flatnonzero(~np.isfinite(series.value))
        first, last = int(series.step[at[0]]), int(series.step[at[-1]])
        ends = len(at) == len(series) - at[0]
        how = "and stays so to the end" if ends else f"at {len(at)} of {counted(len(series), 'point')}"
        overflow = overflows.skipped(run, series, limit)
        yield Hit(
            f"{signal.tag} is {series.value[at[0]]:g} at step {first}, {how}"
            f"{'; the loss scale was lowered, so these steps were skipped' if overflow else ''}",
            signal.tag,
            (first, last),
            {"points": len(at), "of": len(series), "first value": str(series.value[at[0]])},
            len(at),
            Severity.INFO if overflow else None,
        )


@RULES.add(
    "GL302", "loss-spike", Severity.WARNING, sigmas=above(0, 8.0), min_rise=at_least(0, 0.1), min_points=whole(30, 20)
)
def loss_spike(run: Signals, limit: Limits) -> Iterator[Hit]:
    """The loss jumps far above its level, and comes back."""
    for signal in [] if run.moving_target else run.of("loss", "validation_loss"):
        series = without_zeros(signal.finite)
        if len(series) < limit["min_points"]:
            continue
        found = _excursions(series.value, limit)
        peaks = [
            peak for peak in found.returned if not explained_by_rate(run, series, peak.first - found.reach, peak.top)
        ]
        if not peaks or recur_as_restarts(series.value, peaks):
            continue
        worst = max(peaks, key=lambda peak: peak.sigmas)
        step, value = series.step, series.value
        yield Hit(
            f"{signal.tag} jumps from {worst.level:.4g} to {value[worst.top]:.4g} at step {step[worst.top]},"
            f" {_times(worst.sigmas)} its noise{'' if len(peaks) == 1 else f'; {len(peaks)} such spikes'}",
            signal.tag,
            (int(step[peaks[0].first]), int(step[peaks[-1].last])),
            {
                "peak": float(value[worst.top]),
                "level": worst.level,
                "sigmas": worst.sigmas,
                "step": int(step[worst.top]),
            },
            len(peaks),
        )


def _times(sigmas: float) -> str:
    """How many times the noise; beyond a thousand the number means little."""
    return f"{sigmas:.0f} times" if sigmas <= 1000 else "over 1,000 times"  # noqa: PLR2004


def _excursions(values: NDArray[np.float64], limit: Limits) -> Excursions:
    """Find spikes of single points; if there are none, longer ones, in the medians of 16 points, of 256, and so on."""
    n = len(values)
    found = Excursions.of(values, limit["sigmas"], limit["min_rise"])
    if n < 300 and not found.returned:  # noqa: PLR2004
        found = Excursions.of(values, limit["sigmas"], limit["min_rise"], nearest=True)
    counts = [n // length for length in (16, 256, 4096) if n >= 200 * length]
    for count in [*counts, 400] if n >= 1000 else []:  # noqa: PLR2004
        if found.returned:
            break
        least = limit["min_rise"] if count != 400 else max(limit["min_rise"], 0.25)  # noqa: PLR2004
        found = Excursions.of_stretches(values, limit["sigmas"], least, count)
    return found


@RULES.add(
    "GL303",
    "loss-not-decreasing",
    Severity.WARNING,
    "GL304",  # it says more about a loss that diverges
    min_points=whole(50, 5),
    sigmas=above(0, 4.0),
    max_decline=at_least(0, 0.04),
    max_hidden=at_least(0, 0.2),
    worthwhile=at_least(0, 0.1),
    low_level=at_least(0, 0.1),
)
def loss_not_decreasing(run: Signals, limit: Limits) -> Iterator[Hit]:
    """The loss does not go down over the whole run."""
    for signal in [] if run.moving_target else run.of("loss"):
        series = signal.finite
        n = len(series)
        if n < limit["min_points"] or series.step[0] > 0.1 * series.step[-1]:
            continue  # the beginning is not in the run: most may have been learnt before
        course = Course.of(series.value)
        level = abs(course.median)
        worthwhile = limit["worthwhile"] * level
        if level <= limit["low_level"] or course.fell(limit["sigmas"], worthwhile):
            continue
        fall, error = course.early - course.late, course.error_of_thirds
        hidden = max(fall, 0.0) + 3 * error
        if hidden > limit["max_hidden"] * level:
            continue  # too noisy to tell
        rises = fall < -2 * error
        flat = rises or (hidden < limit["max_decline"] * level and fall < 2 * error)
        how = "" if flat else f"; its noise could hide a decrease by {hidden / level:.1%}"
        yield Hit(
            f"{signal.tag} {'does not' if flat else 'is not seen to'} decrease in {n} points: {course.early:.4g} in the"
            f" first third, {course.late:.4g} in the last{how}",
            signal.tag,
            (int(series.step[0]), int(series.step[-1])),
            {"first third": course.early, "last third": course.late, "standard error": error, "points": n},
            severity=None if flat else Severity.INFO,
        )


@RULES.add(
    "GL305", "overfitting", Severity.WARNING, min_points=whole(4, 3), sigmas=above(0, 8.0), min_rise=at_least(0, 0.1)
)
def overfitting(run: Signals, limit: Limits) -> Iterator[Hit]:
    """The validation loss rises while the training loss falls."""
    trained = run if run.of("loss") or run.training is None else run.training
    losses = [signal for signal in trained.of("loss") if len(signal.finite) >= limit["min_points"]]
    if not losses:
        return
    loss = max(losses, key=len).finite
    if trained is not run:
        loss = Series(f"{loss.tag} of {trained.name}", loss.step, loss.wall_time, loss.value)
    for signal in run.of("validation_loss"):
        series = signal.finite
        if len(series) < limit["min_points"]:
            continue
        hit = _overfits(signal, series, loss, limit)
        if hit is not None:
            yield hit


def _rises_for_good(level: NDArray[np.float64], best: int, rise: float, error: float, limit: Limits) -> bool:
    """Whether levels rise from the best one to the end: by a lot, evenly, and by more than they vary."""
    since, lowest = level[best:], abs(float(level[best]))
    if len(since) < _FEW:
        large = rise >= lowest / 3 and len(since) == _FEW - 1 and bool((np.diff(since) > 0).all())
        return large and rise >= limit["sigmas"] * scatter_about_trend(since)
    # A level that wanders scatters about any line, and so does one with correlated noise.
    noise = scatter_about_trend(since)
    if len(since) >= 8:  # noqa: PLR2004 - enough to tell a curve from a wander
        noise = min(noise, 1.25 * scatter_about_trend(since, 2))
    sigmas = limit["sigmas"]
    if (
        rise >= 0.18 * lowest
    ):  # few wanders go so far: whatever the shape, only differences between neighbours are noise
        noise, sigmas = min(noise, bend(since)), 0.75 * sigmas
    fell = float(level[0]) - float(level[best]) >= 2 * rise  # before, and by more than it wanders
    enough = limit["min_rise"] * lowest * (0.7 if fell else 1 if best else 2)
    turns = max(largest_rise(level[: best + 1]), largest_rise(-since))
    return rise >= max(enough, sigmas * noise, limit["sigmas"] / 1.6 * error, 3 * turns)


def _overfits(signal: Signal, series: Series, loss: Series, limit: Limits) -> Hit | None:
    cut, n = blocks(series.value, 12), len(series)
    best = int(np.argmin(cut.median))
    lowest, end = float(cut.median[best]), median(series.value[-max(n // 8, min(n // 5, 3), 1) :])
    # The noise of a level. If that is the level of a point or two, their neighbours show as much.
    noise = 1.2533 * bend(series.value[cut.start[best] :]) / math.sqrt(cut.length) if cut.length > 2 else 0.0  # noqa: PLR2004
    if not _rises_for_good(cut.median, best, end - lowest, noise, limit):
        return None
    start = int(series.step[cut.start[best] + cut.length // 2])
    stop = int(series.step[-1])
    before, error = level_between(loss, start, stop, 0.0, 0.2)
    after, other = level_between(loss, start, stop, 0.8, 1.0)
    chance = 2 * math.hypot(error, other)
    falls, stays = before - after > chance, after - before < 2 * chance
    if not falls and not (
        stays and end - lowest >= abs(lowest) / 3
    ):  # then a training loss that does not fall is enough
        return None
    return Hit(
        f"{signal.tag} rises from {lowest:.4g} to {end:.4g} since step {start}, while {loss.tag}"
        f" {'falls' if falls else 'goes'} from {before:.4g} to {after:.4g}",
        signal.tag,
        (start, stop),
        {"best": lowest, "end": end, "training then": before, "training at the end": after},
    )
