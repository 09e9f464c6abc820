"""Copying: a run, or a directory of runs, rewritten to a new place, which has all that could be read, or nothing."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from summaries.errors import Fault, FaultKind, is_damaged
from summaries.patterns import demand_match, matcher, several
from summaries.reading.reader import reader
from summaries.storage.credentials import without_credentials
from summaries.storage.durable import make_directories
from summaries.storage.files import Access
from summaries.storage.logdir import run_directories
from summaries.storage.outputs import new_directory, refuse_inside
from summaries.storage.protocols import UnreachableError
from summaries.tools.rewriting.rewriter import Rewriter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import BinaryIO, Unpack

    from summaries.patterns import Patterns
    from summaries.storage.protocols import StoredFile
    from summaries.tools.rewriting.rewriter import Edit
    from summaries.tools.runs import OnError
    from summaries.wire.index import Index, Tags

__all__ = ["CopyCounts", "CopyOptions", "Rewritten", "Source", "chosen_runs", "copied"]


@dataclass(frozen=True)
class Rewritten:
    """What was written, and what not.

    Attributes:
        path: where it was written.
        runs: the names of the runs there; "." for the place itself.
        events: the number of events written.
        dropped: the number of values that the command left out.
        faults: what is not in the copy because it could not be read, and notes; in order.
    """

    path: str
    runs: tuple[str, ...]
    events: int
    dropped: int
    faults: tuple[Fault, ...]

    @property
    def damaged(self) -> bool:
        """Whether an original is damaged; see `FaultKind.is_damage`."""
        return is_damaged(self.faults)

    @property
    def lost_bytes(self) -> int:
        """The number of bytes of the originals that could not be kept; a tag that is escaped is not lost."""
        return sum(
            fault.length
            for fault in self.faults
            if fault.kind.is_data_loss and fault.kind is not FaultKind.UNDECODABLE_TEXT
        )


class CopyOptions(Access, total=False):
    """What the commands that copy runs have in common.

    Attributes:
        runs: patterns of the names of the runs to write; None for all.
        on_run: called with the name of each run when it is written.
        on_error: called with the error of each file and each directory that cannot be read; the others are written all
            the same. If None, the error is raised.
    """

    runs: Patterns
    on_run: Callable[[str], object]
    on_error: OnError


class CopyCounts:
    """Copies files, and counts what is written."""

    def __init__(self) -> None:
        self.runs: list[str] = []
        self.events: int = 0
        self.dropped: int = 0
        self.faults: list[Fault] = []

    def copy(self, file: StoredFile, source: Source, rewriter: Rewriter, out: BinaryIO) -> int:
        """Rewrite one file into an open one; return the number of events."""
        events = 0
        for item in source.read(file):
            if isinstance(item, Fault):
                self.faults.append(item)
            else:
                events += rewriter.write(item, out)
        return events

    def add(self, name: str, rewriter: Rewriter) -> None:
        """Count a run that was written."""
        if rewriter.events:
            self.runs.append(name)
        self.events += rewriter.events
        self.dropped += rewriter.dropped

    def result(self, path: str | os.PathLike[str]) -> Rewritten:
        """What was written.

        Raises:
            ValueError: nothing was written.
        """
        shown = without_credentials(os.fspath(path))
        if not self.events:
            first = f": {self.faults[0]}" if self.faults else ""
            raise ValueError(f"there is no event to write to {shown}{first}")
        return Rewritten(shown, tuple(self.runs), self.events, self.dropped, tuple(self.faults))


class Source:
    """Reads the files of one run.

    Args:
        on_error: called once with the error of each file that cannot be read, which ends there; if None, it is raised.

    Attributes:
        tags: the run's tags so far.
    """

    def __init__(self, on_error: OnError = None) -> None:
        self._reader = reader()
        self.tags: Tags = self._reader.tags
        self._on_error = on_error
        self._told: set[str] = set()  # paths: an edit may read a file before it is copied

    def read(self, file: StoredFile) -> Iterator[Index | Fault]:
        """Yield the events of one file, in stretches, and its faults, as a reader does.

        Raises:
            OSError: the file cannot be read, and there is no `on_error`.
            UnreachableError: no file of the store can be read.
        """
        try:
            yield from self._reader.read(file)
        except OSError as error:
            if self._on_error is None or isinstance(error, UnreachableError):
                raise
            if file.path not in self._told:
                self._told.add(file.path)
                self._on_error(error)

    def stretches(self, files: Iterable[StoredFile]) -> Iterator[Index]:
        """Yield what can be read of some files, in stretches, without their faults."""
        for file in files:
            yield from (item for item in self.read(file) if not isinstance(item, Fault))


def copied(
    path: str | os.PathLike[str],
    output: str | os.PathLike[str],
    edit_of: Callable[[Sequence[StoredFile], Source], Edit],
    *,
    runs: Patterns = None,
    name_of: Callable[[str], str] = lambda name: name,
    check: Callable[[], object] = lambda: None,
    on_run: Callable[[str], object] = lambda _name: None,
    on_error: OnError = None,
    **access: Unpack[Access],
) -> Rewritten:
    """Rewrite the event files of a run, or of every run below a directory, to a new place.

    The copy has the tree of the original, and files of the same names. Files without an event are not written.

    Args:
        path: a run's directory, a directory of runs, or an event file.
        output: the new directory.
        edit_of: gives the edit of each run, and may read its files before.
        runs: patterns of the names of the runs to write; None for all.
        name_of: gives a run's new name.
        check: called when all is written; may raise, and then there is no output.
        on_run: called with the name of each run when it is written.
        on_error: called with the error of each file and each directory that cannot be read; the others are written all
            the same. If None, the error is raised.
        **access: how addresses are accessed.

    Raises:
        FileNotFoundError: there is no such path, or no event file below it.
        FileExistsError: there is something at the output already.
        LookupError: no run matches a pattern.
        ValueError: the output is inside of the directory; there is nothing to write.
        OSError: a file cannot be written; or one, or a directory, cannot be read, and there is no `on_error`.
    """
    chosen = chosen_runs(path, runs, on_error, **access)
    refuse_inside([path], output)
    counts = CopyCounts()
    with new_directory(output, **access) as directory:
        for name, files in chosen.items():
            folder = os.path.normpath(os.path.join(directory, *name_of(name).split("/")))
            source = Source(on_error)
            edit = edit_of(files, source)
            rewriter = Rewriter(edit, source.tags)
            for number, file in enumerate(files):
                edit.begin_file(number)
                _write_file(file, source, rewriter, os.path.join(folder, os.path.basename(file.path)), counts)
            counts.add(name_of(name), rewriter)
            on_run(name)
        check()
        return counts.result(output)


def chosen_runs(
    path: str | os.PathLike[str], runs: Patterns, on_error: OnError = None, **access: Unpack[Access]
) -> Mapping[str, Sequence[StoredFile]]:
    """The event files of the runs below a directory whose names match, by name; of one run, or one file, ".".

    `on_error` is as in `run_directories`.

    Raises:
        LookupError: no run matches a pattern.
    """
    files = run_directories(path, on_error, lone=".", **access)
    patterns = several(runs)
    demand_match("run", patterns, files)
    wanted = matcher(patterns)
    return {name: own for name, own in files.items() if wanted(name)}


def _write_file(file: StoredFile, source: Source, rewriter: Rewriter, target: str, counts: CopyCounts) -> None:
    make_directories(os.path.dirname(target))
    with open(target, "wb") as out:
        events = counts.copy(file, source, rewriter, out)
    if not events:
        os.unlink(target)
        with suppress(OSError):  # there are other files
            os.rmdir(os.path.dirname(target))
