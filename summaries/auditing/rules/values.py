"""GL3xx: losses."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from summaries.auditing.excursions import Excursions
from summaries.auditing.finding import Severity
from summaries.auditing.losses import (
    Course,
    bend,
    explained_by_rate,
    largest_rise,
    level_between,
    onset,
    recur_as_restarts,
    scatter_about_trend,
)
from summaries.auditing.overflows import skipped
from summaries.auditing.robust import blocks, in_sigmas, median, sigma
from summaries.auditing.rule import Hit, Ruleset, above, at_least, fraction, whole
from summaries.series import Series

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from summaries.auditing.rule import Limits
    from summaries.auditing.signals import Signal, Signals

__all__ = ["RULES"]

RULES = Ruleset()
_FEW = 5  # points at the end; fewer could still be a spike


@RULES.add(
    "GL301",
    "non-finite-loss",
    Severity.ERROR,
    max_overflows=fraction(0.02),
    max_first=whole(40),
    max_in_a_row=whole(3),
)
def non_finite_loss(run: Signals, limit: Limits) -> Iterator[Hit]:
    """A loss is NaN or infinite."""
    for signal in run.of("loss", "validation_loss", "auxiliary_loss"):
        series = signal.standing
        if len(signal.finite) == len(series):
            continue
        at = np.flatnonzero(~np.isfinite(series.value))
        first, last = int(series.step[at[0]]), int(series.step[at[-1]])
        ends = len(at) == len(series) - at[0]
        how = "and stays so to the end" if ends else f"at {len(at)} of {len(series)} points"
        overflow = skipped(run, series, limit)
        yield Hit(
            f"{signal.tag} is {series.value[at[0]]:g} at step {first}, {how}"
            f"{'; the loss scale was lowered, and such steps are skipped' if overflow else ''}",
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
    for signal in [] if run.moving_target else run.of("loss"):
        series = _without_zeros(signal.finite)
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
    """How many times the noise, as far as the number tells anything."""
    return f"{sigmas:.0f} times" if sigmas <= 1000 else "over 1,000 times"  # noqa: PLR2004


def _excursions(values: NDArray[np.float64], limit: Limits) -> Excursions:
    """The spikes of single points; where there is none, those that last, in the medians of 16, of 256, and so on."""
    n = len(values)
    found = Excursions.of(values, limit["sigmas"], limit["min_rise"])
    counts = [n // length for length in (16, 256, 4096) if n >= 200 * length]
    for count in [*counts, 400] if n >= 1000 else []:  # noqa: PLR2004
        if found.returned:
            break
        least = limit["min_rise"] if count != 400 else max(limit["min_rise"], 0.25)  # noqa: PLR2004
        found = Excursions.of_stretches(values, limit["sigmas"], least, count)
    return found


def _without_zeros(series: Series) -> Series:
    """A loss where it is not zero, if it often is, as a hinge's: zeros do not tell how far the others reach."""
    fine = series.value != 0
    if np.count_nonzero(fine) > 0.95 * len(fine):
        return series
    return Series(series.tag, series.step[fine], series.wall_time[fine], series.value[fine])


@RULES.add(
    "GL303",
    "loss-not-decreasing",
    Severity.WARNING,
    min_points=whole(50, 5),
    sigmas=above(0, 4.0),
    max_decline=at_least(0, 0.01),
    worthwhile=at_least(0, 0.1),
    low_level=at_least(0, 0.1),
)
def loss_not_decreasing(run: Signals, limit: Limits) -> Iterator[Hit]:
    """Over the whole run, the loss does not go down."""
    for signal in [] if run.moving_target else run.of("loss"):
        series = signal.finite
        n = len(series)
        if n < limit["min_points"] or series.step[0] > 0.1 * series.step[-1]:
            continue  # the beginning was not seen: what there was to learn may have been learnt
        course = Course.of(series.value)
        level = abs(course.median)
        worthwhile = limit["worthwhile"] * level
        if level < limit["low_level"] or course.fell(limit["sigmas"], worthwhile):
            continue
        fall, error = course.early - course.late, course.error_of_thirds
        climbs = -fall > 5 * error and course.climbs
        if climbs and _diverges(run, signal, RULES["GL304"].defaults):
            continue  # GL304 says so
        hidden = abs(fall) + 2 * error
        if not climbs and hidden > worthwhile:
            continue  # too noisy to tell, or it wanders
        flat = climbs or hidden <= limit["max_decline"] * level
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
    "GL304",
    "loss-diverges",
    Severity.ERROR,
    min_points=whole(20, 5),
    sigmas=above(0, 6.0),
    min_rise=at_least(0, 0.2),
    min_undone=at_least(0, 0.25),
)
def loss_diverges(run: Signals, limit: Limits) -> Iterator[Hit]:
    """The loss rises far above the best that it had, and stays there."""
    for signal in [] if run.moving_target else run.of("loss"):
        hit = _diverges(run, signal, {**limit, "min_rise": limit["min_rise"] / 2})
        if hit is not None:
            yield _diverges(run, signal, limit) or replace(hit, severity=Severity.INFO)


