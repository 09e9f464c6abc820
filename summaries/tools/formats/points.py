"""Points of runs on their way from one format to another, in batches, and what was left out on the way."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from summaries.wire.pb import Summary

    Cells = Sequence[object] | NDArray[np.generic]

__all__ = [
    "EXACT",
    "ROW",
    "STEPS",
    "Facts",
    "Item",
    "LeftOut",
    "Media",
    "Numbering",
    "PointBatch",
    "Texts",
    "by_run",
    "integers",
    "is_missing",
    "is_step",
    "mapping",
    "numbers",
    "seconds",
]


class PointBatch(NamedTuple):
    """Some points of one run, in the order of the source.

    Attributes:
        run: the run's name; "." for the only one.
        tags: names of tags.
        tag: integers[n], for each point the index of its tag among these.
        step: int64[n].
        wall_time: float64[n], seconds since the epoch; NaN where the source has none.
        value: float64[n].
    """

    run: str
    tags: Sequence[str]
    tag: NDArray[np.integer]
    step: NDArray[np.int64]
    wall_time: NDArray[np.float64]
    value: NDArray[np.float64]


class Facts(NamedTuple):
    """What a source says of a run as a whole.

    Attributes:
        run: the run's name.
        hyperparameters: name → value.
        texts: tag → text.
    """

    run: str
    hyperparameters: Mapping[str, bool | float | str]
    texts: Mapping[str, str]


class Media(NamedTuple):
    """A picture, a text or a histogram.

    Attributes:
        run: the run's name.
        step: the step.
        wall_time: seconds since the epoch; NaN where the source has none.
        summary: the Summary, as event files have it.
    """

    run: str
    step: int
    wall_time: float
    summary: Summary


Item = PointBatch | Facts | Media

ROW = np.dtype([("step", np.int64), ("wall_time", np.float64), ("value", np.float64)])
"""A point without its tag."""

EXACT = 1 << 53
"""Integers up to this are floats, too."""

STEPS = range(-(2**63), 2**63)
"""What a step can be: an int64."""


def is_step(step: object) -> TypeGuard[int]:
    """Whether a step is an integer of 64 bits; a truth value is none."""
    return type(step) is int and step in STEPS


def seconds(milliseconds: object) -> float:
    """Seconds of a time in milliseconds, both since the epoch; NaN if it is no number."""
    try:
        return milliseconds / 1000 if isinstance(milliseconds, (int, float)) else np.nan
    except OverflowError:
        return np.nan


class LeftOut(Counter[str]):
    """What could not be carried over, and how often: "text of 'name'" → 3.

    >>> left_out = LeftOut()
    >>> left_out["text of 'name'"] += 3
    >>> left_out.notes()
    ["text of 'name': 3 left out"]

    Attributes:
        renamed: new name of a run → its own, which another run has.
        broken: file of a directory that is not whole, so that the others alone are read → what is wrong with it.
    """

    def __init__(self) -> None:
        super().__init__()
        self.renamed: dict[str, str] = {}
        self.broken: dict[str, str] = {}

    def notes(self) -> list[str]:
        """A sentence for each."""
        left_out = [f"{what}: {number} left out" for what, number in self.items() if number]
        return left_out + [f"another run {name!r} is called {new!r}" for new, name in self.renamed.items()]


def mapping(value: object, left_out: LeftOut) -> dict[str, Any]:
    """A value of JSON that must be an object: an empty one instead of null, and of what is none, which is counted."""
    if isinstance(value, dict):
        return value
    left_out["values that should be JSON objects"] += value is not None
    return {}


class Texts(list[str]):
    """Cells of a table that are all text, so that none need be asked what it is."""


class Numbering:
    """Names → numbers in order of first appearance.

    >>> numbering = Numbering()
    >>> numbering.of(["b", "a", "b"]), numbering.names
    (array([0, 1, 0]), ['b', 'a'])
    """

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def of(self, names: Sequence[str]) -> NDArray[np.int64]:
        """int64[n]: the numbers of n names; new ones are added."""
        numbers = self._numbers
        for name in dict.fromkeys(names):
            numbers.setdefault(name, len(numbers))
        return np.fromiter(map(numbers.__getitem__, names), np.int64, len(names))

    @property
    def names(self) -> list[str]:
        """The names, by number."""
        return list(self._numbers)


def by_run(runs: Sequence[str] | None, points: PointBatch) -> Iterator[PointBatch]:
    """Points of several runs, a batch for each.

    Args:
        runs: for each point the name of its run; None if all are of one.
        points: the points, whose own `run` is for those whose name is empty, or if there are no names.
    """
    if runs is None:
        yield points
        return
    numbering = Numbering()
    codes = numbering.of(runs)
    order = np.argsort(codes, kind="stable")
    bounds = np.searchsorted(codes[order], np.arange(len(numbering.names) + 1))
    for number, name in enumerate(numbering.names):
        own = order[bounds[number] : bounds[number + 1]]
        columns = points.tag[own], points.step[own], points.wall_time[own], points.value[own]
        yield PointBatch(name or points.run, points.tags, *columns)


def numbers(cells: Cells) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Cells of a table as numbers: text, numbers, truth values, or None; or an array of numbers.

    Returns:
        float64[n], NaN where there is none; and bool[n], whether the cell is neither a number nor missing.

    >>> numbers(["1.5", "nan", "", "NA", "x"])
    (array([1.5, nan, nan, nan, nan]), array([False, False, False, False,  True]))
    """
    if isinstance(cells, np.ndarray):
        return cells.astype(np.float64), np.zeros(len(cells), np.bool_)
    whole = cells if isinstance(cells, Texts) else [np.nan if cell is None else cell for cell in cells]
    try:
        return np.fromiter(map(float, whole), np.float64, len(whole)), np.zeros(len(whole), np.bool_)  # type: ignore[arg-type]
    except (ValueError, TypeError, OverflowError):
        pairs = [_number(cell) for cell in cells]
        return np.array([value for value, _ in pairs]), np.array([bad for _, bad in pairs], np.bool_)


