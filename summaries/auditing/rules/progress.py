"""Whether a run learns: what a finding weighs depends on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from summaries.auditing.signals.loss_names import words
from summaries.auditing.statistics.course import Course
from summaries.robust import block_medians, median, monotone_trend

if TYPE_CHECKING:
    from summaries.auditing.signals.signals import Signals
    from summaries.reading.series import Series

__all__ = ["is_early", "learns", "learns_since"]

_FEW = 5  # points that show a level
_BLOCKS = 30
_MANY = 200  # points: as many steps a training takes to begin
_SECS_OF_AN_EPOCH = 5.0  # from point to point, at least
_SURE = 2.0  # standard deviations of a trend by chance
_SIGMAS, _WORTHWHILE = 4.0, 0.1  # standard errors, and the share of the level, that a fall must be


def learns(run: Signals) -> bool:
    """Whether the objective ends lower than it began, by a tenth and more than its noise; not if that is unknown."""
    if run.objective is None or len(run.objective.finite) < 2 * _FEW:
        return False
    course = Course.of(run.objective.finite.value)
    least = _WORTHWHILE * abs(course.median)
    begins = median(course.values[: max(len(course.values) // 20, 3)])
    return begins - course.late > least and course.fell(_SIGMAS, least)


def learns_since(run: Signals, step: int) -> bool | None:
    """Whether the objective went on falling from a step to the end; None if it neither fell nor rose, or is unknown.

    What has just begun is judged with what came before it, by the last quarter of the run.
    """
    if run.objective is None or len(run.objective.finite) < 2 * _FEW:
        return None
    loss = run.objective.finite
    n = len(loss)
    since = min(int(np.searchsorted(loss.step, step)), n - max(n // 4, _FEW))
    before, after = loss.value[:since], loss.value[since:]
    trend = monotone_trend(block_medians(after, _BLOCKS))
    if abs(trend) > _SURE:
        return trend < 0
    if len(before) < _FEW:
        return None
    ends, began = median(after[-max(len(after) // 5, _FEW) :]), median(before[-max(len(before) // 5, _FEW) :])
    return None if ends <= began else False


def is_early(run: Signals, series: Series) -> bool:
    """Whether a loss has few points of single steps so far, not of epochs: many runs are flat before they learn."""
    by_epochs = any(2 * len(signal) >= len(series) for signal in run.of("validation_loss"))
    if len(series) >= _MANY or by_epochs or "epoch" in words(series.tag).split():
        return False
    return median(np.diff(series.wall_time)) < _SECS_OF_AN_EPOCH
