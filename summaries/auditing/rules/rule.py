"""What a rule is: a code, a name, a severity, thresholds, and a function over one run's signals.

A threshold is declared with its range. A configuration must stay within it, so that no rule fails because of it.
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
    """A number that a rule uses, and that a configuration may change.

    Attributes:
        default: the value, unless a configuration changes it.
        low: the lowest allowed value.
        high: the highest allowed value.
        beyond: whether the value must be above `low`, not just at least `low`.
        whole: whether it must be a whole number.
    """

    default: float
    low: float
    high: float = math.inf
    beyond: bool = False
    whole: bool = False

    @property
    def wanted(self) -> str:
        """The allowed values, in words."""
        what = "a whole number" if self.whole else "a number"
        if self.high < math.inf:
            return f"{what} from {self.low:g} to {self.high:g}"
        return f"{what} above {self.low:g}" if self.beyond else f"{what} of at least {self.low:g}"

    def checked(self, value: object) -> float:
        """The value as a number.

        Raises:
            ValueError: the value is not allowed; the message says which are.
        """
        try:
            number = float(value) if isinstance(value, Real) and not isinstance(value, bool) else math.nan
        except OverflowError:  # an integer too large for a float
            number = math.nan
        enough = number > self.low if self.beyond else number >= self.low
        if not (math.isfinite(number) and enough and number <= self.high) or (self.whole and not number.is_integer()):
            raise ValueError(f"must be {self.wanted}, got {value!r}")
        return int(number) if self.whole else number


def above(low: float, default: float) -> Threshold:
    """A threshold above `low`."""
    return Threshold(default, low, beyond=True)


def at_least(low: float, default: float) -> Threshold:
    """A threshold of at least `low`."""
    return Threshold(default, low)


def fraction(default: float) -> Threshold:
    """A threshold from 0 to 1."""
    return Threshold(default, 0, 1)


def whole(default: int, least: int = 1) -> Threshold:
    """A threshold that counts something: a whole number of at least `least`."""
    return Threshold(default, least, whole=True)


@dataclass(frozen=True, slots=True)
class Hit:
    """What the function of a rule found. With the code of the rule and the name of the run, it becomes a `Finding`.

    Attributes:
        message: one sentence, with its numbers.
        tag: the tag that shows it; "" if it is not about a tag.
        steps: the first and the last step; None if it is not about steps.
        evidence: numbers by name.
        count: how often it occurred.
        severity: the severity; None for that of the rule.
        others: other tags that show it, too.
        run: the run that it is about, if that is another rank of the same job; "" for the run that was judged.
    """

    message: str
    tag: str = ""
    steps: tuple[int, int] | None = None
    evidence: Mapping[str, float | int | str] = field(default_factory=dict)
    count: int = 1
    severity: Severity | None = None
    others: tuple[str, ...] = ()
    run: str = ""


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule.

    Attributes:
        code: for example GL402.
        name: for example exploding-norm.
        severity: of its findings, unless a finding has its own.
        thresholds: by name; a configuration may change them.
        check: the function: takes the signals of a run and the thresholds, yields what it found.
        unless: the code of another rule. If that one has a finding for the same tag, this rule reports nothing there.
        needs: what a run must have one of, else the rule finds nothing in it and is not asked: roles of signals, and
            the other names in `Signals.present`. If there are none, the rule judges every run.
    """

    code: str
    name: str
    severity: Severity
    thresholds: Mapping[str, Threshold]
    check: Check
    unless: str = ""
    needs: frozenset[str] = frozenset()

    @property
    def defaults(self) -> Limits:
        """The default thresholds."""
        return {name: threshold.default for name, threshold in self.thresholds.items()}


class Ruleset(dict[str, Rule]):
    """The rules of one family, by code; its method `add` is a decorator that adds a rule.

    Args:
        needs: what a run must have one of for those rules that do not say it themselves; see `Rule.needs`.
    """

    def __init__(self, *needs: str) -> None:
        super().__init__()
        self._needs = needs

    def add(
        self,
        code: str,
        name: str,
        severity: Severity,
        unless: str = "",
        /,
        needs: tuple[str, ...] = (),
        **thresholds: Threshold,
    ) -> Callable[[Check], Check]:
        """Decorate a function: it becomes the check of a new rule."""

        def decorate(check: Check) -> Check:
            self[code] = Rule(code, name, severity, thresholds, check, unless, frozenset(needs or self._needs))
            return check

        return decorate
