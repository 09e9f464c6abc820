"""Tables of statistics: a row for each tag and step, a column for each statistic; as CSV or Parquet."""

from __future__ import annotations

from typing import TYPE_CHECKING, TextIO

import numpy as np

from summaries.optional import needs
from summaries.presenting.tables import unicode
from summaries.tools.csv_rows import csv_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    Piece = tuple[Sequence[str], Sequence[NDArray[np.generic]]]

__all__ = ["write_csv", "write_parquet"]

_CSV_ROWS = 1 << 14


def write_csv(file: TextIO, labels: Sequence[str], numbers: Sequence[str], pieces: Iterable[Piece]) -> None:
    """Write a CSV file; reading the numbers back gives the same numbers.

    Args:
        file: open for text, without translation of line ends.
        labels: the names of the columns with labels.
        numbers: the names of the columns with numbers, after these.
        pieces: (the label in each of the former columns, the numbers in each of the latter) of some rows.

    Raises:
        OSError: the file cannot be written.
    """
    write = csv_rows(file)
    write([(*labels, *numbers)])
    for own, columns in pieces:
        for first in range(0, len(columns[0]), _CSV_ROWS):
            rows = zip(*(column[first : first + _CSV_ROWS].tolist() for column in columns), strict=True)
            write([(*own, *row) for row in rows])


def write_parquet(path: str, labels: Sequence[str], numbers: Sequence[str], pieces: Iterable[Piece]) -> None:
    """Write a Parquet file, with dictionary-encoded labels.

    Args:
        path: the file.
        labels: as in `write_csv`.
        numbers: as in `write_csv`.
        pieces: as in `write_csv`.

    Raises:
        ImportError: pyarrow is missing; the message says how to install it.
        OSError: the file cannot be written.
    """
    pa = needs("pyarrow", "export")
    import pyarrow.parquet as pq  # noqa: PLC0415 - large and optional

    every = list(pieces)
    lengths = [len(columns[0]) for _, columns in every]
    table = {}
    for place, name in enumerate(labels):
        texts = list(dict.fromkeys(own[place] for own, _ in every))
        number = {text: i for i, text in enumerate(texts)}
        codes = np.repeat(np.array([number[own[place]] for own, _ in every], np.int32), lengths)
        table[name] = pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(map(unicode, texts), pa.string()))
    for place, name in enumerate(numbers):
        kind = np.int64 if name == "step" else np.float64
        table[name] = np.concatenate([np.empty(0, kind), *(columns[place] for _, columns in every)])
    pq.write_table(pa.table(table), path, compression="zstd")
