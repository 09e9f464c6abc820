"""What explains that a curve goes up: a learning rate that does, or a setting that was changed. All rules ask here.

A jump where a setting changes is explained, if what follows is as it was before, or becomes so: longer sequences are
harder, and are learnt, too. A rise that goes on from there, or undoes most of what was learnt for good, is a fault, and
the setting its likely cause.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from summaries.auditing.claims import Move
from summaries.auditing.findings import Severity
from summaries.auditing.signals.objectives import on_the_axis_of
from summaries.auditing.statistics.descent import LEVELS, autocorrelation
from summaries.robust import block_medians, changes, median, sigma

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from summaries.arrays import Floats
    from summaries.auditing.rules.rule import Hit
    from summaries.auditing.signals.settings import Setting
    from summaries.auditing.signals.signals import Signals
    from summaries.auditing.statistics.excursions import Peak
    from summaries.reading.series import Series


__all__ = ["begins_with_a_setting", "explained_by_rate", "has_waves", "recur_as_restarts", "with_cause"]

_AS_MUCH = 0.25  # of the least rise of a peak: a rise that begins another cycle
_TOP = 0.9  # quantile: the maximum would be noise
_PARTLY = 0.5  # of what was learnt: a restart undoes less
_NEAR, _NEAREST = 0.005, 3.0  # of the run, and points: peaks this close to a cycle begin with it
_LASTING, _SHORTEST = 0.015, 5  # of the run, and points: a peak that is no spike
_MOST_CYCLES, _MOST_DOUBLING = 10, 4  # of equal length, and of twice the length of the one before
_UP, _DOWN = 1.5, 0.7  # a restart's rise from point to point, and how far below its highest the rate had come down
_FEW, _SHORT = (5, 3), 50  # points that show a level beside a change; in a curve of fewer points, three
_STEPS = 8  # more changes than this are one ramp
_EXPLAINED = 0.5  # of a rise, that comes with changes: the rest is noise, or follows from it
_UNDONE = 0.5  # of what was learnt: a change that costs more must be made good
_MADE_GOOD = 0.25  # of a jump
_FRESH = 0.2  # of the points so far: so much time a change has to be made good
_AT_ONCE = 0.05  # of the points: a rise that begins so soon after a change is likely to come from it
_NO_RIPPLE, _WAVERS = 0.05, 0.1  # of its range: the waves of a setting; of a period: how much it varies
_LEVELS = 30  # of what was learnt


def explained_by_rate(run: Signals, series: Series, first: int, last: int, until: int | None = None) -> bool:
    """Whether a warm restart explains a rise: a learning rate went up again at its beginning.

    Args:
        run: the run with the learning rates.
        series: the series that rose.
        first: index of the first point at which a restart would explain the rise; may be negative.
        last: index of the last such point.
        until: index of the last point of a rise that did not come back; such a rise must not last longer than the
            cycle of the rate before it. None if the series came back.
    """
    begin, end = int(series.step[max(first, 0)]), int(series.step[min(last, len(series) - 1)])
    lasted = begin if until is None else int(series.step[until])
    return any(
        begin <= step <= end and lasted - step <= cycle
        for signal in run.of("learning_rate")
        for step, cycle in _restarts(signal.finite)
    )


def recur_as_restarts(values: Floats, peaks: Sequence[Peak]) -> bool:
    """Whether peaks look like those of warm restarts, or of the stages of a curriculum, if no rate is logged.

    Such peaks undo less than half of what was learnt. They begin where cycles do, which all have one length, or each
    twice the length of the one before, and the loss goes up where each begins. If there are only two cycles, and so
    one peak, it must also last.
    """
    n = len(values)
    near, lasting = max(_NEAREST, _NEAR * n), max(_SHORTEST, _LASTING * n)
    if all(peak.points == 1 for peak in peaks) or not all(_undoes_a_part(values, peak) for peak in peaks):
        return False
    starts = np.array([peak.first for peak in peaks])
    k = np.arange(1.0, len(peaks) + 1)
    grids: list[Floats] = [np.arange(1.0, cycles) * n / cycles for cycles in range(2, _MOST_CYCLES + 1)]
    grids += [(2.0 ** np.arange(1.0, cycles) - 1) * n / (2.0**cycles - 1) for cycles in range(2, _MOST_DOUBLING + 1)]
    grids += [k * starts[0], (2.0**k - 1) * starts[0]] if len(peaks) > 1 else []
    for grid in grids:
        away = np.abs(starts[:, None] - grid)
        if (away.min(axis=1) <= near).all():
            others = grid[away.min(axis=0) > near]
            rises = [_goes_up(values, at) for at in others.astype(int)]
            least = _AS_MUCH * min(_goes_up(values, peak.first) for peak in peaks)
            if all(rise > least for rise in rises) and (len(grid) > 1 or _lasts(values, peaks[0]) > lasting):
                return True
    return False


def _undoes_a_part(values: Floats, peak: Peak) -> bool:
    """Whether a peak undoes less than half of what was learnt until then."""
    if not peak.first:
        return False
    learnt = float(block_medians(values[: peak.first], _LEVELS).max()) - peak.level
    height = float(np.quantile(values[peak.first : peak.last + 1], _TOP)) - peak.level
    return height <= _PARTLY * learnt


def _goes_up(values: Floats, at: int) -> float:
    """How much higher the next hundredth of the values is than the hundredth before `at`."""
    width = max(3, len(values) // 100)
    return median(values[at : at + width]) - median(values[max(at - width, 0) : at])


def _lasts(values: Floats, peak: Peak) -> int:
    """The number of points at which a peak is at least half as high as at first."""
    above = values[peak.first : peak.last + 1] - peak.level
    return int(np.count_nonzero(above > np.quantile(above, _TOP) / 2))


def _restarts(rate: Series) -> Iterator[tuple[int, int]]:
    """Each step at which a rate that had come down goes up again, and the length in steps of the cycle before it.

    A warm-up at the beginning of the run is not a restart, because all its points are higher than any before.
    """
    value, step = rate.value, rate.step
    if not len(value) or value.min() < 0:
        return
    highest = np.maximum.accumulate(value)[:-1]
    at = np.flatnonzero((value[1:] > _UP * value[:-1]) & (value[:-1] < _DOWN * highest)) + 1
    began = int(step[0])
    for k in at[np.diff(at, prepend=-1) > 1].tolist():  # of a warm-up after a restart, take the first point
        yield int(step[k]), int(step[k]) - began
        began = int(step[k])


class _Change(NamedTuple):
    """A setting has changed, as a curve sees it.

    Attributes:
        setting: what changed.
        first: index of the setting's point before the change.
        last: index of its point after it.
        before: index of the curve's first point that may come after the change.
        after: index of its first point that surely does.
        rise: how far the curve goes up there.
        begins: whether the setting stood before that.
    """

    setting: Setting
    first: int
    last: int
    before: int
    after: int
    rise: float
    begins: bool

    @property
    def at_once(self) -> bool:
        """Whether it is a step, and no ramp."""
        return self.last == self.first + 1

    @property
    def claim(self) -> Move:
        """What the setting did."""
        tag, series = self.setting.tag, self.setting.series
        verb = "rises" if series.value[self.last] > series.value[self.first] else "falls"
        return Move.of(tag, series, self.first, self.last, verb, tags=(tag,))


def with_cause(run: Signals, hit: Hit, series: Series, first: int, last: int) -> Hit:
    """What was found of a curve that rises between two steps, with the setting that explains it, or is its cause.

    If changes of settings explain the rise, it is no fault, and what was found is a note.

    Args:
        run: the run with the settings.
        hit: what was found.
        series: the curve, which is better the lower it is.
        first: the step of its last good point.
        last: the step to which it rises.
    """
    value, n = series.value, len(series)
    low, top = np.searchsorted(series.step, (first, last)).tolist()
    near = max(_slack(n), int(_AT_ONCE * n))
    found = [one for one in _changes(run, series, low - near, top) if one.claim.holds(one.setting.series)]
    inside = [one for one in found if one.after >= low - _slack(n)]
    rises = [max(one.rise, 0.0) for one in inside]
    parts = (hit.message,) if isinstance(hit.message, str) else hit.message
    if rises and max(sum(rises), *rises) >= _EXPLAINED * (value[top] - value[low]):
        cause = _clearest(inside)
        learnt = float(block_medians(value[: low + 1], _LEVELS).max()) - float(value[low])
        until = min((one.before for one in inside if one.before > cause.after), default=n)
        if value[top] - value[low] < _UNDONE * learnt or (cause.at_once and _is_made_good(value, cause, until)):
            return replace(hit, message=(*parts, "; it comes with a setting: ", cause.claim), severity=Severity.INFO)
        found = inside
    causes = [one for one in found if one.begins and (found is inside or one.before <= low + near)]
    return replace(hit, message=(*parts, "; the likely cause: ", _clearest(causes).claim)) if causes else hit


def _clearest(found: Sequence[_Change]) -> _Change:
    """The change with which a curve goes up most; a step rather than a ramp, whose time tells less."""
    most = max(one.rise for one in found)
    steps = [one for one in found if one.at_once and one.rise >= _EXPLAINED * most]
    return max(steps or found, key=lambda one: one.rise)


def _slack(n: int) -> int:
    """How many of n points a change may seem to be away from its effect."""
    return int(max(_NEAREST, _NEAR * n))


def _changes(run: Signals, series: Series, first: int, last: int) -> Iterator[_Change]:
    """The changes of settings between two points of a curve, by index; one for a setting that makes a ramp there."""
    begin, end = int(series.step[max(first - 1, 0)]), int(series.step[last])
    for setting in run.settings:
        step, value = on_the_axis_of(series, setting.series).step, setting.series.value
        at = setting.at[(step[setting.at] > begin) & (step[setting.at - 1] < end)]
        up = value[at] > value[at - 1]
        for ramp in np.split(at, np.flatnonzero(up[1:] != up[:-1]) + 1):
            if len(ramp) > _STEPS:
                yield _change(setting, series, int(ramp[0]) - 1, int(ramp[-1]))
            else:
                yield from (_change(setting, series, int(i) - 1, int(i)) for i in ramp)


def _change(setting: Setting, series: Series, first: int, last: int) -> _Change:
    """What a curve does where a setting changes."""
    few = _FEW[len(series) < _SHORT]
    step = on_the_axis_of(series, setting.series).step
    before = min(int(np.searchsorted(series.step, step[first], "right")), len(series) - 1)
    after = min(int(np.searchsorted(series.step, step[last])), len(series) - 1)
    value = series.value
    begin = before if last > first + 1 else max(before - few, 0)  # another change may end where a ramp begins
    rise = median(value[after : after + few]) - median(value[begin : begin + few])
    begins = last == first + 1 or first not in setting.at
    return _Change(setting, first, last, before, after, float(rise), begins)


def _is_made_good(value: Floats, change: _Change, until: int) -> bool:
    """Whether a curve falls after a change, and until another, by a good part of the jump there, or had no time to."""
    n, few = len(value), _FEW[len(value) < _SHORT]
    rest = value[change.after : until]
    fell = median(rest[:few]) - median(rest[-max(len(rest) // 10, few) :])
    return fell >= _MADE_GOOD * change.rise or len(rest) < _FRESH * n


def begins_with_a_setting(run: Signals, series: Series, low: int, top: int) -> bool:
    """Whether a setting changes where a curve begins to rise from one point to another, by index."""
    return any(True for _ in _changes(run, series, low - _slack(len(series)), top))


def has_waves(run: Signals, series: Series, period: int, alike: float) -> bool:
    """Whether a learning rate, or a setting, has waves like those of a curve.

    Args:
        run: the run.
        series: the curve.
        period: the length of a wave, in points of the curve.
        alike: the least autocorrelation.
    """
    others = [signal.finite for signal in run.of("learning_rate") if len(signal.finite)]
    others += [setting.series for setting in run.settings]
    return any(_is_periodic(_held(other, series), period, alike) for other in others)


def _held(setting: Series, series: Series) -> Floats:
    """float64[n]: what a setting was at each of n points of a curve."""
    step = on_the_axis_of(series, setting).step
    return setting.value[np.maximum(np.searchsorted(step, series.step, "right") - 1, 0)]


def _is_periodic(value: Floats, period: int, alike: float) -> bool:
    """Whether a setting is alike after a period, or changes again after one, most of the times."""
    n = len(value)
    half = n / (2 * LEVELS)
    level = np.interp(np.arange(n), np.linspace(half, n - half, LEVELS), block_medians(value, LEVELS))
    rest = value - level
    curves = [value, rest] if sigma(rest) > _NO_RIPPLE * np.ptp(value) else [value]
    for like in map(autocorrelation, curves):
        if like[period] > alike and like[:period].min() < 0:  # unlike in between, which no decay is
            return True
    at = np.flatnonzero(changes(value)) + 1
    early = at[at + period < n]
    if not n / period / 2 <= len(at) <= n / _STEPS or not len(early):  # of a ramp, all are alike
        return False
    again = at[np.minimum(np.searchsorted(at, early + period - _WAVERS * period), len(at) - 1)]
    return bool(np.mean(np.abs(again - early - period) <= _WAVERS * period) > alike)
