"""What a rule is: a code, a name, a severity, thresholds, and a function over one run's signals.

A threshold is declared with its range, which a configuration is held to: within it, no rule fails for its sake.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from numbers import Real
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from summaries.auditing.findings import Severity
    from summaries.auditing.signals.signals import Signals

    Limits = Mapping[str, float]
    Check = Callable[[Signals, Limits], Iterable["Hit"]]

__all__ = ["Hit", "Rule", "Ruleset", "Threshold", "above", "at_least", "fraction", "whole"]


@dataclass(frozen=True, slots=True)
class Threshold:
    """A number that a rule goes by, and that a configuration may change.

    Attributes:
        default: what it is, where no configuration says another.
        low: the least that it may be.
        high: the most.
        beyond: whether `low` itself is too little.
        whole: whether it is a whole number.
    """

    default: float
    low: float
    high: float = math.inf
    beyond: bool = False
    whole: bool = False

    @property
    def wanted(self) -> str:
        """What it may be, in words."""
        what = "a whole number" if self.whole else "a number"
        if self.high < math.inf:
            return f"{what} from {self.low:g} to {self.high:g}"
        return f"{what} above {self.low:g}" if self.beyond else f"{what} of at least {self.low:g}"

    def checked(self, value: object) -> float:
        """The value, as a number.

        Raises:
            ValueError: it may not be this; the message says what it may be.
        """
        try:
            number = float(value) if isinstance(value, Real) and not isinstance(value, bool) else math.nan
        except OverflowError:  # a whole number beyond all floats
            number = math.nan
        enough = number > self.low if self.beyond else number >= self.low
        if not (math.isfinite(number) and enough and number <= self.high) or (self.whole and not number.is_integer()):
            raise ValueError(f"must be {self.wanted}, got {value!r}")
        return int(number) if self.whole else number


def above(low: float, default: float) -> Threshold:
    """A threshold that is larger than `low`."""
    return Threshold(default, low, beyond=True)


def at_least(low: float, default: float) -> Threshold:
    """A threshold that is not less than `low`."""
    return Threshold(default, low)


def fraction(default: float) -> Threshold:
    """A part of a whole."""
    return Threshold(default, 0, 1)


def whole(default: int, least: int = 1) -> Threshold:
    """A number of things."""
    return Threshold(default, least, whole=True)


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
        thresholds: by name; a configuration may change them.
        check: the function: what a run's signals show, given the thresholds.
        unless: the code of a rule whose finding of the same tag says more: where there is one, this one says nothing.
    """

    code: str
    name: str
    severity: Severity
    thresholds: Mapping[str, Threshold]
    check: Check
    unless: str = ""

    @property
    def defaults(self) -> Limits:
        """The thresholds where no configuration says others."""
        return {name: threshold.default for name, threshold in self.thresholds.items()}


class Ruleset(dict[str, Rule]):
    """Rules by code; as a decorator's factory it takes in the rules of one family."""

    def add(
        self, code: str, name: str, severity: Severity, unless: str = "", /, **thresholds: Threshold
    ) -> Callable[[Check], Check]:
        """A decorator that makes a function the check of a new rule."""

        def decorate(check: Check) -> Check:
            self[code] = Rule(code, name, severity, thresholds, check, unless)
            return check

        return decorate
