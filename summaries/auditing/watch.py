"""Following runs: each is audited again when its files have grown, and what is new is told."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from summaries.auditing import engine
from summaries.auditing.finding import Severity

if TYPE_CHECKING:
    import threading
    from collections.abc import Iterator, Sequence

    from summaries.auditing.config import Config
    from summaries.auditing.engine import Work
    from summaries.auditing.finding import Finding, RunReport

__all__ = ["watch"]

POLL_SECS = 1.0
_SHARE = 0.2  # of the time goes into auditing, at most, however many runs grow
_GROWING = frozenset({"GL101", "GL107"})  # a file that is being written may end inside a record, or be empty so far


def watch(
    path: str,
    config: Config,
    *,
    baseline: str | None = None,
    poll_secs: float = POLL_SECS,
    stop: threading.Event | None = None,
) -> Iterator[tuple[RunReport, Finding]]:
    """The findings of runs that grow, as they appear; runs that are there, and runs that come.

    A run whose files have changed is audited as a whole: reading a hundred megabytes takes less than a second. Where
    audits take longer than a fifth of the time, they are put further apart.

    Args:
        path: a directory of runs, which may not be there yet, or an event file.
        config: what to look for.
        baseline: as in `summaries.audit`.
        poll_secs: how often to look, at most.
        stop: ends the following when it is set.

    Yields:
        (the run as it is now, a finding): one that is new, or worse than it was. A truncated
        tail, or that nothing was logged, is told of no run: its writer may be about to go on.

    Raises:
        OSError: a file is there and cannot be read.
    """
    others = engine.runs_below(baseline) if baseline is not None else []
    sizes: dict[str, tuple[tuple[str, int, int], ...]] = {}
    told: dict[tuple[str, str, str], Severity] = {}
    while stop is None or not stop.is_set():
        began = time.monotonic()
        for work in _works(path):
            state = _state(work)
            if sizes.get(work.name) == state:
                continue
            sizes[work.name] = state
            try:
                report = engine.audit_files(work, config, others)
            except FileNotFoundError:  # deleted, or renamed, since it was listed
                continue
            yield from ((report, finding) for finding in _new(report, told))
        spent = time.monotonic() - began
        pause = max(poll_secs, spent / _SHARE - spent)
        if stop is None:
            time.sleep(pause)
        else:
            stop.wait(pause)


def _works(path: str) -> list[Work]:
    try:
        return engine.runs_below(path)
    except FileNotFoundError:  # not yet there, or nothing in it so far
        return []


def _state(work: Work) -> tuple[tuple[str, int, int], ...]:
    """What changes when the run does: each file's size and time of change."""
    found = []
    for path in work.files:
        try:
            status = os.stat(path)
        except FileNotFoundError:
            continue
        found.append((path, status.st_size, status.st_mtime_ns))
    return tuple(found)


def _new(report: RunReport, told: dict[tuple[str, str, str], Severity]) -> Sequence[Finding]:
    """The findings that were not told before, or not as this bad."""
    found = []
    for finding in report.findings:
        key = finding.run, finding.code, finding.tag
        if finding.code not in _GROWING and told.get(key, Severity.INFO - 1) < finding.severity:
            told[key] = finding.severity
            found.append(finding)
    return found
