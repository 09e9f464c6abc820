"""Thinning: runs with fewer points of their scalars, and all of everything else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from summaries.tools.rewriting.copying import copied
from summaries.tools.rewriting.points import Counter
from summaries.tools.rewriting.rewriter import Edit
from summaries.tools.rewriting.selecting import ByNumber, Patterns
from summaries.wire.layout import KIND_SCALAR

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Sequence
    from typing import Unpack

    from numpy.typing import NDArray

    from summaries.storage.protocols import StoredFile
    from summaries.tools.rewriting.copying import CopyOptions, Rewritten, Source
    from summaries.wire.index import Index, Tags

    Numbers = NDArray[np.int64]

__all__ = ["thin"]

_FEWEST = 4  # the first point, the last, and the two extremes of what is between


def thin(
    path: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    every: int | None = None,
    minmax: int | None = None,
    tags: str | Iterable[str] | None = None,
    **options: Unpack[CopyOptions],
) -> Rewritten:
    """Write runs with fewer points of their scalars. Images, texts and everything else stay.

    A kill or a loss of power leaves nothing of the output, or all; when this returns, a local one is on the disk.

    Args:
        path: a run's directory, a directory of runs, or an event file; a local path or an address.
        output: the new directory, which gets the same tree.
        every: keep the first point of each tag, and every one that many points after it.
        minmax: keep about this many points of each tag, such that its curve looks the same: the first and the last,
            and of equal stretches between them the smallest and the largest value, and the first NaN. The files are
            read three times, and some 20 bytes for each point to keep are in memory.
        tags: patterns of the tags to thin, as a shell knows them; None for all.
        **options: `runs`, patterns of the names of the runs to write (default: all); `on_run`, called with the name of
            each run when it is written; `on_error`, called with the error of each file and each directory that cannot
            be read, while the others are written all the same (default: the error is raised); `storage_options` and
            `cache` for addresses, as in `read_run`.

    Raises:
        ValueError: not exactly one of `every` and `minmax` is given, or it is too small.
        LookupError: a pattern matches no tag, or no run.
        FileNotFoundError: there is no such path, or no event file below it.
        FileExistsError: there is something at the output already.
        OSError: a file cannot be written; or one, or a directory, cannot be read, and there is no `on_error`.

    >>> import os, tempfile
    >>> from summaries import SummaryWriter, read_run
    >>> place = tempfile.mkdtemp()
    >>> with SummaryWriter(os.path.join(place, "run")) as writer:
    ...     for step in range(100):
    ...         writer.add_scalar("loss", 9.0 if step == 42 else 1.0, step)
    >>> _ = thin(os.path.join(place, "run"), os.path.join(place, "thin"), minmax=4)
    >>> read_run(os.path.join(place, "thin")).scalars["loss"].step
    array([ 0,  1, 42, 99])
    """
    if (every is None) == (minmax is None):
        raise ValueError(f"give either every or minmax, got every={every} and minmax={minmax}")
    if every is not None and every < 1:
        raise ValueError(f"every must be at least 1, got {every}")
    if minmax is not None and minmax < _FEWEST:
        raise ValueError(f"minmax must be at least {_FEWEST}, got {minmax}")
    chosen = Patterns(tags)

    def edit_of(files: Sequence[StoredFile], source: Source) -> Edit:
        if every is not None:
            return _Every(chosen, every)
        assert minmax is not None
        return _MinMax(chosen, minmax, files, source)

    return copied(path, output, edit_of, check=chosen.check, **options)


class _Thinning(Edit):
    """Drops points of the scalars of some tags.

    Args:
        chosen: whether a tag is thinned.
    """

    def __init__(self, chosen: Callable[[str], bool]) -> None:
        self._chosen = ByNumber(chosen)
        self._points = Counter()

    def _rows(self, index: Index, tags: Tags) -> tuple[NDArray[np.intp], Numbers, Numbers]:
        """The rows of values that are thinned, their tags, and their numbers among their tags' points."""
        values = index.values
        rows = np.flatnonzero((values["kind"] == KIND_SCALAR) & self._chosen(tags)[values["tag"]])
        own = values["tag"][rows].astype(np.int64)
        return rows, own, self._points.numbers(own, len(tags.names))


