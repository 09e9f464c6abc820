"""Gathers rows of numbers, as loggers store them as JSON, into batches of points; and names runs apart."""

from __future__ import annotations

from itertools import chain, repeat
from typing import TYPE_CHECKING

import numpy as np

from summaries.tools.formats.points import EXACT, LeftOut, PointBatch, is_step

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["Gatherer", "RunNames"]

_POINTS = 1 << 17  # in a batch
_WORDS = {"NaN": np.nan, "Infinity": np.inf, "-Infinity": -np.inf}  # as JSON has no such numbers


class Gatherer:
    """Rows of runs on their way into batches.

    Args:
        left_out: counts what is no number, and rows without a step.

    >>> gatherer = Gatherer(LeftOut())
    >>> gatherer.add("a", 3, 1e9, {"loss": 0.5, "train": {"acc": 1}})
    >>> [(batch.tags, batch.step, batch.value) for batch in gatherer.rest()]
    [(['loss', 'train.acc'], array([3, 3]), array([0.5, 1. ]))]
    """

    def __init__(self, left_out: LeftOut) -> None:
        self._left_out = left_out
        self._runs: dict[str, _Columns] = {}
        self._points = 0

    def add(self, run: str, step: object, wall_time: float, values: Mapping[str, object]) -> None:
        """Take a row. Numbers and truth values become points; keys within keys are joined by dots.

        Args:
            run: the run's name.
            step: the step; a row without an integer of 64 bits is left out.
            wall_time: seconds since the epoch; NaN if unknown.
            values: tag → value.
        """
        if not is_step(step):
            self._left_out["history without a step"] += 1
            return
        columns = self._runs.get(run)
        if columns is None:
            columns = self._runs[run] = _Columns()
        before = len(columns.value)
        self._add(columns, "", values)
        columns.step.append(step)
        columns.wall_time.append(wall_time)
        columns.count.append(len(columns.value) - before)
        self._points += columns.count[-1]

    def _add(self, columns: _Columns, prefix: str, values: Mapping[str, object]) -> None:
        numbers = columns.numbers
        for key, value in values.items():
            tag = prefix + key
            if type(value) is not float:
                if isinstance(value, dict):
                    self._add(columns, f"{tag}.", value)
                    continue
                value = self._number(tag, value)  # noqa: PLW2901 - as a float
                if value is None:
                    continue
            columns.tag.append(numbers.setdefault(tag, len(numbers)))
            columns.value.append(value)

    def _number(self, tag: str, value: object) -> float | None:
        if isinstance(value, int):
            if not -EXACT <= value <= EXACT:
                self._left_out[f"digits of integers of {tag!r} beyond float64"] += 1
            try:
                return float(value)
            except OverflowError:
                return np.inf if value > 0 else -np.inf
        number = _WORDS.get(value) if isinstance(value, str) else None
        if number is None:
            self._left_out[f"values of {tag!r} that are no numbers"] += 1
        return number

    def full(self) -> Iterator[PointBatch]:
        """The points, if there are enough for a batch; they are taken."""
        if self._points >= _POINTS:
            yield from self.rest()

    def rest(self) -> Iterator[PointBatch]:
        """All points, a batch for each run; they are taken."""
        for run, columns in self._runs.items():
            if columns.value:
                yield columns.batch(run)
        self._runs, self._points = {}, 0


class _Columns:
    """Points of one run, and for each row its step, its time and the number of its points."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}
        self.tag: list[int] = []
        self.value: list[float] = []
        self.step: list[int] = []
        self.wall_time: list[float] = []
        self.count: list[int] = []

    def batch(self, run: str) -> PointBatch:
        step = np.repeat(np.array(self.step, np.int64), self.count)
        wall_time = np.repeat(np.array(self.wall_time, np.float64), self.count)
        return PointBatch(
            run, list(self.numbers), np.array(self.tag), step, wall_time, np.array(self.value, np.float64)
        )


class RunNames:
    """Names for runs, no two the same: a run's own, or with its id if another run has that.

    Args:
        left_out: is told of each name that changes.

    >>> names = RunNames(LeftOut())
    >>> [names.of("lr=0.1", run_id) for run_id in "121"]
    ['lr=0.1', 'lr=0.1,2', 'lr=0.1']
    """

    def __init__(self, left_out: LeftOut) -> None:
        self._left_out = left_out
        self._ids: dict[str, tuple[str, ...]] = {}  # of the run that has a name

    def of(self, name: str, *ids: str) -> str:
        """The name for a run.

        Args:
            name: what the run is called.
            *ids: what tells it from all others. As many are appended as must be, after commas, at which hyperparameters
                in names end.
        """
        if self._ids.setdefault(name, ids) == ids:  # at once: some formats ask for each row
            return name
        own, more = name, chain((part for part in ids if part != name), repeat(ids[-1]))
        while self._ids.setdefault(own, ids) != ids:
            own = f"{own},{next(more)}"
        self._left_out.renamed[own] = name
        return own
