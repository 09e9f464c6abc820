"""JSON lines: an object for each point; "NaN", "Infinity" and "-Infinity" are strings, as in protobuf's JSON."""

from __future__ import annotations

import json
import math
from itertools import islice
from typing import TYPE_CHECKING

from summaries.storage.plain import create_text, open_text
from summaries.tools.formats.tables import TableReader

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from summaries.reading.run import Run
    from summaries.reading.series import Series
    from summaries.tools.formats.points import Item, LeftOut

__all__ = ["read_json_lines", "write_json_lines"]

_LINES = 1 << 14  # read or written at once
_COLUMNS = ("run", "tag", "step", "wall_time", "value")
_STEPS, _TIMES = ("step", "_step", "global_step"), ("wall_time", "_timestamp")


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
            numbered = [(f"{path}, line {number}", line) for number, line in batch if line.strip()]
            rows = [(place, row) for place, line in numbered for row in _rows(line, place)]
            if rows:
                places, points = zip(*rows, strict=True)
                yield from reader.points(list(zip(*points, strict=True)), first, places.__getitem__)
            first += len(rows)


def _rows(line: str, where: str) -> Iterator[tuple[object, ...]]:
    """(run, tag, step, wall_time, value) of each point of a line."""
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
        yield run, point["tag"], step, wall_time, point["value"]
        return
    for name, value in point.items():
        if name not in {"run", *_STEPS, *_TIMES} and value is not None:
            yield run, name, step, wall_time, value