class _Every(_Thinning):
    """Keeps the first point of each tag, and each that is `every` points later."""

    def __init__(self, chosen: Callable[[str], bool], every: int) -> None:
        super().__init__(chosen)
        self._every = every

    def keeps(self, index: Index, tags: Tags) -> NDArray[np.bool_]:
        """Which values stay."""
        rows, _, numbers = self._rows(index, tags)
        stays = np.ones(len(index.values), bool)
        stays[rows] = numbers % self._every == 0
        return stays


class _MinMax(_Thinning):
    """Keeps the first point of each tag, the last, and the extremes of each of equal stretches between them.

    Two passes over the files find how many points there are, and which of them are extremes.
    """

    def __init__(self, chosen: Callable[[str], bool], most: int, files: Sequence[StoredFile], source: Source) -> None:
        super().__init__(chosen)
        self._most = most
        self._stretches = (most - 2) // 2  # of each tag with more points than may stay
        for index in source.stretches(files):
            self._rows(index, source.tags)
        self._counts, self._points = self._points.counts, Counter()
        crowded = self._counts > self._most
        self._bases = np.cumsum(crowded * self._stretches) - crowded * self._stretches  # by tag: its first stretch
        total = int(crowded.sum()) * self._stretches
        self._lowest, self._highest = np.full(total, np.inf), np.full(total, -np.inf)
        self._numbers = np.full((3, total), -1, np.int64)  # of the lowest point, the highest, the first NaN
        for index in source.stretches(files):
            self._look(index, source.tags)
        self._points = Counter()

    def _look(self, index: Index, tags: Tags) -> None:
        """Note the extremes of a stretch of the files."""
        rows, own, numbers = self._rows(index, tags)
        inside = self._inside(own, numbers)
        rows, numbers, stretch = rows[inside], numbers[inside], self._stretch(own[inside], numbers[inside])
        values = index.values["value"][rows]
        nan = np.isnan(values)
        self._take_nans(stretch[nan], numbers[nan])
        stretch, numbers, values = stretch[~nan], numbers[~nan], values[~nan]
        order = np.lexsort((values, stretch))
        stretch, numbers, values = stretch[order], numbers[order], values[order]
        borders = np.flatnonzero(np.diff(stretch, prepend=-1, append=-1))
        lows, highs = borders[:-1], borders[1:] - 1
        lower = (values[lows] < self._lowest[stretch[lows]]) | (self._numbers[0, stretch[lows]] < 0)
        higher = (values[highs] > self._highest[stretch[highs]]) | (self._numbers[1, stretch[highs]] < 0)
        for extreme, values_, which in ((lows[lower], self._lowest, 0), (highs[higher], self._highest, 1)):
            values_[stretch[extreme]] = values[extreme]
            self._numbers[which, stretch[extreme]] = numbers[extreme]

    def keeps(self, index: Index, tags: Tags) -> NDArray[np.bool_]:
        """Which values stay."""
        rows, own, numbers = self._rows(index, tags)
        inside = self._inside(own, numbers)
        stays = np.ones(len(index.values), bool)
        stretch = self._stretch(own[inside], numbers[inside])
        stays[rows[inside]] = (self._numbers[:, stretch] == numbers[inside]).any(axis=0)
        return stays

    def _inside(self, own: Numbers, numbers: Numbers) -> NDArray[np.bool_]:
        """Whether each point is between the first and the last of a tag with too many."""
        was_counted = own < len(self._counts)  # a file that grows meanwhile may have new tags
        counts = np.where(was_counted, self._counts[np.where(was_counted, own, 0)] if len(self._counts) else 0, 0)
        return (counts > self._most) & (numbers > 0) & (numbers < counts - 1)

    def _stretch(self, own: Numbers, numbers: Numbers) -> Numbers:
        """The stretch that each point between the first and the last is in."""
        stretch: Numbers = self._bases[own] + (numbers - 1) * self._stretches // (self._counts[own] - 2)
        return stretch

    def _take_nans(self, stretch: Numbers, numbers: Numbers) -> None:
        first, at = np.unique(stretch, return_index=True)
        new = self._numbers[2, first] < 0
        self._numbers[2, first[new]] = numbers[at[new]]
