"""GL301, GL302 and GL306: losses that are not finite, that conceal it, and that jump and come back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from summaries.auditing.claims import Level, Move
from summaries.auditing.findings import Severity
from summaries.auditing.rules.explanations import begins_with_a_setting, explained_by_rate, recur_as_restarts
from summaries.auditing.rules.gradients import overflows
from summaries.auditing.rules.losses.overfitting import overfitting
from summaries.auditing.rules.rule import Hit, Hits, Limits, Ruleset, above, at_least, whole
from summaries.auditing.signals.loss_names import LOSS_ROLES
from summaries.auditing.statistics.course import typical, without_zeros
from summaries.auditing.statistics.excursions import SHORT, Excursions, Peak
from summaries.robust import block_medians, blocks
from summaries.words import beside, counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from summaries.arrays import Floats, Ints
    from summaries.auditing.signals.signals import Signal, Signals

__all__ = ["RULES"]

RULES = Ruleset("loss", "validation_loss", of_moments=True)
_LOSSES = "loss", "validation_loss", "auxiliary_loss"
_LEVELS = 30  # of a loss, whose range is what there was to learn
_CERTAIN = 1000  # times the noise: beyond that the number means little
_LASTS = 5  # points of a spike whose message says where it ends
_EARLY = 3  # parts of a run, in the first of which a training still finds its way
_MANY, _BEYOND = 4, 2.0  # peaks, and how many times as high as all other points they are if these are no tail
_LONG = 1000  # points: in more, spikes may last
_LENGTHS, _ENOUGH = (16, 256, 4096), 200  # points of a stretch, and how many stretches tell a spike from noise
_FEWEST, _RISE_OF_FEWEST = 400, 0.25  # stretches of any run, and the rise that counts there, as a share of the range


@RULES.add("GL301", "non-finite-loss", Severity.ERROR, overflows.OverflowLimits, needs=_LOSSES)
def non_finite_loss(run: Signals, limit: overflows.OverflowLimits) -> Hits:
    """Losses are NaN or infinite; the losses of one event become one finding."""
    failing = _not_finite(run.of(*_LOSSES))
    if failing:  # a metric may be undefined by itself, as without a sample, and an unknown tag may be anything
        others = _not_finite(run.of("metric", ""))
        failing += [(signal, at) for signal, at in others if _fails_with(signal, at, failing)]
    skipped = {signal.tag for signal, _ in failing if overflows.skipped(run, signal.standing, limit)}
    for overflow in (False, True):
        group = [(signal, at) for signal, at in failing if (signal.tag in skipped) is overflow]
        if group:
            yield _failure(group, run.main_loss, overflow=overflow)


def _not_finite(signals: Iterable[Signal]) -> list[tuple[Signal, Ints]]:
    """Signals with values that are not finite, and where these are among the standing points, by index."""
    points = ((signal, np.flatnonzero(~np.isfinite(signal.standing.value))) for signal in signals)
    return [(signal, at) for signal, at in points if len(at)]


def _fails_with(metric: Signal, at: Ints, losses: Sequence[tuple[Signal, Ints]]) -> bool:
    """Whether a metric begins to be not finite at a step at which a loss is not finite."""
    step = metric.standing.step[at[0]]
    return any(step in loss.standing.step[bad] for loss, bad in losses)


def _clearest(group: list[tuple[Signal, Ints]], main: Signal | None) -> tuple[Signal, Ints]:
    """The main loss, unless a training loss with more points showed it before; else the first in time, a loss first."""
    group = [pair for pair in group if pair[0].meaning.role in LOSS_ROLES] or group
    began = {signal.tag: float(signal.standing.wall_time[at[0]]) for signal, at in group}
    candidates = [pair for pair in group if pair[0] is main]
    if main is not None and candidates:
        finer = [pair for pair in group if pair[0].meaning.role == "loss" and len(pair[0]) > len(main)]
        candidates += [pair for pair in finer if began[pair[0].tag] < began[main.tag]]
    return min(candidates or group, key=lambda pair: (began[pair[0].tag], pair[0].standing.step[pair[1][0]]))


def _failure(group: list[tuple[Signal, Ints]], main: Signal | None, *, overflow: bool) -> Hit:
    signal, at = _clearest(group, main)
    series = signal.standing
    if len(at) < len(series) - at[0]:
        how = f"at {len(at)} of {counted(len(series), 'point')}"
    elif len(at) == 1:
        how = "its last point"
    else:
        same = len(np.unique(series.value[at])) == 1  # NaNs are alike here
        how = "and stays so to the end" if same else "and not finite from there to the end"
    others = [other.tag for other, _ in group if other is not signal]
    return Hit(
        f"{signal.tag} is {series.value[at[0]]:g} at step {series.step[at[0]]}, {how}{beside(others)}"
        f"{'; the loss scale was lowered, so these steps were skipped' if overflow else ''}",
        (signal.tag, *others),
        series.step[at],
        {"points": len(at), "of": len(series), "first value": str(series.value[at[0]]), "tags": len(group)},
        len(at),
        Severity.INFO if overflow else None,
    )


class ConcealedNanLimits(Limits):
    """The thresholds of concealed-nan."""

    min_points: int = whole(3)  # of a loss where the norm is not finite


@RULES.add("GL306", "concealed-nan", Severity.ERROR, ConcealedNanLimits, needs=("global_norm",))
def concealed_nan(run: Signals, limit: ConcealedNanLimits) -> Hits:
    """A loss is exactly zero, or repeats itself, wherever the gradient norm is not finite: a filter replaced NaN."""
    for signal in run.of("loss"):
        loss = signal.latest
        zero = loss.value == 0
        replaced = zero | (np.diff(loss.value, prepend=np.nan) == 0)
        for norm in (norm.latest for norm in run.of("global_norm")):
            there = np.isin(loss.step, norm.step[~np.isfinite(norm.value)])
            elsewhere = np.isin(loss.step, norm.step) & ~there
            concealed = np.flatnonzero(there & replaced)
            if len(concealed) >= limit.min_points and replaced[there].all() and not replaced[elsewhere].any():
                what = "exactly 0" if zero[concealed].all() else "the same as before"
                yield Hit(
                    f"{signal.tag} is {what} at all {len(concealed)} points where {norm.tag} is not finite: a filter"
                    f" replaced losses that were not",
                    (signal.tag,),
                    loss.step[concealed],
                    {"points": len(concealed), "of": len(loss)},
                    len(concealed),
                )
                break


class LossSpikeLimits(Limits):
    """The thresholds of loss-spike."""

    sigmas: float = above(0, 8.0)  # of the noise of a point
    min_rise: float = at_least(0, 0.1)  # of the range of the loss
    min_points: int = whole(30, 20)  # of a loss
    undone: float = at_least(0, 0.25)  # of the range of levels: a spike by less is a note


@RULES.add("GL302", "loss-spike", Severity.WARNING, LossSpikeLimits, unless=overfitting)
def loss_spike(run: Signals, limit: LossSpikeLimits) -> Hits:
    """The loss jumps far above its level, and comes back."""
    if run.moving_target or run.tests_rates:
        return
    for signal in [*filter(None, (run.objective,)), *run.of("validation_loss")]:
        series = without_zeros(signal.finite)
        if len(series) < limit.min_points or not np.ptp(series.value):
            continue
        jumps = _excursions(series.value, limit)
        peaks = [
            peak for peak in jumps.returned if not explained_by_rate(run, series, peak.first - jumps.reach, peak.top)
        ]
        if run.settings:
            lows = [_last_on_level(series.value, peak, peak.first) for peak in peaks]
            peaks = [
                p for p, low in zip(peaks, lows, strict=True) if not begins_with_a_setting(run, series, low, p.top)
            ]
        if not peaks or recur_as_restarts(series.value, peaks):
            continue
        step, value = series.step, series.value
        worst = max(peaks, key=lambda peak: float(value[peak.top]) - peak.level)
        lasts = worst.last - worst.first >= _LASTS
        low = typical(value, _last_on_level(value, worst, worst.top)) if lasts else max(worst.first - 1, 0)
        after = _recovered(value, worst, float(value[low]))
        top = low + int(np.argmax(value[low : after + 1]))
        rise = Move.of(signal.tag, series, low, top, "rises" if top - low >= _LASTS else "jumps", tags=signal.tags)
        back = (", and is ", Level.of("", series, after, after, tags=signal.tags))
        several = "" if len(peaks) == 1 else f"; {len(peaks)} such spikes"
        matters = worst.sigmas >= limit.sigmas and value[top] - value[low] >= limit.undone * _range(value)
        matters = matters and not _are_a_tail(value, peaks) and not _passes(run, signal, value, peaks)
        yield Hit(
            (rise, *(back if lasts else ()), f"; the rise is {_times(worst.sigmas)} its noise{several}"),
            signal.tags,
            (step[peaks[0].first], step[peaks[-1].last]),
            {"peak": value[top], "level": value[low], "sigmas": worst.sigmas, "step": step[top]},
            len(peaks),
            None if matters else Severity.INFO,
        )


def _passes(run: Signals, signal: Signal, value: Floats, peaks: Sequence[Peak]) -> bool:
    """Whether a validation is high a point at a time, in the first third of the run, and ends below the level then."""
    lasting = max(peak.points for peak in peaks) > 1 or _EARLY * peaks[-1].top > len(value)
    if lasting or signal not in run.of("validation_loss"):
        return False
    return bool(block_medians(value, _LEVELS)[-1] < min(peak.level for peak in peaks))


def _are_a_tail(value: Floats, peaks: Sequence[Peak]) -> bool:
    """Whether many single points stand out, of which the lowest is hardly beyond the rest: noise with a heavy tail."""
    if len(peaks) < _MANY or any(2 * peak.points > peak.last - peak.first + 2 for peak in peaks):
        return False
    cut = blocks(value, _LEVELS)
    above = value - np.interp(np.arange(len(value)), cut.start + cut.length / 2, cut.median)
    tops = [peak.top for peak in peaks]
    least = float(above[tops].min())
    above[tops] = -np.inf
    return least < _BEYOND * float(above[peaks[0].top :].max())


def _range(value: Floats) -> float:
    """The range of the levels of n ≥ 5 values."""
    return float(np.ptp(block_medians(value, min(len(value) // _LASTS, _LEVELS))))


def _last_on_level(value: Floats, peak: Peak, before: int) -> int:
    """The last point of a spike, or before it, that is no higher, by its noise, than the level around it."""
    noise = (float(value[peak.top]) - peak.level) / peak.sigmas
    low = np.flatnonzero(value[:before] <= peak.level + noise)
    return int(low[-1]) if len(low) else max(peak.first - 1, 0)


def _recovered(value: Floats, peak: Peak, level: float) -> int:
    """The first point after the top of a spike that is no higher, by its noise, than the level before or after it."""
    behind = value[peak.top + 1 :]
    after = float(value[min(peak.last + 1, len(value) - 1)])
    noise = (float(value[peak.top]) - level) / peak.sigmas
    low = np.flatnonzero(behind <= max(level + noise, after))
    return peak.top + 1 + int(low[0]) if len(low) else len(value) - 1


def _times(sigmas: float) -> str:
    """How many times the noise."""
    return f"{sigmas:.0f} times" if sigmas <= _CERTAIN else f"over {_CERTAIN:,} times"


def _excursions(values: Floats, limit: LossSpikeLimits) -> Excursions:
    """Find spikes of single points; if there are none, longer ones, in the medians of 16 points, of 256, and so on."""
    n = len(values)
    jumps = Excursions.of(values, limit.sigmas, limit.min_rise)
    if n < SHORT and not jumps.returned:
        jumps = Excursions.of(values, limit.sigmas, limit.min_rise, nearest=True)
    counts = [n // length for length in _LENGTHS if n >= _ENOUGH * length]
    for count in [*counts, _FEWEST] if n >= _LONG else []:
        if jumps.returned:
            break
        least = limit.min_rise if count != _FEWEST else max(limit.min_rise, _RISE_OF_FEWEST)
        jumps = Excursions.of_stretches(values, limit.sigmas, least, count)
    return jumps
