"""GL306: losses behind which NaN is concealed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from summaries.auditing.findings import Severity
from summaries.auditing.rules.rule import Hit, Limits, Ruleset, whole

if TYPE_CHECKING:
    from collections.abc import Iterator

    from summaries.auditing.signals.signals import Signals

__all__ = ["RULES"]

RULES = Ruleset()


class ConcealedNanLimits(Limits):
    """The thresholds of concealed-nan."""

    min_points: int = whole(3)  # of a loss where the norm is not finite


@RULES.add("GL306", "concealed-nan", Severity.ERROR, ConcealedNanLimits, needs=("global_norm",), of_moments=True)
def concealed_nan(run: Signals, limit: ConcealedNanLimits) -> Iterator[Hit]:
    """A loss is exactly zero, or repeats itself, wherever the gradient norm is not finite: a filter replaced NaN."""
    norms = run.of("global_norm")
    for signal in run.of("loss") if norms else []:
        loss = signal.latest
        zero, repeated = loss.value == 0, np.diff(loss.value, prepend=np.nan) == 0
        for norm in norms:
            bad = norm.latest.step[~np.isfinite(norm.latest.value)]
            there = np.isin(loss.step, bad)
            told = there & (zero | repeated)
            elsewhere = np.isin(loss.step, norm.latest.step) & ~there & (zero | repeated)
            if np.count_nonzero(told) < limit.min_points or not told[there].all() or elsewhere.any():
                continue
            at = np.flatnonzero(told)
            what = "exactly 0" if zero[told].all() else "the same as before"
            yield Hit(
                f"{signal.tag} is {what} at all {len(at)} points where {norm.tag} is not finite: a filter replaced"
                f" losses that were not",
                signal.tag,
                (int(loss.step[at[0]]), int(loss.step[at[-1]])),
                {"points": len(at), "of": len(loss)},
                len(at),
            )
            break
