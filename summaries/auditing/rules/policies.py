"""GL506: policies of reinforcement learning that lose what they learnt, leap, do not explore, or do not change."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from summaries.auditing.findings import Severity
from summaries.auditing.rules.rule import Hit, Hits, Limits, Ruleset, above, at_least, proportion, whole
from summaries.auditing.statistics.course import trend_between, typical
from summaries.robust import blocks, median
from summaries.words import beside, counted

if TYPE_CHECKING:
    from summaries.arrays import Floats
    from summaries.auditing.signals.signals import Signals

__all__ = ["RULES"]

RULES = Ruleset()
_LEVELS = 12  # medians of stretches
_TREND = 4  # levels from the best one on, in which a trend can show
_SURE = 2.0  # standard deviations of a trend by chance
_ENTROPY = re.compile(r"(?:.*[/_. -])?(?:policy[_-])?entropy(?:[_-]loss)?", re.IGNORECASE)
_NO_POLICY = re.compile(r"cross|coef|target|alpha", re.IGNORECASE)
_OF_AN_UPDATE = re.compile(r"(?:.*[/_. -])?approx_?kl(?:_.*)?", re.IGNORECASE)
_HARDER = re.compile(r"lesson|curriculum|terrain|difficulty", re.IGNORECASE)
_KL = re.compile(r"(?:.*[/_. -])?(?:approx_?kl|kl(?:_div(?:ergence)?)?)", re.IGNORECASE)


class PolicyCollapseLimits(Limits):
    """The thresholds of policy-collapse."""

    share: float = proportion(0.05)  # of the early entropy
    lost: float = proportion(0.75)  # of the gain
    gain: float = at_least(0, 0.5)  # of the first level
    min_points: int = whole(40, 20)  # of an entropy
    min_rewards: int = whole(12, 12)  # points of a reward
    max_kl: float = above(0, 10.0)  # in nats, of one update
    min_zeros: int = whole(10, 5)  # of a divergence, up to its last point


@RULES.add("GL506", "policy-collapse", Severity.INFO, PolicyCollapseLimits)
def policy_collapse(run: Signals, limit: PolicyCollapseLimits) -> Hits:
    """A policy loses most of its reward, changes at one leap, no longer explores, or no longer changes."""
    if not run.moving_target:
        return
    yield from _reward_lost(run, limit)
    yield from _leaps(run, limit)
    yield from _stops(run, limit)
    for signal in run.judged:
        series = signal.finite
        size = np.abs(series.value)
        n = len(size)
        if n < limit.min_points or _NO_POLICY.search(signal.tag):
            continue
        early, later = median(size[: n // 10]), size[n // 2 :]
        if _ENTROPY.fullmatch(signal.tag) and _one_sided(series.value) and later.max() <= limit.share * early:
            first = int(np.flatnonzero(size > limit.share * early)[-1]) + 1
            yield Hit(
                f"{signal.tag} falls from {early:.3g} to {median(later):.2g} within the first half: the policy does"
                f" not explore",
                (signal.tag,),
                series.step[first:],
                {"early": early, "late": median(later)},
            )


def _reward_lost(run: Signals, limit: PolicyCollapseLimits) -> Hits:
    """Find a reward that fell by a trend, and ends with most of what was gained lost.

    If it rose by a trend before that, and the task did not become harder meanwhile, it is a warning.
    """
    signal = run.main
    if signal is None or signal.meaning.role != "reward" or len(signal.finite) < limit.min_rewards:
        return
    series = signal.finite
    cut = blocks(series.value, _LEVELS)
    level = cut.median
    best = int(np.argmax(level))
    gained = float(level[best] - level[: best + 1].min())
    end = median(level[-_LEVELS // 4 :])
    clear = gained > max(2 * median(cut.sigma), limit.gain * abs(level[0]))
    most = level[best] - limit.lost * gained
    clear = clear and end <= most
    since = int(cut.start[best]) + cut.length - 1
    first, last = int(series.step[since]), int(series.step[-1])
    at_once = best + _TREND < _LEVELS and bool((level[best + 2 :] <= most).all())  # after which there is no trend
    if not clear or not (at_once or trend_between(series, first, last) <= -_SURE):
        return
    learnt = trend_between(series, int(series.step[0]), first) > _SURE
    harder = any(map(_HARDER.search, run.all))
    high = int(cut.start[best] + np.flatnonzero(series.value[cut.start[best] : since + 1] >= level[best])[-1])
    low = typical(series.value, len(series) - 1)
    yield Hit(
        f"{signal.tag} falls from {series.value[high]:.4g} at step {series.step[high]} to {series.value[low]:.4g} at"
        f" step {series.step[low]}: most of what was gained is lost",
        (signal.tag,),
        (first, last),
        {"best": level[best], "end": level[-1], "gained": gained},
        severity=Severity.WARNING if learnt and not harder else None,
    )


def _leaps(run: Signals, limit: PolicyCollapseLimits) -> Hits:
    """Find updates after which the policy is another one, by an estimate of the KL divergence between the two."""
    of_updates = [
        signal
        for signal in run.judged
        if _OF_AN_UPDATE.fullmatch(signal.tag) or (run.logger.adapts_rate and _KL.fullmatch(signal.tag))
    ]
    leaping = [signal for signal in of_updates if (signal.finite.value > limit.max_kl).any()]
    if not leaping:
        return
    step, value = leaping[0].finite.step, leaping[0].finite.value
    far, top = np.flatnonzero(value > limit.max_kl), int(np.argmax(value))
    tags = [signal.tag for signal in leaping]
    yield Hit(
        f"{tags[0]} is {value[top]:.4g} at step {step[top]}, and above {limit.max_kl:g} at {len(far)} of"
        f" {counted(len(value), 'point')}{beside(tags[1:])}: after such an update it is another policy",
        tags,
        step[far],
        {"largest": value[top], "points": len(far)},
        len(far),
        Severity.WARNING,
    )


def _stops(run: Signals, limit: PolicyCollapseLimits) -> Hits:
    """Find a policy that does not change any more: its KL divergence from one update to the next is exactly zero."""
    for signal in run.judged:
        if not _KL.fullmatch(signal.tag) or _NO_POLICY.search(signal.tag):
            continue
        step, value = signal.finite.step, signal.finite.value
        changes = np.flatnonzero(value)
        first = int(changes[-1]) + 1 if len(changes) else 0
        zeros = len(value) - first
        if first and zeros >= max(limit.min_zeros, len(value) / 2):
            yield Hit(
                f"{signal.tag} is exactly 0 at the last {zeros} of {len(value)} points: the policy does not change any"
                f" more",
                (signal.tag,),
                step[first:],
                {"early": median(np.abs(value[: max(first // 5, 1)])), "late": 0.0},
                zeros,
                Severity.WARNING,
            )


def _one_sided(value: Floats) -> bool:
    """Whether it is the entropy of choices, or a loss made of it; that of densities has both signs."""
    return bool((value >= 0).all() or (value <= 0).all())
