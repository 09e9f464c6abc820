"""JSON lines: an object for each point; "NaN", "Infinity" and "-Infinity" are strings, as in protobuf's JSON."""

from __future__ import annotations

import json
import math
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from summaries.storage.plain import create_text, open_text
from summaries.tools.formats.tables import TableReader

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from summaries.reading.run import Run
    from summaries.reading.series import Series
    from summaries.tools.formats.points import Item, LeftOut

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
        lines, first = enumerate(file, 1), 1
        while batch := list(islice(lines, _LINES)):
            columns: list[list[object]] = [[] for _ in _COLUMNS]
            numbers: list[int] = []  # of the line that each point is on
            for number, line in batch:
                if line.strip():
                    numbers += [number] * _add(line, columns, f"{path}, line {number}")
            if numbers:
                yield from reader.points(columns, first, partial(_place, path, numbers))
            first += len(numbers)


def _place(path: str, numbers: Sequence[int], index: int) -> str:
    """Where the point with an index is, for errors."""
    return f"{path}, line {numbers[index]}"


def _add(line: str, columns: Sequence[list[object]], where: str) -> int:
    """Add the points of a line to columns of run, tag, step, wall_time and value; return how many there are."""
    try:
        point = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{where}: not JSON: {error}") from None
    if not isinstance(point, dict):
        raise ValueError(f"{where}: there must be an object, got {line.strip()[:40]}")  # noqa: TRY004 - a file's mistake
    step = next((point[name] for name in _STEPS if name in point), None)
    if step is None:
        raise ValueError(f"{where}: there must be a 'step', got {', '.join(map(repr, point)) or 'nothing'}")
    wall_time = next((point[name] for name in _TIMES if name in point), None)
    run = point.get("run")
    if "tag" in point and "value" in point:
        tags, values = [point["tag"]], [point["value"]]
    else:
        tags = [name for name, value in point.items() if value is not None and name not in _NO_TAGS]
        values = [point[name] for name in tags]
    count = len(tags)
    for column, cells in zip(columns, ([run] * count, tags, [step] * count, [wall_time] * count, values), strict=True):
        column.extend(cells)
    return count
