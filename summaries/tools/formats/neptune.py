"""What Neptune's exporter wrote: Parquet files `<project>/<run>_part_<n>.parquet`, a row for each value.

    project_id · run_id · attribute_path · attribute_type · step, a decimal · timestamp
    float_value · int_value · string_value · bool_value · datetime_value · string_set_value · file_value ·
    histogram_value

Of the types, float_series are points, histogram_series histograms, string_series texts; float, int, string, bool,
datetime and string_set are configuration.

References: https://github.com/neptune-ai/neptune-exporter
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from summaries.kinds.text import text
from summaries.optional import needs
from summaries.tools.formats.files import run_files
from summaries.tools.formats.gathering import name_apart
from summaries.tools.formats.media import histogram_of
from summaries.tools.formats.parquet_file import opened_parquet
from summaries.tools.formats.points import Facts, Media, PointBatch

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from summaries.tools.formats.points import Item, LeftOut

__all__ = ["PATTERN", "is_neptune", "read_neptune"]

PATTERN = "*.parquet"
_COLUMNS = ("run_id", "attribute_path", "attribute_type", "step", "timestamp", "float_value")
_FACTS = {"float": "float_value", "int": "int_value", "string": "string_value", "bool": "bool_value"}
_WORDS = {"datetime": "datetime_value", "string_set": "string_set_value"}  # which become text
_NAME = "sys/name"
_PROJECT = "project_id"
_ROWS = 1 << 17  # at once


def is_neptune(file: str) -> bool:
    """Whether a Parquet file has the exporter's columns.

    Raises:
        ImportError: pyarrow is missing; the message says how to install it.
    """
    try:
        with opened_parquet(file) as parquet:
            return set(parquet.schema_arrow.names).issuperset(_COLUMNS)
    except (OSError, ValueError):
        return False


def read_neptune(path: str, left_out: LeftOut) -> Iterator[Item]:
    """Read the runs of an exported project, or of several.

    A run has the name that Neptune shows, or its id; of several with one name, the others get their ids appended.

    Args:
        path: a file, or a directory of these.
        left_out: counts what is left out.

    Raises:
        ImportError: pyarrow is missing; the message says how to install it.
        ValueError: a file is no Parquet file, or not the exporter's.
        OSError: a file cannot be read.
    """
    files = [file for _, file in run_files(path, PATTERN, left_out, is_neptune)]
    names: dict[str, str] = {}
    taken: dict[str, str] = {}
    ids: dict[str, str] = {}  # of runs, which are unique in their project only → the project
    for file in files:
        for table in _tables(file):
            for project, run_id, rows in _runs(_where(table, "attribute_path", _NAME)):
                own = name_apart(run_id, project, ids)
                names[own] = name_apart(rows["string_value"][-1].as_py() or run_id, own, taken)
    for file in files:
        for table in _tables(file):
            for project, run_id, rows in _runs(table):
                own = name_apart(run_id, project, ids)
                run = names[own] if own in names else name_apart(own, own, taken)
                yield from _items(run, rows, left_out)


def _tables(file: str) -> Iterator[pa.Table]:
    pa = needs("pyarrow", "export")
    with opened_parquet(file) as parquet:
        if missing := [name for name in _COLUMNS if name not in parquet.schema_arrow.names]:
            raise ValueError(f"{file}: not of Neptune's exporter, which has the columns {', '.join(missing)}, too")
        for batch in parquet.iter_batches(_ROWS):
            yield pa.Table.from_batches([batch])


def _runs(table: pa.Table) -> Iterator[tuple[str, str, pa.Table]]:
    """Project, id and rows of each run."""
    for project in table[_PROJECT].unique().to_pylist() if _PROJECT in table.column_names else [""]:
        of_project = _where(table, _PROJECT, project) if _PROJECT in table.column_names else table
        for run_id in of_project["run_id"].unique().to_pylist():
            yield str(project), run_id, _where(of_project, "run_id", run_id)


def _where(table: pa.Table, column: str, value: str) -> pa.Table:
    return table.filter(needs("pyarrow.compute", "export").equal(table[column], value))


def _items(run: str, table: pa.Table, left_out: LeftOut) -> Iterator[Item]:
    facts: dict[str, bool | float | str] = {}
    for kind in table["attribute_type"].unique().to_pylist():
        rows = _where(table, "attribute_type", kind)
        if kind == "float_series":
            yield _points(run, rows, left_out)
        elif kind in _FACTS or kind in _WORDS:
            values = rows[_FACTS.get(kind) or _WORDS[kind]].to_pylist()
            pairs = zip(rows["attribute_path"].to_pylist(), values, strict=True)
            facts |= {name: value if isinstance(value, (bool, str)) else _fact(value) for name, value in pairs}
        else:
            yield from _media(run, kind, rows, left_out)
    yield Facts(run, facts, {})


def _fact(value: Any) -> float | str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return float(value) if isinstance(value, (int, float)) else str(value)


def _points(run: str, rows: pa.Table, left_out: LeftOut) -> PointBatch:
    step, wall_time = _steps_and_times(rows)
    value = rows["float_value"].to_numpy()
    path = rows["attribute_path"].combine_chunks().dictionary_encode()
    tag = path.indices.to_numpy()
    whole = step == np.floor(step)  # NaN, which stands for none, is not
    left_out["points whose step is no integer"] += int(np.count_nonzero(~whole))
    return PointBatch(
        run, path.dictionary.to_pylist(), tag[whole], step[whole].astype(np.int64), wall_time[whole], value[whole]
    )


def _steps_and_times(rows: pa.Table) -> tuple[Any, Any]:
    """float64[n] and float64[n]: steps, and seconds since the epoch; NaN where there is none."""
    pa = needs("pyarrow", "export")
    step = rows["step"].cast(pa.float64()).to_numpy()
    milliseconds = rows["timestamp"].cast(pa.timestamp("ms", tz="UTC")).cast(pa.int64()).cast(pa.float64())
    return step, milliseconds.to_numpy() / 1000


def _media(run: str, kind: str, rows: pa.Table, left_out: LeftOut) -> Iterator[Media]:
    step, wall_time = _steps_and_times(rows)
    for i, row in enumerate(rows.to_pylist()):
        tag, summary = row["attribute_path"], None
        if kind == "histogram_series" and (histogram := row["histogram_value"]):
            summary = histogram_of(tag, histogram["edges"], histogram["values"])
        elif kind == "string_series" and row["string_value"] is not None:
            summary = text(tag, row["string_value"])
        if summary is None or step[i] != np.floor(step[i]):
            left_out[f"values of the type {kind}"] += 1
        else:
            yield Media(run, int(step[i]), float(wall_time[i]), summary)
