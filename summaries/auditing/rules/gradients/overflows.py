"""Overflows of a scaled loss: half-precision training finds its loss scale by them, and skips their steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from summaries.auditing.findings import Severity
from summaries.auditing.rules.rule import Hit, Hits, Limits, proportion, whole
from summaries.robust import after_last

if TYPE_CHECKING:
    from summaries.arrays import Ints
    from summaries.auditing.signals.signals import Signals
    from summaries.reading.series import Series

__all__ = ["OverflowLimits", "are_few", "lost_scales", "lowered", "skipped"]

_LOST = 2.0**-24  # the smallest number above zero in half precision: no scale that is of use is as low as that
_STAYS = 3  # points


class OverflowLimits(Limits):
    """The thresholds by which rules distinguish harmless overflows from errors."""

    max_overflows: float = proportion(0.02)  # of the points, but for those of the first stretch
    max_first: int = whole(40)  # in a row, from the first point on, while a scale is found
    max_in_a_row: int = whole(3)  # later


def are_few(at: Ints, points: int, limit: OverflowLimits) -> bool:
    """Whether points that are not finite are isolated overflows of a scaled loss, after which the run goes on.

    A scale that starts too high overflows at the first steps, until it has been halved often enough. An overflow at the
    last point counts as isolated: the next points will show.

    Args:
        at: int64[k], k ≥ 1: the points that are not finite, by index.
        points: number of all points.
        limit: the thresholds.
    """
    stretches = np.split(at, np.flatnonzero(np.diff(at) > 1) + 1)
    later = stretches[1:] if stretches[0][0] == 0 else stretches
    first = len(at) - sum(map(len, later))
    return bool(
        first <= min(limit.max_first, points - 1)
        and max(map(len, later), default=0) <= limit.max_in_a_row
        and sum(map(len, later)) <= max(limit.max_in_a_row, limit.max_overflows * points)
    )


def skipped(run: Signals, loss: Series, limit: OverflowLimits) -> bool:
    """Whether a loss is not finite at a few points only, and the loss scale was lowered at each of them."""
    at = np.flatnonzero(~np.isfinite(loss.value))
    return not len(at) or (are_few(at, len(loss), limit) and lowered(run, loss.step[at]))


def lowered(run: Signals, steps: Ints) -> bool:
    """Whether a loss scale is lower at each of these steps, or just after it, than before."""
    for signal in run.of("loss_scale"):
        step, value = signal.finite.step, signal.finite.value
        if len(step):
            here, behind = np.searchsorted(step, steps), np.searchsorted(step, steps, "right")
            before = value[np.maximum(here - 1, 0)]
            now, then = (value[np.minimum(index, len(step) - 1)] for index in (here, behind))
            if (np.minimum(now, then) < np.maximum(before, now)).all():
                return True
    return False


def lost_scales(run: Signals) -> Hits:
    """Find loss scales that fall to nothing and stay there: each step overflows and is skipped, so none is made."""
    for signal in run.of("loss_scale"):
        step, value = signal.finite.step, signal.finite.value
        first = after_last(value > _LOST)
        if len(value) - first < _STAYS or value.max() < 1:
            continue
        begin = int(np.flatnonzero(np.diff(value[:first], prepend=-np.inf) >= 0)[-1])
        end = first + int(np.argmin(value[first:]))
        yield Hit(
            f"{signal.tag} falls from {value[begin]:.4g} at step {step[begin]} to {value[end]:.4g} at step {step[end]}:"
            f" all those steps overflowed and were skipped",
            (signal.tag,),
            step[begin:],
            {"before": value[begin], "last": value[-1], "points": len(value) - begin},
            severity=Severity.WARNING,
        )
