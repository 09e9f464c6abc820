"""What a run reached: for each of its losses, the value at the end and the best one."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from summaries.auditing.curves import curve_of
from summaries.auditing.signals.loss_names import is_plain
from summaries.auditing.signals.objectives import main_loss
from summaries.auditing.signals.roles import without_split
from summaries.robust import median

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from summaries.auditing.curves import Curve
    from summaries.auditing.signals.signals import Signal, Signals

__all__ = ["LOSSES", "Outcome", "chosen", "main_losses", "outcome_of", "ranked"]

LOSSES = ("validation_loss", "loss")
"""The roles of tags that runs are compared by, the most telling first."""

_PART = 10  # a run's end is its last tenth
_LAST = 2  # points: of a run that has diverged they are not finite, and a single one may be a bad batch
_STRETCHES = 100


class Outcome(NamedTuple):
    """What a tag reached; see `Member`.

    The digest is that of all steps and values, empty if they are constant. `main` is whether the tag is the main loss
    of its run, or the validation of that.
    """

    role: str
    final: float
    best: float
    best_step: int
    curve: Curve
    digest: bytes
    main: bool = False


def outcome_of(signal: Signal, *, maximize: bool, main: bool = False) -> Outcome:
    """The end and the best of a tag with points: medians of tenths of the points that stand, counted from the end."""
    series = signal.latest
    value = -series.value if maximize else series.value
    value = np.where(np.isfinite(value), value, np.inf)  # a tenth that is mostly not finite has no finite median
    width = max(len(value) // _PART, 1)
    ends = range(len(value), 0, -width)
    medians = [median(value[max(end - width, 0) : end]) for end in ends if end >= width]
    if np.isinf(value[-_LAST:]).all():
        medians[0] = np.inf  # however much of it was finite
    best = int(np.argmin(medians))
    sign = -1.0 if maximize else 1.0
    curve = curve_of(series, _STRETCHES, signal.meaning.role)
    constant = (series.value == series.value[0]).all()
    digest = b"" if constant else hashlib.sha256(series.step.tobytes() + series.value.tobytes()).digest()
    ended, at = sign * medians[0], int(series.step[ends[best] - 1])
    return Outcome(signal.meaning.role, ended, sign * medians[best], at, curve, digest, main)


def main_losses(signals: Signals) -> set[str]:
    """The tags of what stands for a run: its main loss, and the validation losses that belong to it."""
    main = signals.main_loss or main_loss(signals.of("validation_loss"), signals.logger)
    if main is None:
        return set()
    validations = {
        signal.tag
        for signal in signals.of("validation_loss")
        if is_plain(signal.tag) or without_split(signal.tag) == without_split(main.tag)
        if signals.trained_with(signal) is main
    }
    return {main.tag, *validations}


def chosen(runs: Sequence[Mapping[str, Outcome]]) -> str:
    """The tag that most runs have, of those that stand for a run; a validation loss before a training loss.

    If none stands for any run, all losses are candidates; "" if there is none.

    >>> chosen([{}])
    ''
    """
    reached = [(tag, outcome) for run in runs for tag, outcome in run.items()]
    standing = {tag for tag, outcome in reached if outcome.main} or dict(reached)
    roles = Counter((tag, outcome.role) for tag, outcome in reached if outcome.role in LOSSES and tag in standing)
    most = max(roles.values(), default=0)
    tags = [(LOSSES.index(role), tag) for (tag, role), count in roles.items() if count == most]
    return min(tags, key=lambda pair: pair[0], default=(0, ""))[1]


def ranked(value: float, *, maximize: bool) -> float:
    """A value of a metric such that less is better, and what is not finite is worst."""
    better = -value if maximize else value
    return better if math.isfinite(better) else math.inf
