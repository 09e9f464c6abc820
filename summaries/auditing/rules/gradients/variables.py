"""GL403, GL406 and GL407: the gradients of one variable compared with those of the others."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from summaries.auditing.findings import Severity
from summaries.auditing.rules.rule import Hit, Hits, Limits, Ruleset, at_least, proportion, whole
from summaries.robust import median
from summaries.words import listed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from summaries.arrays import Floats
    from summaries.auditing.signals.signals import Signal, Signals
    from summaries.reading.series import Series

__all__ = ["RULES", "dead_variables", "upper_quartile_of_others"]

RULES = Ruleset()
_DEAD_VALUES = {"gradient_norm": 0.0, "zero_fraction": 1.0, "update_norm": 0.0, "update_ratio": 0.0}
"""What the signals of a role show of a variable that is dead."""

_TINY, _FALLEN = 10, 100  # times the ratio: below it, a tiny norm has vanished, or one that has fallen
_ZEROS = 10  # in a row make a variable dead
_ROUNDING = 1e-6  # float32's, over sums of some hundreds of elements
_DEAD_SHARE, _PAUSES = (
    0.1,
    5,
)  # the shortest time of a dead variable: a share of the run, and a multiple of its longest pause
_LAST, _SHRUNK = 5, 1e-2  # the last points before it died, and by how much they had shrunk if it vanished


class VanishingGradientLimits(Limits):
    """The thresholds of vanishing-gradient."""

    ratio: float = proportion(3e-4)  # of the other variables' norms
    fall: float = proportion(1e-3)  # of its own share of them at first
    floor: float = at_least(0, 1e-7)  # a norm that is tiny whatever the loss
    min_points: int = whole(20)  # of a norm


@RULES.add("GL403", "vanishing-gradient", Severity.WARNING, VanishingGradientLimits, needs=("gradient_norm",))
def vanishing_gradient(run: Signals, limit: VanishingGradientLimits) -> Hits:
    """The gradient of a variable is tiny compared with the others."""
    norms = _norms(run, limit.min_points)
    if len(norms) < 2:  # noqa: PLR2004 - nothing to compare with
        return
    early = {variable: _level(norm, 0.0, 1 / 3) for variable, norm in norms.items()}
    late = {variable: _level(norm, 2 / 3, 1.0) for variable, norm in norms.items()}
    usual_early, usual_late = upper_quartile_of_others(early), upper_quartile_of_others(late)
    dead = dead_variables(run, _ZEROS)
    found: dict[str, Hit] = {}
    for variable, norm in norms.items():
        if variable in dead:
            continue
        usual, began = usual_late[variable], usual_early[variable]
        if usual <= 0 or began <= 0:
            continue
        ratio = late[variable] / usual
        if not late[variable] and _may_only_pause(norm.value):
            continue
        if _is_rounding(variable, early[variable] / began, ratio) and any(
            late[other] >= limit.ratio * usual for other in norms if _layer(other) == _layer(variable)
        ):
            continue
        fall = ratio / (early[variable] / began) if early[variable] > 0 else 1.0
        tiny = late[variable] < limit.floor and ratio < _TINY * limit.ratio
        if ratio < limit.ratio or (fall < limit.fall and ratio < _FALLEN * limit.ratio) or tiny:
            step, value = norm.step, norm.value
            now = f"has norm {late[variable]:.3g}"
            if not late[variable]:
                alive = np.flatnonzero(value)
                now = f"is exactly zero since step {step[alive[-1] + 1 if len(alive) else 0]}"
            since = np.flatnonzero(value >= limit.ratio * usual)
            first = min(int(since[-1]) + 1 if len(since) else 0, len(step) - 1)
            found[variable] = Hit(
                f"the gradient of {variable} {now} where a quarter of the others have {usual:.3g} or more",
                (norm.tag,),
                step[first:],
                {"norm": late[variable], "norm of others": usual, "ratio": ratio, "norm at first": early[variable]},
            )
    yield from _together(found)


def _together(found: dict[str, Hit]) -> Hits:
    """One finding of all variables: a chain of layers has one cause."""
    if len(found) < 2:  # noqa: PLR2004 - several
        yield from found.values()
        return
    names, hits = list(found), list(found.values())
    norms, others = ([float(hit.evidence[name]) for hit in hits] for name in ("norm", "norm of others"))
    first = min(int(hit.steps[0]) for hit in hits if hit.steps is not None)
    yield Hit(
        f"the gradients of {len(names)} variables, from {names[0]} to {names[-1]}, have norms of {min(norms):.3g} to"
        f" {max(norms):.3g} where a quarter of the others have {max(others):.3g} or more, since step {first}",
        [tag for hit in hits for tag in hit.tags],
        (first, max(int(hit.steps[-1]) for hit in hits if hit.steps is not None)),
        {**min(hits, key=lambda hit: hit.evidence["norm"]).evidence, "variables": len(names)},
        len(names),
    )


def _may_only_pause(value: Floats) -> bool:
    """Whether a norm, which has been zero in a row before, is not zero at the end for many times as long."""
    alive = np.flatnonzero(value)
    pause = int(np.diff(alive, prepend=-1).max(initial=1)) - 1
    return bool(len(alive)) and len(value) - 1 - int(alive[-1]) < _PAUSES * pause


def _norms(run: Signals, min_points: int) -> dict[str, Series]:
    """The gradient norm of each variable that has enough finite points."""
    norms = {variable: signal.finite for variable, signal in run.for_variable("gradient_norm").items()}
    return {variable: norm for variable, norm in norms.items() if len(norm) >= min_points}


def upper_quartile_of_others(norms: Mapping[str, float]) -> dict[str, float]:
    """For each variable, the upper quartile of the norms of the others; empty for a single variable."""
    ordered = np.sort(np.array(list(norms.values())))
    n = len(ordered)
    if n < 2:  # noqa: PLR2004 - beside another
        return {}
    at = (3 * (n - 2)) // 4  # of the n - 1 others, the lower of two neighbours
    return {variable: float(ordered[at + (np.searchsorted(ordered, norm) <= at)]) for variable, norm in norms.items()}


def _level(series: Series, low: float, high: float) -> float:
    """The median over the steps with a gradient: rows of embeddings and experts have none at most steps."""
    n = len(series)
    part = series.value[int(low * n) : max(int(high * n), int(low * n) + 1)]
    part = part[part != 0]
    return median(part) if len(part) else 0.0


def _is_rounding(variable: str, first: float, last: float) -> bool:
    """Whether it is a bias whose gradient is zero but for rounding, for example before a normalization."""
    return "bias" in variable[len(_layer(variable)) :].lower() and max(first, last) < _ROUNDING


def _layer(variable: str) -> str:
    """The name of a variable up to its last separator."""
    return variable[: max(variable.rfind(separator) for separator in "/._") + 1]


class Dead(NamedTuple):
    """A variable whose gradient or update is zero from some point on: the signal that shows it, and the index."""

    signal: Signal
    since: int


def dead_variables(run: Signals, min_points: float) -> dict[str, Dead]:
    """The variables whose gradient or update is zero throughout, or drops to zero at some point and stays there."""
    died: dict[str, Dead] = {}
    for role, dead in _DEAD_VALUES.items():
        variables = run.for_variable(role)
        since = {variable: _dead_since(signal, dead, min_points) for variable, signal in variables.items()}
        # If nothing moves at all, the learning rate is zero, or the loss has no gradient any more.
        nothing_moves = all(point is not None for point in since.values())
        for variable, point in since.items():
            if point is None or (nothing_moves and (point or role.startswith("update"))):
                continue
            died.setdefault(variable, Dead(variables[variable], point))
    return died


def _dead_since(signal: Signal, dead: float, min_points: float) -> int | None:
    """The index from which a variable is dead to the end; None if it is not."""
    value = signal.standing.value
    n = len(value)
    if n < min_points or value[-1] != dead:
        return None
    alive = np.flatnonzero(value != dead)
    if not len(alive):
        return 0
    since = int(alive[-1]) + 1
    pause = int(np.diff(alive, prepend=-1).max()) - 1  # rows of embeddings and experts have pauses
    if n - since < max(min_points, _DEAD_SHARE * n, _PAUSES * pause):
        return None
    # If it shrank gradually, it has vanished instead.
    shrunk = not dead and median(value[alive[-_LAST:]]) < _SHRUNK * median(value[alive])
    return None if shrunk else since


class DeadVariableLimits(Limits):
    """The thresholds of dead-variable."""

    min_points: int = whole(_ZEROS)  # zeros in a row


@RULES.add("GL406", "dead-variable", Severity.WARNING, DeadVariableLimits, needs=tuple(_DEAD_VALUES))
def dead_variable(run: Signals, limit: DeadVariableLimits) -> Hits:
    """The gradient or the update of a variable is zero throughout, or from some step on.

    Variables that die at the same step are one finding.
    """
    alike: dict[tuple[str, int, int], dict[str, Dead]] = {}
    for variable, dead in dead_variables(run, limit.min_points).items():
        step = dead.signal.standing.step
        what = "update" if dead.signal.meaning.role.startswith("update") else "gradient"
        alike.setdefault((what, int(step[dead.since]), len(step) - dead.since), {})[variable] = dead
    for (what, first, points), variables in alike.items():
        signal, since = next(iter(variables.values()))
        verb = f"s of {listed(list(variables))} are" if len(variables) > 1 else f" of {listed(list(variables))} is"
        yield Hit(
            f"the {what}{verb} zero at all {points} points{f' since step {first}' if since else ''}",
            [dead.signal.tag for dead in variables.values()],
            (first, signal.standing.step[-1]),
            {"points": points, "of": len(signal.standing)},
            len(variables),
        )


class DominatingLayerLimits(Limits):
    """The thresholds of dominating-layer."""

    share: float = proportion(0.9)  # of the squared norm of all gradients
    min_points: int = whole(20)  # of a norm
    min_variables: int = whole(3, 2)  # with a norm


@RULES.add("GL407", "dominating-layer", Severity.INFO, DominatingLayerLimits, needs=("gradient_norm",))
def dominating_layer(run: Signals, limit: DominatingLayerLimits) -> Hits:
    """One variable accounts for nearly all of the global norm."""
    norms = _norms(run, limit.min_points)
    if len(norms) < limit.min_variables:
        return
    squares = {variable: median(series.value) ** 2 for variable, series in norms.items()}
    total = sum(squares.values())
    for variable, square in squares.items():
        if total > 0 and np.isfinite(total) and square / total >= limit.share:
            message = f"by medians over the run, {variable} accounts for {square / total:.0%} of the squared norm"
            evidence = {"share": square / total, "variables": len(norms)}
            yield Hit(message, (norms[variable].tag,), norms[variable].step, evidence)
