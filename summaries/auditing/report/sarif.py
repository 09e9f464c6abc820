"""A report as SARIF 2.1.0, which code hosts and editors can read.

https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import summaries
from summaries.auditing.findings import Severity
from summaries.auditing.report.json import finding_as_dict
from summaries.auditing.report.text import failure_text, steps_text
from summaries.auditing.rules import RULES
from summaries.auditing.rules.handbook import page
from summaries.presenting.terminal import printable

if TYPE_CHECKING:
    from summaries.auditing.findings import Finding
    from summaries.auditing.reports import Report

__all__ = ["sarif"]

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def sarif(report: Report) -> str:
    """The report as one SARIF log; its only run is the audit."""
    codes = sorted({finding.code for finding in report.findings})
    files = {run.name: run.files for run in report.runs}
    driver = {"name": "gradledger", "version": summaries.__version__, "rules": [_rule(code) for code in codes]}
    results = [
        _result(finding, codes.index(finding.code), files[finding.run], finding_as_dict(finding)["evidence"])
        for finding in report.findings
    ]
    run = {"tool": {"driver": driver}, "invocations": [_invocation(report)], "results": results}
    log = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(log, indent=1, allow_nan=False) + "\n"


def _invocation(report: Report) -> dict[str, Any]:
    """Whether everything could be audited, and what could not."""
    notes = [
        {
            "level": "error",
            "message": {"text": failure_text(failure)},
            **({"locations": [_place(failure.path)]} if failure.path else {}),
        }
        for failure in report.failures
    ]
    return {"executionSuccessful": not notes, "toolExecutionNotifications": notes}


def _place(path: str) -> dict[str, Any]:
    scheme, separator, path = path.replace("\\", "/").rpartition("://")
    uri = quote(scheme, safe="/:+", errors="replace") + separator + quote(path, errors="replace")
    return {"physicalLocation": {"artifactLocation": {"uri": uri}}}


def _rule(code: str) -> dict[str, Any]:
    rule = RULES[code]
    return {
        "id": code,
        "name": rule.name,
        "shortDescription": {"text": (rule.check.__doc__ or rule.name).strip()},
        "help": {"text": page(code), "markdown": page(code)},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
    }


def _result(finding: Finding, index: int, files: tuple[str, ...], evidence: dict[str, Any]) -> dict[str, Any]:
    where = f" ({steps_text(finding)})" if finding.steps else ""
    path = str(finding.evidence.get("file", "")) or (files[0] if files else finding.run)
    location = {
        **_place(path),
        "logicalLocations": [
            {
                "name": printable(finding.tag or finding.run),
                "fullyQualifiedName": printable(f"{finding.run}:{finding.tag}"),
            }
        ],
    }
    return {
        "ruleId": finding.code,
        "ruleIndex": index,
        "level": _LEVELS[finding.severity],
        "message": {"text": printable(finding.message) + where},
        "locations": [location],
        "occurrenceCount": finding.count,
        "partialFingerprints": {"finding/v1": f"{finding.code}:{finding.run}:{finding.tag}"},
        "properties": {"run": finding.run, "tag": finding.tag, "steps": finding.steps, "evidence": evidence},
    }
