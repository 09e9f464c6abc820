"""A table of runs: sizes, times, versions, damage, and hyperparameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from summaries.errors import is_damaged
from summaries.optional import needs
from summaries.presenting.hyperparameters import columns_of
from summaries.presenting.tables import unicode
from summaries.reading.stated import stated
from summaries.tools.runs import read_ahead

if TYPE_CHECKING:
    from collections.abc import Mapping

    from summaries.reading.run import Run
    from summaries.reading.stated import Stated

__all__ = ["run_table"]


def run_table(runs: Mapping[str, Run]) -> Any:
    """An Arrow table with a row for each run; `dataset` lists the columns. The runs are read one after the other."""
    pa = needs("pyarrow", "export")
    schema = pa.schema(
        [
            ("run", pa.string()),
            *(
                (name, pa.int64())
                for name in ("files", "bytes", "records", "tags", "points", "first_step", "last_step")
            ),
            *((name, pa.float64()) for name in ("first_wall_time", "last_wall_time")),
            ("version", pa.string()),
            ("faults", pa.int64()),
            ("damaged", pa.bool_()),
            ("first_fault", pa.string()),
        ]
    )
    rows: list[dict[str, object]] = []
    stating: list[Mapping[str, Stated]] = []
    with read_ahead(runs):
        for name, run in runs.items():
            rows.append(_row(name, run))
            stating.append(stated(name, run))
    table = pa.Table.from_pylist(rows, schema)
    for column in columns_of(stating):
        missing = np.array([text is None for text in column.texts])
        array = pa.array(column.texts) if column.numbers is None else pa.array(column.numbers, mask=missing)
        field = pa.field(column.name, array.type, metadata={"source": ", ".join(column.sources)})
        table = table.append_column(field, array)
    return table


def _row(name: str, run: Run) -> dict[str, object]:
    scalars = [series for series in run.scalars.values() if len(series)]
    return {
        "run": unicode(name),
        "files": len(run.files),
        "bytes": sum(file.size for file in run.stored),
        "records": sum(run.records),
        "tags": len(run.tags),
        "points": sum(map(len, scalars)),
        "first_step": min((int(series.step.min()) for series in scalars), default=None),
        "last_step": max((int(series.step.max()) for series in scalars), default=None),
        "first_wall_time": min((float(series.wall_time.min()) for series in scalars), default=None),
        "last_wall_time": max((float(series.wall_time.max()) for series in scalars), default=None),
        "version": unicode(next(filter(None, run.versions), "")),
        "faults": len(run.faults),
        "damaged": is_damaged(run.faults),
        "first_fault": unicode(str(run.faults[0])) if run.faults else None,
    }
