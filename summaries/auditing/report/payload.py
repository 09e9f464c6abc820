"""The data of the page: a row for each run, and a body for each run, which is unpacked when the run is opened."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from summaries.auditing.curves import are_flags, means
from summaries.auditing.findings import badness
from summaries.auditing.report.json import finding_as_dict
from summaries.auditing.report.packed import Arrays, body, plain
from summaries.auditing.report.panels import panels
from summaries.presenting.sparklines import coordinates
from summaries.presenting.thinning import STRETCHES, thin

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from summaries.arrays import Floats
    from summaries.auditing.curves import Curve
    from summaries.auditing.findings import Finding, RunReport
    from summaries.auditing.reports import Report

__all__ = ["bodies", "finding_data", "index", "row"]

_POINTS = 350_000  # in a page, which is about 3 MB of text
_MOST_POINTS = 1_200_000  # in a page with so many curves that fewer points would make them unreadable
_FEWEST_STRETCHES = 40
_PROMINENT = 4  # times as many points for a curve that is drawn at full width as for a row of a heat map
_LOSSES = ("loss", "validation_loss")
_SHARES = ("clipped", "clipped_fraction")  # zeros and ones, or shares since the last write


def index(report: Report) -> dict[str, Any]:
    """The data of the overview: a row for each run."""
    return {"baseline": report.baseline or None, "runs": [row(run) for run in report.runs]}


def bodies(report: Report) -> list[bytes]:
    """A body for each run: its findings, its panels, and its curves with as many points as the page has room for.

    The more curves there are, the coarser they become, those of single variables first. If there are thousands of runs,
    that is not enough: then the least interesting runs keep only their loss, and say how many curves were left out.
    """
    total = sum(_weight(curve) for run in report.runs for curve in run.curves)
    share = _POINTS // (2 * max(total, 1))
    room = _MOST_POINTS
    made: dict[int, bytes] = {}
    for number in sorted(range(len(report.runs)), key=lambda i: -badness(report.runs[i])):
        run = report.runs[number]
        curves = [_thinned(curve, max(share * _weight(curve), _FEWEST_STRETCHES)) for curve in run.curves]
        if sum(len(curve.step) for curve in curves) > room:
            curves = [curve for curve in curves if curve.role in _LOSSES or curve.tag == run.main]
        room -= sum(len(curve.step) for curve in curves)
        made[number] = _body(run, curves)
    return [made[number] for number in range(len(report.runs))]


def _weight(curve: Curve) -> int:
    return 1 if curve.variable or not curve.role else _PROMINENT


def row(run: RunReport) -> dict[str, Any]:
    """What the table of runs says of one; numbers that JSON cannot hold are the names that JavaScript has for them."""
    main = run.main_curve if run.main_curve is not None and len(run.main_curve.value) else None
    counts = [sum(finding.severity == severity for finding in run.findings) for severity in (2, 1, 0)]
    first = run.findings[0] if run.findings else None
    return {
        "name": run.name,
        "counts": counts,
        "codes": {finding.code: finding.name for finding in run.findings},
        "failures": [": ".join(filter(None, (failure.path, failure.reason))) for failure in run.failures],
        "worst": first and {"code": first.code, "severity": first.severity.name.lower(), "message": first.message},
        "steps": list(run.steps) if run.steps else None,
        "points": int(run.points),
        "seconds": plain(run.wall_times[1] - run.wall_times[0]) if run.wall_times else None,
        "main": run.main,
        "loss": plain(float(main.value[-1])) if main is not None else None,
        "spark": coordinates(main.value) if main is not None else [],
        "norm": _norm(run),
    }


def _body(run: RunReport, curves: Sequence[Curve]) -> bytes:
    arrays = Arrays()
    start = run.wall_times[0] if run.wall_times else 0.0
    header = {
        "files": list(run.files),
        "logger": run.logger,
        "start": plain(start) if run.wall_times else None,
        "findings": [finding_data(finding) for finding in run.findings],
        "panels": [asdict(panel) for panel in panels(curves, run.main, run.findings[0].tag if run.findings else "")],
        "curves": [_curve(curve, start, arrays) for curve in curves],
        "left_out": len(run.curves) - len(curves),
    }
    return body(header, arrays)


def finding_data(finding: Finding) -> dict[str, Any]:
    """A finding, for the page: as in JSON, but without its run and claims, and with JavaScript's names of numbers."""
    data = finding_as_dict(finding) | {"evidence": {name: plain(x) for name, x in finding.evidence.items()}}
    del data["run"], data["claims"]
    return data


def _curve(curve: Curve, start: float, arrays: Arrays) -> dict[str, Any]:
    with np.errstate(over="ignore", invalid="ignore"):
        seconds = curve.wall_time - start
    return {
        "tag": curve.tag,
        "role": curve.role,
        "variable": curve.variable,
        "points": int(curve.points),
        "step": arrays.add_rising(curve.step),
        "seconds": arrays.add_even(seconds),
        "value": arrays.add_floats(curve.value),
    }


def _thinned(curve: Curve, stretches: int) -> Curve:
    value = curve.value
    if curve.role in _SHARES and len(value) == curve.points and are_flags(value) and (value != value[:1]).any():
        return _at(curve, *means(value))
    stretches = min(stretches, STRETCHES)
    if len(curve.value) <= 2.2 * stretches:  # it was thinned like this before, and has some non-finite points
        return curve
    at = thin(curve.value, stretches)
    return _at(curve, at, curve.value[at])


def _at(curve: Curve, at: NDArray[np.intp], value: Floats) -> Curve:
    return replace(curve, step=curve.step[at], wall_time=curve.wall_time[at], value=value)


def _norm(run: RunReport) -> dict[str, Any] | None:
    """The norm of all gradients, before clipping; None if the run did not log it."""
    norm = next((curve for curve in run.curves if curve.role == "global_norm" and len(curve.value)), None)
    if norm is None:
        return None
    return {"tag": norm.tag, "last": plain(float(norm.value[-1])), "spark": coordinates(norm.value)}
