"""Event files as tables for query engines: for Arrow, and through it DuckDB and Polars.

filter, columns ──▶ which runs, which tags ──▶ reading ──▶ batches ──▶ the rest of the filter, by Arrow
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Literal

from summaries.optional import needs
from summaries.patterns import matcher
from summaries.tools.runs import runs_below

if TYPE_CHECKING:
    from typing import Unpack

    import polars as pl
    import pyarrow.dataset as pads

    from summaries.patterns import Patterns
    from summaries.storage.files import Access

    Rows = Literal["points", "runs"]

__all__ = ["dataset", "scan"]

_ROWS = ("points", "runs")


def dataset(
    place: str | os.PathLike[str],
    *,
    of: Rows = "points",
    tags: Patterns = None,
    runs: Patterns = None,
    kept_in: str | os.PathLike[str] | None = None,
    **access: Unpack[Access],
) -> pads.Dataset:
    """The runs below a directory as an Arrow dataset, which DuckDB, Polars and others query without a conversion.

    A query reads the runs and decodes the tags that its filter leaves: conditions on `run` and `tag` reach the reader.
    A large run or some small ones are in memory at a time. Each query reads the files to their ends at that time; call
    `dataset` again to see new runs. Damaged files give the points that can be read.

    Args:
        place: a directory of runs, or an event file; a local path or an address.
        of: "points": a row for each scalar: run (string), tag (string), step (int64), wall_time (float64, seconds since
            the epoch), value (float64), session (int32: the number of the run's event file, from 0; a program that is
            started again writes a new one). Rows are in the order of `read_logdir`. Or "runs": a row for each run:
            files, bytes, records, tags, points, first and last step and wall_time, version, faults, damaged, the first
            fault in words, and a column for each hyperparameter, as in `Run.to_arrow`. All runs are then read at once.
        tags: which tags to read, as in `read_run`.
        runs: which runs, as in `read_logdir`.
        kept_in: of points, a local directory to keep them in as Parquet, which is queried instead: it is first brought
            up to date, for which only runs are read whose files have changed. There is no column session then, and rows
            are in any order of runs. It is the dataset that `export` makes: one process at a time writes to it.
        **access: how an address is accessed: `storage_options` and `cache` as in `read_run`.

    Returns:
        A `pyarrow.dataset.Dataset`. DuckDB finds it as a variable: `duckdb.sql("FROM points")`.

    Raises:
        ValueError: `of` is something else, or does not go with `kept_in`; or that is a directory of something else.
        FileNotFoundError: the place does not exist, or there is no event file below it.
        OSError: a directory cannot be listed; or, when it is queried, a file cannot be read.
        ImportError: pyarrow is missing; the message says how to install it.

    >>> import pyarrow.dataset, tempfile
    >>> from summaries import SummaryWriter
    >>> with SummaryWriter(tempfile.mkdtemp()) as writer:
    ...     for step in range(3):
    ...         writer.add_scalar("loss", 2.0**-step, step)
    >>> late = pyarrow.dataset.field("step") > 1
    >>> dataset(writer.logdir).to_table(columns=["tag", "value"], filter=late).to_pylist()
    [{'tag': 'loss', 'value': 0.25}]

    References: https://arrow.apache.org/docs/python/dataset.html
    """
    if of not in _ROWS:
        raise ValueError(f"`of` must be one of {', '.join(_ROWS)}, got {of!r}")
    if kept_in is not None and of != "points":
        raise ValueError(f"`kept_in` is for points, got {of!r}")
    arrow: Any = needs("pyarrow.dataset", "export")
    if kept_in is not None:
        return _kept(arrow, place, kept_in, tags=tags, runs=runs, **access)
    if of == "points":
        from summaries.tools.querying.points import PointDataset  # noqa: PLC0415 - a subclass of what is an extra

        return PointDataset(runs_below(place, runs=runs, **access).files, matcher(tags))
    from summaries.tools.querying.runs import run_table  # noqa: PLC0415 - needs pyarrow

    return arrow.dataset(run_table(runs_below(place, tags=tags, runs=runs, **access)))


def scan(
    place: str | os.PathLike[str],
    *,
    of: Rows = "points",
    tags: Patterns = None,
    runs: Patterns = None,
    kept_in: str | os.PathLike[str] | None = None,
    **access: Unpack[Access],
) -> pl.LazyFrame:
    """The runs below a directory as a Polars LazyFrame: what a query does not ask for is not parsed.

    Args:
        place: a directory of runs, or an event file; a local path or an address.
        of: "points" or "runs", with the columns of `dataset`.
        tags: which tags to read. Conditions on `tag` in a query do the same.
        runs: which runs, likewise.
        kept_in: of points, a local directory to keep them in as Parquet, as for `dataset`.
        **access: how an address is accessed: `storage_options` and `cache` as in `read_run`.

    Raises:
        ValueError: `of` is something else, or does not go with `kept_in`; or that is a directory of something else.
        FileNotFoundError: the place does not exist, or there is no event file below it.
        OSError: a directory cannot be listed. That a file cannot be read is Polars' ComputeError, when the frame is
            collected.
        ImportError: polars or pyarrow is missing; the message says how to install it.

    References: https://docs.pola.rs/user-guide/plugins/io_plugins
    """
    polars: Any = needs("polars", "polars")
    needs("pyarrow", "polars")
    if of != "points":
        return polars.from_arrow(
            dataset(place, of=of, tags=tags, runs=runs, kept_in=kept_in, **access).to_table()
        ).lazy()
    if kept_in is not None:
        kept = dataset(place, tags=tags, runs=runs, kept_in=kept_in, **access)
        names = dict.fromkeys(("run", "tag"), polars.String)
        return polars.scan_parquet(kept.files, glob=False).cast(names)
    from summaries.tools.querying.lazy_frame import points_frame  # noqa: PLC0415 - needs polars

    return points_frame(runs_below(place, runs=runs, **access).files, matcher(tags))


def _kept(
    arrow: Any, place: str | os.PathLike[str], directory: str | os.PathLike[str], **selection: Any
) -> pads.Dataset:
    """The points of runs as Parquet in a directory, which is brought up to date."""
    from summaries.tools.exporting import export  # noqa: PLC0415 - only who keeps points writes
    from summaries.tools.querying.points import SCHEMA  # noqa: PLC0415 - needs pyarrow

    export(place, directory, format="dataset", delete=True, **selection)
    schema = SCHEMA.remove(SCHEMA.get_field_index("session"))
    return arrow.dataset(os.fspath(directory), format="parquet", schema=schema)
