"""Parquet: a table of points, long or wide, a few thousand rows at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from summaries.optional import needs
from summaries.tools.formats.tables import TableReader

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray

    from summaries.tools.formats.points import Cells, Item, LeftOut

__all__ = ["read_parquet"]

_CELLS = 1 << 17  # read at once


def read_parquet(path: str, left_out: LeftOut) -> Iterator[Item]:
    """Read a Parquet file.

    Args:
        path: the file.
        left_out: counts what is left out.

    Raises:
        ImportError: pyarrow is missing; the message says how to install it.
        ValueError: it is no Parquet file, there is no column for the step, or a step is no integer.
        OSError: the file cannot be read.
    """
    pa = needs("pyarrow", "export")
    reads = needs("pyarrow.parquet", "export").ParquetFile
    try:
        opened = reads(path)
    except ValueError as error:
        raise ValueError(f"{path}: not Parquet: {error}") from None
    with opened as file:
        names = file.schema_arrow.names
        reader = TableReader(names, path, left_out)
        first = 1
        for batch in file.iter_batches(max(_CELLS // len(names), 1)):
            yield from reader.points([_cells(pa, column) for column in batch.columns], first)
            first += batch.num_rows


def _cells(pa: Any, column: Any) -> Cells:
    """The cells of a column: as an array, which is faster, if they are numbers and none is missing."""
    types = pa.types
    if not column.null_count and (types.is_floating(column.type) or types.is_signed_integer(column.type)):
        array: NDArray[np.generic] = column.to_numpy()
        return array
    cells: list[object] = column.to_pylist()
    return cells
