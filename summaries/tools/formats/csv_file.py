"""CSV with a header line, long or wide, read and written. Reading numbers that were written gives the same numbers."""

from __future__ import annotations

import csv
import io
import os
from itertools import chain, islice
from typing import TYPE_CHECKING, TextIO

from summaries.presenting.tables import unicode
from summaries.presenting.wide import WideRun, wide_names
from summaries.reading.stated import beside, unread_beside
from summaries.storage.plain import open_text
from summaries.tools.formats.files import run_files
from summaries.tools.formats.points import Facts, LeftOut, Texts
from summaries.tools.formats.tables import TableReader

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from summaries.tools.exporting.runs import Chosen
    from summaries.tools.formats.points import Item

    Rows = Sequence[Sequence[object]]
    Piece = tuple[Sequence[str], Sequence[NDArray[np.generic]]]
    """The label of some rows in each column with labels, and their numbers in each of the other columns."""

__all__ = ["PATTERN", "csv_rows", "has_steps", "read_csv", "write_long", "write_scalars"]

_CELLS = 1 << 17  # of a table, read or written at once
_CHARACTERS = 1 << 18  # of a table that is split at once: fastest where its cells fit into the processor's cache
PATTERN = "*.csv"
_LOGGERS = ("metrics.csv", "results.csv")  # of Lightning and Ultralytics, beside which configurations lie
_FEWEST = 2  # columns, of lines that are split: an empty line would be a row of one
_LABELS = 3  # columns before those of the tags


def write_scalars(runs: Chosen, file: TextIO, *, wide: bool) -> int:
    """Write the scalars of runs to an open text file; return the number of lines after the header."""
    if wide:
        return _write(file, _wide(runs))
    pieces = (
        ((run, tag), (series.step, series.wall_time, series.value))
        for run, scalars in runs
        for tag, series in scalars.items()
    )
    return write_long(file, ("run", "tag", "step", "wall_time", "value"), pieces)


