"""The objective of a run: the loss that is trained, or the sum of its parts; and to which loss a validation belongs.

The course of a loss says something about the training only if the training brings it down. That holds for the
objective. Its parts may rise while it falls: a detector finds more boxes, and the loss of their classes rises.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from summaries.auditing.signals.loss_names import is_plain, maybe_loss, words
from summaries.auditing.signals.roles import without_split
from summaries.reading.series import Series

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from summaries.auditing.signals.loggers import Logger
    from summaries.auditing.signals.signals import Signal

__all__ = [
    "behaves_like_a_loss",
    "have_one_axis",
    "main_loss",
    "main_reward",
    "on_the_axis_of",
    "parts",
    "stem",
    "sum_of",
    "trained_with",
]

_RESOLUTION = re.compile(r"\b(?:step|epoch|batch|iter|vs iterations)\b|\bdataloader idx \d+\b")
_WHOLE = re.compile(
    r"\b(?:mean|average|avg|cumulative|total|episod\w+|ep rew|ep ret|rew mean|rewards step)\b|\bep(?:rew|ret)\w*"
)
_ASIDE = re.compile(r"\b(?:eval|test|val|min|max|std|baseline|intrinsic|curiosity|gail|rnd|value|estimate)\b")
_PREFERENCE = re.compile(r"\b(?:chosen|rejected|margins?|accurac\w+)\b")
_FEWEST = 10  # points that show a behaviour
_FEW = 4  # means of epochs that show a course
_MEASURES = re.compile(r"\b(?:r ?mse|mae|r?msle|ppl|perplexity)\b")  # beside an objective, and no part of it


def main_loss(losses: Sequence[Signal], logger: Logger) -> Signal | None:
    """The loss that stands for the run: the one that its logger calls so, else a plain one, else the longest."""

    def rank(signal: Signal) -> tuple[int, bool, int]:
        return _place(signal, logger), not is_plain(signal.series.tag), -len(signal)

    return min(losses, key=rank, default=None)


def _place(signal: Signal, logger: Logger) -> int:
    """Which of the tags that stand for a run of this logger a signal has: the first is the best."""
    named = (i for i, main in enumerate(logger.main) if re.fullmatch(main, signal.series.tag))
    return next(named, len(logger.main))


def main_reward(rewards: Sequence[Signal], logger: Logger) -> Signal | None:
    """The reward that stands for the run: of whole episodes, from the training, and not a term of it, or an extreme."""

    def rank(signal: Signal) -> tuple[int, bool, bool, int]:
        text = words(signal.tag)
        return _place(signal, logger), not _WHOLE.search(text), _ASIDE.search(text) is not None, -len(signal)

    of_episodes = (signal for signal in rewards if not _PREFERENCE.search(words(signal.tag)))
    return min(of_episodes, key=rank, default=None)


def parts(losses: Sequence[Signal], main: Signal) -> list[Signal]:
    """The parts of the objective: losses logged at the same steps, if none of them is plain; else only the main one."""
    if is_plain(main.tag):
        return [main]
    step = main.standing.step
    beside = [one for one in losses if one is main or not _MEASURES.search(words(one.tag))]
    beside = [one for one in beside if np.array_equal(one.standing.step, step)]
    return beside if not any(is_plain(signal.tag) for signal in losses) else [main]


def sum_of(losses: Sequence[Signal]) -> Series:
    """The sum of losses that were logged at the same steps; its tag names those that are not always zero."""
    first = losses[0].standing
    tags = [signal.tag for signal in losses if signal.standing.value.any()] or [losses[0].tag]
    total = np.sum([signal.standing.value for signal in losses], axis=0)
    name = tags[0] if len(tags) == 1 else f"the sum of {', '.join(tags[:-1])} and {tags[-1]}"
    return Series(name, first.step, first.wall_time, total)


def trained_with(validation: Signal, losses: Iterable[Signal]) -> Signal | None:
    """The training loss that this validates, among those with the same words; None if none has.

    `val/box_loss` belongs to `train/box_loss`, and `val_loss_epoch` to `train_loss_step`. One that counts the same
    steps goes before one that does not, then the means of epochs before single batches, and then the longest.
    """
    own = stem(validation.tag)

    def rank(one: Signal) -> tuple[bool, bool, int]:
        of_epochs = "epoch" in words(one.tag).split() and len(one.finite) >= _FEW
        return have_one_axis(validation.finite, one.finite), of_epochs, len(one.finite)

    return max((signal for signal in losses if stem(signal.tag) == own), key=rank, default=None)


def have_one_axis(one: Series, other: Series) -> bool:
    """Whether two series of a run count the same steps: epochs and iterations differ by a factor of two or more."""
    ends = sorted(int(series.step[-1]) for series in (one, other) if len(series))
    return len(ends) == 2 and ends[1] < 2 * ends[0]  # noqa: PLR2004 - both


def on_the_axis_of(series: Series, other: Series) -> Series:
    """Another series of the run against the steps of this one: by the clock, if they do not count the same steps.

    Args:
        series: at least one point.
        other: what to tell against the steps of `series`.
    """
    if have_one_axis(series, other):
        return other
    clock = np.maximum.accumulate(series.wall_time)
    steps = np.interp(other.wall_time, clock, series.step).astype(np.int64)
    return Series(other.tag, steps, other.wall_time, other.value)


def stem(tag: str) -> str:
    """The words of a tag without those for the data, and for how often it was measured: what it measures.

    >>> stem("val/acc"), stem("evaluation_accuracy_vs_iterations"), stem("train_loss_epoch")
    ('acc', 'accuracy', 'loss')
    """
    return " ".join(_RESOLUTION.sub(" ", without_split(tag)).split())


def behaves_like_a_loss(signal: Signal) -> bool:
    """Whether a tag that may be a loss by its words is one by its values: not negative, and lower in the end."""
    value = signal.finite.value
    if not maybe_loss(signal.tag) or len(value) < _FEWEST or value.min() < 0:
        return False
    third = len(value) // 3
    return bool(np.median(value[-third:]) < np.median(value[:third]))
