"""GL509 to GL512: what an optimizer's own theory says of its steps, as `diagnostics=True` logs it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from summaries.auditing.findings import Severity
from summaries.auditing.rules.gradients.variables import dead_variables
from summaries.auditing.rules.rule import Hit, Hits, Limits, Ruleset, above, at_least, proportion, whole
from summaries.auditing.statistics.excursions import Excursions
from summaries.robust import median
from summaries.words import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from summaries.arrays import Floats
    from summaries.auditing.signals.signals import Signal, Signals

__all__ = ["RULES"]

RULES = Ruleset()
_FEWEST_LOSSES = 60  # that show a level beside its noise


class EpsilonRulesLimits(Limits):
    """The thresholds of epsilon-rules."""

    share: float = proportion(0.9)  # of the elements of a variable
    min_points: int = whole(10, 2)  # of it


@RULES.add("GL509", "epsilon-rules", Severity.INFO, EpsilonRulesLimits, needs=("epsilon_share",))
def epsilon_rules(run: Signals, limit: EpsilonRulesLimits) -> Hits:
    """The root of Adam's second moment is below ε for nearly all elements: it is momentum there."""
    dead = dead_variables(run, limit.min_points)
    found = [
        (signal, level)
        for variable, signal, late in _late(run, "epsilon_share", limit.min_points)
        if variable not in dead and (level := median(late)) >= limit.share
    ]
    if not found:
        return
    signal, level = found[0]
    others = f", and of {counted(len(found) - 1, 'variable')} more" if len(found) > 1 else ""
    yield Hit(
        f"ε is larger than the root of the second moment of {level:.0%} of {signal.meaning.variable}{others}: the"
        " step there is that of momentum, with the rate divided by ε",
        [signal.tag for signal, _ in found],
        signal.finite.step,
        {"share": level, "variables": len(found)},
        len(found),
    )


class StaleMomentLimits(Limits):
    """The thresholds of stale-second-moment."""

    rms: float = above(1, 2.3)  # of the gradient over the root of the second moment
    ahead: int = whole(8)  # points, before the loss, at most
    sigmas: float = above(0, 8.0)  # of the noise of a point, as for a spike of the loss
    min_rise: float = at_least(0, 0.1)  # of the range


@RULES.add("GL510", "stale-second-moment", Severity.INFO, StaleMomentLimits, needs=("gradient_rms",), of_moments=True)
def stale_second_moment(run: Signals, limit: StaleMomentLimits) -> Hits:
    """The gradients of a variable are far above what Adam's second moment remembers, and then the loss spikes."""
    if run.moving_target:
        return
    late = [
        (signal.finite.step[at], signal)
        for signal in run.for_variable("gradient_rms").values()
        for at in np.flatnonzero(signal.finite.value > limit.rms)
    ]
    for loss in run.of("loss") if late else ():
        series = loss.finite
        if len(series) < _FEWEST_LOSSES:
            continue
        peaks = Excursions.of(series.value, limit.sigmas, limit.min_rise).returned
        pairs = []
        for peak in peaks:
            first = series.step[max(0, peak.first - limit.ahead)]
            before = [(step, signal) for step, signal in late if first <= step < series.step[peak.first]]
            pairs += [(peak, *min(before, key=lambda pair: pair[0]))] if before else []
        if not pairs:
            continue
        peak, step, signal = pairs[0]
        yield Hit(
            f"the gradient of {signal.meaning.variable} is above {limit.rms:g} times the root of its second moment at"
            f" step {step}, and {loss.tag} spikes at step {series.step[peak.first]};"
            f" so for {len(pairs)} of {counted(len(peaks), 'spike')}",
            (signal.tag, loss.tag),
            (step, series.step[pairs[-1][0].last]),
            {"spikes": len(peaks)},
            len(pairs),
        )


class NotOrthogonalLimits(Limits):
    """The thresholds of not-orthogonal."""

    residual: float = above(0, 0.7)  # per vector
    min_points: int = whole(10, 2)  # of a variable


@RULES.add("GL511", "not-orthogonal", Severity.WARNING, NotOrthogonalLimits, needs=("orthogonality_residual",))
def not_orthogonal(run: Signals, limit: NotOrthogonalLimits) -> Hits:
    """Muon's iteration does not make the update of a variable orthogonal."""
    for variable, signal, late in _late(run, "orthogonality_residual", limit.min_points):
        level = median(late)
        if level > limit.residual:
            what = "grows" if level > 1 else "leaves directions behind"
            yield Hit(
                f"Muon's update of {variable} is {level:.2g} from orthogonal, per vector: the iteration {what}",
                (signal.tag,),
                signal.finite.step,
                {"residual": level, "points": len(signal.finite)},
            )


class DistanceStuckLimits(Limits):
    """The thresholds of distance-stuck."""

    distance: float = above(0, 1e-5)  # a larger one has grown, before the run began
    min_points: int = whole(50, 2)  # of it


@RULES.add("GL512", "distance-stuck", Severity.WARNING, DistanceStuckLimits, needs=("distance",))
def distance_stuck(run: Signals, limit: DistanceStuckLimits) -> Hits:
    """Prodigy's distance has not grown from where it began, so its rate is next to nothing."""
    for signal in list(run.for_variable("distance").values())[:1]:  # one for all variables
        value = signal.finite.value
        if len(value) >= limit.min_points and value[0] == value.max() <= limit.distance:
            yield Hit(
                f"Prodigy's distance is {value[-1]:.3g} at all {len(value)} points: the rate is that small, too",
                (signal.tag,),
                signal.finite.step,
                {"distance": value[-1], "points": len(value)},
            )


def _late(run: Signals, role: str, fewest: int) -> Iterator[tuple[str, Signal, Floats]]:
    """Each variable with a signal of this role that has enough points, and the values of its second half."""
    for variable, signal in run.for_variable(role).items():
        values = signal.finite.value
        if len(values) >= fewest:
            yield variable, signal, values[len(values) // 2 :]
