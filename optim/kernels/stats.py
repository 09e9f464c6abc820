"""The columns of `stats`, the measurements of kernels: float64, one row per array.

    an array      SQUARES SUM LARGEST ZEROS NONFINITE
    a rule's run  SQUARES WEIGHT_SQUARES UPDATE_SQUARES ZEROS NONFINITE, then SQUARES SUM LARGEST of each slot

In a rule's run SQUARES, ZEROS and NONFINITE are the gradient's. So a statistic has the same column number everywhere,
relative to `slot_columns` for a slot. Every column is a sum over the elements, except LARGEST, which is -inf if there
are none.
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

WEIGHT_SQUARES, UPDATE_SQUARES = 1, 2  # in place of an array's SUM and LARGEST, which are not reported for gradients
OF_GRADIENT = [SQUARES, ZEROS, NONFINITE]

SLOTS = 5  # the first slot's first column
SLOT_WIDTH = 3
LARGEST_OF_SLOTS = slice(SLOTS + LARGEST, None, SLOT_WIDTH)


def stats_width(slots: int) -> int:
    """The number of columns for a rule with this many slots."""
    return SLOTS + SLOT_WIDTH * slots


def slot_columns(slot: int) -> slice:
    """The columns SQUARES, SUM and LARGEST of a slot; slots are counted from 0.

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
    """Combine the stats of parts into those of arrays.

    Args:
        stats: float64[parts, width]: all parts of the first array, then those of the next.
        first: int64[arrays]: the row of each array's first part.
        largest: the columns with largest elements; all others are sums.
    """
    if len(first) == len(stats):
        return stats
    with np.errstate(invalid="ignore"):  # infinities of both signs; divergence shows in the values
        sums: NDArray[Any] = np.add.reduceat(stats, first)
    sums[:, largest] = np.fmax.reduceat(stats[:, largest], first)
    return sums
