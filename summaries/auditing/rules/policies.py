"""GL506: policies of reinforcement learning that lose what they learnt, leap, do not explore, or do not change."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from summaries.auditing.claims import Level, Lost, Move, Point, Share, Shift
from summaries.auditing.findings import Severity
from summaries.auditing.rules.explanations import with_cause
from summaries.auditing.rules.progress import ends
from summaries.auditing.rules.rewards import (
    FAR,
    LEVELS,
    SURE,
    TREND,
    fails,
    is_harder,
    is_learnt,
    is_no_walk,
    moves_at,
    rises,
)
from summaries.auditing.rules.rule import Hit, Hits, Limits, Ruleset, above, at_least, proportion, whole
from summaries.auditing.signals.loss_names import words
from summaries.auditing.statistics.course import trend_between, typical
from summaries.auditing.statistics.descent import Descent
from summaries.reading.series import Series
from summaries.robust import after_last, blocks, changes, median, sigma
from summaries.words import beside

if TYPE_CHECKING:
    from summaries.arrays import Floats
    from summaries.auditing.claims import Message
    from summaries.auditing.signals.signals import Signal, Signals

__all__ = ["RULES"]

RULES = Ruleset()
_RARE = 1e-3  # of the updates
_MOST = 0.75  # of a sparse reward: so many are nothing
_LARGE = 0.3  # of a positive reward
_ALWAYS = 0.9  # of the actions
_RANDOM = 0.5  # of the actions, which are random at first; in the end, its square at most are
_LOW, _SOME = 1 / 3, 6  # of the range of a reward that fails; times `min_rewards`, that show so much
_MANY = 10  # times `min_rewards`: enough to show that a reward falls from the start
_ENTROPY = re.compile(r"(?:.*[/_. -])?(?:policy[_-])?entropy(?:[_-]loss)?", re.IGNORECASE)
_NO_POLICY = re.compile(r"cross|coef|target|alpha", re.IGNORECASE)
_OF_AN_UPDATE = re.compile(r"(?:.*[/_. -])?approx_?kl(?:_.*)?", re.IGNORECASE)
_EXPLAINED = re.compile(r"(?:.*[/_. -])?explained_var(?:iance)?", re.IGNORECASE)
_EXPLORING = re.compile(r"(?:.*[/_. -])?(?:eps(?:ilon)?|exploration_rate)", re.IGNORECASE)
_KL = re.compile(r"(?:.*[/_. -])?(?:approx_?kl|kl(?:_div(?:ergence)?)?)", re.IGNORECASE)
_FROM_REFERENCE = re.compile(r"(?:.*[/_. -])?(?<!approx_)kl(?:_div(?:ergence)?)?(?:_mean)?", re.IGNORECASE)
_CRITIC = re.compile(r"(?:.*[/_. -])?(?:critic|value|vf|qf\d?|q\d?)_?(?:function_)?loss(?:es)?", re.IGNORECASE)
_TEMPERATURE = re.compile(r"(?:.*[/_. -])?ent(?:ropy)?_coef(?:ficient)?", re.IGNORECASE)
_NO_BONUS = 1e-12  # the weight of an entropy that counts for nothing
_EVALUATED = re.compile(r"\b(?:eval|evaluation|test)\b")  # means over windows go on rising by themselves
_SPREAD = re.compile(r"(?:.*[/_. -])?rewards?[/_]std(?:ev|dev)?", re.IGNORECASE)


class PolicyCollapseLimits(Limits):
    """The thresholds of policy-collapse."""

    share: float = proportion(0.05)  # of the early entropy
    lost: float = proportion(0.75)  # of the gain
    gain: float = at_least(0, 0.5)  # of the first level
    explained: float = proportion(0.02)  # of the variance of returns: a critic that knows nothing
    still: float = proportion(0.02)  # of an entropy: all that its levels move
    min_points: int = whole(10, 5)  # of an entropy
    min_rewards: int = whole(12, 12)  # points of a reward
    max_kl: float = above(0, 10.0)  # in nats, of one update
    min_kl: float = at_least(0, 1e-6)  # in nats, of one update
    little_kl: float = above(0, 1e-3)  # in nats, from a reference: a policy that is still the reference
    much_kl: float = above(0, 0.05)  # in nats, from a reference: a policy that is another one
    times: float = above(1, 10.0)  # the first level: the loss of a critic, or the weight of an entropy, that runs away
    better: float = proportion(0.15)  # of its first level: all that a reward rises while a policy ceases to explore
    min_zeros: int = whole(10, 5)  # of a divergence, up to its last point


@RULES.add("GL506", "policy-collapse", Severity.INFO, PolicyCollapseLimits)
def policy_collapse(run: Signals, limit: PolicyCollapseLimits) -> Hits:
    """A policy loses most of its reward, changes at one leap, no longer explores, or no longer changes."""
    if not run.moving_target:
        return
    lost = list(_reward_lost(run, limit))
    yield from lost or list(_falls_throughout(run, limit)) or _learns_nothing(run, limit)
    yield from _leaps(run, limit)
    yield from _stops(run, limit)
    yield from _explores_no_more(run, limit)


def _explores_no_more(run: Signals, limit: PolicyCollapseLimits) -> Hits:
    """Find an entropy that falls to nearly nothing, and stays there.

    That is how a policy ends that has learnt its task: it is a warning if the reward shows that this one has not.
    """
    for signal in run.judged:
        series = signal.finite
        size, n = np.abs(series.value), len(series)
        judged = _ENTROPY.fullmatch(signal.tag) and not _NO_POLICY.search(signal.tag)
        if not judged or n < limit.min_points:
            continue
        bound = limit.share * median(size[: max(n // 10, 1)])
        if not size.any() and fails(run):
            none = Share.since("", series, 0, "exactly", 0.0)
            yield Hit(
                (f"{signal.tag} is ", none, ": the policy does not explore, or its entropy is not measured"),
                (signal.tag,),
                series.step,
                {"points": n},
                severity=Severity.WARNING,
            )
        if not bound or not _one_sided(series.value, bound):
            continue
        first = after_last(size > bound)
        if n - first < max(n // 10, limit.min_points // 2):
            continue
        before, after = Level.of("", series, 0, max(n // 10 - 1, 0)), Level.of("", series, first, n - 1)
        learnt = is_learnt(run, int(series.step[first]))
        goes = "falls" if before.value > after.value else "rises"
        yield Hit(
            (f"{signal.tag} {goes} from ", before, " to ", after, ": the policy does not explore"),
            (signal.tag,),
            series.step[first:],
            {"early": abs(before.value), "late": abs(after.value)},
            severity=Severity.INFO if learnt else Severity.WARNING,
        )


def _reward_lost(run: Signals, limit: PolicyCollapseLimits) -> Hits:
    """Find a reward that fell by a trend, and ends with most of what was gained lost.

    If it rose by a trend before that, and the task did not become harder meanwhile, it is a warning.
    """
    signal = run.main
    if signal is None or signal.meaning.role != "reward" or len(signal.finite) < limit.min_rewards:
        return
    series = signal.finite
    cut = blocks(series.value, LEVELS)
    level = cut.median
    best = int(np.argmax(level))
    gained = float(level[best] - level[: best + 1].min())
    end = median(level[-LEVELS // 4 :])
    clear = gained > max(2 * median(cut.sigma), limit.gain * abs(level[0]))
    most = level[best] - limit.lost * gained
    clear = clear and end <= most
    since = int(cut.start[best]) + cut.length - 1
    first, last = int(series.step[since]), int(series.step[-1])
    at_once = best + TREND < LEVELS and bool((level[best + 2 :] <= most).all())  # after which there is no trend
    if not clear or not (at_once or trend_between(series, first, last) <= -SURE):
        return
    learnt = trend_between(series, int(series.step[0]), first) > SURE
    harder = is_harder(run)
    high = int(cut.start[best] + np.flatnonzero(series.value[cut.start[best] : since + 1] >= level[best])[-1])
    low = typical(series.value, len(series) - 1)
    before = int(np.argmin(series.value[: high + 1]))
    fall = Lost(signal.tag, Point.of(series, high), Point.of(series, low), "falls", Point.of(series, before))
    if not fall.holds(series):  # it is back
        return
    hit = Hit(
        (fall, ": most of what was gained is lost"),
        (signal.tag,),
        (first, last),
        {"best": level[best], "end": series.value[low], "gained": gained},
        severity=Severity.WARNING if learnt and not harder and is_no_walk(series.value, high, low) else None,
    )
    upside_down = Series(series.tag, series.step, series.wall_time, -series.value)
    yield with_cause(run, hit, upside_down, fall.first.step, fall.last.step)


def _falls_throughout(run: Signals, limit: PolicyCollapseLimits) -> Hits:
    """Find a reward that falls from the start to the end, in many points."""
    signal = run.main
    if signal is None or signal.meaning.role != "reward" or len(signal.finite) < 2 * limit.min_rewards:
        return
    series = signal.finite
    n = len(series)
    first, second, third = (Level.of(signal.tag, series, i * n // 3, (i + 1) * n // 3 - 1) for i in range(3))
    noise = sigma(changes(series.value))
    far = first.value > second.value > third.value and first.value - third.value > 2 * noise
    if n < _MANY * limit.min_rewards:  # few points tell only of a fall that is large
        far = far and signal.descent.jitter < (first.value - third.value) / FAR
        far = far and third.value < (1 - _LARGE) * first.value
    if far and trend_between(series, first.first, third.last) < -2 * SURE:
        yield Hit(
            (Shift.of(first, third, "falls"), ": the policy becomes worse"),
            (signal.tag,),
            series.step,
            {"first third": first.value, "last third": third.value},
            severity=None if is_harder(run) else Severity.WARNING,
        )


def _learns_nothing(run: Signals, limit: PolicyCollapseLimits) -> Hits:
    """Find a reward that does not rise, of a policy that stays as random as it was, or fails nearly always."""
    signal = run.main
    if signal is None or signal.meaning.role != "reward" or len(signal.finite) < limit.min_rewards:
        return
    evaluated = [one for one in run.of("reward") if _EVALUATED.search(words(one.tag))]
    rewards = [signal, *(one for one in evaluated if len(one.finite) >= limit.min_points)]
    explores = _explores_in_vain(run, rewards[0].finite, limit)
    signal = next((one for one in rewards if not rises(one.finite.value)), rewards[0] if explores else None)
    if signal is None:
        return
    series = signal.finite
    value, n = series.value, len(series)
    first, last = Level.of("", series, 0, n // 3 - 1), Level.of("", series, n - n // 3, n - 1)
    low, high = float(value.min()), float(value.max())
    share = _LOW if n >= _SOME * limit.min_rewards else 1 - limit.lost
    never = n >= 3 * limit.min_rewards and max(first.value, last.value) < low + share * (high - low)
    rests = explores or _rests(run, limit) or _without_gain(run, rewards[0].finite.value, limit)
    if not (never or rests):
        return
    why = rests or (f"; at best it is {high:.4g}",)
    noise = " by more than its noise" if last.value > first.value else ""
    how = "hardly rises" if rises(value) else f"does not rise{noise}"
    yield Hit(
        (f"{signal.tag} {how}: ", first, ", then ", last, *why),
        (signal.tag,),
        series.step,
        {"first third": first.value, "last third": last.value},
        severity=Severity.INFO if np.mean(value == 0) > _MOST else Severity.WARNING,  # a sparse one may yet be found
    )


def _rests(run: Signals, limit: PolicyCollapseLimits) -> Message:
    """What shows, to end a sentence with, that a policy stays as it was, or that all it does by itself is no better."""
    for signal in run.judged:
        value = signal.finite.value
        size = np.abs(value)
        if len(size) < limit.min_points or _NO_POLICY.search(signal.tag):
            continue
        level = Descent(value).level if _EXPLAINED.fullmatch(signal.tag) else Descent(size).level
        if _ENTROPY.fullmatch(signal.tag) and np.ptp(level) < limit.still * level.min():
            return (f"; nor does {signal.tag} move",)
        if _EXPLAINED.fullmatch(signal.tag) and level[len(level) // 2 :].max() < limit.explained:
            return (f"; nor does {signal.tag} stay above zero",)
        if _KL.fullmatch(signal.tag) and 0 < median(size) < limit.min_kl:
            return (f"; nor does {signal.tag} leave zero",)
        if _EXPLORING.fullmatch(signal.tag) and value.min() > _ALWAYS:
            return (f"; {signal.tag} is never below {value.min():.4g}: it acts at random all along",)
        if told := _ceases_to_explore(signal, limit):
            return told
    return ()


def _explores_in_vain(run: Signals, reward: Series, limit: PolicyCollapseLimits) -> Message:
    """What shows, to end a sentence with, that a policy is hardly better than the random one it was; or nothing."""
    for signal in run.judged:
        exploring = signal.finite
        told = _ceases_to_explore(signal, limit)
        if not told:
            continue
        at_random = reward.value[np.interp(reward.step, exploring.step, exploring.value) > _RANDOM]
        if len(at_random) < limit.min_points // 2:
            continue
        gained = median(reward.value[-(len(reward) // 3) :]) - median(at_random)
        if gained <= limit.better * abs(median(at_random)):
            return *told, ": it does no better than chance"
    return ()


def _ceases_to_explore(signal: Signal, limit: PolicyCollapseLimits) -> Message:
    """How a share of random actions comes down, in words; nothing of any other tag."""
    series = signal.finite
    if not _EXPLORING.fullmatch(signal.tag) or len(series) < limit.min_points:
        return ()
    if not series.value[0] > _RANDOM > _RANDOM**2 > series.value[-1]:
        return ()
    return ", though ", Move.of(signal.tag, series, 0, len(series) - 1, "falls", tags=signal.tags)


def _without_gain(run: Signals, reward: Floats, limit: PolicyCollapseLimits) -> Message:
    """What shows, to end a sentence with, why a policy gains nothing in many points; or nothing."""
    many = run.judged if len(reward) >= 3 * limit.min_rewards else ()
    told = (
        why(signal, reward, limit)
        for signal in many
        if len(signal.finite) >= limit.min_points
        for why in (_of_answers, _of_a_critic)
    )
    return next(filter(None, told), ())


def _of_answers(signal: Signal, reward: Floats, limit: PolicyCollapseLimits) -> Message:
    """What the rewards of a group, and the divergence from a reference, show of a policy that gains nothing."""
    tag, value = signal.tag, signal.finite.value
    if _SPREAD.fullmatch(tag):
        if not value.any():
            return (f"; {tag} is 0 throughout: no answer counts as better than another",)
        late, (first, last) = len(value) // 2, ends(signal)
        varies = sigma(changes(reward[-late:])) > FAR * median(value[-late:])
        if last.value < limit.share * first.value and varies:
            return "; ", Shift.of(first, last, "falls"), ": all answers to a question are alike"
    if _FROM_REFERENCE.fullmatch(tag) and signal.descent.trend > SURE and signal.descent.level[0] >= 0:
        if value.max() < limit.little_kl:
            return (f"; {tag} is never above {value.max():.4g}: the policy hardly leaves the reference",)
        first, last = ends(signal)
        if last.value > limit.much_kl:
            return ", though ", Shift.of(first, last, "rises"), ": the policy changes, and gains nothing"
    return ()


def _of_a_critic(signal: Signal, _: Floats, limit: PolicyCollapseLimits) -> Message:
    """What the loss of a critic, and the weight of the entropy, show of a policy that gains nothing."""
    critic, weight = _CRITIC.fullmatch(signal.tag), _TEMPERATURE.fullmatch(signal.tag)
    if not (critic or weight):
        return ()
    first, last = ends(signal)
    if first.value <= 0 or last.value < 0:
        return ()
    rises = ", while ", Shift.of(first, last, "rises")
    if critic and last.value > limit.times * first.value and signal.descent.trend > SURE:
        return *rises, ": what the policy is told is wrong"
    if weight and last.value > limit.times * first.value:
        return *rises, ": entropy counts more than the reward"
    if weight and last.value < min(_NO_BONUS, first.value):
        return ", while ", Shift.of(first, last, "falls"), ": nothing keeps the policy from one action"
    return ()


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
    series = leaping[0].finite
    highest = Level.of("", series, top, top)
    yield Hit(
        (
            *(f"{tags[0]} is ", highest, ", and "),
            *(Share.since("", series, 0, "above", limit.max_kl), beside(tags[1:])),
            ": after such an update it is another policy",
        ),
        tags,
        step[far],
        {"largest": value[top], "points": len(far)},
        len(far),
        Severity.INFO if len(far) <= _RARE * len(value) and not moves_at(run, int(step[top])) else Severity.WARNING,
    )


def _stops(run: Signals, limit: PolicyCollapseLimits) -> Hits:
    """Find a policy that does not change any more: its KL divergence from one update to the next is nothing."""
    for signal in run.judged:
        if not _KL.fullmatch(signal.tag) or _NO_POLICY.search(signal.tag):
            continue
        series = signal.finite
        value, n = series.value, len(series)
        first = after_last(np.abs(value) > limit.min_kl)
        zeros = n - first
        if zeros < max(limit.min_zeros, n / 2) or not value.any():  # an estimate that is always 0 is not made
            continue
        none = not value[first:].any()
        still = Share.since("", series, first, *(("exactly", 0.0) if none else ("at most", limit.min_kl)))
        words = f"{still.relation} {still.bound:.6g} at the last {zeros} of {n} points"
        yield Hit(
            (f"{signal.tag} is ", still.said(words), ": the policy does not change any more"),
            (signal.tag,),
            series.step[first:],
            {"early": median(np.abs(value[: max(first // 5, 1)])), "late": median(np.abs(value[first:]))},
            zeros,
            Severity.WARNING,
        )


def _one_sided(value: Floats, nearly: float) -> bool:
    """Whether it is the entropy of choices, or a loss made of it; that of densities has both signs."""
    return bool(value.min() >= -nearly or value.max() <= nearly)
