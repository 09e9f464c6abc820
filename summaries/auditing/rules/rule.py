"""What a rule is: a code, a name, a severity, thresholds, and a function over one run's signals.

A threshold is declared with its range. A configuration must stay within it, so that no rule fails because of it.

    class LossSpikeLimits(Limits):
        sigmas: float = above(0, 8.0)
        min_points: int = whole(30, 20)

    @RULES.add("GL302", "loss-spike", Severity.WARNING, LossSpikeLimits, needs=("loss", "validation_loss"))
    def loss_spike(run: Signals, limit: LossSpikeLimits) -> Hits:
        ...
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import FrozenInstanceError, dataclass, field
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, cast, dataclass_transform

import numpy as np

from summaries.auditing.claims import Claim
from summaries.auditing.findings import Finding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from typing_extensions import TypeVar

    from summaries.arrays import Ints
    from summaries.auditing.claims import Message
    from summaries.auditing.findings import Severity
    from summaries.auditing.signals.signals import Signals

    L = TypeVar("L", bound="Limits", default="Limits")
    Check = Callable[[Signals, L], Iterable["Hit"]]

__all__ = ["Hit", "Hits", "Limits", "Rule", "Ruleset", "Threshold", "above", "at_least", "proportion", "whole"]


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


def above(low: float, default: float) -> float:
    """A threshold above `low`."""
    return cast("float", Threshold(default, low, beyond=True))


def at_least(low: float, default: float) -> float:
    """A threshold of at least `low`."""
    return cast("float", Threshold(default, low))


def proportion(default: float) -> float:
    """A threshold from 0 to 1."""
    return cast("float", Threshold(default, 0, 1))


def whole(default: int, least: int = 1) -> int:
    """A threshold that counts something: a whole number of at least `least`."""
    return cast("int", Threshold(default, least, whole=True))


@dataclass_transform(frozen_default=True)
class Limits:
    """The thresholds of a rule: here none, in a subclass those that it declares by the functions above.

    A subclass is a frozen dataclass to type checkers, and in use. `dataclass` itself would compile methods for each
    rule, and the import of all rules would take a third longer.

    Args:
        **values: those that are not the default.

    >>> class SpikeLimits(Limits):
    ...     sigmas: float = above(0, 8.0)
    >>> SpikeLimits(sigmas=9.0).sigmas, SpikeLimits.thresholds["sigmas"].wanted
    (9.0, 'a number above 0')
    """

    thresholds: ClassVar[Mapping[str, Threshold]] = {}

    def __init_subclass__(cls) -> None:
        cls.thresholds = {name: value for name, value in vars(cls).items() if isinstance(value, Threshold)}

    def __init__(self, **values: float) -> None:
        if unknown := values.keys() - self.thresholds.keys():
            raise TypeError(f"{type(self).__name__} has no threshold {min(unknown)!r}")
        vars(self).update({name: threshold.default for name, threshold in self.thresholds.items()} | values)

    def __setattr__(self, name: str, value: object) -> None:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")


@dataclass(frozen=True, slots=True, eq=False)
class Hit:
    """What the function of a rule found. With the code of the rule and the name of the run, it becomes a `Finding`.

    Attributes:
        message: one sentence, with its numbers: text, or claims with the text between them.
        tags: the tags that show it, the clearest first; empty if it is not about a tag.
        steps: the steps that it is about; the finding has the first and the last. None if it is not about steps.
        evidence: numbers by name, Python's or NumPy's.
        count: how often it occurred.
        severity: if it is worse or more harmless than what the rule usually finds; see `Rule.findings`.
        run: the run that it is about, if that is another rank of the same job; "" for the run that was judged.
    """

    message: str | Message
    tags: Sequence[str] = ()
    steps: Sequence[int] | Ints | None = None
    evidence: Mapping[str, Any] = field(default_factory=dict)
    count: int = 1
    severity: Severity | None = None
    run: str = ""


Hits = Iterator[Hit]
"""What the function of a rule returns."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule.

    Attributes:
        code: for example GL402.
        name: for example exploding-norm.
        severity: of what it usually finds.
        limits: the class of its thresholds; without arguments, it makes the default ones.
        check: the function: takes the signals of a run and the thresholds, yields what it found.
        unless: the function of another rule. If that one has a finding for the tag of a finding, or for one that shows
            it too, this rule does not report it.
        needs: what a run must have one of, else the rule finds nothing in it and is not asked: roles of signals, and
            the other names in `Signals.present`. If there are none, the rule judges every run.
        of_moments: whether it judges moments, or files, and so also the excerpt that a recorded incident is.
        while_written: whether it finds what is normal in a file that is still being written, and is not reported then.
    """

    code: str
    name: str
    severity: Severity
    limits: type[Limits]
    check: Callable[[Signals, Any], Iterable[Hit]]
    unless: Check[Any] | None = None
    needs: frozenset[str] = frozenset()
    of_moments: bool = False
    while_written: bool = False

    @property
    def thresholds(self) -> Mapping[str, Threshold]:
        """By name; a configuration may change them."""
        return self.limits.thresholds

    def findings(self, run: Signals, limits: Limits, severity: Severity | None = None) -> Iterator[Finding]:
        """What the rule finds in a run that has what it needs. Here, and nowhere else, severities are decided.

        Args:
            run: the signals of the run.
            limits: the thresholds.
            severity: that of a configuration, which holds for all; None for that of what was found, or of the rule.
        """
        for hit in self.check(run, limits):
            usual = self.severity if hit.severity is None else hit.severity
            rule = self.code, self.name, usual if severity is None else severity
            tag, *others = hit.tags or ("",)
            steps = None if hit.steps is None else (int(hit.steps[0]), int(hit.steps[-1]))
            evidence = {name: x.item() if isinstance(x, np.generic) else x for name, x in hit.evidence.items()}
            parts = (hit.message,) if isinstance(hit.message, str) else hit.message
            message, claims = "".join(map(str, parts)), tuple(part for part in parts if isinstance(part, Claim))
            yield Finding(*rule, hit.run or run.name, tag, steps, message, evidence, hit.count, tuple(others), claims)


class Ruleset(dict[str, Rule]):
    """The rules of one family, by code; its method `add` is a decorator that adds a rule.

    Args:
        needs: what a run must have one of for those rules that do not say it themselves; see `Rule.needs`.
        of_moments: whether all of these rules judge moments; see `Rule.of_moments`.
    """

    def __init__(self, *needs: str, of_moments: bool = False) -> None:
        super().__init__()
        self._needs, self._of_moments = needs, of_moments

    def add(
        self,
        code: str,
        name: str,
        severity: Severity,
        limits: type[L] | None = None,
        unless: Check[Any] | None = None,
        needs: tuple[str, ...] = (),
        of_moments: bool = False,
        while_written: bool = False,
    ) -> Callable[[Check[L]], Check[L]]:
        """Decorate a function: it becomes the check of a new rule."""

        def decorate(check: Check[L]) -> Check[L]:
            if code in self:
                raise ValueError(f"a rule needs a code of its own, and {code} is {self[code].name}")
            wanted, moments = frozenset(needs or self._needs), of_moments or self._of_moments
            self[code] = Rule(code, name, severity, limits or Limits, check, unless, wanted, moments, while_written)
            return check

        return decorate
