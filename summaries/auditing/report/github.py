"""A report as annotations of a GitHub workflow: one line a finding.

https://docs.github.com/en/actions/reference/workflow-commands-for-github-actions
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from summaries.auditing.finding import Severity
from summaries.auditing.report.text import printable, steps_text

if TYPE_CHECKING:
    from summaries.auditing.finding import Finding, Report

__all__ = ["github"]

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def github(report: Report) -> str:
    """One workflow command a finding, worst first in each run."""
    return "".join(f"{_command(finding)}\n" for finding in report.findings)


def _command(finding: Finding) -> str:
    title = (
        _escaped(f"{finding.code} {finding.name} in {printable(finding.run)}").replace(":", "%3A").replace(",", "%2C")
    )
    where = f" ({steps_text(finding)})" if finding.steps else ""
    return f"::{_COMMANDS[finding.severity]} title={title}::{_escaped(printable(finding.message) + where)}"


def _escaped(text: str) -> str:
    """What a line of commands keeps for itself is written as GitHub's toolkit does."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
