"""Warm restarts: whether a learning rate that went up again explains a rise of the loss."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from summaries.robust import block_medians, median

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from summaries.arrays import Floats
    from summaries.auditing.signals.signals import Signals
    from summaries.auditing.statistics.excursions import Peak
    from summaries.reading.series import Series


__all__ = ["explained_by_rate", "recur_as_restarts"]

_AS_MUCH = 0.25  # of the least rise of a peak: a rise that begins another cycle
_TOP = 0.9  # quantile: the maximum would be noise
_PARTLY = 0.5  # of what was learnt: a restart undoes less
_NEAR, _NEAREST = 0.005, 3.0  # of the run, and points: peaks this close to a cycle begin with it
_LASTING, _SHORTEST = 0.015, 5  # of the run, and points: a peak that is no spike
_MOST_CYCLES, _MOST_DOUBLING = 10, 4  # of equal length, and of twice the length of the one before
_UP, _DOWN = 1.5, 0.7  # a restart's rise from point to point, and how far below its highest the rate had come down


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
    learnt = float(block_medians(values[: peak.first], 30).max()) - peak.level
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
