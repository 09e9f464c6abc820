"""Export: the scalars of runs as Parquet or CSV, one run at a time, so that only one run is in memory.

The table has the columns run, tag, step, wall_time (seconds since the epoch) and value. A dataset partitioned by run
has a directory `run=<name>` for each run, as Hive names them; DuckDB, Polars and Spark read the name as a column.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping
from contextlib import nullcontext
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from summaries.reading.run import Run, read_files
from summaries.reading.tables import pyarrow
from summaries.storage.files import created
from summaries.storage.logdir import run_directories
from summaries.storage.names import is_remote, join
from summaries.storage.protocols import expecting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from typing import Unpack

    from summaries.reading.series import Series
    from summaries.storage.files import Access

__all__ = ["RunsBelow", "export_csv", "export_dataset", "export_parquet"]

_ROW_GROUP_ROWS = 1 << 17
_CSV_ROWS = 1 << 14


class RunsBelow(Mapping[str, Run]):
    """The runs below a directory, by name; each is read when it is asked for, and not kept.

    Args:
        path: the directory; or one event file, which is the run ".".
        **access: how an address is accessed: `storage_options` and `cache` as in `read_run`.

    Raises:
        FileNotFoundError: there is no such path, or no event file below it.
        OSError: a directory cannot be listed.
    """

    def __init__(self, path: str | os.PathLike[str], **access: Unpack[Access]) -> None:
        self._files = run_directories(path, lone=".", **access)
        self._size = sum(file.size for files in self._files.values() for file in files)

    def __getitem__(self, name: str) -> Run:
        """Read a run.

        Raises:
            KeyError: there is no such run.
            OSError: a file cannot be read.
        """
        return read_files(self._files[name], self._size)

    def expecting(self) -> AbstractContextManager[object]:
        """While this context lasts, the runs will be read in order, so that those in a store may be fetched ahead."""
        return expecting(list(chain.from_iterable(self._files.values())))

    def __iter__(self) -> Iterator[str]:
        """The names, sorted."""
        return iter(self._files)

    def __len__(self) -> int:
        """How many runs there are."""
        return len(self._files)


def export_parquet(
    runs: str | os.PathLike[str] | Mapping[str, Run],
    target: str | os.PathLike[str],
    on_run: Callable[[str, Run], object] | None = None,
    **access: Unpack[Access],
) -> int:
    """Write all scalars as one Parquet file, in row groups of at most 131,072 points.

    Args:
        runs: a log directory, or runs by name.
        target: the file to write; an existing one is replaced. Directory and file may be addresses, such as `s3://…`.
        on_run: called as `on_run(name, run)` after each run was read, for example to show faults or progress.
        **access: how addresses are accessed: `storage_options` and `cache` as in `read_run`.

    Returns:
        The number of points.

    Raises:
        FileNotFoundError: the directory does not exist, or there is no event file below it.
        OSError: a file cannot be read or written.
        ImportError: pyarrow is missing; the message says how to install it.
    """
    pa, pq = _parquet()
    points = 0
    with (
        _created(target, access) as file,
        pq.ParquetWriter(file, _schema(pa, with_run=True), compression="zstd") as writer,
    ):
        for name, run in _named(runs, on_run, access):
            points += _write(pa, writer, name, run)
    return points


def export_dataset(
    runs: str | os.PathLike[str] | Mapping[str, Run],
    target: str | os.PathLike[str],
    on_run: Callable[[str, Run], object] | None = None,
    **access: Unpack[Access],
) -> int:
    """Write all scalars as a dataset partitioned by run: ``<target>/run=<name>/scalars.parquet``.

    Arguments, result and errors as in `export_parquet`. Slashes and other special characters in names are
    percent-encoded, as readers of such datasets expect.
    """
    from urllib.parse import quote  # noqa: PLC0415 - importing it takes two milliseconds

    pa, pq = _parquet()
    points = 0
    for name, run in _named(runs, on_run, access):
        directory = join(os.fspath(target), f"run={quote(name, safe='')}")
        if not is_remote(directory):
            os.makedirs(directory, exist_ok=True)
        with (
            _created(join(directory, "scalars.parquet"), access) as file,
            pq.ParquetWriter(file, _schema(pa, with_run=False), compression="zstd") as writer,
        ):
            points += _write(pa, writer, None, run)
    return points


def export_csv(
    runs: str | os.PathLike[str] | Mapping[str, Run],
    target: str | os.PathLike[str],
    on_run: Callable[[str, Run], object] | None = None,
    **access: Unpack[Access],
) -> int:
    """Write all scalars as CSV with a header line. Reading the numbers back gives the same numbers.

    Arguments and result as in `export_parquet`. This needs no extra.

    Raises:
        FileNotFoundError: the directory does not exist, or there is no event file below it.
        OSError: a file cannot be read or written.
    """
    points = 0
    with _created(target, access) as path, open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["run", "tag", "step", "wall_time", "value"])
        for name, run in _named(runs, on_run, access):
            for series, piece in _pieces(run.scalars, _CSV_ROWS):
                columns = (column[piece].tolist() for column in (series.step, series.wall_time, series.value))
                rows = [(name, series.tag, *row) for row in zip(*columns, strict=True)]
                writer.writerows(rows)
                points += len(rows)
    return points


def _created(target: str | os.PathLike[str], access: Access) -> AbstractContextManager[str]:
    return created(os.fspath(target), access.get("storage_options"))


def _named(
    runs: str | os.PathLike[str] | Mapping[str, Run], on_run: Callable[[str, Run], object] | None, access: Access
) -> Iterator[tuple[str, Run]]:
    if isinstance(runs, (str, os.PathLike)):
        runs = RunsBelow(runs, **access)
    with runs.expecting() if isinstance(runs, RunsBelow) else nullcontext():
        for name, run in runs.items():
            if on_run is not None:
                on_run(name, run)
            yield name, run


def _pieces(scalars: Mapping[str, Series], rows: int) -> Iterator[tuple[Series, slice]]:
    for series in scalars.values():
        for start in range(0, len(series), rows):
            yield series, slice(start, start + rows)


def _parquet() -> tuple[Any, Any]:
    pa = pyarrow()
    import pyarrow.parquet as pq  # noqa: PLC0415 - large, and used nowhere else

    return pa, pq


def _schema(pa: Any, *, with_run: bool) -> Any:
    label = pa.dictionary(pa.int32(), pa.string())
    numbers = [("step", pa.int64()), ("wall_time", pa.float64()), ("value", pa.float64())]
    return pa.schema([*([("run", label)] if with_run else []), ("tag", label), *numbers])


def _write(pa: Any, writer: Any, name: str | None, run: Run) -> int:
    """Write the points of a run; small series share a row group."""
    waiting: list[Any] = []
    rows = points = 0
    for series, piece in _pieces(run.scalars, _ROW_GROUP_ROWS):
        table = _table(pa, name, series, piece)
        if rows + len(table) > _ROW_GROUP_ROWS:
            writer.write_table(pa.concat_tables(waiting).unify_dictionaries().combine_chunks())
            waiting, rows = [], 0
        waiting.append(table)
        rows += len(table)
        points += len(table)
    if waiting:
        writer.write_table(pa.concat_tables(waiting).unify_dictionaries().combine_chunks())
    return points


def _table(pa: Any, run: str | None, series: Series, piece: slice) -> Any:
    step = series.step[piece]
    zeros = pa.array(np.zeros(len(step), np.int32))

    def label(text: str) -> Any:
        return pa.DictionaryArray.from_arrays(zeros, pa.array([text], pa.string()))

    labels = {"tag": label(series.tag)} if run is None else {"run": label(run), "tag": label(series.tag)}
    return pa.table({**labels, "step": step, "wall_time": series.wall_time[piece], "value": series.value[piece]})
