"""What an audit says of a run: findings, and what could not be audited.

Everything here is plain data, which can be sent from the process that audits a run.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING

from summaries.words import counted, quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from summaries.auditing.claims import Claim
    from summaries.auditing.curves import Curve
    from summaries.reading.annotations import Note

__all__ = ["AuditInterrupted", "Failure", "Finding", "RunReport", "Severity", "badness", "counts"]

_LONGEST = 200  # characters of a message in a repr


class Severity(IntEnum):
    """How bad a finding is. Larger is worse, so severities can be compared."""

    INFO = 0
    WARNING = 1
    ERROR = 2


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that a rule found in a run. If it recurs, it is one finding with a count.

    Attributes:
        code: the code of the rule, for example GL402.
        name: the name of the rule, for example exploding-norm.
        severity: how bad it is.
        run: the name of the run.
        tag: the tag that shows it; "" if it is not about a tag.
        steps: the first and the last step; None if it is not about steps.
        message: one sentence, with its numbers.
        evidence: numbers by name; the page of the rule explains them.
        count: how often it occurred.
        others: other tags that show it, too.
        claims: what the message says of points, as data that the run proves.
    """

    code: str
    name: str
    severity: Severity
    run: str
    tag: str
    steps: tuple[int, int] | None
    message: str
    evidence: Mapping[str, float | int | str] = field(default_factory=dict)
    count: int = 1
    others: tuple[str, ...] = ()
    claims: tuple[Claim, ...] = ()

    def __repr__(self) -> str:
        parts = [f"{self.code} {self.name}, {self.severity.name}, run={quoted(self.run)}"]
        parts += [f"tag={quoted(self.tag)}"] * bool(self.tag) + [f"steps={self.steps}"] * bool(self.steps)
        parts += [f"{counted(len(self.others), 'other tag')}"] * bool(self.others)
        message = self.message if len(self.message) <= _LONGEST else f"{self.message[:_LONGEST]}…"
        return f"Finding({', '.join(parts)}: {message!r})"


@dataclass(frozen=True, slots=True)
class Failure:
    """Something that could not be audited.

    Attributes:
        run: the name of the run.
        path: the file or directory that could not be read; "" if the audit of the run failed.
        reason: why.
    """

    run: str
    path: str
    reason: str


@dataclass(frozen=True, slots=True, eq=False)
class RunReport:
    """What was found in one run.

    Attributes:
        name: the name of the run: its path below the directory that was audited.
        files: its event files.
        findings: worst first, then by first step.
        curves: its scalars, thinned for drawing.
        points: number of its scalars.
        steps: its first and last step; None if it has no points.
        wall_times: of its first and last point, in seconds since the epoch; None if it has no points.
        failures: what could not be audited.
        logger: the framework that wrote it, judging by its tags or by the configuration; "" if it is unknown.
        main: the tag that stands for it: its main loss, or its reward, or a validation loss; "" if it has none.
        label: what `gradledger label` said of it: "good", "bad" or "".
        notes: what `gradledger note` wrote down, by step.
        unchecked: the codes of the rules that could not judge it, because none of its tags means what they need.
    """

    name: str
    files: tuple[str, ...]
    findings: tuple[Finding, ...]
    curves: tuple[Curve, ...] = ()
    points: int = 0
    steps: tuple[int, int] | None = None
    wall_times: tuple[float, float] | None = None
    failures: tuple[Failure, ...] = ()
    logger: str = ""
    main: str = ""
    label: str = ""
    notes: tuple[Note, ...] = ()
    unchecked: tuple[str, ...] = ()

    def __repr__(self) -> str:
        parts = [quoted(self.name), counts(self.findings) or "nothing found", counted(self.points, "point")]
        parts += [f"steps {self.steps[0]} to {self.steps[1]}"] if self.steps else []
        parts += [f"{counted(len(self.failures), 'part')} not audited"] * bool(self.failures)
        return f"RunReport({', '.join(parts)})"

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the attributes in order: a dataclass with slots takes twice as long by itself."""
        return RunReport, tuple(getattr(self, name) for name in self.__slots__)

    @property
    def worst(self) -> Severity | None:
        """The severity of the worst finding; None if there are no findings."""
        return max((finding.severity for finding in self.findings), default=None)

    @property
    def main_curve(self) -> Curve | None:
        """The curve of `main`; if that is "", the first one of a loss; None if there is none."""
        roles = ("loss", "validation_loss")
        losses = (
            curve
            for role in roles
            for curve in self.curves
            if curve.role == role and len(curve.value) and not self.main
        )
        return next((curve for curve in self.curves if curve.tag == self.main), None) or next(losses, None)


class AuditInterrupted(KeyboardInterrupt):
    """An audit was interrupted.

    Args:
        runs: what is known: the reports of the runs that had been audited. Not those that were under way: also with one
            job, up to 64 small runs may be, because they are judged side by side and done together, all within a
            fraction of a second.
    """

    def __init__(self, runs: Sequence[RunReport]) -> None:
        super().__init__()
        self.runs = runs


def badness(run: RunReport) -> int:
    """The severity of the worst finding in a run; -1 if there is none."""
    return -1 if run.worst is None else int(run.worst)


def counts(findings: Iterable[Finding]) -> str:
    """The number of findings of each severity, in words."""
    names = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
    numbers = Counter(finding.severity for finding in findings)
    return ", ".join(counted(numbers[severity], name) for severity, name in names.items() if numbers[severity])
