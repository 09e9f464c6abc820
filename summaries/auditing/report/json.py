"""A report as JSON; `report.schema.json` beside this module describes the format."""

from __future__ import annotations

import json as encoder
import math
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from summaries.auditing.findings import Finding, RunReport
    from summaries.auditing.reports import Report

__all__ = ["VERSION", "as_dict", "finding_as_dict", "json"]

VERSION = "1.1"
"""The version of the schema. The first number changes if readers of the previous version would fail."""


def json(report: Report) -> str:
    """The report as one JSON object, followed by a line break."""
    return encoder.dumps(as_dict(report), indent=1, ensure_ascii=True, allow_nan=False) + "\n"


def as_dict(report: Report) -> dict[str, Any]:
    """The report as values that JSON can hold; a number that is not finite becomes "nan", "inf" or "-inf"."""
    return {
        "version": VERSION,
        "tool": {"name": "gradledger", "version": version("gradledger")},
        "findings": [finding_as_dict(finding) for finding in report.findings],
        "failures": [
            {"run": failure.run, "path": failure.path, "reason": failure.reason} for failure in report.failures
        ],
        "runs": [_run(run) for run in report.runs],
    }


def finding_as_dict(finding: Finding) -> dict[str, Any]:
    """A finding as values that JSON can hold."""
    return {
        "code": finding.code,
        "name": finding.name,
        "severity": finding.severity.name.lower(),
        "run": finding.run,
        "tag": finding.tag,
        "others": list(finding.others),
        "steps": list(finding.steps) if finding.steps else None,
        "message": finding.message,
        "evidence": {name: _plain(value) for name, value in finding.evidence.items()},
        "count": finding.count,
    }


def _run(run: RunReport) -> dict[str, Any]:
    return {
        "name": run.name,
        "logger": run.logger,
        "main": run.main,
        "files": list(run.files),
        "points": run.points,
        "steps": list(run.steps) if run.steps else None,
        "wall_times": list(run.wall_times) if run.wall_times else None,
        "complete": not run.failures,
        "worst": run.worst.name.lower() if run.worst is not None else None,
        "tags": {
            curve.tag: {"role": curve.role, "variable": curve.variable, "points": curve.points} for curve in run.curves
        },
    }


def _plain(value: float | str) -> float | int | str:
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        return int(value)
    return float(value) if math.isfinite(value) else str(float(value))
