"""Whether a restart began to train anew: then the loss is back where the run began, as no weights were restored."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from summaries.auditing.statistics.course import bend
from summaries.robust import median

if TYPE_CHECKING:
    from collections.abc import Sequence

    from summaries.auditing.signals.signals import Signals

__all__ = ["from_scratch"]

_FEW, _MANY = 3, 12  # points that make a level, and that show its noise


def from_scratch(run: Signals, restarts: Sequence[int], sigmas: float) -> str:
    """The end of a sentence that tells where a loss is back at the run's first points after a restart; "" if nowhere.

    Its level must have gone back more than half of what was learnt, and by more than its noise.

    Args:
        run: the run.
        restarts: the steps at which it was restarted, without points that were superseded.
        sigmas: how many times the noise counts.
    """
    if run.objective is None:
        return ""
    series = run.objective.finite
    step, value = series.step, series.value
    for at in np.searchsorted(step, restarts).tolist():
        if at < _MANY or len(value) - at < _FEW:
            continue
        first, last, now = (median(value[i : i + _FEW]) for i in (0, at - _FEW, at))
        noise = sigmas * bend(value[at - _MANY : at])
        if now - last > max((first - last) / 2, noise) and first - last > noise:
            return (
                f"; {run.objective.tag} is {value[at]:.4g} at step {step[at]}, after {value[at - 1]:.4g} at step"
                f" {step[at - 1]} and {value[0]:.4g} at step {step[0]}: the weights were not restored"
            )
    return ""
