"""GL309: a classifier that has hardly left what guessing gives: its loss ends near the logarithm of the classes."""

from __future__ import annotations

import math
import re
from bisect import bisect
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from summaries.auditing.claims import Level, Share
from summaries.auditing.findings import Severity
from summaries.auditing.rules.losses.not_decreasing import loss_not_decreasing
from summaries.auditing.rules.losses.waves import period_of_waves
from summaries.auditing.rules.progress import (
    accuracies,
    at_best,
    ends,
    is_early,
    rate_in_words,
    second_half,
    validations,
    whole_fall,
)
from summaries.auditing.rules.rule import Hit, Hits, Limits, Ruleset, proportion, whole
from summaries.auditing.signals.loss_names import is_plain, words
from summaries.auditing.statistics.course import bend
from summaries.auditing.statistics.descent import LEVELS, SURE, Descent
from summaries.robust import median

if TYPE_CHECKING:
    from summaries.arrays import Floats
    from summaries.auditing.signals.signals import Signal, Signals

__all__ = ["RULES"]

RULES = Ruleset("loss")
_USUAL = 2, 3, 4, 5, 10, 20, 100, 128, 200, 256, 1000, 10_000, 30_522, 32_000, 50_257, 50_304, 65_536, 128_256, 151_936
"""Numbers of classes, and of tokens, that data sets and tokenizers have."""
_LOGARITHMS = [math.log(classes) for classes in _USUAL]
_STRICTER = 2.5  # times, of an accuracy where only the end suggests the number of classes
_LOW = 0.5  # an accuracy that may be that of guessing
_CLASSIFIES = re.compile(r"\b(?:cls|class|classes|classification|classifier|ce|cross ?entropy|xent)\b")
_AGREEMENT = re.compile(r"\b(?:r ?2|r squared|kappa|mcc|spearman\w*|pearson\w*)\b")  # 1 at best, 0 by chance
_LEAST, _HALF = 0.7, 0.35  # times an accuracy of chance: what is lower guesses among more, or does not guess
_HARDLY = 0.01  # of the first level: a fall that is none
_RIGHT = 0.75  # of the examples: whatever it costs, that is no guess
_STRAIGHT = 0.5  # of the slope of the first half: a curve whose second half falls as fast has only begun


class GuessingLimits(Limits):
    """The thresholds of guessing."""

    near: float = proportion(0.05)  # of the logarithm of the classes: the first level
    fall: float = proportion(0.1)  # of the first level, at most
    chance: float = proportion(0.5)  # of 1 / classes, by which an accuracy may be above it
    at: float = proportion(0.015)  # of the logarithm of the classes: all levels of a part of the objective
    agrees: float = proportion(0.1)  # of 1: an agreement, such as R², that is never higher, and in the end half of it
    min_points: int = whole(20, 10)  # of a loss
    min_sure: int = whole(8, 8)  # of a loss beside accuracies at chance, and of an agreement


@RULES.add("GL309", "guessing", Severity.WARNING, GuessingLimits, unless=loss_not_decreasing)
def guessing(run: Signals, limit: GuessingLimits) -> Hits:
    """The loss hardly falls from where guessing among the classes starts, or ends there, with an accuracy to match."""
    signal = run.objective
    if signal is None or len(signal.finite) < limit.min_sure or run.concurrent_files:
        return
    finds = (_hardly_falls, _guesses_elsewhere, _like_the_mean, _one_of_two, _part, _nothing_moves)
    found = [hit for hit in (next(find(run, signal, limit), None) for find in finds) if hit is not None]
    if found and not is_early(run, signal.finite):
        yield min(found, key=lambda hit: hit.severity is Severity.INFO)


def _hardly_falls(run: Signals, signal: Signal, limit: GuessingLimits) -> Hits:
    """The loss that is trained."""
    series, curve = signal.finite, signal.descent
    start, end = float(curve.level[0]), float(curve.level[-1])
    if any(_end(one.finite.value) > _RIGHT * at_best(one) for one in accuracies(run)):  # GL317 tells of it
        return
    classes, about = usual_classes(start, limit.near), ""
    if not classes or not -limit.near * start <= start - end <= limit.fall * start:
        classes = _classes_at_the_end(run, curve, limit, of_training=True)
        about = _about(classes)
    if not classes:
        return
    sure = _at_chance(run, classes, limit.chance, of_training=True)
    falls = curve.trend <= -SURE
    short = falls and len(series) < limit.min_points and start - end > _HARDLY * start  # it may only have begun
    slow = falls and not short and curve.straightness >= _STRAIGHT
    if not (sure or slow) or period_of_waves(run, series):  # whose levels say where a wave ends: GL314 tells of them
        return
    fall = whole_fall(signal)
    first, last = fall.before, fall.after
    if not first.value > last.value:
        return
    hump = signal.descent.level.max() - first.value > first.value - last.value
    yield Hit(
        (
            *((f"{signal.tag} comes to ", last) if hump else (fall,)),
            f", and {math.log(classes):.4g} = ln {classes} is guessing among {about}{classes}{rate_in_words(run)}",
        ),
        signal.tags,
        series.step,
        {"first": first.value, "last": last.value, "classes": classes},
        severity=None if sure and not (_begins(curve) or short) else Severity.INFO,
    )


