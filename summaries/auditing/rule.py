"""What a rule is: a code, a name, a severity, thresholds, and a function over one run's signals."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from summaries.auditing.finding import Severity
    from summaries.auditing.signals import Signals

    Limits = Mapping[str, float]
    Check = Callable[[Signals, Limits], Iterable["Hit"]]

__all__ = ["Hit", "Rule", "Ruleset"]


@dataclass(frozen=True, slots=True)
class Hit:
    """What a rule's function says it found; with the rule's code and the run's name it is a `Finding`.

    Attributes:
        message: one sentence, with its numbers.
        tag: the tag that shows it.
        steps: the first step and the last.
        evidence: numbers by name.
        count: how often it occurred.
        severity: where it is another than the rule's.
    """

    message: str
    tag: str = ""
    steps: tuple[int, int] | None = None
    evidence: Mapping[str, float | int | str] = field(default_factory=dict)
    count: int = 1
    severity: Severity | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule.

    Attributes:
        code: as GL402.
        name: as exploding-norm.
        severity: of its findings, where a finding does not say another.
        thresholds: by name, with their defaults; a configuration may change them.
        check: the function: what a run's signals show, given the thresholds.
    """

    code: str
    name: str
    severity: Severity
    thresholds: Mapping[str, float]
    check: Check


class Ruleset(dict[str, Rule]):
    """Rules by code; as a decorator's factory it takes in the rules of one family."""

    def add(self, code: str, name: str, severity: Severity, **thresholds: float) -> Callable[[Check], Check]:
        """A decorator that makes a function the check of a new rule."""

        def decorate(check: Check) -> Check:
            self[code] = Rule(code, name, severity, thresholds, check)
            return check

        return decorate
