"""GL408: histograms of gradients and activations that are all zero, or all at the ends of their range."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from summaries.auditing.findings import Severity
from summaries.auditing.rules.rule import Hit, Hits, Limits, Ruleset, proportion, whole
from summaries.errors import FormatError

if TYPE_CHECKING:
    from summaries.auditing.signals.signals import Signals
    from summaries.reading.series import Items

__all__ = ["RULES"]

RULES = Ruleset()
_GRADIENT = re.compile(r"(?:.*[/_. -])?grad(?:ient)?s?(?:$|[/_. -].*)", re.IGNORECASE)
_ACTIVATION = re.compile(
    r"(?:.*[/_. -])?(?:act(?:ivation)?s?|(?:leaky_?)?relu|gelu|silu|tanh|sigmoid)(?:$|[/_. -].*)", re.IGNORECASE
)
_SQUASHED = re.compile(r"(?:.*[/_. -])?(?:tanh|sigmoid)(?:$|[/_. -].*)", re.IGNORECASE)
_ZERO = 1e-12  # the bucket around zero that TensorFlow, torch and this package make
_END = 0.9  # of a range from -1 to 1, or from 0 to 1: where a tanh or a sigmoid has a fifth of its slope, or less
_SAMPLES = 8  # histograms of a tag that are decoded


class DeadHistogramLimits(Limits):
    """The thresholds of dead-histogram."""

    share: float = proportion(0.95)  # of the values at the ends of a tanh or a sigmoid
    min_points: int = whole(4)  # histograms of a tag


@RULES.add("GL408", "dead-histogram", Severity.INFO, DeadHistogramLimits)
def dead_histogram(run: Signals, limit: DeadHistogramLimits) -> Hits:
    """All of a gradient or of an activation is exactly zero, or nearly all of a tanh or sigmoid is saturated."""
    for tag, items in run.run.histograms.items():
        gradient = _GRADIENT.fullmatch(tag) is not None
        shown = gradient or _ACTIVATION.fullmatch(tag)
        if len(items) < limit.min_points or not shown or not run.meaning(tag).judged:
            continue
        sampled = np.linspace(0, len(items) - 1, _SAMPLES).astype(int)
        zeros, ends = zip(*(_shares(items, int(at)) for at in np.unique(sampled)), strict=True)
        if min(zeros) == 1:
            what, share = "is zero everywhere", 1.0
        elif _SQUASHED.fullmatch(tag) and not gradient and min(ends) >= limit.share:
            what, share = "is saturated", float(np.median(ends))
        else:
            continue
        message = f"{tag} {what}: {share:.0%} of its values, in each of {len(zeros)} histograms that were looked at"
        yield Hit(message, (tag,), items.step, {"share": share, "histograms": len(items)})


def _shares(items: Items, at: int) -> tuple[float, float]:
    """The share of values that are zero, and of those at the ends of -1 to 1; NaN if a histogram cannot be read."""
    try:
        left, right, count = np.asarray(items[at], float).T
    except (OSError, FormatError):
        return np.nan, np.nan
    total = count.sum()
    if not total:
        return np.nan, np.nan
    zero = (np.abs(left) <= _ZERO) & (np.abs(right) <= _ZERO)
    low = 0.0 if left[count > 0].min() >= 0 else -1.0  # a sigmoid or a tanh
    high_end = (left >= _END) & (right <= 1)
    low_end = (right <= low + (1 - _END)) & (left >= low)
    return float(count[zero].sum() / total), float(count[high_end | low_end].sum() / total)
