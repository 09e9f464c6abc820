"""GL317: losses of a model that is right and cannot say so: a softmax of a softmax, or logits that are too small."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from summaries.auditing.findings import Severity
from summaries.auditing.rules.losses.chance import usual_classes
from summaries.auditing.rules.progress import accuracies, at_best, second_half, validations
from summaries.auditing.rules.rule import Hit, Hits, Limits, Ruleset, above, proportion, whole

if TYPE_CHECKING:
    from collections.abc import Iterator

    from summaries.auditing.claims import Level
    from summaries.auditing.signals.signals import Signal, Signals

__all__ = ["RULES"]

RULES = Ruleset("loss", "validation_loss")
_EXACT, _MOST = 20, 1e6  # classes: those of more cannot be told from one more or less; of so many, none are asked for


class UnderconfidentLimits(Limits):
    """The thresholds of underconfident."""

    min_points: int = whole(6, 4)  # of a loss and of its accuracy
    near: float = proportion(0.03)  # nats: of a loss to that of a softmax of a softmax
    times: float = above(1, 1.75)  # what so many right ones cost a model that knows how sure it may be
    classes: int = whole(5, 2)  # of a softmax of a softmax; of fewer, smoothed labels cost as much
    gained: float = proportion(0.1)  # of the examples, at least: they show how much a right one saves
    saves: float = above(0, 1.5)  # nats for a right one more, at most
    fall: float = proportion(0.1)  # of the loss of guessing, at most


class _Pair(NamedTuple):
    """A loss and an accuracy of the same data, and the levels of their second halves."""

    loss: Signal
    cost: Level
    accuracy: Signal
    right: Level

    @property
    def share(self) -> float:
        """How many are right, of 1."""
        return self.right.value / at_best(self.accuracy)

    @property
    def gained(self) -> float:
        """How many more are right than at first, of 1."""
        return self.share - float(self.accuracy.descent.level[0]) / at_best(self.accuracy)

    @property
    def fell(self) -> float:
        """How much lower the loss is than at first."""
        return float(self.loss.descent.level[0]) - self.cost.value

    def is_too_dear(self, classes: int, times: float) -> bool:
        """Whether the loss is so many times the entropy of so many right ones."""
        wrong = 1 - self.share
        if self.share <= 1 / classes:
            return False
        entropy = -self.share * math.log(self.share) - (wrong * math.log(wrong / (classes - 1)) if wrong else 0.0)
        return self.cost.value >= times * entropy


@RULES.add("GL317", "underconfident", Severity.WARNING, UnderconfidentLimits)
def underconfident(run: Signals, limit: UnderconfidentLimits) -> Hits:
    """Losses are as high as those of a softmax's softmax, or hardly below guessing, where nearly all are right."""
    pairs = list(_pairs(run, limit.min_points))
    why = pairs and run.objective and (_of_guessing(pairs, limit) or _of_a_softmax(run.objective, pairs, limit))
    if why:
        loss, cost, accuracy, right = pairs[0]
        evidence = {"loss": cost.value, "accuracy": right.value}
        told = f"{loss.tag} is ", cost, f" where {accuracy.tag} is ", right, why
        yield Hit(told, (*loss.tags, accuracy.tag), loss.finite.step, evidence)


def _pairs(run: Signals, fewest: int) -> Iterator[_Pair]:
    """Losses and accuracies of the same data: of the training, and others."""
    of_others, enough = validations(run), accuracies(run, fewest)
    for loss in [one for one in (run.objective, *run.of("validation_loss")) if one and len(one.finite) >= fewest]:
        for one in enough:
            if (one in of_others) is (loss in of_others):
                yield _Pair(loss, second_half(loss), one, second_half(one))


def _of_a_softmax(objective: Signal, pairs: list[_Pair], limit: UnderconfidentLimits) -> str:
    """The end of a sentence, if all losses are those of a softmax of a softmax; else ""."""
    # Probabilities as logits: of a right answer e to the 1, of k - 1 others e to the 0.
    estimate = math.exp(min(pairs[0].cost.value + pairs[0].share, math.log(_MOST))) + 1 - math.e
    if not limit.classes - 0.5 <= estimate < _MOST / 2:
        return ""
    classes = round(estimate)
    telling = max(pairs, key=lambda pair: pair.gained)  # other losses save more, also where they are a part of a sum
    if telling.gained < limit.gained or telling.fell > limit.saves * telling.gained:
        return ""
    most, about = math.log(math.e + classes - 1), "about " * (classes > _EXACT)
    losses = [objective.finite.value, *(pair.loss.finite.value for pair in pairs)]
    if any(value.min() < most - 1 - limit.near or value.max() > most + limit.near for value in losses):
        return ""
    for pair in pairs:
        off = abs(most - pair.share - pair.cost.value)
        if off > limit.near or not pair.is_too_dear(classes, limit.times):
            return ""
    return f": as a softmax of a softmax costs among {about}{classes} classes, which is never below {most - 1:.4g}"


def _of_guessing(pairs: list[_Pair], limit: UnderconfidentLimits) -> str:
    """The end of a sentence, if all losses began as guesses among classes do, and hardly fell; else ""."""
    for pair in reversed(pairs):
        first = float(pair.loss.descent.level[0])
        classes = usual_classes(first)
        if not classes or pair.cost.value < (1 - limit.fall) * first or not pair.is_too_dear(classes, limit.times):
            return ""
    return f", and {math.log(classes):.4g} = ln {classes} is guessing among {classes}: it is right, and cannot say so"
