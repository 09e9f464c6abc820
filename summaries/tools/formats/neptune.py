"""What Neptune's exporter wrote: Parquet files `<project>/<run>_part_<n>.parquet`, a row for each value.

    project_id · run_id · attribute_path · attribute_type · step, a decimal · timestamp
    float_value · int_value · string_value · bool_value · datetime_value · string_set_value · file_value ·
    histogram_value

Of the types, float_series are points, histogram_series histograms, string_series texts; float, int, string, bool,
datetime and string_set are configuration. Neptune's own settings are in `sys/`, the user's usually in `parameters/`.

References: https://github.com/neptune-ai/neptune-exporter
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from summaries.optional import needs
from summaries.reading.stated import exact
from summaries.storage.plain import files_below, is_directory
from summaries.tools.formats.files import run_files, whole
from summaries.tools.formats.gathering import RunNames
from summaries.tools.formats.media import histogram_of, words
from summaries.tools.formats.parquet_file import opened_parquet
from summaries.tools.formats.points import STEPS, Facts, Media, PointBatch

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pyarrow as pa

    from summaries.reading.stated import Value
    from summaries.tools.formats.points import Item, LeftOut

__all__ = ["PATTERN", "is_neptune", "read_neptune"]

PATTERN = "*.parquet"
_COLUMNS = ("run_id", "attribute_path", "attribute_type", "step", "timestamp", "float_value")
_FACTS = {"float": "float_value", "int": "int_value", "string": "string_value", "bool": "bool_value"}
_WORDS = {"datetime": "datetime_value", "string_set": "string_set_value"}  # which become text
_NAME = "sys/name"
_OF_USERS = {"sys/description", "sys/tags", "sys/group_tags"}  # what they say in Neptune's folder
_PART = re.compile(r"(.*_part_)\d+\.parquet")
_UNFINISHED = "files *.parquet.tmp, which the exporter did not finish"
_PROJECT = "project_id"
_MEDIA = ["attribute_path", "string_value", "histogram_value"]
_NAMES = (_PROJECT, "run_id", "attribute_path", "attribute_type")  # which no row lacks
_ROWS = 1 << 17  # at once


def is_neptune(file: str) -> bool:
    """Whether a Parquet file has the exporter's columns.

    Raises:
        ImportError: pyarrow is missing; the message says how to install it.
        ValueError: it is no Parquet file, or a broken one.
        OSError: it cannot be read.
    """
    with opened_parquet(file) as parquet:
        return set(parquet.schema_arrow.names).issuperset(_COLUMNS)


def read_neptune(path: str, left_out: LeftOut) -> Iterator[Item]:
    """Read the runs of an exported project, or of several.

    A run has the name that Neptune shows, or its id; of several with one name, the others get their ids appended.

    Args:
        path: a file, or a directory of these.
        left_out: counts what is left out, and keeps files of a directory that are broken.

    Raises:
        ImportError: pyarrow is missing; the message says how to install it.
        ValueError: a file is no Parquet file, or not the exporter's.
        OSError: a file cannot be read.
    """
    files = [file for _, file in run_files(path, PATTERN, left_out, is_neptune)]
    names = RunNames(left_out)
    called: dict[tuple[str, str], str] = {}  # project and id, which is unique in its project only → name

    def is_whole(file: str) -> bool:  # each table was read before one is carried over
        for table in _tables(file):
            for project, run_id, rows in _runs(_where(table, "attribute_path", _NAME)):
                called[project, run_id] = rows["string_value"][-1].as_py() or run_id
        return True

    if is_directory(path):
        files = whole(files, left_out, is_whole)
        unfinished = files_below(path)
        left_out[_UNFINISHED] += sum(name.endswith(".parquet.tmp") for _, _, names in unfinished for name in names)
    else:
        is_whole(path)
        left_out["files beside it with other parts of the same"] += _other_parts(path)
    for file in files:
        for table in _tables(file):
            for project, run_id, rows in _runs(table):
                name = called.get((project, run_id), run_id)
                yield from _items(names.of(name, run_id, project), rows, left_out)


def _tables(file: str) -> Iterator[pa.Table]:
    pa = needs("pyarrow", "export")
    with opened_parquet(file) as parquet:
        if missing := [name for name in _COLUMNS if name not in parquet.schema_arrow.names]:
            raise ValueError(f"{file}: not of Neptune's exporter, which has the columns {', '.join(missing)}, too")
        types = _types(pa)
        for batch in parquet.iter_batches(_ROWS):
            columns = dict(zip(batch.schema.names, batch.columns, strict=True))
            typed = {name: _typed(pa, file, name, columns.get(name), len(batch), of) for name, of in types.items()}
            table = pa.table(typed)
            table.validate(full=True)  # a text that is none would show anywhere
            yield table


def _types(pa: Any) -> dict[str, Any]:
    """Column → its type."""
    time, words, number = pa.timestamp("ms", tz="UTC"), pa.list_(pa.string()), pa.list_(pa.float64())
    texts = dict.fromkeys((*_NAMES, "string_value"), pa.string())
    return texts | {
        "step": pa.float64(), "timestamp": time, "float_value": pa.float64(), "int_value": pa.int64(),
        "bool_value": pa.bool_(), "datetime_value": time, "string_set_value": words,
        "histogram_value": pa.struct({"edges": number, "values": number}),
    }  # fmt: skip


def _typed(pa: Any, file: str, name: str, column: Any, rows: int, of: Any) -> Any:
    """A column as the exporter has it; what is missing is null."""
    if column is None:
        return pa.nulls(rows, of)
    try:
        if pa.types.is_struct(of) and pa.types.is_struct(column.type):
            fields = {field.name: column.field(field.name).cast(field.type) for field in of}
            return pa.StructArray.from_arrays(list(fields.values()), list(fields), mask=column.is_null())
        typed = column.cast(of, safe=False)  # a fraction of a millisecond is cut off
    except (pa.ArrowException, KeyError) as error:
        raise ValueError(f"{file}: not of Neptune's exporter: the column {name!r}: {str(error).strip()}") from None
    return typed.fill_null("") if name in _NAMES else typed


def _runs(table: pa.Table) -> Iterator[tuple[str, str, pa.Table]]:
    """Project, id and rows of each run."""
    for project in table[_PROJECT].unique().to_pylist():
        of_project = _where(table, _PROJECT, project)
        for run_id in of_project["run_id"].unique().to_pylist():
            yield project, run_id, _where(of_project, "run_id", run_id)


def _where(table: pa.Table, column: str, value: str) -> pa.Table:
    return table.filter(needs("pyarrow.compute", "export").equal(table[column], value))


def _items(run: str, table: pa.Table, left_out: LeftOut) -> Iterator[Item]:
    facts: dict[str, bool | float | str] = {}
    for kind in table["attribute_type"].unique().to_pylist():
        rows = _where(table, "attribute_type", kind)
        if kind == "float_series":
            yield _points(run, rows, left_out)
        elif kind in _FACTS or kind in _WORDS:
            try:
                values = rows[_FACTS.get(kind) or _WORDS[kind]].to_pylist()
            except (OverflowError, ValueError):
                left_out["times beyond the year 9999"] += len(rows)
                continue
            pairs = zip(rows["attribute_path"].to_pylist(), values, strict=True)
            # A run has a null for each attribute that only another run has.
            stated = ((name, value) for name, value in pairs if value is not None)
            facts |= {name: value if isinstance(value, (bool, str)) else _fact(value) for name, value in stated}
        else:
            yield from _media(run, kind, rows, left_out)
    yield Facts(run, _settings(facts, left_out), {})


def _settings(facts: Mapping[str, Value], left_out: LeftOut) -> dict[str, Value]:
    """The user's settings, under the names that other loggers give them."""
    stated = {name: value for name, value in facts.items() if not name.startswith("sys/") or name in _OF_USERS}
    left_out["settings of Neptune's own"] += len(facts) - len(stated)
    short = {name: name.removeprefix("parameters/") for name in stated}
    return {name if short[name] in stated else short[name]: value for name, value in stated.items()}