def is_missing(cell: object) -> bool:
    """Whether there is no value in a cell: it is empty, or has the "NA" that Keras' CSVLogger and R write."""
    return cell is None or (isinstance(cell, str) and cell.strip() in {"", "NA"})


_TRUTH = {"true": 1.0, "false": 0.0}


def _number(cell: object) -> tuple[float, bool]:
    if is_missing(cell):
        return np.nan, False
    try:
        return float(cell), False  # type: ignore[arg-type]
    except (ValueError, TypeError, OverflowError):
        value = _TRUTH.get(cell.strip().lower()) if isinstance(cell, str) else None
        return (np.nan, True) if value is None else (value, False)


def integers(cells: Cells, where: Callable[[int], str]) -> NDArray[np.int64]:
    """Cells of a table as int64[n]: integers, their text, or floats without a fraction; or an array of integers.

    Args:
        cells: the cells.
        where: the place of the cell with an index, for an error.

    Raises:
        ValueError: one is something else, or takes more than 64 bits; the message tells where.

    >>> integers(["1", "2.0"], str)
    array([1, 2])
    """
    if isinstance(cells, np.ndarray):
        if cells.dtype.kind == "i":
            return cells.astype(np.int64)
        cells = cells.tolist()
    try:
        if isinstance(cells, Texts) or {str, int, bool}.issuperset(map(type, cells)):
            return np.fromiter(map(int, cells), np.int64, len(cells))
    except (ValueError, TypeError, OverflowError):
        pass
    return np.array([_integer(cell, i, where) for i, cell in enumerate(cells)], np.int64)


def _integer(cell: object, index: int, where: Callable[[int], str]) -> int:
    try:
        number = int(cell) if isinstance(cell, (str, int)) else None
    except ValueError:
        number = None
    if number is None:
        value, _ = _number(cell)
        number = int(value) if np.isfinite(value) and value == int(value) else None
    if number is None or number not in STEPS:
        raise ValueError(f"{where(index)}: a step must be an integer of 64 bits, got {cell!r}")
    return number
