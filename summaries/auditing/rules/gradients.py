"""GL4xx: gradients and clipping."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from summaries.auditing.excursions import Excursions, Peak
from summaries.auditing.finding import Severity
from summaries.auditing.overflows import are_few, skipped
from summaries.auditing.robust import Blocks, blocks, in_sigmas, median
from summaries.auditing.rule import Hit, Ruleset, above, at_least, fraction, whole

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from summaries.auditing.rule import Limits
    from summaries.auditing.signals import Signal, Signals
    from summaries.series import Series

    Floats = NDArray[np.float64]

__all__ = ["RULES", "dead_variables"]

RULES = Ruleset()
_MANY = 4  # jumps that are no accident
_NEAR = 5  # points that are one place
_TAIL_TELLS = 2000  # points that tell how far noise reaches
_AS_EVER = 0.1  # the probability that there were none at first, had they always been as frequent


@RULES.add(
    "GL401",
    "non-finite-gradient",
    Severity.ERROR,
    max_overflows=fraction(0.02),
    max_first=whole(40),
    max_in_a_row=whole(3),
)
def non_finite_gradient(run: Signals, limit: Limits) -> Iterator[Hit]:
    """Gradients have elements that are NaN or infinite."""
    found = [(signal, _non_finite(signal)) for signal in run.of("nonfinite", "global_norm")]
    if not any(len(at) for _, at in found):
        found = [(signal, _non_finite(signal)) for signal in run.of("gradient_norm")]
    found = [entry for entry in found if len(entry[1])]
    if not found:
        return
    lasting = [entry for entry in found if not _overflows(run, entry[0], entry[1], limit)]
    signal, at = max(lasting or found, key=lambda entry: len(entry[1]))
    step = signal.standing.step[at]
    how = "the loss is scaled, and such steps are skipped" if run.of("loss_scale") else "the run went on from them"
    yield Hit(
        f"{signal.tag}: gradients are not finite at {len(at)} of {len(signal.standing)} points, first at step {step[0]}"
        f"{'' if lasting else f'; {how}'}",
        signal.tag,
        (int(step[0]), int(step[-1])),
        {"points": len(at), "of": len(signal.standing), "tags": len(found)},
        len(at),
        None if lasting else Severity.INFO,
    )


def _non_finite(signal: Signal) -> NDArray[np.int64]:
    value = signal.standing.value
    bad = ~np.isfinite(value)
    if signal.meaning.role == "nonfinite":
        bad |= value > 0
    return np.flatnonzero(bad)


def _overflows(run: Signals, signal: Signal, at: NDArray[np.int64], limit: Limits) -> bool:
    """Whether gradients that are not finite are single overflows, and the losses fine but for such steps."""
    return are_few(at, len(signal.standing), limit) and all(
        skipped(run, loss.standing, limit) for loss in run.of("loss")
    )


@RULES.add(
    "GL402",
    "exploding-norm",
    Severity.ERROR,
    factor=above(1, 10.0),
    sigmas=above(0, 8.0),
    warm_up=fraction(0.05),
    share=fraction(0.02),
    min_points=whole(30, 20),
)
def exploding_norm(run: Signals, limit: Limits) -> Iterator[Hit]:
    """The norm of the gradients climbs to many times what it was."""
    for signal in run.of("global_norm") or run.of("gradient_norm"):
        series = signal.finite
        positive = series.value > 0
        if np.count_nonzero(positive) < limit["min_points"]:
            continue
        step, log = series.step[positive], np.log10(series.value[positive])
        cut = blocks(log, min(60, len(log) // 5))
        hit = _climb(signal.tag, step, cut, limit) or _burst(run, signal.tag, step, log, cut, limit)
        if hit is not None:
            yield hit


def _climb(tag: str, step: NDArray[np.int64], cut: Blocks, limit: Limits) -> Hit | None:
    """A rise that lasts: blocks whose median is far above an earlier one's, and above all that came before that."""
    level = cut.median
    first = max(1, int(np.ceil(limit["warm_up"] * len(level))))
    after = level[first:]
    if len(after) < 3:  # noqa: PLR2004 - a trough, and two above it
        return None
    lowest = np.minimum.accumulate(after)
    trough = np.maximum.accumulate(np.where(after == lowest, np.arange(len(after)), 0))
    before_lowest = np.maximum.accumulate(level)[first + trough]
    noise = float(np.median(cut.error)) * np.sqrt(2)
    wanted = np.maximum(lowest + max(np.log10(limit["factor"]), limit["sigmas"] * noise), before_lowest + np.log10(3))
    high = after > wanted
    lasting = np.flatnonzero(high & np.append(high[1:], cut.length >= 20))  # noqa: PLR2004 - the last may be enough
    if not len(lasting):
        return None
    k = int(lasting[0])
    top = int(np.argmax(after))
    low, peak = 10 ** float(lowest[k]), 10 ** float(after[top])
    start = int(cut.start[first + k])
    stop = int(np.flatnonzero(high)[-1]) + first
    return Hit(
        f"{tag} climbs from {low:.4g} to {peak:.4g}, from step {step[start]} on",
        tag,
        (int(step[start]), int(step[cut.start[stop] + cut.length - 1])),
        {"level before": low, "peak level": peak, "factor": peak / low},
    )


