"""GL6xx: a run compared with the runs of a baseline."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from summaries.auditing.findings import Severity
from summaries.auditing.rules.rule import Hit, Hits, Limits, Ruleset, above, at_least, whole
from summaries.robust import NORMAL, OF_MEDIAN, median

if TYPE_CHECKING:
    from summaries.auditing.signals.signals import Signals
    from summaries.reading.series import Series

__all__ = ["RULES"]

RULES = Ruleset("baseline")
_ENDS = (0.1, 0.3)  # of the steps: first what is worse at the end; then, in more points, what is worse all along


class LossWorseThanBaselineLimits(Limits):
    """The thresholds of loss-worse-than-baseline."""

    sigmas: float = above(0, 4.0)  # of the spread of the baseline's levels
    min_difference: float = at_least(0, 0.08)  # of the baseline's level
    min_points: int = whole(10)  # of a loss, here and in the baseline


@RULES.add("GL601", "loss-worse-than-baseline", Severity.ERROR, LossWorseThanBaselineLimits)
def loss_worse_than_baseline(run: Signals, limit: LossWorseThanBaselineLimits) -> Hits:
    """At the same steps, the loss is above the spread of the baseline's runs."""
    for signal in run.of("loss", "validation_loss"):
        others = [other.all[signal.tag].finite for other in run.baseline if signal.tag in other.all]
        others = [other for other in others if len(other) >= limit.min_points]
        own = signal.finite
        if not others or len(own) < limit.min_points:
            continue
        last = min(int(own.step[-1]), *(int(other.step[-1]) for other in others))
        for share in _ENDS:
            level, usual, spread = _beside(own, others, last, share)
            if level - usual > max(limit.sigmas * spread, limit.min_difference * abs(usual)):
                yield Hit(
                    f"{signal.tag} is {level:.4g} up to step {last}, the baseline's {usual:.4g} ± {spread:.2g}",
                    (signal.tag,),
                    (own.step[0], last),
                    {"loss": level, "baseline": usual, "spread": spread, "runs": len(others)},
                )
                break


def _beside(own: Series, others: list[Series], last: int, share: float) -> tuple[float, float, float]:
    """Compare levels over the last `share` of the steps up to `last`: of a run, of the others, and their spread."""
    level, error = _end(own, last, share)
    ends = [_end(other, last, share) for other in others]
    levels = np.array([end for end, _ in ends])
    spread = float(levels.std(ddof=1)) if len(levels) > 2 else float(np.ptp(levels))  # noqa: PLR2004 - of two
    return level, median(levels), math.hypot(error, max(spread, float(np.median([e for _, e in ends]))))


def _end(series: Series, last: int, share: float) -> tuple[float, float]:
    """The level over the last `share` of the steps up to `last`, and its standard error."""
    part = series.value[series.step <= last]
    part = part[-max(int(len(part) * share), 5) :]
    if not len(part):
        return math.nan, math.nan
    noise = NORMAL * median(np.abs(np.diff(part))) / math.sqrt(2) if len(part) > 1 else 0.0
    return median(part), OF_MEDIAN * noise / math.sqrt(len(part))


class SlowerThanBaselineLimits(Limits):
    """The thresholds of slower-than-baseline."""

    factor: float = above(1, 1.2)  # of the slowest run of the baseline
    min_points: int = whole(10, 2)  # of the tag with the most points


@RULES.add("GL602", "slower-than-baseline", Severity.WARNING, SlowerThanBaselineLimits)
def slower_than_baseline(run: Signals, limit: SlowerThanBaselineLimits) -> Hits:
    """A step takes longer than in the baseline."""
    if not run.baseline:
        return
    own = _secs_per_step(run, limit.min_points)
    others = [secs for secs in (_secs_per_step(other, limit.min_points) for other in run.baseline) if secs]
    if not own or not others or own <= limit.factor * max(others):
        return
    usual = float(np.median(others))
    tags = (run.longest.tag,) if run.longest else ()
    evidence = {"seconds": own, "baseline seconds": usual, "factor": own / usual}
    yield Hit(f"a step takes {own:.3g} s, in the baseline {usual:.3g} s", tags, None, evidence)


def _secs_per_step(run: Signals, min_points: float) -> float | None:
    """The usual time between two steps, in seconds; None if the wall times do not show it."""
    signal = run.longest
    if signal is None or len(signal) < min_points:
        return None
    series = signal.latest
    steps, secs = np.diff(series.step), np.diff(series.wall_time)
    fine = (steps > 0) & np.isfinite(secs) & (secs > 0)
    return median(secs[fine] / steps[fine]) if np.count_nonzero(fine) >= min_points // 2 else None


@RULES.add("GL603", "missing-tags", Severity.WARNING)
def missing_tags(run: Signals, limit: Limits) -> Hits:
    """Tags that every run of the baseline has are missing."""
    if not run.baseline:
        return
    common = set.intersection(*(set(other.run.tags) for other in run.baseline))
    missing = sorted(common - set(run.run.tags))
    if missing:
        message = f"the tag {missing[0]} is missing"
        if len(missing) > 1:
            message = f"{missing[0]} and {len(missing) - 1} more of the baseline's tags are missing"
        evidence = {"tags": ", ".join(missing), "missing": len(missing)}
        yield Hit(message, missing[:1], None, evidence, len(missing))


class IdenticalToBaselineLimits(Limits):
    """The thresholds of identical-to-baseline."""

    min_points: int = whole(20)  # of a loss


@RULES.add("GL604", "identical-to-baseline", Severity.INFO, IdenticalToBaselineLimits)
def identical_to_baseline(run: Signals, limit: IdenticalToBaselineLimits) -> Hits:
    """A loss is bit for bit that of a run of the baseline: what was changed had no effect."""
    others = [other for other in run.baseline if not set(other.run.files) & set(run.run.files)]
    for signal in run.of("loss", "validation_loss"):
        own = signal.series
        if len(own) < limit.min_points or (own.value == own.value[0]).all():
            continue
        for other in others:
            if signal.tag in other.all and _same(own, other.all[signal.tag].series):
                message = f"{signal.tag} is the same as in the baseline, bit for bit at all {len(own)} points"
                yield Hit(message, (signal.tag,), own.step, {"points": len(own)})
                return


def _same(one: Series, other: Series) -> bool:
    return np.array_equal(one.step, other.step) and np.array_equal(one.value, other.value, equal_nan=True)