def write_long(file: TextIO, names: Sequence[str], pieces: Iterable[Piece]) -> int:
    """Write a long table.

    Args:
        file: open for text, without translation of line ends.
        names: the names of the columns: first those with labels.
        pieces: (the label in each of the former columns, the numbers in each of the latter) of some rows.

    Returns:
        The number of lines after the header.

    Raises:
        OSError: the file cannot be written.
    """
    return _write(file, chain([[names]], _long(pieces, _CELLS // len(names))))


def _write(file: TextIO, batches: Iterable[Rows]) -> int:
    write = csv_rows(file)
    count = 0
    for rows in batches:
        write(rows)
        count += len(rows)
    return count - 1


def _long(pieces: Iterable[Piece], size: int) -> Iterator[Rows]:
    for labels, columns in pieces:
        texts = [unicode(label) for label in labels]
        for start in range(0, len(columns[0]), size):
            numbers = (column[start : start + size].tolist() for column in columns)
            yield [(*texts, *row) for row in zip(*numbers, strict=True)]


def _wide(runs: Chosen) -> Iterator[Rows]:
    tags = runs.all_tags()
    yield [("run", "step", "wall_time", *wide_names(map(unicode, tags)))]
    size = max(1, _CELLS // (_LABELS + len(tags)))
    for run, scalars in runs:
        name = unicode(run)
        table = WideRun(scalars, tags)
        for start in range(0, len(table.step), size):
            rows = table.rows(start, start + size)
            values = [_cells(value, missing) for value, missing in zip(rows.value, rows.missing, strict=True)]
            yield [(name, *row) for row in zip(rows.step.tolist(), rows.wall_time.tolist(), *values, strict=True)]


def _cells(value: NDArray[np.float64], missing: NDArray[np.bool_]) -> list[float | None]:
    """The numbers; None, which becomes an empty cell, where there is none."""
    return [None if gap else number for number, gap in zip(value.tolist(), missing.tolist(), strict=True)]


def read_csv(path: str, left_out: LeftOut) -> Iterator[Item]:
    """Read a CSV file with a header line, a few thousand rows at a time; or each below a directory, as a run.

    So write Lightning's and Keras' CSVLogger, and Ultralytics. Hyperparameters of files beside them are read, too.

    Args:
        path: the file or directory. Bytes that are not UTF-8 are escaped.
        left_out: counts what is left out: a last row that is not whole, for example.

    Raises:
        ValueError: there is no column for the step, two columns have one name, a step is no integer, or a row has
            another number of cells.
        OSError: the file cannot be read.
    """
    for run, file in run_files(path, PATTERN, left_out, has_steps):
        for item in _items(file, left_out):
            yield item if run == "." else item._replace(run=run if item.run == "." else f"{run}/{item.run}")
        if os.path.basename(file) in _LOGGERS:
            if settings := beside(os.path.dirname(file)):
                yield Facts(run, settings, {})
            left_out["files of settings that cannot be read"] += len(unread_beside(os.path.dirname(file)))


def has_steps(file: str) -> bool:
    """Whether the first line of a file names a column for the step."""
    try:
        with open_text(file, newline="") as lines:
            TableReader(next(csv.reader(lines), []), file, LeftOut())
    except (ValueError, OSError, csv.Error):
        return False
    return True


def _items(path: str, left_out: LeftOut) -> Iterator[Item]:
    with open_text(path, newline="") as file:
        header = csv.reader(file)
        passed, rows = 0, header
        try:
            names = next(filter(None, header), [])  # an empty line is no row
            reader = TableReader(names, path, left_out)
            first = 1
            while (text := file.read(_CHARACTERS) + file.readline()) and (columns := _split(text, len(names))):
                yield from reader.points(columns, first)
                first += len(columns[0])
            passed, rows = header.line_num + first - 1, csv.reader(chain(io.StringIO(text, newline=""), file))
            while batch := list(islice(filter(None, rows), max(_CELLS // len(names), 1))):
                if len(batch[-1]) < len(names) and next(filter(None, rows), None) is None:
                    left_out["last rows that are not whole"] += 1
                    del batch[-1]
                odd = next((i for i, row in enumerate(batch) if len(row) != len(names)), len(batch))
                columns = [Texts(cells) for cells in zip(*batch[:odd], strict=True)] or [Texts()] * len(names)
                yield from reader.points(columns, first)  # what is wrong with a row before is told first
                if odd < len(batch):
                    raise ValueError(
                        f"{path}, row {first + odd}: there must be {len(names)} cells, got {len(batch[odd])}"
                    )
                first += len(batch)
        except csv.Error as error:
            raise ValueError(f"{path}, line {passed + rows.line_num}: not CSV: {error}") from None


def _split(text: str, count: int) -> list[Texts] | None:
    """The cells of each of `count` columns, if every line is a row of so many and no cell needs the `csv` module."""
    text = text.replace("\r\n", "\n").removesuffix("\n")
    if count < _FEWEST or '"' in text or "\r" in text or _has_long_line(text, csv.field_size_limit()):
        return None
    cells = text.replace("\n", ",\n").split(",")  # so that what follows an end of line is a cell that begins with it
    first = "".join(cells[::count]).split("\n")
    if len(cells) != len(first) * count or text.count("\n") != len(first) - 1:
        return None  # an end of line is elsewhere
    return [Texts(first), *(Texts(cells[i::count]) for i in range(1, count))]


def _has_long_line(text: str, limit: int) -> bool:
    start = 0
    while len(text) - start > limit:
        start = text.rfind("\n", start, start + limit + 1) + 1
        if not start:
            return True
    return False


def csv_rows(file: TextIO) -> Callable[[Rows], None]:
    r"""A function that writes rows to a file; the texts of the rows of one call are the same in each row.

    Args:
        file: open for text, without translation of line ends.

    >>> import io
    >>> file = io.StringIO()
    >>> csv_rows(file)([("a\rb", 1), ("a\rb", 2)])
    >>> file.getvalue()
    '"a\rb",1\n"a\rb",2\n'
    """
    plain = csv.writer(file, lineterminator="\n")
    # Python before 3.13 quotes a carriage return only if lines end with one, and reads it as an end of line.
    quoting = csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)

    def write(rows: Rows) -> None:
        returns = bool(rows) and any("\r" in cell for cell in rows[0] if isinstance(cell, str))
        (quoting if returns else plain).writerows(rows)

    return write