def _burst(run: Signals, tag: str, step: NDArray[np.int64], log: Floats, cut: Blocks, limit: Limits) -> Hit | None:
    """Steps whose norm is far above every level that the run had, too few for the medians of `_climb`."""
    usual = _highest_before(cut, len(log))
    begin = int(np.ceil(limit["warm_up"] * len(log)))
    excess = log[begin:] - usual[begin:]
    if excess.max(initial=-np.inf) < np.log10(limit["factor"]):
        return None
    peaks = _far_above(log, usual, Excursions.of(log, limit["sigmas"], 0.0), limit, 1)
    length = 4  # what lasts for longer is seen in the medians of 4, of 16, and so on
    while not peaks and len(log) >= 200 * length:
        found = Excursions.of_stretches(log, limit["sigmas"], 0.0, len(log) // length)
        peaks = _far_above(log, usual, found, limit, length)
        length *= 4
    peaks = peaks or _outliers(excess, begin, median(cut.sigma), limit)
    if not peaks:
        return None
    peak = max(peaks, key=lambda peak: float(log[peak.top]))
    clips = bool(run.of("clipped", "clipped_fraction", "clip_norm", "clipped_global_norm"))
    most = 10 ** max(float(usual[peak.top]), peak.level)
    return Hit(
        f"{tag} jumps to {10 ** log[peak.top]:.4g} at step {step[peak.top]}, usually at most {most:.4g}"
        f"{'' if len(peaks) == 1 else f'; {len(peaks)} such jumps'}{'; clipping bounds what it does' if clips else ''}",
        tag,
        (int(step[peaks[0].first]), int(step[peaks[-1].last])),
        {"peak": float(10 ** log[peak.top]), "usual": most, "sigmas": peak.sigmas},
        len(peaks),
        Severity.INFO if clips else None,
    )


def _highest_before(cut: Blocks, n: int) -> Floats:
    """For each of n points, the highest level of the blocks before its own."""
    highest = np.maximum.accumulate(cut.median)
    before = np.append(highest[:1], highest[:-1])
    return np.asarray(np.repeat(before, np.diff(np.append(cut.start, n))))


def _far_above(log: Floats, usual: Floats, found: Excursions, limit: Limits, length: int) -> list[Peak]:
    """The excursions that are `factor` times what was usual until then; of stretches, in their median."""
    peaks = []
    for peak in [*found.returned, *([found.unreturned] if found.unreturned else [])]:
        most = max(float(usual[peak.first]), peak.level)
        height = float(log[peak.top]) if length == 1 else median(log[peak.first : peak.last + 1])
        if peak.first >= limit["warm_up"] * len(log) and height >= most + np.log10(limit["factor"]):
            peaks.append(peak)
    return peaks


def _outliers(excess: Floats, begin: int, noise: float, limit: Limits) -> list[Peak]:
    """Jumps that stand apart from the other points: at one place, a few, or so many that they are the noise's own tail.

    Args:
        excess: float64[n], the logarithm over what was usual.
        begin: index of its first point.
        noise: standard deviation of a point.
        limit: the rule's thresholds.
    """
    least = max(float(np.log10(limit["factor"])), limit["sigmas"] * noise)
    at = np.flatnonzero(excess >= least)
    if not len(at):
        return []
    near = np.flatnonzero(3 * excess >= excess.max())
    at_one_place = near[-1] - near[0] <= _NEAR
    if at_one_place:
        at = at[at >= near[0]]
    if at_one_place or len(at) < _MANY:
        apart = at_one_place or excess[at].min() >= max(1.25 * least, 3 * excess[excess < least].max(initial=0.0))
        found = apart and len(excess) < _TAIL_TELLS
    else:
        share = len(at) / (len(excess) - at[0])
        none_at_first = int(np.argmax(2 * excess >= least))  # nor lesser ones
        found = share >= limit["share"] and (1 - share) ** none_at_first <= _AS_EVER
    if not found:
        return []
    tops = (begin + at).tolist()
    sigmas = [in_sigmas(far, noise) for far in excess[at].tolist()]
    return [Peak(i, i, i, 1, -np.inf, far) for i, far in zip(tops, sigmas, strict=True)]


@RULES.add(
    "GL403",
    "vanishing-gradient",
    Severity.WARNING,
    ratio=fraction(3e-4),
    fall=fraction(1e-3),
    floor=at_least(0, 1e-7),
    min_points=whole(20),
)
def vanishing_gradient(run: Signals, limit: Limits) -> Iterator[Hit]:
    """A variable's gradient is next to nothing beside the others'."""
    norms = {
        variable: signal
        for variable, signal in run.for_variable("gradient_norm").items()
        if len(signal.finite) >= limit["min_points"]
    }
    if len(norms) < 2:  # noqa: PLR2004 - beside the others
        return
    early = {variable: _level(signal.finite, 0.0, 1 / 3) for variable, signal in norms.items()}
    late = {variable: _level(signal.finite, 2 / 3, 1.0) for variable, signal in norms.items()}
    dead = dead_variables(run, 1)
    for variable, signal in norms.items():
        if variable in dead:
            continue
        others = [late[other] for other in norms if other != variable]
        usual = float(np.quantile(others, 0.75, method="lower"))
        began = float(np.quantile([early[other] for other in norms if other != variable], 0.75, method="lower"))
        if usual <= 0 or began <= 0:
            continue
        ratio = late[variable] / usual
        if _is_rounding(variable, early[variable] / began, ratio) and any(
            late[other] >= limit["ratio"] * usual for other in norms if _layer(other) == _layer(variable)
        ):
            continue
        fall = ratio / (early[variable] / began) if early[variable] > 0 else 1.0
        tiny = late[variable] < limit["floor"] and ratio < 10 * limit["ratio"]
        if ratio < limit["ratio"] or (fall < limit["fall"] and ratio < 100 * limit["ratio"]) or tiny:
            step = signal.finite.step
            yield Hit(
                f"the gradient of {variable} has norm {late[variable]:.3g} where others have {usual:.3g}",
                signal.tag,
                (int(step[-len(step) // 3]), int(step[-1])),
                {"norm": late[variable], "norm of others": usual, "ratio": ratio, "norm at first": early[variable]},
            )


def _level(series: Series, low: float, high: float) -> float:
    """Of the steps at which there was a gradient: an embedding's row, or an expert, has none at most of them."""
    n = len(series)
    part = series.value[int(low * n) : max(int(high * n), int(low * n) + 1)]
    part = part[part != 0]
    return median(part) if len(part) else 0.0


_ROUNDING = 1e-6  # float32's, over sums of some hundreds of elements


def _is_rounding(variable: str, first: float, last: float) -> bool:
    """Whether it is a bias whose gradient is 0 by construction, as before a normalization: rounding is all it has."""
    return "bias" in variable[len(_layer(variable)) :].lower() and max(first, last) < _ROUNDING


def _layer(variable: str) -> str:
    """A variable's name up to the last separator."""
    return variable[: max(variable.rfind(separator) for separator in "/._") + 1]


class _Clipping(NamedTuple):
    """At which steps gradients were clipped, or in which share of steps: float64[n], 0 to 1."""

    tag: str
    step: NDArray[np.int64]
    share: Floats


def _clipping(run: Signals) -> Iterator[_Clipping]:
    """What the run tells of its clipping: the most direct of what it logs."""
    for role in ("clipped", "clipped_fraction"):
        signals = [signal for signal in run.of(role) if len(signal.finite)]
        if signals:
            for signal in signals:
                yield _Clipping(signal.tag, signal.finite.step, signal.finite.value)
            return
    if any(norm.tag.endswith("gnorm") for norm in run.of("global_norm")):  # fairseq and metaseq: of 100
        for signal in run.of("clipped_percent")[:1]:
            yield _Clipping(signal.tag, signal.finite.step, signal.finite.value / 100)
            return
    norms, bounds, after = (run.of(role) for role in ("global_norm", "clip_norm", "clipped_global_norm"))
    for norm in norms[:1]:
        for other in (*bounds, *after)[:1]:
            a, b = norm.latest, other.latest
            step, i, j = np.intersect1d(a.step, b.step, assume_unique=False, return_indices=True)
            x, y = a.value[i], b.value[j]
            fine = np.isfinite(x) & np.isfinite(y) & (y > 0)
            yield _Clipping(norm.tag, step[fine], (x[fine] > y[fine] * (1 + 1e-5)).astype(np.float64))


@RULES.add(
    "GL404", "clipping-saturated", Severity.WARNING, fraction=fraction(0.9), min_points=whole(100), min_shares=whole(20)
)
def clipping_saturated(run: Signals, limit: Limits) -> Iterator[Hit]:
    """Nearly every step is clipped: the bound sets the length of the steps, the gradient only their direction."""
    for tag, step, share in _clipping(run):
        late = share[len(share) // 2 :]
        steps = np.isin(share, (0.0, 1.0)).all() and run.all[tag].meaning.role != "clipped_fraction"
        enough = limit["min_points"] if steps else limit["min_shares"]  # a share is of many steps
        if len(share) < enough or not late.mean() >= limit["fraction"]:
            continue
        start = int(step[len(step) // 2])
        yield Hit(
            f"{late.mean():.1%} of the steps since step {start} were clipped",
            tag,
            (start, int(step[-1])),
            {"fraction": float(late.mean()), "fraction in all": float(share.mean()), "points": len(share)},
        )


@RULES.add("GL405", "clipping-never-acts", Severity.INFO, min_points=whole(50))
def clipping_never_acts(run: Signals, limit: Limits) -> Iterator[Hit]:
    """Clipping is on, and no step was clipped."""
    for tag, step, share in _clipping(run):
        if len(share) >= limit["min_points"] and not share.any():
            steps = int(step[0]), int(step[-1])
            yield Hit(f"none of {len(share)} steps was clipped", tag, steps, {"points": len(share)})


def dead_variables(run: Signals, min_points: float) -> dict[str, Signal]:
    """The variables whose gradient, or update, was zero throughout, with the signal that shows it."""
    found: dict[str, Signal] = {}
    roles = (("gradient_norm", 0.0), ("zero_fraction", 1.0), ("update_norm", 0.0), ("update_ratio", 0.0))
    for role, dead in roles:
        variables = run.for_variable(role)
        gone = {
            variable: signal
            for variable, signal in variables.items()
            if len(signal.standing) >= min_points and bool((signal.standing.value == dead).all())
        }
        if role.startswith("update") and len(gone) == len(variables):
            continue  # nothing moves at all: a learning rate of zero, not a variable
        for variable, signal in gone.items():
            found.setdefault(variable, signal)
    return found


@RULES.add("GL406", "dead-variable", Severity.WARNING, min_points=whole(10))
def dead_variable(run: Signals, limit: Limits) -> Iterator[Hit]:
    """A variable's gradient, or its update, is zero throughout."""
    for variable, signal in dead_variables(run, limit["min_points"]).items():
        step = signal.standing.step
        what = "update" if signal.meaning.role.startswith("update") else "gradient"
        yield Hit(
            f"the {what} of {variable} is zero at all {len(step)} points",
            signal.tag,
            (int(step.min()), int(step.max())),
            {"points": len(step)},
        )


@RULES.add(
    "GL407", "dominating-layer", Severity.INFO, share=fraction(0.9), min_points=whole(20), min_variables=whole(3, 2)
)
def dominating_layer(run: Signals, limit: Limits) -> Iterator[Hit]:
    """Nearly all of the global norm is one variable's."""
    norms = {
        variable: signal.finite
        for variable, signal in run.for_variable("gradient_norm").items()
        if len(signal.finite) >= limit["min_points"]
    }
    if len(norms) < limit["min_variables"]:
        return
    squares = {variable: median(series.value) ** 2 for variable, series in norms.items()}
    total = sum(squares.values())
    for variable, square in squares.items():
        if total > 0 and np.isfinite(total) and square / total >= limit["share"]:
            step = norms[variable].step
            yield Hit(
                f"{square / total:.0%} of the squared norm of all gradients is that of {variable}",
                run.for_variable("gradient_norm")[variable].tag,
                (int(step[0]), int(step[-1])),
                {"share": square / total, "variables": len(norms)},
            )
