"""A recorded incident is an excerpt of a run, whose steps it repeats: what the run's report says is not said twice."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from summaries.auditing.rules.timeline.incidents import run_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from summaries.auditing.findings import Finding, RunReport

__all__ = ["without_repeats"]


def without_repeats(incident: RunReport, reports: Mapping[str, RunReport]) -> RunReport:
    """A run's report; of an incident, without what its run's report says of the same steps.

    Args:
        incident: the report of a run, which may be an incident.
        reports: the reports of runs, by name.
    """
    run = reports.get(run_of(incident.name))
    if run is None:
        return incident
    new = (finding for finding in incident.findings if not any(_repeats(finding, other, run) for other in run.findings))
    return replace(incident, findings=tuple(new))


def _repeats(finding: Finding, other: Finding, run: RunReport) -> bool:
    """Whether a finding is about what another one in the run is about, perhaps at the next step that the run has."""
    if (other.code, other.tag) != (finding.code, finding.tag) or other.steps is None or finding.steps is None:
        return False
    return other.steps[0] <= finding.steps[1] + _interval(run, other.tag) and finding.steps[0] <= other.steps[1]


def _interval(run: RunReport, tag: str) -> float:
    """The mean distance of a tag's steps."""
    curve = next((curve for curve in run.curves if curve.tag == tag), None)
    if curve is None or len(curve.step) < 2:  # noqa: PLR2004 - a distance
        return 0.0
    return float(curve.step[-1] - curve.step[0]) / (curve.points - 1)
