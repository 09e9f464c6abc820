"""Merging: runs that were resumed or split become one."""

from __future__ import annotations

import os
from heapq import merge as merge_sorted
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from summaries.storage.logdir import run_files
from summaries.storage.names import is_remote, whole_name
from summaries.storage.outputs import new_directory, refuse_inside
from summaries.tools.rewriting.copying import CopyCounts, Source
from summaries.tools.rewriting.points import grown
from summaries.tools.rewriting.rewriter import Edit, Rewriter
from summaries.tools.rewriting.superseding import Latest
from summaries.wire.layout import KIND_NOTHING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Unpack

    from numpy.typing import NDArray

    from summaries.storage.files import Access
    from summaries.storage.protocols import StoredFile
    from summaries.tools.rewriting.copying import Rewritten
    from summaries.wire.index import Index, Tags

__all__ = ["Overlap", "merge"]

_MOST = 512  # values that are looked at for overlaps, at each end of a file


def merge(
    paths: Iterable[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    *,
    latest: bool = False,
    on_file: Callable[[str], object] = lambda _path: None,
    on_overlap: Callable[[Overlap], object] = lambda _overlap: None,
    **access: Unpack[Access],
) -> Rewritten:
    """Write the events of several runs as one run, with one event file.

    The files follow one another by the time of their first event, and those of one run in the order in which they are
    read. Without `latest`, every undamaged record is kept byte for byte.

    A kill or a loss of power leaves nothing of the output, or all; when this returns, a local one is on the disk.

    Args:
        paths: the directories of runs, or event files; local paths or addresses.
        output: the new run's directory.
        latest: whether to drop what a restart superseded: every value for which there is a later value of its tag, or
            a later session's start, at its step or a lower one. The files are then read twice; 16 bytes are kept of
            each restart and each repeated step of a tag.
        on_file: called with the path of each file when it is written.
        on_overlap: called at the end, unless `latest`, if a tag goes back in steps from one file to the next: with its
            name, its highest step before, the step to which it goes back, and the number of such tags. Only the last
            512 values of a file and the first 512 of the next are compared.
        **access: how addresses are accessed: `storage_options` and `cache` as in `read_run`.

    Raises:
        FileNotFoundError: there is no such run.
        FileExistsError: there is something at the output already.
        ValueError: a file is given twice, such as by a link; the output is inside of a run; there is nothing to write.
        OSError: a file cannot be read or written.

    >>> import tempfile
    >>> from summaries import SummaryWriter, read_run
    >>> place = tempfile.mkdtemp()
    >>> for name, steps in (("first", range(6)), ("resumed", range(4, 8))):
    ...     with SummaryWriter(os.path.join(place, name)) as writer:
    ...         for step in steps:
    ...             writer.add_scalar("loss", step, step)
    >>> runs = [os.path.join(place, name) for name in ("first", "resumed")]
    >>> merge(runs, os.path.join(place, "whole"), latest=True).dropped
    2
    >>> read_run(os.path.join(place, "whole")).scalars["loss"].step
    array([0, 1, 2, 3, 4, 5, 6, 7])
    """
    paths = list(paths)
    runs = [run_files(path, **access) for path in paths]
    _refuse_twice(runs)
    refuse_inside(paths, output)
    files = _in_order(runs)
    counts = CopyCounts()
    source = Source()
    with new_directory(output, **access) as directory:
        edit: Edit = (overlaps := _Overlaps())
        if latest:
            edit = standing = Latest()
            for number, file in enumerate(files):
                standing.begin_file(number)
                for index in source.stretches([file]):
                    standing.see(index, source.tags)
            standing.rewind()
        rewriter = Rewriter(edit, source.tags)
        name = os.path.basename(whole_name(files[0].path))
        with open(os.path.join(directory, name), "wb") as out:
            for number, file in enumerate(files):
                edit.begin_file(number)
                counts.copy(file, source, rewriter, out)
                on_file(file.path)
        counts.add(".", rewriter)
        if (overlap := overlaps.first()) is not None:
            on_overlap(overlap)
        return counts.result(output)


def _refuse_twice(runs: list[list[StoredFile]]) -> None:
    """Raise an error if a file is in two of the runs: each of its values would be there twice."""
    paths = [file.path for files in runs for file in files]
    seen: dict[str, str] = {}
    for path in paths:
        resolved = path if is_remote(path) else os.path.realpath(path)
        if resolved in seen:
            raise ValueError(f"each run must be given once, got {seen[resolved]} and again {path}")
        seen[resolved] = path


def _in_order(runs: list[list[StoredFile]]) -> list[StoredFile]:
    """The files of all runs by the time of their first event; of one run in reading order, whatever the times."""
    times = [[(_begins(file), number, file) for file in files] for number, files in enumerate(runs)]
    for own in times:
        for i in range(1, len(own)):  # a file is not before the one that is read before it
            own[i] = (max(own[i][0], own[i - 1][0]), *own[i][1:])
    return [file for _, _, file in merge_sorted(*times, key=lambda entry: entry[:2])]


def _begins(file: StoredFile) -> float:
    """The wall time of the first event, in seconds since the epoch; infinite for a file without one."""
    first = next(Source().stretches([file]), None)
    return float("inf") if first is None else float(first.events["wall_time"][0])


class Overlap(NamedTuple):
    """Tags that go back in steps.

    Attributes:
        tag: the first one.
        last: its highest step before.
        first: the step to which it goes back.
        tags: how many tags go back there, of those that were looked at.
    """

    tag: str
    last: int
    first: int
    tags: int


class _Overlaps(Edit):
    """Leaves everything as it is, and notes which tags go back in steps at the beginning of a file.

    Looking at every value would cost a tenth of a merge. The last values of a file, and the first ones of the next, say
    the same of every tag that is written often; of others nothing is said.

    Attributes:
        found: (its highest step before, the step to which it goes back) of each tag, in order, of the first such file.
    """

    def __init__(self) -> None:
        self.found: dict[str, tuple[int, int]] = {}
        self._highest = np.zeros(0, np.int64)  # step, by tag, at the ends of the files before; 0 for none
        self._begins = True
        self._end: tuple[NDArray[np.int32], NDArray[np.int64]] | None = None  # the last values so far: tags, steps

    def begin_file(self, number: int) -> None:
        """Note that the next values are the first of a file."""
        self._begins = True
        if self._end is not None:
            np.maximum.at(self._highest, *self._end)
        self._end = None

    def keeps(self, index: Index, tags: Tags) -> None:
        """Look at a stretch, of which everything stays."""
        if self.found or not len(index.values):
            return
        self._highest = grown(self._highest, len(tags.names), 0)
        if self._begins:
            self._begins = False
            self._look(index, tags)
        last = index.values[-_MOST:]
        self._end = last["tag"].copy(), index.events["step"][last["event"]]  # the next stretch takes its place

    def first(self) -> Overlap | None:
        """What was found."""
        for tag, (last, first) in self.found.items():
            return Overlap(tag, last, first, len(self.found))
        return None

    def _look(self, index: Index, tags: Tags) -> None:
        """Compare the first values of a file with the last ones of those before."""
        values = index.values[:_MOST]
        own, steps = values["tag"], index.events["step"][values["event"]]
        last = self._highest[own]
        back = (last >= steps) & (last > 0)  # what is written once is at step 0 again
        if not back.any():
            return
        rows = np.flatnonzero(back & (values["kind"] != KIND_NOTHING))
        _, firsts = np.unique(own[rows], return_index=True)
        for row in rows[np.sort(firsts)].tolist():
            self.found[tags.names[own[row]]] = int(last[row]), int(steps[row])
