"""Following runs: each is audited again when its files have grown, and what is new is told."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from summaries.auditing import discovery
from summaries.auditing.engine import Task
from summaries.auditing.findings import Failure, Severity
from summaries.storage.files import storage_of

if TYPE_CHECKING:
    import threading
    from collections.abc import Iterator, Sequence

    from summaries.auditing.config import Config
    from summaries.auditing.discovery import Work
    from summaries.auditing.findings import Finding, RunReport
    from summaries.storage.protocols import Storage, StoredFile

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
) -> Iterator[list[Finding | Failure]]:
    """The findings of runs that grow, as they appear; runs that are there, and runs that come.

    A run whose files have changed is audited as a whole: reading a hundred megabytes takes less than a second. Where
    audits take longer than a fifth of the time, they are put further apart. A run that takes the place of another, or
    whose files were cut short, begins anew.

    Args:
        path: a directory of runs, which may not be there yet, or an event file.
        config: what to look for.
        baseline: as in `summaries.audit`.
        poll_secs: how often to look, at most.
        stop: ends the following when it is set.

    Yields:
        What is new in a run, at least one: findings that were not there, or not as bad; and what cannot be read. A
        truncated tail, or that nothing was logged, is told of no run: its writer may be about to go on.

    Raises:
        OSError: the baseline cannot be read, or `path` is an address.
    """
    storage = storage_of(path)
    task = Task(config, discovery.baseline_below(baseline), stretches=1)
    followed: dict[str, _Followed] = {}
    while stop is None or not stop.is_set():
        began = time.monotonic()
        for work in _works(path):
            run = followed.setdefault(work.name, _Followed())
            if run.changed(work) and (new := list(run.new(task(work), storage))):
                yield new
        spent = time.monotonic() - began
        pause = max(poll_secs, spent / _SHARE - spent)
        if stop is None:
            time.sleep(pause)
        else:
            stop.wait(pause)


def _works(path: str) -> list[Work]:
    try:
        return discovery.runs_below(path)
    except FileNotFoundError:  # not yet there, or nothing in it so far
        return []
    except OSError as error:
        return [discovery.Work(".", (), 0, failures=(Failure(".", path, error.strerror or str(error)),))]


@dataclass
class _Followed:
    """What is known of a run: its files as they were, and what was told of it."""

    files: tuple[StoredFile, ...] | None = None
    told: dict[tuple[str, str], Severity] = field(default_factory=dict)
    failures: set[Failure] = field(default_factory=set)

    def changed(self, work: Work) -> bool:
        """Whether its files are others than they were; where they are no continuation of these, nothing was told."""
        before, self.files = self.files, work.files
        if before and not _goes_on(before, work.files):
            self.told.clear()
        return before != work.files

    def new(self, report: RunReport, storage: Storage) -> Iterator[Finding | Failure]:
        """What was not told before, or not as this bad."""
        for failure in report.failures:
            # A file that was deleted since it was listed is no matter.
            if failure not in self.failures and (not failure.path or storage.exists(failure.path)):
                self.failures.add(failure)
                yield failure
        for finding in report.findings:
            key = finding.code, finding.tag
            if finding.code not in _GROWING and self.told.get(key, Severity.INFO - 1) < finding.severity:
                self.told[key] = finding.severity
                yield finding


def _goes_on(before: Sequence[StoredFile], now: Sequence[StoredFile]) -> bool:
    """Whether files that were there still are, and none of these is shorter."""
    sizes = {file.path: file.size for file in before}
    common = [file for file in now if file.path in sizes]
    return bool(common) and all(file.size >= sizes[file.path] for file in common)