def _other_parts(file: str) -> int:
    if not (part := _PART.fullmatch(os.path.basename(file))):
        return 0
    _, _, beside = next(files_below(os.path.dirname(file) or "."))
    return [other[1] for other in map(_PART.fullmatch, beside) if other].count(part[1]) - 1


def _fact(value: Any) -> Value:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return exact(value) if isinstance(value, (int, float)) else str(value)


def _points(run: str, rows: pa.Table, left_out: LeftOut) -> PointBatch:
    step, wall_time = _steps_and_times(rows)
    value = rows["float_value"].to_numpy()
    path = rows["attribute_path"].combine_chunks().dictionary_encode()
    tag = path.indices.to_numpy()
    whole = _is_step(step)
    left_out["points whose step is no integer"] += int(np.count_nonzero(~whole))
    return PointBatch(
        run, path.dictionary.to_pylist(), tag[whole], step[whole].astype(np.int64), wall_time[whole], value[whole]
    )


def _steps_and_times(rows: pa.Table) -> tuple[Any, Any]:
    """float64[n] and float64[n]: steps, and seconds since the epoch; NaN where there is none."""
    pa = needs("pyarrow", "export")
    milliseconds = rows["timestamp"].cast(pa.int64()).cast(pa.float64(), safe=False)
    return rows["step"].to_numpy(), milliseconds.to_numpy() / 1000


def _is_step(step: Any) -> Any:
    """bool[n]: whether numbers are integers of 64 bits; NaN, which stands for none, is not."""
    return (step == np.floor(step)) & (np.abs(step) < STEPS.stop)


def _media(run: str, kind: str, rows: pa.Table, left_out: LeftOut) -> Iterator[Media]:
    step, wall_time = _steps_and_times(rows)
    whole = _is_step(step)
    for i, row in enumerate(rows.select(_MEDIA).to_pylist()):
        tag, summary = row["attribute_path"], None
        if kind == "histogram_series" and (histogram := row["histogram_value"]):
            summary = histogram_of(tag, histogram["edges"], histogram["values"])
        elif kind == "string_series" and row["string_value"] is not None:
            summary = words(tag, row["string_value"])
        if summary is None or not whole[i]:
            left_out[f"values of the type {kind}"] += 1
        else:
            yield Media(run, int(step[i]), float(wall_time[i]), summary)
