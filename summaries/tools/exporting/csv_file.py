"""CSV, long or wide, with a header line. Reading the numbers back gives the same numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, TextIO

from summaries.presenting.tables import unicode
from summaries.presenting.wide import WideRun, wide_names
from summaries.tools.csv_rows import csv_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray

    from summaries.tools.exporting.runs import Chosen

__all__ = ["write_csv"]

_CELLS = 1 << 17  # turned into Python objects at a time
_LABELS = 3  # columns before those of the tags


def write_csv(runs: Chosen, file: TextIO, *, wide: bool) -> int:
    """Write the scalars of runs to an open text file; return the number of lines after the header."""
    write = csv_rows(file)
    count = 0
    for rows in _wide(runs) if wide else _long(runs):
        write(rows)
        count += len(rows)
    return count - 1


def _long(runs: Chosen) -> Iterator[list[tuple[object, ...]]]:
    yield [("run", "tag", "step", "wall_time", "value")]
    size = _CELLS // 5
    for run, scalars in runs:
        for tag, series in scalars.items():
            labels = unicode(run), unicode(tag)
            for start in range(0, len(series), size):
                piece = slice(start, start + size)
                columns = (column[piece].tolist() for column in (series.step, series.wall_time, series.value))
                yield [(*labels, *row) for row in zip(*columns, strict=True)]


def _wide(runs: Chosen) -> Iterator[list[tuple[object, ...]]]:
    tags = runs.all_tags()
    yield [("run", "step", "wall_time", *wide_names(map(unicode, tags)))]
    size = max(1, _CELLS // (_LABELS + len(tags)))
    for run, scalars in runs:
        name = unicode(run)
        table = WideRun(scalars, tags)
        for start in range(0, len(table.step), size):
            rows = table.rows(start, start + size)
            values = [_cells(value, missing) for value, missing in zip(rows.value, rows.missing, strict=True)]
            cells = zip(rows.step.tolist(), rows.wall_time.tolist(), *values, strict=True)
            yield [(name, *row) for row in cells]


def _cells(value: NDArray[np.float64], missing: NDArray[np.bool_]) -> list[float | None]:
    """The numbers; None, which becomes an empty cell, where there is none."""
    return [None if gap else number for number, gap in zip(value.tolist(), missing.tolist(), strict=True)]
