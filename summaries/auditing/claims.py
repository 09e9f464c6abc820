"""Claims: what a finding says of the points of a tag, as data, from which its words are made and which the run proves.

    claim = Move.of("loss", series, low, top, "jumps")
    str(claim)            "loss jumps from 0.1128 at step 40 to 7.034 at step 90"
    claim.holds(series)   whether the points say so, too

A finding's message is made of claims and of words between them. `holds` does not ask how a rule came to a claim: it
reads the points that the words name.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from summaries.robust import median
from summaries.words import counted

if TYPE_CHECKING:
    from summaries.arrays import Floats
    from summaries.reading.series import Series

__all__ = [
    "Claim",
    "Extreme",
    "Level",
    "Lost",
    "Message",
    "Move",
    "NotBetter",
    "Point",
    "Share",
    "Shift",
    "apart",
    "told_apart",
]

_RISING = frozenset(("rises", "jumps", "climbs", "comes back up"))
_DIGITS = 4, 5, 6, 7
_HALF = 0.5
_NOTHING = 0.01  # of a loss: what is no progress
_LAST_DIGIT = 1e-3  # relative: of a number in four digits


class Point(NamedTuple):
    """A point of a curve."""

    step: int
    value: float

    @classmethod
    def of(cls, series: Series, index: int) -> Self:
        """A point of a series, by its index."""
        return cls(int(series.step[index]), float(series.value[index]))

    def is_of(self, series: Series) -> bool:
        """Whether the series has it."""
        return bool((series.value[series.step == self.step] == self.value).any())


@dataclass(frozen=True, eq=False, repr=False)
class Claim:
    """Something that a finding says.

    Attributes:
        name: what the words call the tag; "" where they do not repeat it.
        tags: the tags whose values, added up, prove it.
        run: the run that has them; "" for that of the finding.
    """

    name: str
    tags: tuple[str, ...] = field(default=(), kw_only=True)
    run: str = field(default="", kw_only=True)

    # What dataclasses write for each class takes a millisecond of each start.
    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((type(self), *vars(self).values()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"

    def holds(self, series: Series) -> bool:
        """Whether the finite points that stand, of this tag or of the sum of these tags, say so."""
        return bool(len(series) and self._is_shown_by(series))

    def _is_shown_by(self, series: Series) -> bool:
        raise NotImplementedError  # each kind of claim has its own

    def __str__(self) -> str:
        raise NotImplementedError  # each kind of claim has its own


@dataclass(frozen=True, eq=False, repr=False)
class Move(Claim):
    """The tag goes from one point to a later one: "loss falls from 2.3 at step 0 to 0.1 at step 90"."""

    first: Point
    last: Point
    verb: str

    @classmethod
    def of(cls, name: str, series: Series, first: int, last: int, verb: str, **about: Any) -> Self:
        """The claim about two points of a series, by their indices."""
        return cls(name, Point.of(series, first), Point.of(series, last), verb, **about)

    def _is_shown_by(self, series: Series) -> bool:
        a, b = self.first, self.last
        goes = b.value > a.value if self.verb in _RISING else b.value < a.value
        return goes and a.step <= b.step and len(set(told_apart(a.value, b.value))) > 1 and _both(series, a, b)

    def __str__(self) -> str:
        a, b = told_apart(self.first.value, self.last.value)
        return f"{self.name} {self.verb} from {a} at step {self.first.step} to {b} at step {self.last.step}"


@dataclass(frozen=True, eq=False, repr=False)
class Lost(Move):
    """A fall to an end that is half way back, or further, to where the tag had come from."""

    before: Point

    def _is_shown_by(self, series: Series) -> bool:
        gained, lost = self.first.value - self.before.value, self.first.value - self.last.value
        return super()._is_shown_by(series) and self.before.is_of(series) and lost >= _HALF * gained > 0


@dataclass(frozen=True, eq=False, repr=False)
class Extreme(Claim):
    """The highest point between two steps: "its highest point is 7.1 at step 80"."""

    top: Point
    first: int
    last: int

    def _is_shown_by(self, series: Series) -> bool:
        return bool(self.top.is_of(series) and self.top.value == _part(series, self.first, self.last).max())

    def __str__(self) -> str:
        return f"its highest point is {self.top.value:.4g} at step {self.top.step}"


@dataclass(frozen=True, eq=False, repr=False)
class Jump(Extreme):
    """The highest point of its time, far above what most points before it are: "norm jumps to 90 at step 40"."""

    usual: float

    def _is_shown_by(self, series: Series) -> bool:
        before = series.value[series.step < self.top.step]
        shown = len(before) and super()._is_shown_by(series)  # steps that are all the same have none before
        return bool(shown and median(before) <= self.usual < self.top.value)

    def __str__(self) -> str:
        top, usual = told_apart(self.top.value, self.usual)
        return f"{self.name} jumps to {top} at step {self.top.step}, usually at most {usual}"


@dataclass(frozen=True, eq=False, repr=False)
class Level(Claim):
    """The median of the points from one step to another, both included: "about 4.1 (steps 80-99)"; or a point.

    Attributes:
        value: the median.
        first: the first step.
        last: the last one.
        points: how many there are.
        number: the value in words, with the digits that it needs beside another one.
    """

    value: float
    first: int
    last: int
    points: int
    number: str = ""

    @classmethod
    def of(cls, name: str, series: Series, first: int, last: int, **about: Any) -> Self:
        """The level of the points with the steps of those from one index to another."""
        low, high = int(series.step[first]), int(series.step[last])
        part = _part(series, low, high)
        return cls(name, median(part), low, high, len(part), **about)

    def _is_shown_by(self, series: Series) -> bool:
        part = _part(series, self.first, self.last)
        quoted = abs(float(self._number) - self.value) <= _LAST_DIGIT * abs(self.value)
        return quoted and len(part) == self.points and median(part) == self.value

    @property
    def _number(self) -> str:
        return self.number or f"{self.value:.4g}"

    def __str__(self) -> str:
        if self.points == 1:
            return f"{self._number} at step {self.first}"
        steps = f"step {self.first}" if self.first == self.last else f"steps {self.first}-{self.last}"
        return f"about {self._number} ({steps})"


@dataclass(frozen=True, eq=False, repr=False)
class Shift(Claim):
    """One level is followed by another: "loss falls from 10.4 at step 0 to about 4.1 (steps 80-99)"."""

    before: Level
    after: Level
    verb: str

    @classmethod
    def of(cls, before: Level, after: Level, verb: str) -> Self:
        """The claim about two levels of one tag."""
        return cls(before.name, before, after, verb, tags=before.tags, run=before.run)

    def _is_shown_by(self, series: Series) -> bool:
        a, b = self.before.value, self.after.value
        goes = b > a if self.verb in _RISING else b < a
        differ = len(set(told_apart(a, b))) > 1
        return goes and differ and self.before.first <= self.after.last and _both(series, self.before, self.after)

    def __str__(self) -> str:
        before, after = apart(self.before, self.after)
        return f"{self.name} {self.verb} from {before} to {after}"


@dataclass(frozen=True, eq=False, repr=False)
class NotBetter(Claim):
    """Nothing was learnt: the last tenth of a loss is no lower than its first point or its first tenth, by 1 %."""

    def _is_shown_by(self, series: Series) -> bool:
        tenth = max(len(series) // 10, 1)
        began = min(float(series.value[0]), median(series.value[:tenth]))
        return median(series.value[-tenth:]) >= began - _NOTHING * abs(began)

    def __str__(self) -> str:
        return "nothing was learnt"


@dataclass(frozen=True, eq=False, repr=False)
class Share(Claim):
    """How many points, from a step on, are above a bound, or exactly a value: "above 10 at 3 of 40 points".

    Attributes:
        relation: "above", "below", "exactly" or "at most".
        bound: what the points are compared with.
        count: how many are like that.
        of: how many there are.
        first: the first step.
    """

    relation: str
    bound: float
    count: int
    of: int
    first: int
    text: str = ""

    @classmethod
    def since(cls, name: str, series: Series, first: int, relation: str, bound: float, **about: Any) -> Self:
        """Count the points with the steps from that of index `first` on."""
        step = int(series.step[first])
        part = series.value[series.step >= step]
        return cls(name, relation, bound, _count(part, relation, bound), len(part), step, **about)

    def said(self, text: str) -> Self:
        """The same claim in other words."""
        return replace(self, text=text)

    def _is_shown_by(self, series: Series) -> bool:
        part = series.value[series.step >= self.first]
        return len(part) == self.of and _count(part, self.relation, self.bound) == self.count

    def __str__(self) -> str:
        points = f"all {self.of} points" if self.count == self.of else f"{self.count} of {counted(self.of, 'point')}"
        return self.text or f"{self.relation} {self.bound:.6g} at {points}"


_RELATIONS = {"above": np.greater, "below": np.less, "exactly": np.equal, "at most": np.less_equal}


def _count(values: Floats, relation: str, bound: float) -> int:
    return int(np.count_nonzero(_RELATIONS[relation](values, bound)))


def told_apart(one: float, other: float) -> tuple[str, str]:
    """Two numbers in 4 digits, or in as many as tell them apart, up to 7.

    >>> told_apart(0.15, 0.150004)
    ('0.15', '0.150004')
    """
    pairs = [(f"{one:.{digits}g}", f"{other:.{digits}g}") for digits in _DIGITS]
    return next((pair for pair in pairs if pair[0] != pair[1]), pairs[0])


Message = tuple[str | Claim, ...]
"""What is said: claims, and the words between them."""


def apart(one: Level, other: Level) -> tuple[Level, Level]:
    """Two levels with the digits that tell them apart."""
    numbers = told_apart(one.value, other.value)
    return replace(one, number=numbers[0]), replace(other, number=numbers[1])


def _part(series: Series, first: int, last: int) -> Floats:
    """The values from one step to another, both included."""
    return series.value[(series.step >= first) & (series.step <= last)]


def _both(series: Series, one: Point | Level, other: Point | Level) -> bool:
    return all(part.is_of(series) if isinstance(part, Point) else part.holds(series) for part in (one, other))
