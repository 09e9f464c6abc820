"""Parquet, long or wide, compressed with zstd, in row groups that small runs and series share."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from summaries.optional import needs
from summaries.reading.series import Series
from summaries.reading.tables import arrow_table, long_columns, wide_columns
from summaries.reading.wide import WideRun

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from summaries.tools.exporting.runs import Chosen

__all__ = ["LongParquet", "long_parquet", "write_parquet"]

_ROW_GROUP_ROWS = 1 << 17
_CELLS = 1 << 22  # of a wide table at a time


def write_parquet(runs: Chosen, path: str, *, wide: bool) -> int:
    """Write the scalars of runs to a local file; return the number of rows.

    Raises:
        ImportError: pyarrow is missing; the message says how to install it.
    """
    if wide:
        return _write_wide(runs, path)
    with long_parquet(path) as file:
        for name, scalars in runs:
            file.add(name, scalars)
    return file.rows


class LongParquet:
    """A Parquet file with the columns run, tag, step, wall_time and value, to which runs are added.

    Args:
        writer: pyarrow's ParquetWriter.

    Attributes:
        rows: how many rows were added.
    """

    def __init__(self, writer: Any) -> None:
        self.rows = 0
        self._writer = writer
        self._waiting: dict[str | None, dict[str, Series]] = {}
        self._waiting_rows = 0

    def add(self, name: str, scalars: Mapping[str, Series]) -> int:
        """Add the points of a run that was not added before; return how many they are."""
        before = self.rows
        for tag, series in scalars.items():
            for start in range(0, len(series), _ROW_GROUP_ROWS):
                piece = slice(start, start + _ROW_GROUP_ROWS)
                self._add(name, Series(tag, series.step[piece], series.wall_time[piece], series.value[piece]))
        return self.rows - before

    def add_table(self, table: Any) -> None:
        """Add the rows of a table that has the same columns."""
        self.flush()
        self._writer.write_table(table.cast(self._writer.schema), row_group_size=_ROW_GROUP_ROWS)
        self.rows += len(table)

    def flush(self) -> None:
        """Write what is waiting for more, so as to fill a row group."""
        if self._waiting:
            self._writer.write_table(arrow_table(long_columns(self._waiting)))
        self._waiting, self._waiting_rows = {}, 0

    def _add(self, name: str, piece: Series) -> None:
        if self._waiting_rows + len(piece) > _ROW_GROUP_ROWS:
            self.flush()
        self._waiting.setdefault(name, {})[piece.tag] = piece
        self._waiting_rows += len(piece)
        self.rows += len(piece)


@contextmanager
def long_parquet(path: str) -> Iterator[LongParquet]:
    """Create a long Parquet file on the disk, which is whole at the end of the block.

    Raises:
        ImportError: pyarrow is missing; the message says how to install it.
    """
    with _parquet_writer(path, arrow_table(long_columns({"": {}})).schema) as writer:
        file = LongParquet(writer)
        yield file
        file.flush()


def _write_wide(runs: Chosen, path: str) -> int:
    tags = runs.all_tags()
    size = max(1, min(_ROW_GROUP_ROWS, _CELLS // (len(tags) + 1)))
    nothing = wide_columns({"": WideRun({}, tags).rows()}, tags)
    count = 0
    with _parquet_writer(path, arrow_table(nothing).schema) as writer:
        for run, scalars in runs:
            table = WideRun(scalars, tags)
            for start in range(0, len(table.step), size):
                writer.write_table(arrow_table(wide_columns({run: table.rows(start, start + size)}, tags)))
            count += len(table.step)
    return count


def _parquet_writer(path: str, schema: Any) -> Any:
    return needs("pyarrow.parquet", "export").ParquetWriter(path, schema, compression="zstd")