def _guesses_elsewhere(run: Signals, objective: Signal, limit: GuessingLimits) -> Hits:
    """Losses that end where guessing does, as their accuracies do: of the training, or on other data."""
    known, of_others = accuracies(run), validations(run)
    several = any(one in of_others for one in known)
    for signal in (objective, *run.of("validation_loss")) if known else ():
        series, n = signal.finite, len(signal.finite)
        own = signal is objective
        if own and (run.objective is None or signal.descent.trend <= -SURE or _begins(signal.descent)):
            continue
        classes = _classes_at_the_end(run, signal.descent, limit, of_training=own) if n >= limit.min_sure else 0
        if not classes:
            continue
        level, chance = second_half(signal), f"{math.log(classes):.4g} = ln {classes}"
        none = "no accuracy of the training" if own and several else "no accuracy"
        yield Hit(
            (
                *(f"{signal.tag} is ", level, f", and {none} is better than chance: "),
                f"{chance} is guessing among {_about(classes)}{classes}",
            ),
            signal.tags,
            series.step[n // 2 :],
            {"last": level.value, "classes": classes},
        )


def _part(run: Signals, _: Signal, limit: GuessingLimits) -> Hits:
    """A part of the objective that classifies, and is throughout where guessing among a usual number of classes is."""
    for signal in run.of("loss"):
        series = signal.finite
        if len(series) < limit.min_points or not _classifies(signal.tag):
            continue
        level = signal.descent.level
        classes = usual_classes(median(level), limit.near)
        off = np.abs(level - math.log(classes)).max() if classes else np.inf
        if off <= limit.at * math.log(max(classes, 1)) and signal.descent.trend > -SURE:
            whole = Level.of("", series, 0, len(series) - 1)
            yield Hit(
                (
                    *(f"{signal.tag} is ", whole, " throughout, and "),
                    f"{math.log(classes):.4g} = ln {classes} is guessing among {classes}{rate_in_words(run)}",
                ),
                signal.tags,
                series.step,
                {"last": whole.value, "classes": classes},
            )


@lru_cache(maxsize=1 << 14)
def _classifies(tag: str) -> bool:
    return _CLASSIFIES.search(words(tag)) is not None


def _nothing_moves(run: Signals, signal: Signal, limit: GuessingLimits) -> Hits:
    """Low accuracies that never change, and a loss that stays above that of guessing with such an accuracy."""
    rest, series, n = accuracies(run, LEVELS), signal.finite, len(signal.finite)
    of_classes = is_plain(signal.tag) or _classifies(signal.tag)
    moves = any(abs(one.descent.trend) >= SURE or one.finite.value.min() <= 0 for one in rest)
    if not of_classes or not rest or n < LEVELS or moves:
        return
    highest = max(_end(one.finite.value) / at_best(one) for one in rest)
    late = median(series.value[n // 2 :])
    stands = signal.descent.since(1 / 2).trend > -SURE
    if highest < _LOW and late >= (1 + limit.near) * math.log(1 / highest) and stands:
        level, accuracy = second_half(signal), rest[0].finite
        share = Level.of("", accuracy, 0, len(accuracy) - 1, tags=(rest[0].tag,))
        yield Hit(
            (
                *(f"{signal.tag} is ", level, f"; {rest[0].tag} stays at "),
                *(share, f": nothing more is learnt{rate_in_words(run)}"),
            ),
            (*signal.tags, rest[0].tag),
            series.step[n // 2 :],
            {"last": level.value, "accuracy": share.value},
        )


def _like_the_mean(run: Signals, _: Signal, limit: GuessingLimits) -> Hits:
    """Measures of agreement, such as R², that are about 0 or below: telling the mean of all would do as well."""
    for signal in run.of("metric"):
        series, n = signal.finite, len(signal.finite)
        if n < limit.min_sure or not _AGREEMENT.search(words(signal.tag)):
            continue
        late = ends(signal)[1]
        if series.value.max() <= limit.agrees and median(series.value[n // 2 :]) <= limit.agrees / 2:
            highest = float(series.value.max())
            never = Share.since("", series, 0, "at most", highest).said(f"never above {highest:.4g}")
            how = "better" if highest < -limit.agrees / 2 else "as well"
            yield Hit(
                (f"{signal.tag} is ", never, ", and ", late, f": the mean would do {how}"),
                (signal.tag,),
                series.step,
                {"best": highest, "last": late.value},
            )


def _one_of_two(run: Signals, _: Signal, limit: GuessingLimits) -> Hits:
    """A validation loss that is the entropy of two shares, beside an accuracy that stays at the larger of them."""
    known, of_others = accuracies(run, limit.min_sure), validations(run)
    known = [one for one in known if one in of_others]
    for signal in run.of("validation_loss") if known else ():
        series, n = signal.finite, len(signal.finite)
        for accuracy in known:
            late = accuracy.finite.value[len(accuracy.finite) // 4 :]  # what learns comes to a share, and passes others
            share = float(late[-1]) / at_best(accuracy)
            if n < limit.min_sure or np.ptp(late) or not _LOW < share < 1:
                continue
            level = second_half(signal)
            entropy = -share * math.log(share) - (1 - share) * math.log(1 - share)
            if abs(level.value - entropy) <= limit.at * entropy:
                stays = Share.since("", accuracy.finite, len(accuracy.finite) // 4, "exactly", float(late[-1]))
                stays = replace(stays, tags=(accuracy.tag,)).said(f"{late[-1]:.4g}")
                told = f"{signal.tag} is ", level, f", and {accuracy.tag} stays at ", stays
                cost = f": {entropy:.4g} is what it costs to tell the larger of two classes of everything"
                yield Hit((*told, cost), (signal.tag, accuracy.tag), series.step[n // 2 :], {"last": level.value})


def _about(classes: int) -> str:
    """What is said before a number of classes: noise moves the end of a curve from one number to the next."""
    return "" if classes in _USUAL else "about "


def _begins(curve: Descent) -> bool:
    """Whether a curve falls faster at its end: below all before it, by more than their error."""
    fell = float(curve.level[:-1].min() - curve.level[-1])
    return fell > SURE * bend(curve.level[:-1]) and curve.straightness > 1 / _STRAIGHT


def usual_classes(level: float, near: float = GuessingLimits.thresholds["near"].default) -> int:
    """The usual number of classes that guessing at this loss suggests; 0 if there is none."""
    above = bisect(_LOGARITHMS, level)
    beside = range(max(above - 1, 0), min(above + 1, len(_USUAL)))
    nearest = min(beside, key=lambda i: abs(_LOGARITHMS[i] - level))
    return _USUAL[nearest] if abs(_LOGARITHMS[nearest] - level) <= near * _LOGARITHMS[nearest] else 0


def _classes_at_the_end(run: Signals, curve: Descent, limit: GuessingLimits, *, of_training: bool = False) -> int:
    """The number of classes among which guessing gives a curve's last level and the accuracy; 0 if there is none."""
    if not accuracies(run):  # as in most runs
        return 0
    late = curve.since(1 / 2)
    end = median(late.level)
    some = round(math.exp(end)) if 0 < end < math.log(_USUAL[-1]) else 0
    classes = usual_classes(float(late.level[-1]), limit.at) or some
    near = classes > 1 and abs(math.log(classes) - end) <= limit.near * end
    rests = late.trend > -SURE or late.level[0] - late.level[-1] <= _HARDLY * end
    rests = rests and np.ptp(late.level) <= 2 * limit.near * end  # it does not pass by
    chance = limit.chance / _STRICTER
    return classes if near and rests and _at_chance(run, classes, chance, of_training=of_training) else 0


def _at_chance(run: Signals, classes: int, chance: float, *, of_training: bool = False) -> bool:
    """Whether accuracies are logged, and all of them end as guesses would: those of a training, if it has any.

    They are not below chance where it is a training's, or where no data set has that number of classes.
    """
    of_others = validations(run)
    own = [one for one in accuracies(run) if one not in of_others] if of_training else []
    ends = [_end(one.finite.value) / at_best(one) for one in own or accuracies(run)]
    least = _LEAST if own else _HALF if classes not in _USUAL else 0.0
    return bool(ends) and least / classes <= max(ends) <= (1 + chance) / classes


def _end(value: Floats) -> float:
    """The level at the end of n ≥ 1 values: of their second half, if that has no trend, else of the last tenth."""
    late = value[len(value) // 2 :]
    settled = len(late) >= LEVELS and abs(Descent(late).trend) < SURE
    return median(late if settled else value[-max(len(value) // 10, 1) :])
