"""Rows of CSV that end with a line feed, and read back as they were."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["csv_rows"]


def csv_rows(file: TextIO) -> Callable[[Sequence[Sequence[object]]], None]:
    r"""A function that writes rows to a file; the texts of the rows of one call are the same in each row.

    Args:
        file: open for text, without translation of line ends.

    >>> import io
    >>> file = io.StringIO()
    >>> csv_rows(file)([("a\rb", 1), ("a\rb", 2)])
    >>> file.getvalue()
    '"a\rb",1\n"a\rb",2\n'
    """
    plain = csv.writer(file, lineterminator="\n")
    # Python before 3.13 quotes a carriage return only if lines end with one, and reads it as an end of line.
    quoting = csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)

    def write(rows: Sequence[Sequence[object]]) -> None:
        returns = bool(rows) and any("\r" in cell for cell in rows[0] if isinstance(cell, str))
        (quoting if returns else plain).writerows(rows)

    return write
