"""What an export did."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Exported"]


class Exported(NamedTuple):
    """What an export did.

    Attributes:
        rows: how many rows were written.
        written: the names of the runs that were written.
        unchanged: of a dataset, the runs that were in it already, as they are.
        vanished: of a dataset, the runs that are no longer in the directory. They are still in the dataset, unless
            they were to be deleted.
    """

    rows: int
    written: tuple[str, ...]
    unchanged: tuple[str, ...] = ()
    vanished: tuple[str, ...] = ()
