"""Whether a run learns: what a finding weighs depends on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from summaries.auditing.statistics.course import Course
from summaries.robust import block_medians, median, monotone_trend

if TYPE_CHECKING:
    from summaries.auditing.signals.signals import Signals

__all__ = ["learns", "learns_since"]

_FEW = 5  # points that show a level
_BLOCKS = 30
_SURE = 2.0  # standard deviations of a trend by chance
_SIGMAS, _WORTHWHILE = 4.0, 0.1  # standard errors that a fall must be, and the share of the level if only at first


def learns(run: Signals) -> bool:
    """Whether the objective ends lower than it began, by more than its noise; not if that is unknown."""
    if run.objective is None or len(run.objective.finite) < 2 * _FEW:
        return False
    course = Course.of(run.objective.finite.value)
    return course.fell(_SIGMAS, _WORTHWHILE * abs(course.median))


def learns_since(run: Signals, step: int) -> bool | None:
    """Whether the objective went on falling from a step to the end; None if it neither fell nor rose, or is unknown."""
    if run.objective is None:
        return None
    loss = run.objective.finite
    before, after = loss.value[loss.step < step], loss.value[loss.step >= step]
    if len(after) < _FEW:
        return None
    trend = monotone_trend(block_medians(after, _BLOCKS))
    if trend < -_SURE:
        return True
    if len(before) < _FEW or trend > _SURE:
        return False if trend > _SURE else None
    ends, began = median(after[-max(len(after) // 5, _FEW) :]), median(before[-max(len(before) // 5, _FEW) :])
    return None if ends <= began else False
