"""Event files: points from another format, as runs below a directory."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from summaries.kinds.hparams import hparams
from summaries.presenting.tables import unicode
from summaries.storage.names import as_path, join
from summaries.tools.formats.media import words
from summaries.tools.formats.points import Facts, Media
from summaries.writing.columns_writer import ColumnsWriter

if TYPE_CHECKING:
    from collections.abc import Iterable

    from summaries.tools.formats.points import Item, PointBatch

__all__ = ["WrittenRuns", "write_runs"]


class WrittenRuns(NamedTuple):
    """What was written.

    Attributes:
        runs: the number of runs.
        points: the number of points.
        media: the number of pictures, texts and histograms.
        timeless: the number of points that had no time, and got the time of the conversion.
        rounded: the number of values that float32 cannot hold, and so are others now.
        overflowed: the number of finite values beyond float32, which became infinite.
        renamed: names of runs → the paths that they got, where these differ.
    """

    runs: int
    points: int
    media: int
    timeless: int
    rounded: int
    overflowed: int
    renamed: dict[str, str]


def write_runs(items: Iterable[Item], directory: str, *, double: bool = False) -> WrittenRuns:
    """Write points and facts as event files, one for each run.

    Args:
        items: in batches, of any run in any order.
        directory: an existing local directory; the run "." is written into it, any other below it.
        double: store values as float64; else as float32.

    Raises:
        OSError: a file cannot be written.
        ValueError: an item cannot be read; see the formats.
    """
    now, timeless, media = time.time(), 0, 0
    paths = _Paths()
    writers: dict[str, ColumnsWriter] = {}
    begins: dict[str, float] = {}
    facts: dict[str, Facts] = {}
    for item in items:
        if item.run not in writers:
            writers[item.run] = ColumnsWriter(join(directory, paths.of(item.run)), double=double)
        if isinstance(item, Facts):
            before = facts.get(item.run, Facts(item.run, {}, {}))
            merged = {**before.hyperparameters, **item.hyperparameters}, {**before.texts, **item.texts}
            facts[item.run] = Facts(item.run, *merged)
        elif isinstance(item, Media):
            media += 1
            writers[item.run].add_summary(item.summary, item.step, now if np.isnan(item.wall_time) else item.wall_time)
        elif len(item.step):
            absent = np.isnan(item.wall_time)
            timeless += int(np.count_nonzero(absent))
            wall_time = np.where(absent, now, item.wall_time)
            begins.setdefault(item.run, float(wall_time[0]))
            _add(writers[item.run], item._replace(wall_time=wall_time))
    for fact in facts.values():
        _add_facts(writers[fact.run], fact, begins.get(fact.run, now))
    for writer in writers.values():
        writer.close()
    names = ("points", "rounded", "overflowed")
    points, rounded, overflowed = (sum(getattr(writer, name) for writer in writers.values()) for name in names)
    return WrittenRuns(len(writers), points, media, timeless, rounded, overflowed, paths.renamed)


def _add(writer: ColumnsWriter, points: PointBatch) -> None:
    numbers = np.array([writer.number_of(tag) for tag in points.tags], np.int64)
    writer.add_scalars(numbers[points.tag], points.step, points.wall_time, points.value)


def _add_facts(writer: ColumnsWriter, facts: Facts, wall_time: float) -> None:
    if facts.hyperparameters:
        writer.add_summary(
            hparams({unicode(name): _as_text(value) for name, value in facts.hyperparameters.items()}, {}), 0, wall_time
        )
    for tag, what in facts.texts.items():
        writer.add_summary(words(tag, what), 0, wall_time)


def _as_text(value: bool | float | str) -> bool | float | str:
    return unicode(value) if isinstance(value, str) else value


class _Paths:
    """A path for each run, no two the same."""

    def __init__(self) -> None:
        self._taken: dict[str, int] = {}  # path → how many wanted it
        self.renamed: dict[str, str] = {}

    def of(self, run: str) -> str:
        wanted = path = as_path(run)
        key = wanted.casefold()
        number = self._taken.get(key, 1)
        while path.casefold() in self._taken:
            number += 1
            path = f"{wanted}_{number}"
        self._taken[key] = number
        self._taken.setdefault(path.casefold(), 1)
        if path != run:
            self.renamed[run] = path
        return path
