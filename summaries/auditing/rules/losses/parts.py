"""GL312: parts of objectives that tell nothing: of latents, of a discriminator, or of a Wasserstein distance."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from summaries.auditing.claims import Level, Share, Shift
from summaries.auditing.findings import Severity
from summaries.auditing.rules.rule import Hit, Hits, Limits, Ruleset, above, proportion, whole
from summaries.auditing.signals.loss_names import words
from summaries.robust import median, since

if TYPE_CHECKING:
    from summaries.auditing.claims import Message
    from summaries.auditing.signals.signals import Signals

__all__ = ["RULES"]

RULES = Ruleset()
_MOST = 0.9  # of the points that are as good as nothing: some batches may be hard
_LATENT = re.compile(r"\b(?:kld?(?: div(?:ergence)?)?(?: loss)?|(?:train|val|loss)? ?kl)\b")
_OPPONENT = re.compile(r"\b(?:d|disc|dis|discriminator|netd)\b.*\bloss\b|\bloss\b.*\b(?:d|disc|discriminator|netd)\b")
_GENERATOR = re.compile(r"\b(?:g|gen|generator|netg)\b.*\bloss\b|\bloss\b.*\b(?:g|gen|generator|netg)\b")
_SPREAD = re.compile(r"\b(?:embeddings?|features?|latents?|z)\b.*\b(?:std|spread|variance|var|rank)\b")
_DISTANCE = re.compile(r"\b(?:wasserstein|w|em|emd|earth mover\w*)\b ?\b(?:dist|distance|estimate)\b")
_FROM_REAL = re.compile(r"\b(?:[fk]id|frechet|energy dist(?:ance)?)\b")
_JUDGED_FAKE = re.compile(r"d g z(?: ?\d)?")
_CODEBOOK = re.compile(r"\b(?:vq|codebook|commit|commitment)\b")
_ONE_CODE = 1.05  # codes
_NARROW = "all embeddings are alike"
_OF_POLICIES = re.compile(r"\b(?:approx|policy|ref|reward|coef|weight|beta|target)\b")


class CollapsedPartLimits(Limits):
    """The thresholds of collapsed-part."""

    left: float = proportion(0.02)  # of its highest point
    nothing: float = proportion(0.02)  # nats: a divergence, or an opponent's loss, that tells nothing
    narrow: float = proportion(0.1)  # of the highest point of a spread
    spread: float = above(0, 0.2)  # of embeddings that are not all alike
    share: float = proportion(0.4)  # of the points, at the end
    negative: float = proportion(0.25)  # of the later estimates of a distance, which none should be
    better: float = proportion(0.15)  # of its first point: all that a distance from what is real comes down
    times: float = above(1, 4.0)  # its lowest point: a distance that is lost again
    min_distances: int = whole(6, 4)  # points of such a distance
    min_points: int = whole(20, 10)  # of a part


@RULES.add("GL312", "collapsed-part", Severity.WARNING, CollapsedPartLimits)
def collapsed_part(run: Signals, limit: CollapsedPartLimits) -> Hits:
    """The divergence of latents, or the loss of one of two opponents, falls to nearly nothing, and stays there."""
    if run.of("reward"):
        return
    for signal in run.judged:
        what = _what(signal.tag)
        if not what:
            continue
        series = signal.finite
        if len(series) < limit.min_points or series.value.min() < 0:
            continue
        value, n = series.value, len(series)
        top = int(np.argmax(value))
        top = 0 if value[0] > limit.narrow * value[top] else top  # a spike later on is not what it falls from
        bound = limit.narrow * value[top] if what == _NARROW else min(limit.left * value[top], limit.nothing)
        first = since(value <= bound, _MOST)
        if n - first < limit.share * n or np.mean(value[first:] <= bound) < _MOST or first <= top:
            continue
        before, after = Level.of(signal.tag, series, top, top), Level.of(signal.tag, series, first, n - 1)
        if what == _NARROW and after.value > limit.spread:  # the first points may be those of a burst
            continue
        fall = Shift.of(before, after, "falls")
        evidence = {"highest": before.value, "late": after.value}
        yield Hit((fall, f": {what}"), (signal.tag,), series.step[first:], evidence)
    yield from _distances(run, limit)
    yield from _far_from_real(run, limit)
    yield from _unused_codes(run, limit)


def _unused_codes(run: Signals, limit: CollapsedPartLimits) -> Hits:
    """The perplexity of a codebook, the number of codes in use, that ends at one."""
    if not any(map(_is_of_a_codebook, run.all)):
        return
    for signal in [one for one in run.judged if "perplexity" in words(one.tag)]:
        series, n = signal.finite, len(signal.finite)
        first = n - int(limit.share * n)
        if n >= limit.min_points and series.value[first:].max() <= _ONE_CODE:
            share = Share.since("", series, first, "at most", _ONE_CODE)
            told = f"{signal.tag} is ", share, " in the end: all is one code, and the others are not in use"
            yield Hit(told, (signal.tag,), series.step[first:], {"late": median(series.value[first:])})
            return


def _far_from_real(run: Signals, limit: CollapsedPartLimits) -> Hits:
    """Fréchet and kernel distances of what is made from what is real, which do not come down, or are lost again."""
    for signal in [one for one in run.judged if _is_from_real(one.tag)]:
        series, n = signal.finite, len(signal.finite)
        if n < limit.min_distances or series.value.min() <= 0:
            continue
        low = int(np.argmin(series.value))
        first, last = Level.of(signal.tag, series, 0, 0), Level.of(signal.tag, series, n - n // 3, n - 1)
        hardly = ("hardly comes", "hardly closer") if last.value < first.value else ("does not come", "no closer")
        if series.value[low] >= (1 - limit.better) * first.value:
            told: Message = (
                *(f"{signal.tag} {hardly[0]} down: ", first, ", then ", last),
                f": by that, what is made is {hardly[1]} to what is real",
            )
        elif last.value >= max(limit.times * series.value[low], first.value / 2):
            lowest = Level.of(signal.tag, series, low, low)
            told = Shift.of(lowest, last, "rises"), ": what was learnt is lost"
        else:
            continue
        yield Hit(told, (signal.tag,), series.step[low:], {"best": float(series.value[low]), "late": last.value})


def _distances(run: Signals, limit: CollapsedPartLimits) -> Hits:
    """Estimates of the Wasserstein distance that are negative, or stay where they were highest."""
    for signal in [one for one in run.judged if _is_distance(one.tag)]:
        series, n = signal.finite, len(signal.finite)
        if n < limit.min_points:
            continue
        late, level = series.value[n // 2 :], signal.descent.level
        first, last = Level.of(signal.tag, series, 0, 0), Level.of(signal.tag, series, n // 2, n - 1)
        if np.mean(late < 0) >= limit.negative:
            below = Share.since("", series, n // 2, "below", 0.0)
            told: Message = (
                *(f"{signal.tag} is ", below, " in the second half: "),
                "the critic takes what is made for what is real",
            )
        elif level[len(level) // 2 :].min() >= (1 - limit.narrow) * level.max() > first.value:
            told = Shift.of(first, last, "rises"), ", and does not come down: the generator comes no closer"
        else:
            continue
        yield Hit(told, (signal.tag,), series.step, {"first": first.value, "late": last.value})


@lru_cache(maxsize=1 << 14)
def _is_from_real(tag: str) -> bool:
    return _FROM_REAL.search(words(tag)) is not None


@lru_cache(maxsize=1 << 14)
def _is_distance(tag: str) -> bool:
    return _DISTANCE.search(words(tag)) is not None


@lru_cache(maxsize=1 << 14)
def _is_of_a_codebook(tag: str) -> bool:
    return _CODEBOOK.search(words(tag)) is not None


@lru_cache(maxsize=1 << 14)
def _what(tag: str) -> str:
    """What it means that this part is nothing; "" for any other tag."""
    text = words(tag)
    if _OF_POLICIES.search(text):
        return ""
    if _OPPONENT.search(text) or _JUDGED_FAKE.fullmatch(text):
        return "the discriminator tells all apart, and the generator learns nothing from it"
    if _GENERATOR.search(text):
        return "the discriminator takes all for real, and does not learn"
    if _SPREAD.search(text):
        return _NARROW
    return "the latents carry nothing" if _LATENT.search(text) else ""
