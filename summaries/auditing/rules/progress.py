"""Whether a run learns: what a finding weighs depends on it."""

from __future__ import annotations

import math
import re
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from summaries.auditing.claims import Level, Shift
from summaries.auditing.signals.loss_names import VALIDATION, words
from summaries.auditing.signals.roles import higher_is_better
from summaries.auditing.statistics.course import Course
from summaries.auditing.statistics.descent import LEVELS
from summaries.robust import block_medians, median, monotone_trend

if TYPE_CHECKING:
    from summaries.auditing.signals.signals import Signal, Signals
    from summaries.reading.series import Series

__all__ = [
    "accuracies",
    "at_best",
    "highest_rate",
    "is_early",
    "is_of_other_data",
    "learns",
    "learns_since",
    "rate_in_words",
    "rate_is_dead",
    "second_half",
    "shares",
    "validations",
    "whole_fall",
]

_RATE = re.compile(r"(?i)(?:^|[./])(?:(?:base|init|initial|max)_?)?(?:lr|learning_?rate)$")
_VALIDATION = re.compile(rf"\b(?:{VALIDATION}|k? ?nn|probe|probing)\b")
_FEW = 5  # points that show a level
_BLOCKS = 30
_ACCURACY, _OF_SEVERAL = re.compile(r"acc|\btop ?1\b"), re.compile(r"\b(?:acc(?:uracy)?|top|at) ?(?!1\b)\d+\b")
_NO_RATE = 1e-6  # a rate with which a training does not begin, however long it goes on
_AT_THE_END = re.compile(r"(?:^|/)(?:train_runtime|total_flos)$")  # what trainers log when they have trained
_PERCENT = 100.0
_SAME = 0.01  # of a rate: what differs by less is the same
_VANISHED = 1e-3  # of the highest rate
_LOW, _HIGH = 1e-3, 0.1  # rates between them suit one optimizer or another
_MOSTLY = 10  # times the median of a rate: what is higher at a few steps says little of the run
_MANY = 200  # steps: as many steps a training takes to begin
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


def validations(run: Signals) -> list[Signal]:
    """The losses and metrics that are measured on other data than those of the training."""
    return [*run.of("validation_loss"), *(one for one in run.of("metric") if is_of_other_data(one.tag))]


@lru_cache(maxsize=1 << 14)
def is_of_other_data(tag: str) -> bool:
    """Whether a tag says that it is measured on other data than those of the training."""
    return _VALIDATION.search(words(tag)) is not None


def accuracies(run: Signals, fewest: int = 1) -> list[Signal]:
    """The accuracies that are logged, of so many points or more: not those of the best five, or of any other number."""
    return [one for one in run.of("metric") if _is_accuracy(one.tag) and len(one.finite) >= fewest]


@lru_cache(maxsize=1 << 14)
def _is_accuracy(tag: str) -> bool:
    text = words(tag)
    return _ACCURACY.search(text) is not None and not _OF_SEVERAL.search(text)


def shares(run: Signals, fewest: int = 1) -> list[Signal]:
    """Accuracies, and other metrics that are 1, or 100 %, at best, of so many points or more."""
    named = [one for one in run.of("metric") if _is_accuracy(one.tag) or higher_is_better(one.tag)]
    named = [one for one in named if len(one.finite) >= fewest]
    return [one for one in named if one.finite.value.min() >= 0 and one.finite.value.max() <= _PERCENT]


def at_best(accuracy: Signal) -> float:
    """What an accuracy, or another share, is at best: 1, or 100 where it is told in percent."""
    return _PERCENT if accuracy.finite.value.max() > 1 else 1.0


def is_early(run: Signals, series: Series) -> bool:
    """Whether a loss has few steps so far, and its points are not of epochs, or its schedule has only begun.

    Many runs are flat before they learn. What says that it is over is not.
    """
    if any(_AT_THE_END.search(tag) for tag in run.all):
        return False
    if _is_under_way(run):
        return True
    by_epochs = any(2 * len(signal) >= len(series) for signal in validations(run))
    many = len(series) and max(len(series), int(series.step[-1] - series.step[0])) >= _MANY
    if many or by_epochs or "epoch" in words(series.tag).split() or 0 < highest_rate(run) <= _NO_RATE:
        return False
    return median(np.diff(series.wall_time)) < _SECS_OF_AN_EPOCH


def _is_under_way(run: Signals) -> bool:
    """Whether a learning rate warmed up for most of the run so far, or comes down, and is still above half."""
    for signal in run.of("learning_rate"):
        value = signal.finite.value
        n = len(value)
        if n < 2 * _FEW or not value.max() > 0:
            continue
        warms_up = 2 * int(np.argmax(value)) > n and (np.diff(value[: n // 2]) >= 0).all()
        comes_down = (np.diff(value[-max(n // 10, _FEW) :]) < 0).all() and 2 * value[-1] > value.max()
        if (value[0] < value.max() and warms_up) or comes_down:
            return True
    return False


def highest_rate(run: Signals) -> float:
    """The highest learning rate that is logged; NaN without one."""
    rates = (float(signal.finite.value.max()) for signal in run.of("learning_rate") if len(signal.finite))
    return max(rates, default=math.nan)


def rate_is_dead(run: Signals) -> bool:
    """Whether a learning rate has all but vanished, which explains what stands still: GL504 and GL507 tell of that."""
    rates = [signal.finite.value for signal in run.of("learning_rate") if len(signal.finite)]
    return any(rate[-1] <= _VANISHED * rate.max() for rate in rates)


def rate_in_words(run: Signals) -> str:
    """The highest learning rate, or that of the hyperparameters, to end a sentence with; "" of one that is usual."""
    rates = [signal.finite.value for signal in run.of("learning_rate") if len(signal.finite)]
    if rates:
        rate = max(rates, key=lambda rate: float(rate.max()))
        highest, usual = float(rate.max()), median(rate)
        if _LOW < highest < _HIGH:
            return ""
        mostly = 2 * np.count_nonzero(np.abs(rate - usual) <= _SAME * usual) > len(rate)
        low = f", and {usual:.3g} {'for most of' if mostly else 'or less for half of'} the run"
        return f"; the learning rate is {highest:.3g} at most{low if highest > _MOSTLY * usual else ''}"
    from summaries.reading.stated import stated  # noqa: PLC0415 - of few runs, and it looks at files

    values = {name: value for name, (value, _) in stated(run.name, run.run).items() if type(value) is float}
    given = [value for name, value in values.items() if _RATE.search(name)]
    if len(given) != 1 or _LOW < given[0] < _HIGH:
        return ""
    return f"; the learning rate is {given[0]:.3g}, as the hyperparameters say"


def ends(signal: Signal) -> tuple[Level, Level]:
    """The first and the last level of a curve of n ≥ 1 points."""
    n = len(signal.finite)
    part = max(n // LEVELS, 1)
    first, last = (Level.of(signal.tag, signal.finite, at, at + part - 1, tags=signal.tags) for at in (0, n - part))
    return first, last


def second_half(signal: Signal) -> Level:
    """The level of the second half of a curve of n ≥ 1 points."""
    n = len(signal.finite)
    return Level.of("", signal.finite, n // 2, n - 1, tags=signal.tags)


def whole_fall(loss: Signal) -> Shift:
    """The claim that a loss falls from its first level to its last one.

    If the first level is far below the first point, most of the fall comes before it, and the first point is told.
    """
    first, last = ends(loss)
    point = Level.of(loss.tag, loss.finite, 0, 0, tags=loss.tags)
    hides = 2 * (point.value - first.value) > first.value - last.value
    return Shift.of(point if hides else first, last, "falls")
