"""The table of runs: what each states of its hyperparameters, and the last, the best, or any value of its tags."""

from __future__ import annotations

import math
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from summaries.auditing.report.packed import plain
from summaries.auditing.signals.loss_names import loss_role
from summaries.auditing.signals.roles import without_split

if TYPE_CHECKING:
    from collections.abc import Iterable

    from summaries.integrations.tensorboard.books import Book
    from summaries.integrations.tensorboard.library import Library
    from summaries.reading.run import Run

    Ends = dict[str, tuple[float, float, float]]

__all__ = ["Column", "columns_of", "ends_of", "parameters", "row"]

MOST_COLUMNS = 200
_MOST_CHARACTERS = 1000  # of a hyperparameter
_ENDS = {"last": 0, "smallest": 1, "largest": 2}
_PURPOSELY = ("name", "hparams")


class Column(NamedTuple):
    """A column of the table.

    Attributes:
        kind: "parameter", "last", "smallest", "largest", or "at".
        name: of the hyperparameter, or the tag.
        step: for "at": the value is that of the last point at this step or before it.
    """

    kind: str
    name: str
    step: int = 0


def columns_of(asked: object) -> list[Column]:
    """Columns as a page asks for them: a list of [kind, name], or ["at", name, step].

    Raises:
        ValueError: they are something else.

    >>> columns_of([["parameter", "lr"], ["at", "loss", 100]])
    [Column(kind='parameter', name='lr', step=0), Column(kind='at', name='loss', step=100)]
    """
    if not isinstance(asked, list) or len(asked) > MOST_COLUMNS or not all(map(_is_column, asked)):
        raise ValueError(
            f'columns must be a JSON list of at most {MOST_COLUMNS} like ["parameter", name], ["last", tag], '
            f'["smallest", tag], ["largest", tag] or ["at", tag, step], got {asked!r:.200}'
        )
    return [Column(*one) for one in asked]


def _is_column(one: object) -> bool:
    match one:
        case [kind, str()]:
            return kind == "parameter" or kind in _ENDS
        case ["at", str(), bool()]:
            return False
        case ["at", str(), int(step)]:
            return -(2**63) <= step < 2**63
        case _:
            return False


def ends_of(run: Run) -> Ends:
    """Tag → the last value that stands, and the smallest and the largest finite one; NaN where there is none."""
    return {tag: _ends(series.latest().value) for tag, series in run.scalars.items()}


def _ends(value: np.ndarray[Any, np.dtype[np.float64]]) -> tuple[float, float, float]:
    if not len(value):
        return math.nan, math.nan, math.nan
    low, high = float(value.min()), float(value.max())
    if not (math.isfinite(low) and math.isfinite(high)):  # NaN is found by either
        finite = value[np.isfinite(value)]
        low, high = (float(finite.min()), float(finite.max())) if len(finite) else (math.nan, math.nan)
    return float(value[-1]), low, high


def parameters(books: Iterable[Book]) -> list[dict[str, Any]]:
    """The hyperparameters that runs state: `name`, `runs`, `values` (how many different ones), `source`, `chosen`.

    Those that names of runs and the hparams dashboard state come first, and are `chosen`: files and texts state
    everything that a program knew, such as directories and times.
    """
    found: dict[str, dict[str, Any]] = {}
    values: dict[str, set[object]] = {}
    for book in books:
        for name, (value, source) in book.stated.items():
            one = found.setdefault(name, {"name": name, "runs": 0, "values": 0, "source": source, "chosen": False})
            one["runs"] += 1
            one["chosen"] |= source in _PURPOSELY
            values.setdefault(name, set()).add(value)
    for name, one in found.items():
        one["values"] = len(values[name])
    return sorted(found.values(), key=lambda one: not one["chosen"])


def main_tags(books: Iterable[Book]) -> list[str]:
    """The tag that most runs have as their loss or reward, and the one that validates it, if they have any."""
    mains = Counter((book.report.main, book.tags) for book in books if book.report is not None and book.report.main)
    return list(_with_validation(*mains.most_common(1)[0][0])) if mains else []


@lru_cache(maxsize=64)
def _with_validation(main: str, tags: tuple[str, ...]) -> tuple[str, ...]:
    wanted = without_split(main)
    validates = (tag for tag in tags if tag != main and without_split(tag) == wanted)
    return (main, *[tag for tag in validates if loss_role(tag) == "validation_loss"][:1])


def row(library: Library, book: Book, columns: Iterable[Column]) -> list[object]:
    """The cells of a run; None where it has nothing.

    Raises:
        TimeoutError: a value at a step is asked for, and the run is still being read.
    """
    return [_cell(library, book, column) for column in columns]


def _cell(library: Library, book: Book, column: Column) -> object:
    if column.kind == "parameter":
        stated = book.stated.get(column.name)
        return None if stated is None else _written(stated.value)
    ends = book.ends.get(column.name)
    if ends is None:
        return None
    return plain(_value_at(library, book, column) if column.kind == "at" else ends[_ENDS[column.kind]])


def _written(value: object) -> object:
    if isinstance(value, str) and len(value) > _MOST_CHARACTERS:
        return value[:_MOST_CHARACTERS] + "…"
    return plain(value)


def _value_at(library: Library, book: Book, column: Column) -> float | None:
    key = (column.name, column.step)
    if key not in book.at_steps:  # which stay when the columns are let go of
        columns = book.columns or library.book(book.name).columns
        curve = None if columns is None else columns.curve(column.name)
        if curve is None:
            raise TimeoutError(f"run {book.name!r} is still being read")
        series = curve.standing
        at = int(np.searchsorted(series.step, column.step, side="right")) - 1
        apart = np.ptp(series.step) / max(len(series) - 1, 1)  # its last point says as much as they lie apart
        reaches = at >= 0 and column.step <= series.step[-1] + apart
        book.at_steps[key] = float(series.value[at]) if reaches else None
    return book.at_steps[key]
