"""GL311: validations that collapse, or give exactly the same from some point on, while the training goes on."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from summaries.auditing.claims import Claim, Level, Move, Share, Shift
from summaries.auditing.findings import Severity
from summaries.auditing.rules.losses.overfitting import overfitting
from summaries.auditing.rules.progress import (
    accuracies,
    at_best,
    ends,
    rate_is_dead,
    second_half,
    shares,
    validations,
    whole_fall,
)
from summaries.auditing.rules.rule import Hit, Hits, Limits, Ruleset, above, proportion, whole
from summaries.auditing.signals.loss_names import words
from summaries.auditing.signals.objectives import on_the_axis_of, stem, trained_with
from summaries.auditing.signals.roles import higher_is_better
from summaries.auditing.statistics.course import typical
from summaries.auditing.statistics.descent import LEVELS, SURE, Descent
from summaries.robust import after_last, block_medians, changes, median, sigma
from summaries.words import beside, listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from summaries.auditing.claims import Message
    from summaries.auditing.signals.signals import Signal, Signals
    from summaries.reading.series import Series

__all__ = ["RULES"]

RULES = Ruleset("validation_loss", "metric")
_LEVELS, _LAST = 12, 3  # of a metric, and those at the end, which all must be low
_NO_TREND = 2.0  # standard deviations: less is no trend
_PERCENT = 100.0
_AREA, _CHANCE = (
    re.compile(r"(?<!pr)(?<!pr[_-])(?<!prc[_-])(?:(?<![a-z])|roc_?)auc(?![a-z]|[_-]?pr)", re.IGNORECASE),
    0.55,
)  # below a curve; by chance, 0.5
_FINE = re.compile(r"(?:^|[^a-z])(?:ndcg|mrr|m?ap|auc|psnr|ssim|r2|mae|rmse|perplexity)(?:[^a-z]|$)", re.IGNORECASE)
_OF_TOKENS = re.compile(r"\b(?:ppl|perplexity)\b")  # 1 at best
_ALIKE, _STANDS = 2.5, 0.95  # times, at first; of the level before, what is no lower stands
_MOVES = 0.01  # of the level of a training loss: what it moves at least while the training goes on
_SIGMAS = 3.0  # standard deviations of the change from one validation to the next


class ValidationCollapsesLimits(Limits):
    """The thresholds of validation-collapses."""

    lost: float = proportion(0.5)  # of the best level of a metric
    good: float = proportion(0.1)  # of 1, or of 100 %: the best level, at least
    share: float = proportion(0.3)  # of the validations, all the same, at the end
    min_points: int = whole(12, 12)  # of a loss, and of validations that hardly move
    fewest: int = whole(8, 6)  # of a metric, of a validation loss, and of its training loss
    min_same: int = whole(5, 3)  # validations in a row
    trained: float = proportion(0.2)  # of its level: the fall of a training loss
    gained: float = proportion(0.12)  # of that, relative to each one's level: what a validation gains at most
    slipped: float = proportion(0.08)  # of an accuracy's best level, that it loses by a trend
    coin: float = proportion(0.6)  # an accuracy that is never above it has learnt nothing, or little
    few: float = proportion(0.25)  # the same of other metrics, of which half may be much
    gap: float = proportion(0.4)  # between the last accuracy on other data, and that of the training
    kept: float = proportion(0.4)  # of its first point: a validation that ends higher has learnt little
    ahead: float = above(1, 10.0)  # times a training loss in the end: the validation that stands
    times: float = above(1, 10.0)  # the training loss: a validation that is always higher is measured otherwise
    still: float = proportion(0.001)  # of the level, and of what was learnt: all that the last half moves


@RULES.add("GL311", "validation-collapses", Severity.WARNING, ValidationCollapsesLimits, unless=overfitting)
def validation_collapses(run: Signals, limit: ValidationCollapsesLimits) -> Hits:
    """A metric loses half of its best level for good, or validations are exactly the same from some point on."""
    if run.moving_target:
        return
    losses = [_far_above(run, limit)]
    if not losses[0]:
        losses = [_stuck(run, limit), _never_better(run, limit) or _memorized(run, limit)]
    fallen = _lost(run, limit) or _unlearnt(run, limit)
    for found in (fallen or (not any(losses) and _far_below(run, limit)), *losses):
        if found:
            hit, *others = found
            tags = [tag for other in others for tag in other.tags]
            told = hit.message if isinstance(hit.message, tuple) else (hit.message,)
            yield Hit((*told, _likewise(told, tags)), (*hit.tags, *tags), hit.steps, hit.evidence)


def _likewise(told: Sequence[str | Claim], tags: Sequence[str]) -> str:
    """The end of a sentence that says the same of other tags."""
    verb, about = "does" if len(tags) == 1 else "do", next((one for one in told if isinstance(one, Claim)), None)
    if not tags:
        return ""
    if isinstance(about, Share):
        return f"; nor {verb} {listed(tags)} {'change' if about.relation == 'exactly' else 'rise'}"
    if isinstance(about, Level):
        return f"; nor {verb} {listed(tags)}" if " fall" in str(told[0]) else f"; likewise {listed(tags)}"
    return beside(tags, "does")


def _lost(run: Signals, limit: ValidationCollapsesLimits) -> list[Hit]:
    """Metrics of which higher is better, whose level falls from its best by half or more, and stays there."""
    hits = []
    for signal in run.of("metric"):
        series = signal.finite
        if len(series) < limit.fewest or not higher_is_better(signal.tag) or series.value.min() < 0:
            continue
        value = series.value
        level = block_medians(value, _LEVELS)
        best = int(np.argmax(level))
        least = min((1 - limit.lost) * level[best], level[best] - _SIGMAS * sigma(changes(value)))
        was_good = level[best] >= limit.good * (100 if level.max() > 1 else 1)
        if not was_good or len(level) - best <= _LAST or level[-_LAST:].max() > least:
            continue
        end = typical(value, len(value) - 1)
        high = int(np.flatnonzero(value[:end] >= level[best])[-1])
        lost = high + 1 + int(np.argmax(value[high + 1 :] <= least))
        fall = Move.of(signal.tag, series, high, lost, "falls")
        if value[end] <= least:
            hits.append(Hit((fall,), (signal.tag,), series.step[high:], {"best": value[high], "end": value[end]}))
    return hits


def _unlearnt(run: Signals, limit: ValidationCollapsesLimits) -> list[Hit]:
    """Shares such as accuracies that fall by a trend on other data, or stay low while the training learns."""
    hits: list[Hit] = []
    loss = run.objective
    if loss is None or len(loss.finite) < limit.min_points:
        return hits
    learns, on_other_data, of_right_ones = _what_learns(run, limit), validations(run), accuracies(run)
    meanwhile = f", while {learns}" if learns else ""
    for signal in _shares(run, limit):
        series, low = signal.finite, limit.coin if signal in of_right_ones else limit.few
        value, n = series.value, len(series)
        part = 1 if n < 2 * LEVELS else max(n // LEVELS, 3)
        level = Descent(-value).level
        best, jitter = int(np.argmin(level)), signal.descent.jitter
        top = min(best * n // LEVELS, n - part)
        high, last = (Level.of(signal.tag, series, at, at + part - 1) for at in (top, n - part))
        slipped = signal in on_other_data and high.value - last.value > max(
            limit.slipped * high.value, _SIGMAS * jitter
        )
        if slipped and LEVELS - best > _LAST and Descent(level[best:]).trend > SURE:
            falls = Shift.of(high, last, "falls") if part > 1 else Move.of(signal.tag, series, top, n - 1, "falls")
            message: Message = falls, meanwhile
        elif signal in on_other_data and _AREA.search(signal.tag) and value.max() < _CHANCE * at_best(signal):
            message = f"{signal.tag} is ", _never_above(series), ", and chance gives 0.5", meanwhile
        elif not np.ptp(value):  # `_never_another` tells of it
            continue
        elif learns and 0 < value.max() <= low * at_best(signal) and abs(signal.descent.trend) < _NO_TREND:
            message = f"{signal.tag} is ", _never_above(series), meanwhile
        else:
            continue
        hits.append(Hit(message, (signal.tag,), series.step, {"best": high.value, "end": last.value}))
    return hits


def _never_above(series: Series) -> Share:
    """The claim that no point is above the highest one."""
    highest = float(series.value.max())
    return Share.since("", series, 0, "at most", highest).said(f"never above {highest:.6g}")


def _far_below(run: Signals, limit: ValidationCollapsesLimits) -> list[Hit]:
    """Shares on other data that end far below one of the training."""
    found, on_other_data = _shares(run, limit), validations(run)
    of_training = [one for one in found if one not in on_other_data]
    hits = []
    for signal in [one for one in found if one in on_other_data and run.objective is not None]:
        best, last = at_best(signal), _last(signal)
        for other in of_training:
            end = _last(other)
            same = stem(other.tag) == stem(signal.tag) and at_best(other) == best
            if same and end.value - last.value > limit.gap * best:
                told = f"{signal.tag} ends at ", last, f", and {other.tag} at ", end
                evidence = {"end": last.value, "training": end.value}
                hits.append(Hit(told, (signal.tag,), signal.finite.step, evidence))
                break
    return hits


def _shares(run: Signals, limit: ValidationCollapsesLimits) -> list[Signal]:
    """Accuracies and the like, of enough points."""
    many = shares(run, limit.min_same)
    return [one for one in many if _AREA.search(one.tag) or len(one.finite) >= 2 * limit.min_same]


def _last(share: Signal) -> Level:
    """The last level of a share."""
    n = len(share.finite)
    return Level.of("", share.finite, n - max(n // _LAST, 1), n - 1, tags=(share.tag,))


def _what_learns(run: Signals, limit: ValidationCollapsesLimits) -> str:
    """What shows that the training learns: its loss falls by a good part, or an accuracy of it rises by one; or ""."""
    loss, on_other_data = run.objective, validations(run)
    if loss is not None and len(loss.finite) >= limit.min_points and _falls_by(loss.descent, limit.trained):
        return f"{loss.tag} falls"
    for signal in _shares(run, limit):
        if signal not in on_other_data:
            level = signal.descent.level
            enough = max((1 + limit.trained) * level[0], limit.few * at_best(signal))
            if signal.descent.trend > SURE and level[-1] > enough:
                return f"{signal.tag} rises"
    return ""


def _falls_by(curve: Descent, share: float) -> bool:
    """Whether a positive curve falls by a trend, and by more than this share of its first level."""
    return curve.trend < -SURE and curve.level[0] - curve.level[-1] > share * abs(float(curve.level[0]))


def _stuck(run: Signals, limit: ValidationCollapsesLimits) -> list[Hit]:
    """Validations that varied, and then are the same, or nearly: while a training loss varies, or too soon.

    If the training loss is at rest as well, after a small fall, it is the model that does not move.
    """
    hits = []
    fine = [one for one in run.of("metric") if _FINE.search(one.tag) and len(one.finite) >= 2 * limit.min_same]
    for signal in [] if rate_is_dead(run) else [*run.of("validation_loss"), *fine]:
        series = signal.finite
        hit = _same(signal, series, limit) or (None if signal in fine else _still(signal, series, limit))
        if hit is None or hit.steps is None:
            continue
        varies = _what_varies(run, int(hit.steps[0]))
        why = (varies,) if varies else _what_rests(run, int(hit.steps[0]), limit)
        if why:
            hits.append(replace(hit, message=(*hit.message, *why)))
    return hits or _never_another(run, limit)


def _never_another(run: Signals, limit: ValidationCollapsesLimits) -> list[Hit]:
    """Validations, and metrics below their best, that are the same at all points while the training learns."""
    still: dict[str, Series] = {}
    for signal in [*run.of("validation_loss"), *run.of("metric")]:
        value = signal.finite.value
        if len(value) < limit.fewest:
            continue
        first = float(value[0])
        best = (1.0, _PERCENT) if signal.meaning.role == "metric" and higher_is_better(signal.tag) else (0.0,)
        none = first == 0 and len(value) >= limit.min_points  # GL316 tells of it
        if first not in best and not none and (value == first).all():
            still[signal.tag] = signal.finite
    if not still:
        return []
    (tag, *others), series = still, next(iter(still.values()))
    n, at, loss = len(series), float(series.value[0]), run.objective
    learns = _what_learns(run, limit) if n >= 2 * limit.min_same else ""
    if not learns and others and loss is not None and len(loss.finite) >= limit.fewest and loss.descent.trend < -SURE:
        learns = f"{loss.tag} falls"  # by little: several that never change are no chance
    if not learns:
        return []
    all_ = Share.since("", series, 0, "exactly", at).said(f"exactly {at:.6g} at all of its {n} points")
    never = "never changes" if len(others) == 1 else "never change"
    more = f", and {listed(others)} {never} either" if others else ""
    told = f"{tag} is ", all_, f"{more}, while {learns}"
    return [Hit(told, (tag, *others), series.step, {"value": at, "points": n})]


def _never_better(run: Signals, limit: ValidationCollapsesLimits) -> list[Hit]:
    """Validation losses that are never better than the first ones, while their training loss falls by a good part."""
    hits = []
    for signal in run.of("validation_loss"):
        loss = run.trained_with(signal)
        if loss is None or min(len(signal.finite), len(loss.finite)) < limit.fewest:
            continue
        series, own = signal.finite, on_the_axis_of(signal.finite, loss.finite)
        after = Descent(own.value[own.step >= series.step[0]])
        first = float(series.value[: max(len(series) // LEVELS, 1)].min())
        gained = float(series.value[0]) - signal.descent.lowest
        if len(after.values) < limit.fewest or not after.level[0] > 0 or first <= 0:
            continue
        fell = min(1 - after.level[-1] / after.level[0], 1.0)
        falls = _falls_by(after, limit.trained)
        untrained = first > (1 - limit.trained) * after.level[0]
        if falls and untrained and gained < limit.gained * fell * first and np.ptp(series.value):
            low, last = Level.of("", series, 0, 0), second_half(signal)
            how = "hardly falls" if last.value < low.value else "does not fall"
            told = f"{signal.tag} {how}: ", low, ", then ", last, ", while ", whole_fall(loss)
            hits.append(Hit(told, (signal.tag,), series.step, {"first": low.value, "late": last.value}))
    return hits


def _far_above(run: Signals, limit: ValidationCollapsesLimits) -> list[Hit]:
    """Validation losses that are many times their training losses from the first on, and ever more so."""
    hits = []
    for signal in run.of("validation_loss"):
        loss = run.trained_with(signal)
        if loss is None or min(len(signal.finite), len(loss.finite)) < limit.min_same or loss.finite.value.min() <= 0:
            continue
        if _OF_TOKENS.search(words(signal.tag)):
            continue
        series, own = signal.finite, on_the_axis_of(signal.finite, loss.finite)
        ratio = series.value / np.interp(series.step, own.step, own.value)
        part = max(len(series) // LEVELS, 1)
        if ratio.min() >= limit.times and median(ratio[-part:]) > _ALIKE * median(ratio[:part]):
            (first, last), (began, end) = ends(signal), ends(loss)
            told = f"{signal.tag} is ", first, " and ", last, f", {loss.tag} ", began, " and ", end
            why = ": as if it were measured on other inputs, on other targets, or in other units"
            hits.append(Hit((*told, why), (signal.tag,), series.step, {"end": last.value, "training": end.value}))
    return hits


def _memorized(run: Signals, limit: ValidationCollapsesLimits) -> list[Hit]:
    """Validation losses that stand, not far below where they began, while their training loss ends far below them."""
    hits = []
    for signal in run.of("validation_loss"):
        loss = trained_with(signal, run.of("loss"))  # of the same name: others may be measured otherwise
        if loss is None or min(len(signal.finite), len(loss.finite)) < limit.fewest:
            continue
        series, n = signal.finite, len(signal.finite)
        if _OF_TOKENS.search(words(signal.tag)) or min(series.value.min(), loss.finite.value.min()) <= 0:
            continue
        (_, last), (began, end) = ends(signal), ends(loss)
        first, before = float(series.value[0]), median(series.value[n // 2 : 3 * n // 4])
        alike = 1 / _ALIKE < first / began.value < _ALIKE and last.value > limit.kept * first and np.ptp(series.value)
        fall = Shift.of(began, end, "falls")
        stands = last.value > max(_STANDS * before, limit.ahead * end.value)
        if alike and stands and fall.holds(loss.finite):
            told = f"{signal.tag} is ", second_half(signal), ", while ", fall
            evidence = {"end": last.value, "training": end.value}
            known = [one for one in accuracies(run) if one in validations(run)]
            right = any(median(one.finite.value[len(one.finite) // 2 :]) > limit.coin * at_best(one) for one in known)
            why = "" if right else ": little of it holds for other data"  # it is right, and too sure
            hits.append(Hit((*told, why), (signal.tag,), series.step, evidence))
    return hits


def _same(signal: Signal, series: Series, limit: ValidationCollapsesLimits) -> Hit | None:
    """Find validations that are the same to the last digit."""
    first = _last_change(signal)
    same = len(series) - first
    least = limit.min_same if signal.meaning.role == "validation_loss" else 2 * limit.min_same
    if not first or same < max(least, limit.share * len(series)) or series.value[-1] in (0.0, 1.0, _PERCENT):
        return None
    all_ = Share.since("", series, first, "exactly", float(series.value[-1]))
    words_ = f"exactly {series.value[-1]:.6g} at its last {same} of {len(series)} points"
    message = f"{signal.tag} is ", all_.said(words_)
    return Hit(message, (signal.tag,), series.step[first:], {"value": series.value[-1], "points": same})


def _still(signal: Signal, series: Series, limit: ValidationCollapsesLimits) -> Hit | None:
    """Find validations that came down and then hardly move, for half of the run: without any noise."""
    value, n = series.value, len(series)
    late = value[n // 2 :]
    moved = np.ptp(value[: n // 2 + 1]) if n else 0.0
    if n < limit.min_points or not 0 < np.ptp(late) < limit.still * min(moved, abs(value[-1])):
        return None
    first = after_last(np.abs(value - value[-1]) > limit.still * abs(value[-1]))
    if not first:  # it never was away
        return None
    low, last = (Level.of("", series, at, at) for at in (first, n - 1))
    return Hit(
        (f"{signal.tag} hardly moves in its last {n - first} of {n} points: ", low, ", then ", last),
        (signal.tag,),
        series.step[first:],
        {"value": value[-1], "points": n - first},
    )


def _last_change(signal: Signal) -> int:
    """The index from which on all values are the last one; 0 if they always were, or there are none."""
    return after_last(np.diff(signal.finite.value) != 0)


def _what_varies(run: Signals, step: int) -> str:
    """What a training loss does that has several values from a step on, which differ visibly; "" if all settled."""
    for signal in run.of("loss"):
        rest = signal.finite.value[signal.finite.step > step]
        if len(np.unique(rest)) > 2 and np.ptp(rest) > _MOVES * abs(median(rest)):  # noqa: PLR2004 - and a last one
            falls = Descent(rest).trend < -SURE
            return f", while {signal.tag} still falls" if falls else f"; nor does {signal.tag} fall any more"
    return ""


def _what_rests(run: Signals, step: int, limit: ValidationCollapsesLimits) -> Message:
    """The training loss, in words, if it came down by little and has no trend from an early step on; or nothing."""
    loss = run.objective
    if loss is None or len(loss.finite) < 2 * limit.min_same or loss.finite.value.min() <= 0:
        return ()
    series, n = loss.finite, len(loss.finite)
    since = int(np.searchsorted(series.step, step))
    if 2 * since > n:
        return ()
    first, rest = (Level.of(loss.tag, series, at, to, tags=loss.tags) for at, to in ((0, 0), (since, n - 1)))
    falls = Shift.of(first, rest, "falls")
    late = series.value[since:]
    fell = 1 - falls.after.value / falls.before.value
    if not 0 < fell < limit.trained or np.ptp(late) > _MOVES * falls.after.value:
        return ()
    return ", and ", falls, " and rests there: the model does not move any more"
