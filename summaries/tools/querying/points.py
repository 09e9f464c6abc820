"""The scalars of runs as an Arrow dataset. Arrow decides which runs and tags a filter leaves; only these are read.

Each run is a fragment of the dataset, of which Arrow knows the run's name, so that `get_fragments` leaves out those
that a filter excludes. Tags are asked for in the same way, each once. The whole filter is then applied to the rows.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from summaries.optional import needs
from summaries.presenting.tables import arrow_table, long_columns, unicode
from summaries.reading.run import read_files
from summaries.storage.protocols import expecting

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from summaries.reading.run import Run
    from summaries.storage.protocols import StoredFile

__all__ = ["SCHEMA", "PointDataset", "tables_of"]

_arrow: Any = needs("pyarrow", "export")
_datasets: Any = needs("pyarrow.dataset", "export")
_files: Any = needs("pyarrow.fs", "export")
SCHEMA = _arrow.schema(
    [
        ("run", _arrow.string()),
        ("tag", _arrow.string()),
        ("step", _arrow.int64()),
        ("wall_time", _arrow.float64()),
        ("value", _arrow.float64()),
        ("session", _arrow.int32()),
    ]
)
_BATCH_ROWS = 1 << 17
_FORMAT = _datasets.IpcFileFormat()  # that fragments must have; they are never read by it


class PointDataset(_datasets.FileSystemDataset):  # type: ignore[misc]
    """See `dataset`.

    Args:
        runs: the event files of each run, in reading order.
        wanted: whether a tag is wanted.
        only: the condition of all rows; None for every row.
    """

    def __init__(
        self, runs: Mapping[str, Sequence[StoredFile]], wanted: Callable[[str], bool], only: Any = None
    ) -> None:
        super().__init__(*_fragments("run", [unicode(name) for name in runs]))
        self._runs = runs
        self._wanted = wanted
        self._only = only

    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError("a dataset of event files is not sent to another process: make it there")

    def filter(self, expression: Any) -> PointDataset:
        """The same dataset with only the rows that fulfil a condition."""
        return PointDataset(self._runs, self._wanted, _both(self._only, expression))

    def scanner(self, columns: Any = None, filter: Any = None, batch_size: int | None = None, **_: Any) -> Any:  # noqa: A002
        """What reads the rows that fulfil a condition; everything that reads a dataset asks for it.

        Args:
            columns: the names of the columns, or name → expression; None for all.
            filter: an Arrow expression of the columns; None for all rows. Named as Arrow does.
            batch_size: the most rows of a batch.
        """
        return _Scanner(self._tables, columns, _both(self._only, filter), batch_size or _BATCH_ROWS)

    def sort_by(self, sorting: Any, **options: Any) -> Any:
        """The rows in another order, in memory, as Arrow has them then, too; which reads fragments by itself else."""
        return _readable(self).sort_by(sorting, **options)

    def join(self, right_dataset: Any, *args: Any, **options: Any) -> Any:
        """The rows beside those of another dataset, in memory, likewise."""
        return _readable(self).join(_readable(right_dataset), *args, **options)

    def join_asof(self, right_dataset: Any, *args: Any, **options: Any) -> Any:
        """The rows beside the nearest of another dataset, in memory, likewise."""
        return _readable(self).join_asof(_readable(right_dataset), *args, **options)

    def _tables(self, columns: Collection[str], condition: Any) -> Iterator[Any]:
        """The rows of the runs and tags that a condition leaves."""
        names = list(self._runs)
        left = sorted(int(fragment.path) for fragment in self.get_fragments(condition))
        return tables_of(self._runs, [names[i] for i in left], _Left("tag", self._wanted, condition), columns)


def _readable(other: Any) -> Any:
    """A dataset that Arrow reads by itself: one of points in memory."""
    return _datasets.InMemoryDataset(other.to_table()) if isinstance(other, PointDataset) else other


class _Scanner:
    """Has the methods of Arrow's, which cannot read from a generator that nobody reads to its end: it never lets go.

    Args:
        tables: the rows with some columns that a condition may leave, run after run.
        columns: as in `PointDataset.scanner`, as are the rest.
        condition: a row must fulfil it.
        most: the most rows of a batch.
    """

    def __init__(self, tables: Callable[[Any, Any], Iterator[Any]], columns: Any, condition: Any, most: int) -> None:
        self._tables = tables
        self._condition = condition
        self._options = {"columns": columns, "filter": condition, "batch_size": most, "use_threads": False}
        self._columns = [name for name in SCHEMA.names if _needed(name, columns, condition)]
        self.projected_schema = self._of(SCHEMA.empty_table()).projected_schema
        self.dataset_schema = SCHEMA

    def to_batches(self) -> Iterator[Any]:
        """The rows, as they are read."""
        for table in self._tables(self._columns, self._condition):
            yield from self._of(table).to_table().to_batches(self._options["batch_size"])

    def to_reader(self) -> Any:
        """The same as a RecordBatchReader."""
        return _arrow.RecordBatchReader.from_batches(self.projected_schema, self.to_batches())

    def to_table(self) -> Any:
        """The same as a Table."""
        return _arrow.Table.from_batches(self.to_batches(), self.projected_schema)

    def head(self, num_rows: int) -> Any:
        """The first rows as a Table; runs after those that have them are not read."""
        batches, left = [], num_rows
        for batch in self.to_batches() if left > 0 else ():
            batches.append(batch.slice(0, left))
            left -= len(batches[-1])
            if not left:
                break
        return _arrow.Table.from_batches(batches, self.projected_schema)

    def count_rows(self) -> int:
        """How many rows there are."""
        return sum(self._of(table).count_rows() for table in self._tables(self._columns, self._condition))

    def take(self, indices: Any) -> Any:
        """The rows with these numbers, as a Table."""
        return self.to_table().take(indices)

    def _of(self, table: Any) -> Any:
        """Arrow's scanner of a table in memory."""
        return _datasets.InMemoryDataset(table).scanner(**self._options)


