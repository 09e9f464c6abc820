"""Tables of statistics: a row for each tag and step, a column for each statistic; as CSV or Parquet."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

import numpy as np

from summaries.reading.tables import pyarrow

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

__all__ = ["write_csv", "write_parquet"]

_CSV_ROWS = 1 << 14


def write_csv(
    path: str, tags: Sequence[str], lengths: Sequence[int], columns: Mapping[str, NDArray[np.generic]]
) -> None:
    """Write a CSV file; reading the numbers back gives the same numbers.

    Args:
        path: the file.
        tags: the tags.
        lengths: for each of them, its number of rows, which come one tag after another.
        columns: name of a column → its values.

    Raises:
        OSError: the file cannot be written.
    """
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["tag", *columns])
        end = 0
        for tag, length in zip(tags, lengths, strict=True):
            start, end = end, end + length
            for first in range(start, end, _CSV_ROWS):
                rows = slice(first, min(first + _CSV_ROWS, end))
                piece = zip(*(column[rows].tolist() for column in columns.values()), strict=True)
                writer.writerows((tag, *row) for row in piece)


def write_parquet(
    path: str, tags: Sequence[str], lengths: Sequence[int], columns: Mapping[str, NDArray[np.generic]]
) -> None:
    """Write a Parquet file, with a dictionary-encoded tag; arguments as in `write_csv`.

    Raises:
        ImportError: pyarrow is missing; the message says how to install it.
        OSError: the file cannot be written.
    """
    pa = pyarrow()
    import pyarrow.parquet as pq  # noqa: PLC0415 - large and optional

    codes = np.repeat(np.arange(len(tags), dtype=np.int32), lengths)
    labels = pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(list(tags), pa.string()))
    pq.write_table(pa.table({"tag": labels, **columns}), path, compression="zstd")
