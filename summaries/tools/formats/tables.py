"""Tables of points: which column is what, long or wide.

A long table has a row for each point, with the columns tag, step and value; and maybe run and wall_time. A wide one
has a row for each step, and a column for each tag: every column but step, run and wall_time. Where no column is the
step, as in Keras' and Ultralytics' tables, the epoch is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from summaries.tools.formats.points import Numbering, PointBatch, Texts, by_run, integers, is_missing, numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from summaries.tools.formats.points import Cells, LeftOut

__all__ = ["TableReader"]

# As we, TensorBoard and W&B name them.
_NAMES = {
    "run": "run", "tag": "tag", "value": "value", "step": "step", "_step": "step", "global_step": "step",
    "wall_time": "wall_time", "wall time": "wall_time", "_timestamp": "wall_time",
}  # fmt: skip

_EPOCH = "epoch"

# As pandas calls the numbers of the rows, in CSV, in CSV that was read and written again, and in Parquet.
_ROW_NUMBERS = {"", "Unnamed: 0", "__index_level_0__"}


class TableReader:
    """Turns rows into points.

    Args:
        columns: the names of the columns.
        path: the file, for errors.
        left_out: counts what is no number.

    Raises:
        ValueError: there is no column for the step, or two columns have one name.
    """

    def __init__(self, columns: Sequence[str], path: str, left_out: LeftOut) -> None:
        self._path, self._left_out = path, left_out
        names = [name.strip() for name in columns]  # which Ultralytics pads
        roles = [_NAMES.get(name.lower(), "") for name in names]
        if "step" not in roles:
            roles = ["step" if name.lower() == _EPOCH else role for name, role in zip(names, roles, strict=True)]
        self._positions = {role: roles.index(role) for role in roles if role}
        self._long = "tag" in self._positions and "value" in self._positions
        if "step" not in self._positions:
            raise ValueError(
                f"{path}: there must be a column 'step', and either 'tag' and 'value' or one for each tag, "
                f"got {', '.join(map(repr, columns)) or 'none'}"
            )
        used = {position for role, position in self._positions.items() if self._long or role not in {"tag", "value"}}
        self._others: dict[int, str] = {}
        self._top: set[str] = set()  # the names so far of the run that is the directory itself
        taken = set[str]()
        for position, name in enumerate(columns):
            if position in used:
                continue
            if self._long or names[position] in _ROW_NUMBERS:
                left_out[f"column {name!r}"] += 1
            elif names[position] in taken:
                raise ValueError(f"{path}: each column must have a name of its own, got {name!r} twice")
            else:
                self._others[position] = names[position]
                taken.add(names[position])

    def points(self, columns: Sequence[Cells], first: int) -> Iterator[PointBatch]:
        """The points of some rows.

        Args:
            columns: the cells of each column.
            first: the number of the first row, from 1, for errors.

        Raises:
            ValueError: a step is no integer; or some rows have no run, and others the run ".", which would be one.
        """
        cells = {role: columns[position] for role, position in self._positions.items()}
        step = integers(cells["step"], lambda i: f"{self._path}, row {first + i}")
        wall_time = np.full(len(step), np.nan)
        if "wall_time" in cells:
            wall_time, bad = numbers(cells["wall_time"])
            if bad.any():
                self._left_out["times that are not seconds since the epoch"] += int(np.count_nonzero(bad))
        runs = _texts(cells["run"]) if "run" in cells else None
        self._top |= {"", "."}.intersection(runs or ())
        if len(self._top) > 1:
            raise ValueError(f"{self._path}: one of the runs '' and '.' must have another name, got both")
        if not self._long:
            yield from self._wide(columns, PointBatch(".", [], step, step, wall_time, wall_time), runs)
            return
        value, bad = numbers(cells["value"])
        numbering = Numbering()
        tag = numbering.of(_texts(cells["tag"]))
        for number, count in zip(*np.unique(tag[bad], return_counts=True), strict=True):
            self._left_out[f"values of {numbering.names[number]!r} that are no numbers"] += int(count)
        points = PointBatch(".", numbering.names, tag, step, wall_time, value)
        if bad.any():
            rows = np.flatnonzero(~bad)
            points = PointBatch(".", numbering.names, tag[rows], step[rows], wall_time[rows], value[rows])
            runs = runs and [runs[row] for row in rows.tolist()]
        yield from by_run(runs, points)

    def _wide(self, columns: Sequence[Cells], rows: PointBatch, runs: Sequence[str] | None) -> Iterator[PointBatch]:
        """Row by row, each column that has a number; a cell without any has no point."""
        shape = len(rows.step), len(self._others)
        value, has = np.empty(shape), np.empty(shape, np.bool_)
        for i, (position, name) in enumerate(self._others.items()):
            value[:, i], bad = numbers(columns[position])
            has[:, i] = ~bad
            cells = columns[position]
            for gap in () if isinstance(cells, np.ndarray) else np.flatnonzero(np.isnan(value[:, i])).tolist():
                has[gap, i] &= not is_missing(cells[gap])
            if bad.any():
                self._left_out[f"values of {name!r} that are no numbers"] += int(np.count_nonzero(bad))
        row, tag = np.nonzero(has)
        points = PointBatch(".", list(self._others.values()), tag, rows.step[row], rows.wall_time[row], value[row, tag])
        yield from by_run(None if runs is None else [runs[i] for i in row.tolist()], points)


def _texts(cells: Cells) -> Sequence[str]:
    """The texts of cells."""
    if isinstance(cells, Texts):
        return cells
    return ["" if cell is None else str(cell) for cell in cells]