class _Left:
    """Whether a condition leaves any row with a value in a column of strings; each value is looked at once."""

    def __init__(self, column: str, wanted: Callable[[str], bool], condition: Any) -> None:
        self._column, self._wanted, self._condition = column, wanted, condition
        self._known: dict[str, bool] = {}

    def __call__(self, value: str) -> bool:
        if value not in self._known:
            self._known[value] = self._wanted(value) and self._is_left(value)
        return self._known[value]

    def _is_left(self, value: str) -> bool:
        alone = _datasets.FileSystemDataset(*_fragments(self._column, [unicode(value)]))
        return any(True for _ in alone.get_fragments(self._condition))


def _fragments(column: str, values: Sequence[str]) -> tuple[Any, ...]:
    """The arguments of a dataset with a fragment for each value of a column; its path is the value's number."""
    disk, field = _files.LocalFileSystem(), _datasets.field(column)
    fragments = [_FORMAT.make_fragment(str(i), disk, partition_expression=field == v) for i, v in enumerate(values)]
    return fragments, SCHEMA, _FORMAT, disk


def _both(one: Any, other: Any) -> Any:
    """The conjunction of two conditions, each of which may be None."""
    return other if one is None else one if other is None else one & other


def _needed(name: str, columns: Collection[str] | Mapping[str, Any] | None, condition: Any) -> bool:
    """Whether a column is among those that are asked for, or that a condition is about."""
    if columns is None or not isinstance(columns, (list, tuple)) or name in columns:
        return True
    others = _arrow.schema([field for field in SCHEMA if field.name != name])
    try:
        _datasets.InMemoryDataset(others.empty_table()).scanner(filter=condition)
    except ValueError:  # no such field
        return True
    return False


def tables_of(
    runs: Mapping[str, Sequence[StoredFile]],
    names: Sequence[str],
    wanted: Callable[[str], bool],
    columns: Collection[str],
) -> Iterator[Any]:
    """Arrow tables of the scalars of runs, which are read when their table is asked for.

    The first table has one run; the later ones have more, since many small tables take long. So a limit that the first
    runs fulfil reads no others.

    Args:
        runs: the event files of each run, in reading order.
        names: the runs to read.
        wanted: whether a tag is wanted; the others are not decoded.
        columns: the columns to make, of `SCHEMA`. Without any there is one, since rows could not be counted else.
    """
    schema = _arrow.schema([field for field in SCHEMA if field.name in (columns or ("step",))])
    waiting: dict[str, Run] = {}
    rows, most = 0, 1
    with expecting(list(chain.from_iterable(runs[name] for name in names))):
        for name in names:
            waiting[name] = run = read_files(runs[name], tags=wanted)
            rows += sum(map(len, run.scalars.values()))
            if rows >= most:
                yield _table(waiting, schema)
                waiting, rows, most = {}, 0, min(4 * most, _BATCH_ROWS)
    if rows:
        yield _table(waiting, schema)


def _table(runs: Mapping[str, Run], schema: Any) -> Any:
    """The points of some runs in these columns."""
    made = dict(long_columns({name: run.scalars for name, run in runs.items()}))
    if "session" in schema.names:
        sessions = [_sessions(run, tag) for run in runs.values() for tag in run.scalars]
        made["session"] = np.concatenate([np.empty(0, np.int32), *sessions])
    return arrow_table({column: made[column] for column in schema.names}).cast(schema)


def _sessions(run: Run, tag: str) -> Any:
    """int32[n]: the number of the file that each point of a tag is in."""
    starts = [*run.file_starts(tag), len(run.scalars[tag])]
    return np.repeat(np.arange(len(run.files), dtype=np.int32), np.diff(starts))
