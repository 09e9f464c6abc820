"""Warm restarts: whether a learning rate that went up again explains a rise of the loss."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from summaries.auditing.statistics.robust import blocks, median

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from summaries.auditing.signals.signals import Signals
    from summaries.auditing.statistics.excursions import Peak
    from summaries.reading.series import Series

    Floats = NDArray[np.float64]

__all__ = ["explained_by_rate", "recur_as_restarts"]


def explained_by_rate(run: Signals, series: Series, first: int, last: int, until: int | None = None) -> bool:
    """Whether a learning rate went up again while a series rose: a warm restart.

    Args:
        run: has the rates.
        series: what rose.
        first: index from which a restart would explain it; it may be negative.
        last: index up to which.
        until: index up to which the rise lasted, if it did not come back: no longer than a cycle of the rate.
    """
    begin, end = int(series.step[max(first, 0)]), int(series.step[min(last, len(series) - 1)])
    lasted = begin if until is None else int(series.step[until])
    return any(
        begin <= step <= end and lasted - step <= cycle
        for signal in run.of("learning_rate")
        for step, cycle in _restarts(signal.finite)
    )


def recur_as_restarts(values: Floats, peaks: Sequence[Peak]) -> bool:
    """Whether peaks are such as warm restarts make, or the stages of a curriculum, where no rate is logged to tell.

    They undo less than half of what was learnt, and begin where cycles do, of one length or each of twice the length
    before; there the loss goes up every time. Of two cycles, only the one peak tells: it must take its time.
    """
    n = len(values)
    if all(peak.points == 1 for peak in peaks) or not all(_undoes_a_part(values, peak) for peak in peaks):
        return False
    starts = np.array([peak.first for peak in peaks])
    k = np.arange(1.0, len(peaks) + 1)
    grids: list[Floats] = [np.arange(1.0, cycles) * n / cycles for cycles in range(2, 11)]
    grids += [(2.0 ** np.arange(1.0, cycles) - 1) * n / (2.0**cycles - 1) for cycles in range(2, 5)]
    grids += [k * starts[0], (2.0**k - 1) * starts[0]] if len(peaks) > 1 else []
    for grid in grids:
        away = np.abs(starts[:, None] - grid)
        if (away.min(axis=1) <= max(3.0, 0.005 * n)).all():
            others = grid[away.min(axis=0) > max(3.0, 0.005 * n)]
            rises = [_goes_up(values, at) for at in others.astype(int)]
            least = 0.25 * min(_goes_up(values, peak.first) for peak in peaks)
            if all(rise > least for rise in rises) and (len(grid) > 1 or _lasts(values, peaks[0]) > max(5, 0.015 * n)):
                return True
    return False


def _undoes_a_part(values: Floats, peak: Peak) -> bool:
    """Whether a peak undoes less than half of what was learnt until then."""
    if not peak.first:
        return False
    learnt = float(blocks(values[: peak.first], 30).median.max()) - peak.level
    height = float(np.quantile(values[peak.first : peak.last + 1], 0.9)) - peak.level  # a top would be the noise's
    return height <= 0.5 * learnt


def _goes_up(values: Floats, at: int) -> float:
    """How much higher a hundredth of the values is than the hundredth before it."""
    width = max(3, len(values) // 100)
    return median(values[at : at + width]) - median(values[max(at - width, 0) : at])


def _lasts(values: Floats, peak: Peak) -> int:
    """For how many points a peak is half as high as at first."""
    above = values[peak.first : peak.last + 1] - peak.level
    return int(np.count_nonzero(above > np.quantile(above, 0.9) / 2))


def _restarts(rate: Series) -> Iterator[tuple[int, int]]:
    """Where a rate that had come down goes up again, and how many steps its cycle before that took.

    The points of a warm-up, from the run's beginning, are all higher than any before: it is no restart.
    """
    value, step = rate.value, rate.step
    if not len(value) or value.min() < 0:
        return
    highest = np.maximum.accumulate(value)[:-1]
    at = np.flatnonzero((value[1:] > 1.5 * value[:-1]) & (value[:-1] < 0.7 * highest)) + 1
    began = int(step[0])
    for k in at[np.diff(at, prepend=-1) > 1].tolist():  # of a warm-up after a restart, the first point
        yield int(step[k]), int(step[k]) - began
        began = int(step[k])
