"""What a run reached: for each of its losses, the value at the end and the best one."""

from __future__ import annotations

import hashlib
import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from summaries.auditing.curves import Curve, averages, thin
from summaries.auditing.statistics.robust import median

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from summaries.auditing.signals.signals import Signal

__all__ = ["LOSSES", "Outcome", "chosen", "outcome", "ranked"]

LOSSES = ("validation_loss", "loss")
"""The roles of tags that runs are compared by, the most telling first."""

_PART = 10  # a run's end is its last tenth
_STRETCHES = 100


class Outcome(NamedTuple):
    """What a tag reached; see `Member`. The digest is that of all steps and values, empty if they are constant."""

    role: str
    final: float
    best: float
    best_step: int
    curve: Curve
    digest: bytes


def outcome(signal: Signal, *, maximize: bool) -> Outcome:
    """The end and the best of a tag with points: medians of tenths of the points that stand, counted from the end."""
    series = signal.latest
    value = -series.value if maximize else series.value
    value = np.where(np.isfinite(value), value, np.inf)  # a tenth that is mostly not finite has no finite median
    width = max(len(value) // _PART, 1)
    ends = range(len(value), 0, -width)
    medians = [median(value[max(end - width, 0) : end]) for end in ends if end >= width]
    best = int(np.argmin(medians))
    sign = -1.0 if maximize else 1.0
    kept = thin(series.value, _STRETCHES)
    columns = series.step[kept], series.wall_time[kept], series.value[kept]
    curve = Curve(signal.tag, signal.meaning.role, "", *columns, len(series), averages(series.value))
    constant = (series.value == series.value[0]).all()
    digest = b"" if constant else hashlib.sha256(series.step.tobytes() + series.value.tobytes()).digest()
    return Outcome(
        signal.meaning.role, sign * medians[0], sign * medians[best], int(series.step[ends[best] - 1]), curve, digest
    )


def chosen(runs: Sequence[Mapping[str, Outcome]]) -> str:
    """The tag that most runs have; among those, a validation loss before a training loss; "" if there is none.

    >>> chosen([{}])
    ''
    """
    counts: dict[tuple[str, str], int] = {}
    for run in runs:
        for tag, found in run.items():
            if found.role in LOSSES:
                counts[tag, found.role] = counts.get((tag, found.role), 0) + 1
    most = max(counts.values(), default=0)
    tags = [(LOSSES.index(role), tag) for (tag, role), count in counts.items() if count == most]
    return min(tags, key=lambda found: found[0], default=(0, ""))[1]


def ranked(value: float, *, maximize: bool) -> float:
    """A value of a metric such that less is better, and what is not finite is worst."""
    better = -value if maximize else value
    return better if math.isfinite(better) else math.inf
