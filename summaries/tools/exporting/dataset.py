"""A dataset: a directory of Parquet files with the columns run, tag, step, wall_time and value, kept current.

    runs ── which changed? ──▶ parts ── executor ──▶ part-00000.parquet, …
      manifest: which run is in which file ◀── done

A large run has a file of its own, small ones share one, and a run never moves to another file. Each export first gives
new runs their places, and notes them in the manifest; then it replaces the files of which a run has changed, each at
once; then it notes what is written. So whenever it is interrupted, each run is in the dataset exactly once, as it was
before or as it is now, and the next export does what is left. Rows of runs that have not changed are taken from the
file that they are in; their event files are not read.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from summaries.execution.tasks import Died, run_tasks
from summaries.patterns import matcher
from summaries.storage.durable import remove_leftovers
from summaries.storage.logdir import run_directories
from summaries.storage.names import relative
from summaries.tools.exporting.manifest import Entry, Manifest, fingerprint, part_name
from summaries.tools.exporting.part import Part, WritePart
from summaries.tools.exporting.runs import Exported

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from concurrent.futures import Executor
    from typing import Unpack

    from summaries.patterns import Patterns
    from summaries.storage.files import Access
    from summaries.storage.protocols import StoredFile
    from summaries.tools.exporting.part import WrittenPart
    from summaries.tools.exporting.runs import OnRun
    from summaries.tools.runs import OnError

__all__ = ["export_dataset"]

_PART_BYTES = 64 << 20  # of event files; a larger run has a file of its own
_PART_RUNS = 1000
_SAVES = 10  # times that the manifest, which may be large, is written during an export
_MOST_NAMED = 3


def export_dataset(
    path: str | os.PathLike[str],
    target: str,
    *,
    tags: tuple[str, ...] | None,
    runs: Patterns,
    latest: bool,
    incremental: bool,
    delete: bool,
    executor: Executor | None,
    on_run: OnRun | None,
    on_error: OnError,
    **access: Unpack[Access],
) -> Exported:
    """Bring a dataset up to date; arguments, result and errors as in `export`."""
    closed: list[OSError] = []
    files = run_directories(path, on_error and closed.append, lone=".", names=runs, **access)
    if on_error is not None:
        for error in closed:
            on_error(error)
    manifest = Manifest.of(target, access.get("storage_options"))
    remove_leftovers(target)  # of an address, there are none
    update = _DatasetUpdate(manifest, files, _looked_at(path, runs, closed), delete=delete)
    if (manifest.tags, manifest.latest) != (tags, latest):
        update.forget(every=True)  # also runs that are not wanted now: the manifest says that all are like this
    elif not incremental:
        update.forget()
    manifest.tags, manifest.latest = tags, latest
    parts = update.parts()
    task = WritePart(target, manifest.storage_options, tags, latest)
    if parts:
        manifest.save()  # new runs have their places before they are anywhere
    try:
        done = run_tasks(task, parts, executor=executor, size=lambda part: part.size)
        for number, (part, written) in enumerate(done):
            update.take(part, written, on_run)
            if number % (len(parts) // _SAVES + 1) == 0:
                manifest.save()
    finally:
        if parts:
            manifest.save()
    return update.result(on_error)


def _looked_at(path: str | os.PathLike[str], runs: Patterns, closed: Sequence[OSError]) -> Callable[[str], bool]:
    """Whether a run is found if it is there: it is wanted, and not below a directory that cannot be listed."""
    wanted = matcher(runs)
    hidden = tuple(f"{relative(error.filename, os.fspath(path))}/" for error in closed)
    return lambda name: wanted(name) and not f"{name}/".startswith(hidden)


class _DatasetUpdate:
    """What has to be done to a dataset, and what was done.

    Args:
        manifest: the dataset's; new runs are given their places in it.
        files: the event files of each run.
        looked_at: whether a run is found if it is there, by its name.
        delete: whether runs that are no longer there are removed.
    """

    def __init__(
        self, manifest: Manifest, files: dict[str, list[StoredFile]], looked_at: Callable[[str], bool], *, delete: bool
    ) -> None:
        self._manifest = manifest
        self._files = files
        self._prints = {name: fingerprint(stored) for name, stored in files.items()}
        self._vanished = {
            name for runs in manifest.files.values() for name in runs if name not in files and looked_at(name)
        }
        self._delete = delete
        self._points: dict[str, int] = {}
        self._failed: dict[str, OSError] = {}

    def forget(self, *, every: bool = False) -> None:
        """Have the runs that were found written again; with `every`, all others the next time that they are found."""
        for runs in self._manifest.files.values():
            for name in list(runs) if every else runs.keys() & self._files.keys():
                runs[name] = runs[name]._replace(fingerprint=None)

    def parts(self) -> list[Part]:
        """The files that have to be written."""
        self._assign_new_runs()
        return [
            part
            for part in (self._part(file, runs) for file, runs in self._manifest.files.items())
            if part.runs or part.removed
        ]

    def _part(self, file: str, runs: dict[str, Entry]) -> Part:
        changed = {
            name: self._files[name]
            for name, entry in runs.items()
            if name in self._files and (entry.fingerprint is None or entry.fingerprint != self._prints[name])
        }
        removed = [name for name in runs if name in self._vanished] if self._delete else []
        others = [name for name, entry in runs.items() if name not in changed and name not in removed]
        return Part(file, changed, [name for name in others if runs[name].points is not None], removed)

    def _assign_new_runs(self) -> None:
        """Give each new run a file: the last one that has room, or a new one."""
        files = self._manifest.files
        assigned = {name for runs in files.values() for name in runs}
        room, last = -1, next(reversed(files), "")
        if last:
            room = _PART_BYTES - sum(entry.bytes for entry in files[last].values())
        for name, stored in self._files.items():
            if name in assigned:
                continue
            size = sum(file.size for file in stored)
            if size > _PART_BYTES:
                files[part_name(len(files))] = {name: Entry(size)}
                continue
            if size > room or len(files[last]) >= _PART_RUNS:
                last, room = part_name(len(files)), _PART_BYTES
                files[last] = {}
            files[last][name] = Entry(size)
            room -= size

    def take(self, part: Part, written: WrittenPart | Died, on_run: OnRun | None) -> None:
        """Note what became of a part."""
        if isinstance(written, Died):
            self._failed |= dict.fromkeys(part.runs, ChildProcessError(written.reason))
            return
        runs = self._manifest.files[part.file]
        for name in part.removed:
            del runs[name]
        for name, points in written.points.items():
            size = sum(file.size for file in part.runs[name])
            runs[name] = Entry(size, self._prints[name], points)
            if on_run is not None:
                on_run(name, written.faults[name])
        self._points |= written.points
        self._failed |= written.failed

    def result(self, on_error: OnError) -> Exported:
        """What was done; tell what could not be read.

        Raises:
            OSError: runs could not be read, and there is no `on_error`.
        """
        if on_error is not None:
            for name, error in self._failed.items():
                on_error(error if error.filename else OSError(f"{name}: {error}"))
        elif self._failed:
            failures = "; ".join(f"{name}: {error}" for name, error in list(self._failed.items())[:_MOST_NAMED])
            more = f"; and {len(self._failed) - _MOST_NAMED} more" if len(self._failed) > _MOST_NAMED else ""
            raise OSError(f"the others are exported, but not {failures}{more}")
        others = self._points.keys() | self._failed.keys()
        unchanged = tuple(name for name in self._files if name not in others)
        return Exported(
            sum(self._points.values()), tuple(sorted(self._points)), unchanged, tuple(sorted(self._vanished))
        )
