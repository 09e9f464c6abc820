"""The distribution of a run's gradient norms, and what a bound would have clipped: for a line that can be dragged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from summaries.auditing.report.packed import plain
from summaries.tools.clip_advice import clip_advice

if TYPE_CHECKING:
    from summaries.auditing.signals.signals import Signals

__all__ = ["norms"]

_ROLES = ("global_norm", "part_norm", "gradient_norm")
_QUANTILES = 2001  # so many sorted norms tell the share above any bound to a twentieth of a percent


def norms(signals: Signals, tag: str | None = None) -> dict[str, Any]:
    """What a run's norms say about bounds.

    Args:
        signals: the run.
        tag: the tag with the norms; None for the first that the run has, that of all gradients before others.

    Returns:
        `tags`: all tags with norms; `tag`: this one, or None if there are none; and of its points that stand after
        restarts, `steps`: how many there are, `nonfinite`: how many of them are not finite, `sorted`: the others by
        size, at most 2,001 of them at equal distances, `suggested`: the bound that `clip-advice` suggests, `capped`:
        whether they were recorded after clipping, `bound`: the last bound that the run itself had, or None.

    Raises:
        LookupError: the run does not have this tag.
        ValueError: no norm is positive and finite.
    """
    tags = [signal.tag for role in _ROLES for signal in signals.of(role) if len(signal)]
    if tag is None and not tags:
        return {"tags": [], "tag": None}
    tag = tags[0] if tag is None else tag
    advice = clip_advice(signals.run, tag, bounds=())
    values = signals.all[tag].latest.value
    values = np.sort(values[np.isfinite(values)])
    kept = np.unique(np.round(np.linspace(0, len(values) - 1, min(len(values), _QUANTILES))).astype(int))
    bounds = [signal.latest.value for signal in signals.of("clip_norm") if len(signal)]
    return {
        "tags": tags,
        "tag": tag,
        "steps": advice.steps,
        "nonfinite": advice.nonfinite,
        "sorted": values[kept].tolist(),
        "suggested": advice.suggested,
        "capped": bool(advice.recorded_after_clipping),
        "bound": plain(float(bounds[0][-1])) if bounds else None,
    }
