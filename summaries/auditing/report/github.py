"""A report as annotations of a GitHub workflow: one line for each finding, folded if a rule has many in a run.

GitHub shows up to ten annotations of each severity for a step of a workflow.

https://docs.github.com/en/actions/reference/workflow-commands-for-github-actions
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from summaries.auditing.findings import Severity
from summaries.auditing.report.folded import folded
from summaries.auditing.report.text import failure_text, steps_text
from summaries.presenting.terminal import printable

if TYPE_CHECKING:
    from summaries.auditing.findings import Finding
    from summaries.auditing.reports import Report

__all__ = ["github"]

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def github(report: Report) -> str:
    """One workflow command for each failure, then for each finding, worst first in each run."""
    failed = (_command("error", "not audited", failure_text(failure)) for failure in report.failures)
    return "".join(
        f"{command}\n"
        for command in (*failed, *(_of_finding(finding) for run in report.runs for finding in folded(run.findings)))
    )


def _of_finding(finding: Finding) -> str:
    where = f" ({steps_text(finding)})" if finding.steps else ""
    title = f"{finding.code} {finding.name} in {printable(finding.run)}"
    return _command(_COMMANDS[finding.severity], title, printable(finding.message) + where)


def _command(command: str, title: str, text: str) -> str:
    title = _escaped(title).replace(":", "%3A").replace(",", "%2C")
    return f"::{command} title={title}::{_escaped(text)}"


def _escaped(text: str) -> str:
    """Escape the characters that have a meaning in workflow commands, like GitHub's toolkit."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
