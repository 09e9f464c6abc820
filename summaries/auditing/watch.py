"""Watch mode: audit a run again whenever its files have grown, and report what is new."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from summaries.auditing import discovery
from summaries.auditing.engine import Task
from summaries.auditing.findings import Failure, Severity
from summaries.storage.credentials import without_credentials
from summaries.storage.files import place_of, remembering

if TYPE_CHECKING:
    import threading
    from collections.abc import Iterator, Sequence
    from typing import Unpack

    from summaries.auditing.config import Config
    from summaries.auditing.discovery import RunFiles
    from summaries.auditing.findings import Finding, RunReport
    from summaries.storage.files import Access
    from summaries.storage.protocols import Storage, StoredFile

__all__ = ["watch"]

POLL_SECS = 1.0
_SHARE = 0.2  # at most this share of the time is spent auditing, however many runs grow
_GROWING = frozenset(
    {"GL101", "GL107"}
)  # normal for a file that is still being written: it may end inside a record, or be empty


def watch(
    path: str,
    config: Config,
    *,
    baseline: str | None = None,
    poll_secs: float = POLL_SECS,
    stop: threading.Event | None = None,
    **access: Unpack[Access],
) -> Iterator[list[Finding | Failure]]:
    """Yield findings as they appear, in runs that exist and in runs that are created later.

    When the files of a run change, the whole run is audited again; reading 100 MB takes less than a second. If audits
    take more than a fifth of the time, the pauses between them grow. A run that was replaced, or whose files were
    truncated, starts afresh: everything found in it is reported again.

    Args:
        path: a directory of runs, which need not exist yet, or an event file.
        config: what to look for.
        baseline: as in `summaries.audit`.
        poll_secs: shortest time between two looks, in seconds.
        stop: set this event to stop watching.
        **access: how an address is accessed. Its files are kept on the disk meanwhile, so that only what is new is
            fetched.

    Yields:
        What is new in one run (never an empty list): findings that are new or have become more severe, and files that
        cannot be read. A truncated tail and an empty file are not reported, because the writer may still be at work.

    Raises:
        OSError: the baseline cannot be read.
    """
    with remembering(path, **access) as kept:
        storage, _ = place_of(path, **kept)
        task = Task(config, discovery.baseline_below(baseline, **kept), stretches=1)
        yield from _watch(path, task, storage, poll_secs, stop, kept)


def _watch(
    path: str,
    task: Task,
    storage: Storage,
    poll_secs: float,
    stop: threading.Event | None,
    access: Access,
) -> Iterator[list[Finding | Failure]]:
    followed: dict[str, _Followed] = {}
    while stop is None or not stop.is_set():
        began = time.monotonic()
        for run in _runs(path, access):
            seen = followed.setdefault(run.name, _Followed())
            if seen.changed(run) and (new := list(seen.new(task(run), storage))):
                yield new
        spent = time.monotonic() - began
        pause = max(poll_secs, spent / _SHARE - spent)
        if stop is None:
            time.sleep(pause)
        else:
            stop.wait(pause)


def _runs(path: str, access: Access) -> list[RunFiles]:
    try:
        return discovery.runs_below(path, **access)
    except FileNotFoundError:  # it does not exist yet, or is still empty
        return []
    except OSError as error:
        failure = Failure(".", without_credentials(path), error.strerror or str(error))
        return [discovery.RunFiles(".", (), 0, failures=(failure,))]


@dataclass
class _Followed:
    """What is known about a run: the last state of its files, and what was reported about it."""

    files: tuple[StoredFile, ...] | None = None
    told: dict[tuple[str, str], Severity] = field(default_factory=dict)
    failures: set[Failure] = field(default_factory=set)

    def changed(self, run: RunFiles) -> bool:
        """Whether the files have changed since the last call. If they were replaced, forget what was reported."""
        before, self.files = self.files, run.files
        if before and not _goes_on(before, run.files):
            self.told.clear()
        return before != run.files

    def new(self, report: RunReport, storage: Storage) -> Iterator[Finding | Failure]:
        """What was not reported before, or was reported as less severe."""
        for failure in report.failures:
            # A file may have been deleted since it was listed: that does not matter.
            if failure not in self.failures and (not failure.path or storage.exists(failure.path)):
                self.failures.add(failure)
                yield failure
        for finding in report.findings:
            key = finding.code, finding.tag
            if finding.code not in _GROWING and self.told.get(key, Severity.INFO - 1) < finding.severity:
                self.told[key] = finding.severity
                yield finding


def _goes_on(before: Sequence[StoredFile], now: Sequence[StoredFile]) -> bool:
    """Whether at least one file is still there, and no file that still is has become shorter."""
    sizes = {file.path: file.size for file in before}
    common = [file for file in now if file.path in sizes]
    return bool(common) and all(file.size >= sizes[file.path] for file in common)