def _diverges(run: Signals, signal: Signal, limit: Limits) -> Hit | None:
    series = _without_zeros(signal.finite)
    if len(series) < limit["min_points"]:
        return None
    # Of a short run, few blocks: a median of five points is too noisy. Of a long one they would hide its turns.
    for count in (30, 10) if len(series) < 500 else (30,):  # noqa: PLR2004
        hit = _divergence(run, signal, series, count, limit)
        if hit is not None:
            return hit
    return _breaking_away(run, signal, series, limit)


def _divergence(run: Signals, signal: Signal, series: Series, count: int, limit: Limits) -> Hit | None:
    """A rise that takes a good part of the run: seen in the medians of blocks."""
    course = Course.of(series.value, count)
    level = course.blocks.median
    best = int(np.argmin(level))
    lowest, since = float(level[best]), len(level) - 1 - best
    known = float(level[: best + 1].max()) - lowest
    walk = _walk(course, best)
    # A rise may be going on, or have ended on a level that is noisier than it was before: then more blocks tell it.
    for tail in dict.fromkeys((1, max(since // 3, 1))) if since else ():
        end, error = median(level[-tail:]), course.error_of_rise(best, tail)
        rise = end - lowest
        far = 2 if 2 * rise > max(abs(lowest), known) else 3
        if rise > max(limit["sigmas"] * error, far * walk) and _stays(level, best, end, error, limit):
            break
    else:
        return None
    start = int(course.blocks.start[best])  # a restart undoes a part of what was learnt, and not for long
    restarted = explained_by_rate(run, series, start, start + 2 * course.blocks.length, len(series) - 1)
    if restarted and end - lowest < 0.5 * known:
        return None
    since_point = onset(series.value, course.blocks, best, end - lowest, max(known, abs(lowest)))
    return Hit(
        f"{signal.tag} rises from {lowest:.4g} to {end:.4g} and stays there",
        signal.tag,
        (int(series.step[since_point]), int(series.step[-1])),
        {"best": lowest, "end": end, "sigmas": in_sigmas(end - lowest, error)},
    )


def _walk(course: Course, best: int) -> float:
    """How far noise that is correlated wanders off behind the best block: what it does from block to block tells."""
    level = course.blocks.median
    parts = [part for part in (level, level[: best + 1], level[best:]) if len(part) > 4]  # noqa: PLR2004
    step = min((sigma(np.diff(part)) for part in parts), default=0.0)
    error = math.sqrt(2) * median(course.blocks.error)  # of this there is no more from afar
    return math.sqrt(max(step - error, 0.0) * (step + error) * (len(level) - 1 - best))


def _stays(level: NDArray[np.float64], best: int, end: float, error: float, limit: Limits) -> bool:
    """Whether a rise from the best level to the end is large, and not one of several that were come back from."""
    lowest = float(level[best])
    rise, top = end - lowest, float(level[best:].max()) - lowest - error  # the highest is so by its error, too
    fall = float(level[: best + 1].max()) - lowest
    return bool(
        _undoes(rise, fall, lowest, limit)
        and rise >= limit["min_rise"] * abs(lowest)
        and (rise >= (0.8 if rise < fall else 0.5) * top or _settled(level, best, rise))  # not on its way back
        and not _came_back(level[best:] - lowest, rise)
        and rise >= 2 * largest_rise(level[: best + 1])
    )


def _settled(level: NDArray[np.float64], best: int, rise: float) -> bool:
    """Whether a loss came back in part only, and stays above what it was, most of the run: it now hardly falls."""
    since = len(level) - 1 - (best + int(np.argmax(level[best:])))
    return 2 * since > len(level) and float(level[-1 - since // 3]) - float(level[-1]) < rise / 4


def _undoes(rise: float, fall: float, level: float, limit: Limits) -> bool:
    """Whether a rise undoes much of what was learnt, or some, and is large beside the level."""
    undone = rise / max(fall, 1e-300)
    return undone >= limit["min_undone"] or (undone >= 0.4 * limit["min_undone"] and rise >= 0.5 * abs(level))


def _came_back(above: NDArray[np.float64], rise: float) -> bool:
    """Whether it was as high before, and then low again: it wanders."""
    up = np.flatnonzero(above > 0.6 * rise)
    return bool(len(up) and above[up[0] :].min() < 0.3 * rise)


def _breaking_away(run: Signals, signal: Signal, series: Series, limit: Limits) -> Hit | None:
    """A rise in the last points, too short for the blocks' medians: stretches of 5 points, of 10, and so on."""
    value, n = series.value, len(series)
    length, longest = _FEW, max(n // 15, _FEW)
    lowest, highest = _levels(value)
    while length <= longest and n >= 10 * length:
        last, start = value[-length:], n - 2 * length  # the stretch before the last may hold a part of the rise
        end = min(median(last), median(last[-max(length // 2, 3) :]))  # a spike is on its way back
        level = median(value[max(start - 3 * length, 0) : start])
        rise = end - level
        if rise >= limit["min_rise"] * abs(level) and rise > 0 and _undoes(rise, highest - lowest, level, limit):
            before = blocks(value[:start], start // length)
            noise = max(bend(before.median), median(before.error))
            usual = max(largest_rise(before.median), float(before.median[-1]) - level)
            since = start + int(np.flatnonzero(value[start:] > level + rise / 2)[0])
            enough = rise > (limit["sigmas"] + 2) * noise and rise >= 2 * usual
            if enough and not explained_by_rate(run, series, since - length, since + length, n - 1):
                return Hit(
                    f"{signal.tag} rises from {level:.4g} to {end:.4g} in its last {n - since} points",
                    signal.tag,
                    (int(series.step[since]), int(series.step[-1])),
                    {"best": level, "end": end, "sigmas": in_sigmas(rise, noise)},
                )
        length *= 2
    return None


def _levels(values: NDArray[np.float64]) -> tuple[float, float]:
    """The lowest level that a loss had, and the highest before it."""
    level = blocks(values, 30).median
    best = int(np.argmin(level))
    return float(level[best]), float(max(level[: best + 1].max(), median(values[:3])))


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


def _rises_for_good(level: NDArray[np.float64], best: int, rise: float, limit: Limits) -> bool:
    """Whether levels rise from the best one to the end: by much, evenly, and by more than they went up and down."""
    since, lowest = level[best:], abs(float(level[best]))
    if len(since) < _FEW:
        large = rise >= lowest / 3 and len(since) == _FEW - 1 and bool((np.diff(since) > 0).all())
        return large and rise >= limit["sigmas"] * scatter_about_trend(since)
    # A level that wanders scatters about any line; so does one whose noise is correlated.
    scatter = scatter_about_trend(since)
    if len(since) >= 8:  # noqa: PLR2004 - enough to tell a curve from a wander
        scatter = min(scatter, 1.25 * scatter_about_trend(since, 2))
    bar = limit["sigmas"] * (1 if rise < lowest / 4 else 0.75)
    fell = float(level[0]) - float(level[best]) >= 2 * rise  # before, by more than its wander
    enough = limit["min_rise"] * lowest * (0.7 if fell else 1 if best else 2)
    turns = max(largest_rise(level[: best + 1]), largest_rise(-since))
    return rise >= max(enough, bar * scatter, 3 * turns)


def _overfits(signal: Signal, series: Series, loss: Series, limit: Limits) -> Hit | None:
    cut = blocks(series.value, 12)
    level = cut.median
    best = int(np.argmin(level))
    end, lowest = median(level[-max(1, len(level) // 5) :]), float(level[best])
    if not _rises_for_good(level, best, end - lowest, limit):
        return None
    start = int(series.step[cut.start[best] + cut.length // 2])
    stop = int(series.step[-1])
    before, error = level_between(loss, start, stop, 0.0, 0.2)
    after, other = level_between(loss, start, stop, 0.8, 1.0)
    if not before - after > 2 * np.hypot(error, other):
        return None
    return Hit(
        f"{signal.tag} rises from {lowest:.4g} to {end:.4g} since step {start}, while {loss.tag} falls from"
        f" {before:.4g} to {after:.4g}",
        signal.tag,
        (start, stop),
        {"best": lowest, "end": end, "training then": before, "training at the end": after},
    )
