"""JSON lines: an object for each point; "NaN", "Infinity" and "-Infinity" are strings, as in protobuf's JSON."""

from __future__ import annotations

import json
import math
from functools import lru_cache
from itertools import chain, islice, repeat
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from summaries.storage.plain import create_text, open_text
from summaries.tools.formats.points import integers
from summaries.tools.formats.tables import TableReader

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from summaries.reading.run import Run
    from summaries.reading.series import Series
    from summaries.tools.formats.points import Item, LeftOut, PointBatch

__all__ = ["read_json_lines", "write_json_lines"]

_LINES = 1 << 14  # read or written at once
_COLUMNS = ("run", "tag", "step", "wall_time", "value")
_STEPS, _TIMES = ("step", "_step", "global_step"), ("wall_time", "_timestamp")
_NO_TAGS = {"run", *_STEPS, *_TIMES}


def write_json_lines(runs: Iterable[tuple[str, Run]], path: str) -> int:
    """Write every point of runs as `{"run": …, "tag": …, "step": …, "wall_time": …, "value": …}`.

    Args:
        runs: (name, run).
        path: the file.

    Returns:
        The number of points.

    Raises:
        OSError: the file cannot be written.
    """
    points = 0
    with create_text(path) as file:
        for name, run in runs:
            for tag, series in run.scalars.items():
                start = f'{{"run": {json.dumps(name)}, "tag": {json.dumps(tag)}, "step": '
                for first in range(0, len(series), _LINES):
                    file.writelines(_lines(start, series, slice(first, first + _LINES)))
                points += len(series)
    return points


def _lines(start: str, series: Series, rows: slice) -> Iterator[str]:
    columns = (column[rows].tolist() for column in (series.step, series.wall_time, series.value))
    for step, wall_time, value in zip(*columns, strict=True):
        yield f'{start}{step}, "wall_time": {_json(wall_time)}, "value": {_json(value)}}}\n'


def _json(number: float) -> str:
    if math.isfinite(number):
        return repr(number)
    return '"NaN"' if math.isnan(number) else '"Infinity"' if number > 0 else '"-Infinity"'


def read_json_lines(path: str, left_out: LeftOut) -> Iterator[Item]:
    """Read a file with an object on each line.

    An object has a `step`, or as W&B names it `_step`; maybe a `run` and a `wall_time` or `_timestamp`; and either
    `tag` and `value`, or a number for each of several tags.

    Args:
        path: the file.
        left_out: counts what is left out.

    Raises:
        ValueError: a line is not such an object.
        OSError: the file cannot be read.
    """
    reader = TableReader(_COLUMNS, path, left_out)
    with open_text(path) as file:
        lines = enumerate(file, 1)
        while batch := list(islice(lines, _LINES)):
            rows = [_row(line, number, path) for number, line in batch if line.strip()]
            if rows := [row for row in rows if row.tags]:
                yield from _points(reader, rows, path)


class _Row(NamedTuple):
    """What is on a line, with a tag and a value for each point."""

    number: int
    run: object
    step: object
    wall_time: object
    tags: Sequence[object]
    values: Sequence[object]


def _row(line: str, number: int, path: str) -> _Row:
    try:
        point = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{_place(path, number)}: not JSON: {error}") from None
    if not isinstance(point, dict):
        got = line.strip()[:40]
        raise ValueError(f"{_place(path, number)}: there must be an object, got {got}")  # noqa: TRY004 - a file's mistake
    step, wall_time, tags = _shape(tuple(point))
    if step is None:
        got = ", ".join(map(repr, point)) or "nothing"
        raise ValueError(f"{_place(path, number)}: there must be a 'step', got {got}")
    start = number, point.get("run"), point[step], point.get(wall_time)
    if tags is None:
        return _Row(*start, [point["tag"]], [point["value"]])
    values = [point[name] for name in tags]
    if None in values:
        tags = [name for name in tags if point[name] is not None]
        values = [point[name] for name in tags]
    return _Row(*start, tags, values)


@lru_cache(maxsize=1024)
def _shape(names: tuple[str, ...]) -> tuple[str | None, str | None, Sequence[str] | None]:
    """What an object with these names has: its step's name, its time's, and tags, None if "tag" is among them."""
    step, wall_time = (next((name for name in known if name in names), None) for known in (_STEPS, _TIMES))
    tags = None if {"tag", "value"}.issubset(names) else [name for name in names if name not in _NO_TAGS]
    return step, wall_time, tags


def _points(reader: TableReader, rows: Sequence[_Row], path: str) -> Iterator[PointBatch]:
    numbers, runs, steps, times, tags, values = zip(*rows, strict=True)
    counts = [len(each) for each in tags]
    step = np.repeat(integers(steps, lambda i: _place(path, numbers[i])), counts)
    run, wall_time = (list(chain.from_iterable(map(repeat, cells, counts))) for cells in (runs, times))
    every_tag, every_value = (list(chain.from_iterable(cells)) for cells in (tags, values))
    yield from reader.points([run, every_tag, step, wall_time, every_value], 1)


def _place(path: str, number: int) -> str:
    """Where a point is, for errors."""
    return f"{path}, line {number}"
