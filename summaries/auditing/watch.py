"""Watch mode: read what was added to the files of a run, audit it again, and report what is new."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from summaries.auditing.discovery import RunFiles, baseline_below, runs_below
from summaries.auditing.engine import Task, audit_ranks
from summaries.auditing.episodes import Episodes
from summaries.auditing.findings import Failure
from summaries.auditing.incidents import without_repeats
from summaries.auditing.readable import read_readable
from summaries.auditing.rules import RULES
from summaries.auditing.signals.ranks import jobs
from summaries.reading.growing import GrowingRun
from summaries.storage.credentials import without_credentials
from summaries.storage.files import place_of, remembering
from summaries.storage.names import directory_of

if TYPE_CHECKING:
    import threading
    from collections.abc import Iterator, Sequence
    from typing import Unpack

    from summaries.auditing.config import Config
    from summaries.auditing.findings import Finding, RunReport
    from summaries.reading.run import Run
    from summaries.storage.files import Access
    from summaries.storage.protocols import Storage, StoredFile

__all__ = ["watch"]

POLL_SECS = 1.0
_SHARE = 0.2  # at most this share of the time is spent auditing, however many runs grow


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

    When the files of a run change, only what was added is read, and the rules look at all of its points again. If that
    takes more than a fifth of the time, the pauses between looks grow. A finding is reported once, and again when it
    has ended and comes back; see `Episodes`. A run that was replaced, or whose files were truncated, starts afresh:
    everything found in it is reported again.

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
    read = _GrowingReader()
    watched: dict[str, _WatchedRun] = {}
    with remembering(path, **access) as remembered:
        storage, _ = place_of(path, **remembered)
        task = Task(config, baseline_below(baseline, **remembered), 1, read)
        while stop is None or not stop.is_set():
            began = time.monotonic()
            for report, findings in _reports(_runs(path, remembered), watched, task, config, read):
                if new := list(watched[report.name].new(report, findings, storage)):
                    yield new
            spent = time.monotonic() - began
            pause = max(poll_secs, spent / _SHARE - spent)
            if stop is None:
                time.sleep(pause)
            else:
                stop.wait(pause)


def _reports(
    runs: list[RunFiles], watched: dict[str, _WatchedRun], task: Task, config: Config, read: _GrowingReader
) -> Iterator[tuple[RunReport, tuple[Finding, ...]]]:
    """The report of each run that has changed, and of the other ranks of its job; and all that was found in it."""
    files = {run.name: run for run in runs}
    changed = {run.name for run in runs if watched.setdefault(run.name, _WatchedRun()).changed(run)}
    between: list[Finding] = []
    for job in jobs(files, config.ranks):
        if changed.intersection(job):
            changed.update(job)
            between += audit_ranks([files[name] for name in job], config, read)
    reports = {name: run.report for name, run in watched.items() if run.report is not None}
    for run in runs:
        if run.name in changed:
            reports[run.name] = watched[run.name].report = task(run)
            report = without_repeats(reports[run.name], reports)
            yield report, (*report.findings, *(finding for finding in between if finding.run == run.name))


class _GrowingReader:
    """Reads the files of runs, and of runs that grow only what is new. Runs that do not grow are not kept in memory."""

    def __init__(self) -> None:
        self._seen: dict[str, tuple[StoredFile, ...]] = {}
        self._growing: dict[str, GrowingRun] = {}

    def __call__(self, name: str, files: Sequence[StoredFile]) -> tuple[Run | None, tuple[Failure, ...]]:
        """Read what can be read of a run; see `read_readable`."""
        if files:
            directory = directory_of(files[0].path)
            if self._seen.setdefault(directory, tuple(files)) != tuple(files):
                try:
                    return self._growing.setdefault(directory, GrowingRun()).read(files), ()
                except OSError:  # a part of it may be readable
                    pass
        return read_readable(name, files)


def _runs(path: str, access: Access) -> list[RunFiles]:
    try:
        return runs_below(path, **access)
    except FileNotFoundError:  # it does not exist yet, or is still empty
        return []
    except OSError as error:
        failure = Failure(".", without_credentials(path), error.strerror or str(error))
        return [RunFiles(".", (), 0, failures=(failure,))]


@dataclass
class _WatchedRun:
    """A run at the last look: the state of its files, its report, and what has been reported of it so far."""

    files: tuple[StoredFile, ...] | None = None
    report: RunReport | None = None
    episodes: Episodes = field(default_factory=Episodes)
    failures: set[Failure] = field(default_factory=set)

    def changed(self, run: RunFiles) -> bool:
        """Whether the files have changed since the last call. If they were replaced, forget what was reported."""
        before, self.files = self.files, run.files
        if before and not _goes_on(before, run.files):
            self.episodes = Episodes()
        return before != run.files

    def new(self, report: RunReport, findings: Sequence[Finding], storage: Storage) -> Iterator[Finding | Failure]:
        """What was not reported before, or was reported as less severe, or had ended."""
        for failure in report.failures:
            # A file may have been deleted since it was listed: that does not matter.
            if failure not in self.failures and (not failure.path or storage.exists(failure.path)):
                self.failures.add(failure)
                yield failure
        lasting = (finding for finding in findings if not RULES[finding.code].while_written)
        yield from self.episodes.new(lasting, report.steps)


def _goes_on(before: Sequence[StoredFile], now: Sequence[StoredFile]) -> bool:
    """Whether at least one file is still there, and no file that still is has become shorter."""
    sizes = {file.path: file.size for file in before}
    common = [file for file in now if file.path in sizes]
    return bool(common) and all(file.size >= sizes[file.path] for file in common)
