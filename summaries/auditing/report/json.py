"""A report as JSON; `report.schema.json` beside this module describes the format."""

from __future__ import annotations

import json as encoder
import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import summaries

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from summaries.auditing.claims import Claim
    from summaries.auditing.findings import Finding, RunReport
    from summaries.auditing.reports import Report

__all__ = ["VERSION", "finding_as_dict", "json", "parts"]

VERSION = "1.3"
"""The version of the schema. The first number changes if readers of the previous version would fail."""


def json(report: Report) -> str:
    """The report as one JSON object, a line for each finding and run; what is not finite is "nan", "inf" or "-inf"."""
    return "".join(parts(report))


def parts(report: Report) -> Iterator[str]:
    """The same, piece by piece: of very many runs, the whole is never in memory."""
    lists: dict[str, Iterable[dict[str, Any]]] = {
        "findings": (finding_as_dict(finding) for run in report.runs for finding in run.findings),
        "failures": (
            {"run": failure.run, "path": failure.path, "reason": failure.reason} for failure in report.failures
        ),
        "runs": map(_run, report.runs),
    }
    head = {"version": VERSION, "tool": {"name": "gradledger", "version": summaries.__version__}}
    yield _dumped(head).removesuffix("}")
    for name, items in lists.items():
        yield f',\n "{name}": ['
        end = "]"
        for number, item in enumerate(items):
            yield ("," if number else "") + "\n  " + _dumped(item)
            end = "\n ]"
        yield end
    yield "\n}\n"


def _dumped(value: dict[str, Any]) -> str:
    return encoder.dumps(value, ensure_ascii=True, allow_nan=False)


def finding_as_dict(finding: Finding) -> dict[str, Any]:
    """A finding as values that JSON can hold."""
    return {
        "code": finding.code,
        "name": finding.name,
        "severity": finding.severity.name.lower(),
        "run": finding.run,
        "tag": finding.tag,
        "others": list(finding.others),
        "steps": [int(step) for step in finding.steps] if finding.steps else None,
        "message": finding.message,
        "evidence": {name: _plain(value) for name, value in finding.evidence.items()},
        "count": int(finding.count),
        "claims": [_claim(claim) for claim in finding.claims],
    }


def _claim(claim: Claim) -> dict[str, Any]:
    """What a message says of points: the kind of claim, and its parts; the tag of the finding, if it names none."""
    return {"claim": type(claim).__name__.lower(), **_parts(asdict(claim))}


def _parts(values: dict[str, Any]) -> dict[str, Any]:
    """The parts of a claim that say something."""
    told = {name: value for name, value in values.items() if value not in ((), "")}
    return {name: _parts(value) if isinstance(value, dict) else _plain_in(value) for name, value in told.items()}


def _plain_in(value: Any) -> Any:
    return [_plain_in(one) for one in value] if isinstance(value, tuple) else _plain(value)


def _run(run: RunReport) -> dict[str, Any]:
    return {
        "name": run.name,
        "logger": run.logger,
        "main": run.main,
        "label": run.label or None,
        "notes": [{"step": note.step, "text": note.text} for note in run.notes],
        "files": list(run.files),
        "points": run.points,
        "steps": list(run.steps) if run.steps else None,
        "wall_times": list(run.wall_times) if run.wall_times else None,
        "complete": not run.failures,
        "unchecked": list(run.unchecked),
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
