"""Parquet, long or wide, read, and written with zstd in row groups that small runs and series share.

A file of a dataset is in the order of its tags, with row groups of one tag, or of few. From the lowest and the highest
tag of each, query engines see which of them a query for a tag has to read. Arrow does so of strings alone; a file by
itself has a dictionary of them, with which pandas needs less memory.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from summaries.optional import needs
from summaries.presenting.tables import arrow_table, long_columns, wide_columns
from summaries.presenting.wide import WideRun
from summaries.reading.series import Series
from summaries.storage.plain import open_bytes
from summaries.tools.formats.tables import TableReader

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    import numpy as np
    from numpy.typing import NDArray

    from summaries.presenting.tables import Runs
    from summaries.tools.exporting.runs import Chosen
    from summaries.tools.formats.points import Cells, Item, LeftOut

__all__ = ["ParquetFile", "long_tables", "new_long_file", "opened_parquet", "read_parquet", "write_scalars"]

_ROW_GROUP_ROWS = 1 << 17
_FEW_ROWS = 1 << 14  # so many are read so fast that less of them is no gain
_CELLS = 1 << 22  # of a row group of a wide table
_READ_CELLS = 1 << 17  # at once


def write_scalars(runs: Chosen, path: str, *, wide: bool) -> int:
    """Write the scalars of runs to a local file; return the number of rows.

    Raises:
        ImportError: pyarrow is missing; the message says how to install it.
    """
    if wide:
        return _write_wide(runs, path)
    with new_long_file(path) as file:
        for name, scalars in runs:
            for table in long_tables({name: scalars}):
                file.add(table)
    return file.rows


class ParquetFile:
    """A Parquet file that is written table by table.

    Args:
        writer: pyarrow's ParquetWriter.
        most: the number of rows of a row group, at most.

    Attributes:
        rows: how many rows were added.
    """

    def __init__(self, writer: Any, most: int) -> None:
        self.rows: int = 0
        self._writer = writer
        self._most = most
        self._waiting: list[Any] = []
        self._waiting_rows = 0

    def add(self, table: Any) -> None:
        """Add the rows of an Arrow table, at most those of a row group."""
        if not len(table):
            return
        if self._waiting_rows + len(table) > self._most:
            self.flush()
        self._waiting.append(table)
        self._waiting_rows += len(table)
        self.rows += len(table)

    def settle(self) -> None:
        """End the row group, unless it has few rows: those that follow are asked for at other times."""
        if self._waiting_rows >= _FEW_ROWS:
            self.flush()

    def flush(self) -> None:
        """Write what is waiting for more rows, as one row group."""
        if self._waiting:
            table = needs("pyarrow", "export").concat_tables(self._waiting).unify_dictionaries()
            self._writer.write_table(table.combine_chunks().cast(self._writer.schema))
        self._waiting, self._waiting_rows = [], 0


def new_long_file(path: str, *, strings: bool = False) -> AbstractContextManager[ParquetFile]:
    """Create a file on the disk for the columns run, tag, step, wall_time, value; it is whole at the end of the block.

    Args:
        path: the file.
        strings: whether runs and tags are strings, and not a dictionary of strings.

    Raises:
        ImportError: pyarrow is missing; the message says how to install it.
    """
    schema = arrow_table(long_columns({"": {}})).schema
    if strings:
        pa = needs("pyarrow", "export")
        schema = pa.schema([field.with_type(getattr(field.type, "value_type", field.type)) for field in schema])
    return _new_file(path, schema, _ROW_GROUP_ROWS)


def long_tables(runs: Runs) -> Iterator[Any]:
    """The points of runs as long Arrow tables, each for one row group at most."""
    waiting: dict[str | None, dict[str, Series]] = {}
    rows = 0
    for run, scalars in runs.items():
        for tag, series in scalars.items():
            for start in range(0, len(series), _ROW_GROUP_ROWS):
                piece = slice(start, start + _ROW_GROUP_ROWS)
                part = Series(tag, series.step[piece], series.wall_time[piece], series.value[piece])
                if rows + len(part) > _ROW_GROUP_ROWS:
                    yield arrow_table(long_columns(waiting))
                    waiting, rows = {}, 0
                waiting.setdefault(run, {})[tag] = part
                rows += len(part)
    if waiting:
        yield arrow_table(long_columns(waiting))


def _write_wide(runs: Chosen, path: str) -> int:
    tags = runs.all_tags()
    size = max(1, min(_ROW_GROUP_ROWS, _CELLS // (len(tags) + 1)))
    nothing = wide_columns({"": WideRun({}, tags).rows()}, tags)
    with _new_file(path, arrow_table(nothing).schema, size) as file:
        for run, scalars in runs:
            table = WideRun(scalars, tags)
            for start in range(0, len(table.step), size):
                file.add(arrow_table(wide_columns({run: table.rows(start, start + size)}, tags)))
    return file.rows


@contextmanager
def _new_file(path: str, schema: Any, most: int) -> Iterator[ParquetFile]:
    with needs("pyarrow.parquet", "export").ParquetWriter(path, schema, compression="zstd") as writer:
        file = ParquetFile(writer, most)
        yield file
        file.flush()


def read_parquet(path: str, left_out: LeftOut) -> Iterator[Item]:
    """Read a Parquet file.

    Args:
        path: the file.
        left_out: counts what is left out.

    Raises:
        ImportError: pyarrow is missing; the message says how to install it.
        ValueError: it is no Parquet file, there is no column for the step, or a step is no integer.
        OSError: the file cannot be read.
    """
    pa = needs("pyarrow", "export")
    with opened_parquet(path) as file:
        names = file.schema_arrow.names
        reader = TableReader(names, path, left_out)
        first = 1
        for batch in file.iter_batches(max(_READ_CELLS // len(names), 1)):
            yield from reader.points([_cells(pa, column) for column in batch.columns], first)
            first += batch.num_rows


@contextmanager
def opened_parquet(path: str) -> Iterator[Any]:
    """Open a Parquet file as pyarrow's ParquetFile. What pyarrow says in the block of a broken one names no file.

    Raises:
        ImportError: pyarrow is missing; the message says how to install it.
        ValueError: it is no Parquet file, or a broken one, which may show at any time in the block.
        OSError: the file cannot be read.
    """
    parquet, arrow_error = needs("pyarrow.parquet", "export"), needs("pyarrow", "export").ArrowException
    with open_bytes(path) as opened:  # what cannot be read says so itself
        try:
            with parquet.ParquetFile(opened) as file:
                yield file
        # Pyarrow's words for what is damaged; NotImplementedError is that for a type or a codec that it does not know.
        except (arrow_error, NotImplementedError, OSError, OverflowError, UnicodeDecodeError) as error:
            raise ValueError(f"{path}: not Parquet: {str(error).strip()}") from None


def _cells(pa: Any, column: Any) -> Cells:
    """The cells of a column: as an array, which is faster, if they are numbers and none is missing."""
    types = pa.types
    if not column.null_count and (types.is_floating(column.type) or types.is_signed_integer(column.type)):
        array: NDArray[np.generic] = column.to_numpy()
        return array
    cells: list[object] = column.to_pylist()
    return cells
