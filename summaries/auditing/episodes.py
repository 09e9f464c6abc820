"""Episodes: a finding is reported once, and again only after it has ended.

A finding lives as long as the audit finds it, up to its last step if it names steps. It has ended when the run has gone
on for a tenth of its steps since then. A finding that flickers is one episode. One above a note that an audit no longer
finds when it has ended is withdrawn, in words and once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from summaries.auditing.findings import Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from summaries.auditing.findings import Finding

__all__ = ["Episodes"]

_QUIET = 0.1  # of the steps of a run: a finding that is absent for longer has ended


@dataclass(slots=True)
class _Episode:
    finding: Finding
    alive: int  # the last step at which it was there
    gone: int | None = None  # the last step of the run when an audit first did not find it
    ended: bool = False
    withdrawn: bool = False


class Episodes:
    """What has been reported of one run.

    >>> from summaries.auditing.findings import Finding, Severity
    >>> def spike(last):
    ...     return Finding("GL302", "loss-spike", Severity.WARNING, "run", "loss", (50, last), "it jumps")
    >>> episodes = Episodes()
    >>> [len(list(episodes.new([spike(last)], (0, now)))) for last, now in [(50, 50), (52, 55), (52, 90), (95, 95)]]
    [1, 0, 0, 1]
    """

    def __init__(self) -> None:
        self._reported: dict[tuple[str, str], _Episode] = {}

    def new(self, findings: Iterable[Finding], steps: tuple[int, int] | None) -> Iterator[Finding]:
        """The findings to report: new ones, worse ones, those that had ended and came back, and what is withdrawn.

        Args:
            findings: all that an audit finds in the run now.
            steps: the first and the last step of the run; None if it has no points.
        """
        first, last = steps or (0, 0)
        findings = list(findings)
        for finding in findings:
            key = finding.code, finding.tag
            alive = finding.steps[1] if finding.steps else last
            episode = self._reported.get(key)
            worse = episode is None or finding.severity > episode.finding.severity
            if episode is None or worse or (episode.ended and alive > episode.alive):
                self._reported[key] = _Episode(finding, alive)
                yield finding
            else:
                episode.alive, episode.gone = max(episode.alive, alive), None
        found = {(finding.code, finding.tag) for finding in findings}
        for key, episode in self._reported.items():
            if key not in found and episode.gone is None:
                episode.gone = last
            episode.ended = last - episode.alive > _QUIET * (last - first)
            if episode.ended and episode.gone is not None and not episode.withdrawn:
                episode.withdrawn = True
                if episode.finding.severity:
                    yield _withdrawn(episode.finding, episode.gone)


def _withdrawn(finding: Finding, step: int) -> Finding:
    """A note that a finding is no longer true."""
    return replace(finding, severity=Severity.INFO, message=f"no longer so since step {step}: {finding.message}")
