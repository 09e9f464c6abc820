"""What an audit says: findings, the curves that show them, and the report that holds both.

Everything here is plain data: a run is audited in a process of its own, and what it found travels back as this.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from summaries.auditing.curves import Curve


__all__ = ["Failure", "Finding", "Report", "RunReport", "Severity"]


class Severity(IntEnum):
    """How bad a finding is; larger is worse, so severities compare."""

    INFO = 0
    WARNING = 1
    ERROR = 2


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a rule found in one run; what recurs is one finding with a count.

    Attributes:
        code: the rule's code, as GL402.
        name: the rule's name, as exploding-norm.
        severity: how bad it is.
        run: the run's name.
        tag: the tag that shows it; "" where it is about no tag.
        steps: the first step and the last; None where it is about no steps.
        message: one sentence, with its numbers.
        evidence: numbers by name; the rule's page says what each is.
        count: how often it occurred.
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


@dataclass(frozen=True, slots=True)
class Failure:
    """What could not be audited, so that no rule says anything about it.

    Attributes:
        run: the run's name.
        path: the file or directory that could not be read; "" where the audit of the run came to nothing.
        reason: why.
    """

    run: str
    path: str
    reason: str


@dataclass(frozen=True, slots=True, eq=False)
class RunReport:
    """What was found in one run.

    Attributes:
        name: the run's name: its path below the directory that was audited.
        files: its event files.
        findings: worst first, then by first step.
        curves: what there is to draw.
        points: how many scalars the run has.
        steps: its first step and its last; None where it has no points.
        wall_times: of its first point and its last, in seconds since the epoch; None where it has no points.
        failures: what of it could not be audited.
    """

    name: str
    files: tuple[str, ...]
    findings: tuple[Finding, ...]
    curves: tuple[Curve, ...] = ()
    points: int = 0
    steps: tuple[int, int] | None = None
    wall_times: tuple[float, float] | None = None
    failures: tuple[Failure, ...] = ()

    @property
    def worst(self) -> Severity | None:
        """The severity of its worst finding; None where there is none."""
        return max((finding.severity for finding in self.findings), default=None)


@dataclass(frozen=True, slots=True, eq=False)
class Report:
    """What an audit found.

    Attributes:
        runs: by name, in order.
    """

    runs: tuple[RunReport, ...]

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Those of all runs."""
        return tuple(finding for run in self.runs for finding in run.findings)

    @property
    def failures(self) -> tuple[Failure, ...]:
        """What of all runs could not be audited."""
        return tuple(failure for run in self.runs for failure in run.failures)

    @property
    def worst(self) -> Severity | None:
        """The severity of the worst finding; None where there is none."""
        return max((finding.severity for finding in self.findings), default=None)
