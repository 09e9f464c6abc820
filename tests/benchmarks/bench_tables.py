"""Runs as a table: the mean of one tag in each of 10,000 runs, 1 GB of event files, beside the same points as Parquet.

The peer is one file, as pyarrow writes it by itself, with the points run by run. DuckDB and Polars ask both.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from typing import TYPE_CHECKING

from benchmarks.figures import OURS, Figure
from benchmarks.peers import Contender, compare
from benchmarks.scale import sized
from summaries import SummaryWriter, dataset, read_logdir, scan

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

RUNS, TAGS, STEPS = sized(10_000, 500), 20, 125
TAG = "t3"
WHAT = f"the mean of one tag of {TAGS} by run, {RUNS:,} runs of {STEPS * TAGS:,} points"
WANTED = "100 ms, and 1.3 x the time of Parquet at most"


def figures() -> Iterator[Figure]:
    """Yield those of a query of points that are kept, and of one that brings them up to date before."""
    with tempfile.TemporaryDirectory() as directory:
        runs, kept, flat = (os.path.join(directory, name) for name in ("runs", "kept", "flat.parquet"))
        write_runs(runs)
        dataset(runs, kept_in=kept)
        write_flat(runs, flat)
        both = {OURS: os.path.join(kept, "*.parquet"), "one Parquet file": flat}
        by_duckdb = {name: Contender(of_duckdb, (path,), "duckdb") for name, path in both.items()}
        yield compare(f"{WHAT}, kept, DuckDB", "ms", by_duckdb, wanted=WANTED)
        by_polars = {name: Contender(of_polars, (path,), "polars") for name, path in both.items()}
        yield compare(f"{WHAT}, kept, Polars", "ms", by_polars, wanted=WANTED)
        brought = {OURS: Contender(of_updated, (runs, kept), "polars")}
        yield compare(f"{WHAT}, brought up to date first, Polars", "ms", brought)
        read = {OURS: Contender(of_event_files, (runs,), "polars")}
        yield compare(f"{WHAT}, from the event files, Polars", "ms", read)


def of_duckdb(path: str) -> Callable[[], object]:
    import duckdb

    def run() -> None:
        query = f"SELECT run, avg(value) FROM read_parquet('{path}') WHERE tag = '{TAG}' GROUP BY run"  # noqa: S608
        assert len(duckdb.sql(query).fetchall()) == RUNS

    return run


def of_polars(path: str) -> Callable[[], object]:
    import polars as pl

    return lambda: _mean(pl.scan_parquet(path))


def of_updated(runs: str, kept: str) -> Callable[[], object]:
    return lambda: _mean(scan(runs, kept_in=kept))


def of_event_files(runs: str) -> Callable[[], object]:
    return lambda: _mean(scan(runs))


def _mean(frame: object) -> None:
    import polars as pl

    asked = frame.filter(pl.col("tag") == TAG).group_by("run").agg(pl.col("value").mean())  # type: ignore[attr-defined]
    assert asked.collect().height == RUNS


def write_runs(directory: str) -> None:
    """Write runs, each in a directory of its own: copies of one file."""
    with SummaryWriter(os.path.join(directory, "r00000")) as writer:
        for step in range(STEPS):
            for i in range(TAGS):
                writer.add_scalar(f"t{i}", step / 2 + i, step)
    first = str(writer.path)
    for number in range(1, RUNS):
        os.makedirs(other := os.path.join(directory, f"r{number:05d}"))
        shutil.copy(first, other)


def write_flat(directory: str, path: str) -> None:
    """Write the points of all runs to one Parquet file, by nothing but pyarrow's defaults."""
    import pyarrow.parquet as pq

    pq.write_table(read_logdir(directory).to_arrow(), path)
