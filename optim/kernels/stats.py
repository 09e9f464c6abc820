"""The columns of `stats`: what kernels measure, a row an array, float64.

    an array      SQUARES SUM LARGEST ZEROS NONFINITE
    a rule's run  SQUARES WEIGHT_SQUARES UPDATE_SQUARES ZEROS NONFINITE, then SQUARES SUM LARGEST of each slot

In a rule's run SQUARES, ZEROS and NONFINITE are the gradient's. So the same statistic has the same number everywhere,
in a slot's columns counted from `slot_column`. Every column is a sum over the elements but LARGEST, which is -inf
where there are none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "ARRAY_WIDTH",
    "LARGEST",
    "LARGEST_OF_SLOTS",
    "NONFINITE",
    "OF_GRADIENT",
    "SLOTS",
    "SLOT_WIDTH",
    "SQUARES",
    "SUM",
    "UPDATE_SQUARES",
    "WEIGHT_SQUARES",
    "ZEROS",
    "combined",
    "empty_stats",
    "slot_columns",
    "stats_width",
]

SQUARES, SUM, LARGEST, ZEROS, NONFINITE = range(5)
ARRAY_WIDTH = 5

WEIGHT_SQUARES, UPDATE_SQUARES = 1, 2  # where an array has its sum and largest element, which no gradient's report has
OF_GRADIENT = [SQUARES, ZEROS, NONFINITE]

SLOTS = 5  # where the first slot's columns begin
SLOT_WIDTH = 3
LARGEST_OF_SLOTS = slice(SLOTS + LARGEST, None, SLOT_WIDTH)


def stats_width(slots: int) -> int:
    """The number of columns for a rule with so many slots."""
    return SLOTS + SLOT_WIDTH * slots


def slot_columns(slot: int) -> slice:
    """A slot's SQUARES, SUM and LARGEST, counted from 0.

    >>> list(range(11))[slot_columns(1)]
    [8, 9, 10]
    """
    first = SLOTS + SLOT_WIDTH * slot
    return slice(first, first + SLOT_WIDTH)


def empty_stats(rows: int, width: int) -> NDArray[Any]:
    """float64[rows, width]: a rule's stats of no elements, to add to."""
    stats = np.zeros((rows, width))
    stats[:, LARGEST_OF_SLOTS] = -np.inf
    return stats


def combined(stats: NDArray[Any], first: NDArray[Any], largest: slice = LARGEST_OF_SLOTS) -> NDArray[Any]:
    """The stats of arrays, from those of their parts.

    Args:
        stats: float64[parts, width]: all parts of the first array, then those of the next.
        first: int64[arrays]: the row of each array's first part.
        largest: which columns are largest elements; all others are sums.
    """
    if len(first) == len(stats):
        return stats
    with np.errstate(invalid="ignore"):  # infinities of both signs: a diverging run says so by its values
        sums: NDArray[Any] = np.add.reduceat(stats, first)
    sums[:, largest] = np.fmax.reduceat(stats[:, largest], first)
    return sums
