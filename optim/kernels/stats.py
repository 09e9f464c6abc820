"""The columns of `stats`, the measurements of kernels: float64, one row per array.

    an array      SQUARES SUM LARGEST ZEROS NONFINITE
    a rule's run  SQUARES WEIGHT_SQUARES UPDATE_SQUARES ZEROS NONFINITE, then SQUARES SUM LARGEST of each slot

In a rule's run SQUARES, ZEROS and NONFINITE are the gradient's. So a statistic has the same column number everywhere,
relative to `slot_columns` for a slot. Every column is a sum over the elements, except LARGEST, the largest element that
is not NaN, or -inf if there is none.

A sum depends on the elements alone: not on their strides, the processor, the threads, nor the engine. An array, in C
order, is cut into blocks of BLOCK elements. In a block, element i belongs to lane i % lanes; a lane adds its elements
in this order, beginning with 0, in the array's dtype, to which squares are rounded first. Then the second half of the
lanes is added to the first, in float64, until one is left. Where the sum of squares is not between the BOUNDS, float32
may have been too narrow for some squares or for their sum, and the block's elements are summed as float64s. NumPy adds
the blocks: see `combined`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "ARRAY_WIDTH",
    "BLOCK",
    "BOUNDS",
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
    "lanes",
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

BLOCK = 4096  # elements: float32 sums of this many squares are accurate to 1e-6
BOUNDS = {"float32": (1e-30, 1e36), "float64": (-1.0, math.inf)}  # exclusive


def lanes(dtype: str, *, of_rule: bool = False) -> int:
    """The lanes of a block's sums: fewer in a rule's run, which may have many sums at once.

    >>> lanes("float32"), lanes("float32", of_rule=True)
    (32, 16)
    """
    return (64 if of_rule else 128) // np.dtype(dtype).itemsize


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


def combined(stats: NDArray[Any], first: NDArray[Any], largest: slice = LARGEST_OF_SLOTS) -> NDArray[Any]:
    """Combine the stats of blocks into those of arrays.

    Args:
        stats: float64[blocks, width]: all blocks of the first array, then those of the next.
        first: int64[arrays]: the row of each array's first block.
        largest: the columns with largest elements; all others are sums.
    """
    if len(first) == len(stats):
        return stats
    with np.errstate(invalid="ignore", over="ignore"):  # divergence shows in the values; `measure.norm` knows better
        sums: NDArray[Any] = np.add.reduceat(stats, first)
    sums[:, largest] = np.fmax.reduceat(stats[:, largest], first)
    return sums
