"""GL317: losses that are as high as those of a softmax of a softmax, where nearly all examples are right."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from summaries.auditing.claims import Level
from summaries.auditing.findings import Severity
from summaries.auditing.rules.progress import accuracies, at_best, validations
from summaries.auditing.rules.rule import Hit, Hits, Limits, Ruleset, above, proportion, whole

if TYPE_CHECKING:
    from collections.abc import Iterator

    from summaries.auditing.signals.signals import Signal, Signals

__all__ = ["RULES"]

RULES = Ruleset("loss", "validation_loss")
_EXACT, _MOST = 20, 1e6  # classes: those of more cannot be told from one more or less; of so many, none are asked for


class DoubleSoftmaxLimits(Limits):
    """The thresholds of double-softmax."""

    min_points: int = whole(6, 4)  # of a loss and of its accuracy
    near: float = proportion(0.03)  # nats: of a loss to that of a softmax of a softmax
    times: float = above(1, 1.75)  # what so many right ones cost a model that knows how sure it may be
    classes: int = whole(5, 2)  # of fewer, smoothed labels cost as much


@RULES.add("GL317", "double-softmax", Severity.WARNING, DoubleSoftmaxLimits)
def double_softmax(run: Signals, limit: DoubleSoftmaxLimits) -> Hits:
    """All losses with an accuracy beside them are in the narrow range of a softmax's softmax, where it says."""
    pairs = [(loss, _late(loss), accuracy, _late(accuracy)) for loss, accuracy in _pairs(run, limit.min_points)]
    if not pairs or run.objective is None:
        return
    loss, cost, accuracy, right = pairs[0]
    # Probabilities as logits: of a right answer e to the 1, of k - 1 others e to the 0.
    classes = math.exp(min(cost.value + right.value / at_best(accuracy), math.log(_MOST))) + 1 - math.e
    if not limit.classes - 0.5 <= classes < _MOST / 2:
        return
    classes = round(classes)
    most, about = math.log(math.e + classes - 1), "about " * (classes > _EXACT)
    losses = [run.objective.finite.value, *(one.finite.value for one, *_ in pairs)]
    if any(value.min() < most - 1 - limit.near or value.max() > most + limit.near for value in losses):
        return
    for _, level, beside, share in pairs:
        if not _is_too_dear(level.value, share.value / at_best(beside), most, classes, limit):
            return
    yield Hit(
        (
            *(f"{loss.tag} is ", cost, f" where {accuracy.tag} is ", right),
            f": as a softmax of a softmax costs among {about}{classes} classes, which is never below {most - 1:.4g}",
        ),
        (*loss.tags, accuracy.tag),
        loss.finite.step,
        {"loss": cost.value, "accuracy": right.value, "classes": classes},
    )


def _pairs(run: Signals, fewest: int) -> Iterator[tuple[Signal, Signal]]:
    """Losses and accuracies of the same data: of the training, and others."""
    of_others, enough = validations(run), accuracies(run, fewest)
    for loss in [one for one in (run.objective, *run.of("validation_loss")) if one and len(one.finite) >= fewest]:
        yield from ((loss, one) for one in enough if (one in of_others) is (loss in of_others))


def _late(signal: Signal) -> Level:
    """The level of the second half."""
    n = len(signal.finite)
    return Level.of("", signal.finite, n // 2, n - 1, tags=signal.tags)


def _is_too_dear(cost: float, right: float, most: float, classes: int, limit: DoubleSoftmaxLimits) -> bool:
    """Whether a loss is that of a softmax of a softmax, and far above the entropy of so many right ones."""
    if right <= 0 or abs(most - right - cost) > limit.near:
        return False
    wrong = 1 - right
    usual = -right * math.log(right) - (wrong * math.log(wrong / (classes - 1)) if wrong else 0.0)
    return cost >= limit.times * usual
