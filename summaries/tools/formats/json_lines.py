"""JSON lines: an object for each point; "NaN", "Infinity" and "-Infinity" are strings, as in protobuf's JSON."""

from __future__ import annotations

import contextlib
import json
import math
from functools import lru_cache
from itertools import chain, compress, groupby, islice, repeat
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

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
        first = 1
        while lines := list(islice(file, _LINES)):
            numbers: Sequence[int] = range(first, first + len(lines))
            first += len(lines)
            if not all(map(str.strip, lines)):
                numbers = [number for number, line in zip(numbers, lines, strict=True) if line.strip()]
                lines = list(filter(str.strip, lines))
            if lines:
                yield from _points(reader, numbers, _objects(numbers, lines, path), path)


def _objects(numbers: Sequence[int], lines: Sequence[str], path: str) -> list[dict[str, Any]]:
    """What is on each line; all in one go, which takes half the time, where each line can only be an object."""
    text = ",".join(lines)
    alone = text.count("{") == len(lines) and text.count("}\n,{") == len(lines) - 1  # one object begins on each
    if alone and text[0] == "{" and text.rstrip()[-1] == "}":
        with contextlib.suppress(ValueError, RecursionError):
            found: list[dict[str, Any]] = json.loads(f"[{text}]")
            return found
    return [_object(line, _place(path, number)) for number, line in zip(numbers, lines, strict=True)]


def _object(line: str, place: str) -> dict[str, Any]:
    try:
        point = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{place}: not JSON: {error}") from None
    if not isinstance(point, dict):
        raise ValueError(f"{place}: there must be an object, got {line.strip()[:40]}")  # noqa: TRY004 - a file's mistake
    return point


@lru_cache(maxsize=1024)
def _shape(names: tuple[str, ...]) -> tuple[str | None, str | None, list[str] | None]:
    """What an object with these names has: its step's name, its time's, and tags, None if "tag" is among them."""
    step, wall_time = (next((name for name in known if name in names), None) for known in (_STEPS, _TIMES))
    tags = None if {"tag", "value"}.issubset(names) else [name for name in names if name not in _NO_TAGS]
    return step, wall_time, tags


class _Columns(NamedTuple):
    """Cells of objects, and of the points in them."""

    number: list[int]  # of the line
    run: list[Any]
    step: list[Any]
    wall_time: list[Any]
    counts: list[int]  # of points
    tag: list[Any]
    value: list[Any]


def _columns(numbers: Sequence[int], objects: Sequence[dict[str, Any]], path: str) -> _Columns:
    """Cells of objects that have the same names."""
    names = tuple(objects[0])
    step, wall_time, tags = _shape(names)
    if step is None:
        got = ", ".join(map(repr, names)) or "nothing"
        raise ValueError(f"{_place(path, numbers[0])}: there must be a 'step', got {got}")

    def column(name: str | None) -> list[Any]:
        return list(map(itemgetter(name), objects)) if name in objects[0] else [None] * len(objects)

    if tags is None:
        counts, tag, value = [1] * len(objects), column("tag"), column("value")
    else:
        value = [point[name] for point in objects for name in tags]
        counts, tag = [len(tags)] * len(objects), tags * len(objects)
        if None in value:  # it is no point, as in W&B's histories
            counts = [sum(point[name] is not None for name in tags) for point in objects]
            tag = [name for name, cell in zip(tag, value, strict=True) if cell is not None]
            value = [cell for cell in value if cell is not None]
    return _Columns([*numbers], column("run"), column(step), column(wall_time), counts, tag, value)


def _points(
    reader: TableReader, numbers: Sequence[int], objects: Sequence[dict[str, Any]], path: str
) -> Iterator[PointBatch]:
    columns, first = _Columns([], [], [], [], [], [], []), 0
    for _, alike in groupby(objects, tuple):
        some = list(alike)
        for cells, more in zip(columns, _columns(numbers[first : first + len(some)], some, path), strict=True):
            cells.extend(more)
        first += len(some)
    if not columns.tag:
        return
    counts, (number, run, step, wall_time) = columns.counts, columns[:4]
    if 0 in counts:  # their steps may be anything
        number, run, step, wall_time = (list(compress(cells, counts)) for cells in (number, run, step, wall_time))
        counts = list(filter(None, counts))
    steps = integers(step, lambda i: _place(path, number[i]))
    if len(columns.tag) > len(counts):
        steps = np.repeat(steps, counts)
        run, wall_time = (list(chain.from_iterable(map(repeat, cells, counts))) for cells in (run, wall_time))
    yield from reader.points([run, columns.tag, steps, wall_time, columns.value], 1)


def _place(path: str, number: int) -> str:
    """Where a point is, for errors."""
    return f"{path}, line {number}"
