"""GL318: a test that is far worse than the validation: what was validated on is not like other data."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from summaries.auditing.claims import Level
from summaries.auditing.findings import Severity
from summaries.auditing.rules.progress import at_best, shares
from summaries.auditing.rules.rule import Hit, Hits, Limits, Ruleset, above, proportion, whole
from summaries.auditing.signals.loss_names import words
from summaries.auditing.signals.objectives import stem
from summaries.auditing.signals.roles import higher_is_better

if TYPE_CHECKING:
    from summaries.auditing.signals.signals import Signal, Signals

__all__ = ["RULES"]

RULES = Ruleset("validation_loss", "metric")
_TEST, _VALIDATION = re.compile(r"\btest\b"), re.compile(r"\b(?:val|valid|validation|dev|eval)\b")


class TestFarOffLimits(Limits):
    """The thresholds of test-far-off."""

    times: float = above(1, 3.0)  # the validation: a loss, or an error, on the test data
    gap: float = proportion(0.25)  # of the best possible value: between shares, such as accuracies
    min_points: int = whole(4, 3)  # of the validation


@RULES.add("GL318", "test-far-off", Severity.WARNING, TestFarOffLimits)
def test_far_off(run: Signals, limit: TestFarOffLimits) -> Hits:
    """The last test is far worse than all of the late validations that measure the same."""
    measured = [one for one in run.of("validation_loss", "metric") if len(one.finite)]
    validations = {stem(one.tag): one for one in measured if _VALIDATION.search(words(one.tag))}
    of_shares = shares(run)
    for test in [one for one in measured if _TEST.search(words(one.tag))]:
        validation = validations.get(stem(test.tag))
        if validation is None or validation is test or len(validation.finite) < limit.min_points:
            continue
        late = validation.finite.value[-max(len(validation.finite) // 4, 2) :]
        last = float(test.finite.value[-1])
        if test in of_shares:
            is_off = at_best(test) == at_best(validation) and late.min() - last >= limit.gap * at_best(test)
        else:
            is_off = not higher_is_better(test.tag) and late.min() > 0 and last >= limit.times * late.max()
        if is_off:
            yield _hit(test, validation)
            return


def _hit(test: Signal, validation: Signal) -> Hit:
    own, other = (
        Level.of("", one.finite, len(one.finite) - 1, len(one.finite) - 1, tags=one.tags) for one in (test, validation)
    )
    return Hit(
        (
            *(f"{test.tag} is ", own, f", and {validation.tag} ", other),
            ": the data of the validation are not like those of the test, or were seen in the training",
        ),
        (test.tag, validation.tag),
        test.finite.step[-1:],
        {"test": own.value, "validation": other.value},
    )
