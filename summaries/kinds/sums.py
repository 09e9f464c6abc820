"""The sum of numbers and the sum of their squares, defined to the last bit. Pure (no I/O).

Floating addition depends on its order. This one is the same on every path and processor, however the elements are cut
into pieces and shared by threads:

    elements   in Fortran's order if the array is contiguous so, else in C's; as float64; 0 where not finite
    a block    4,096 elements in rows of 16, the last row filled with zeros: each of 16 lanes adds its column from the
               top, beginning at 0; then lane i adds lane i + 8, i + 4, i + 2 and i + 1
    the sum    of all blocks' lanes 0, exactly, and rounded once (`math.fsum`)

A square is rounded to float64 before it is added, as without fused multiply-add. The error is at most 261 half units in
the last place of the sum of magnitudes: an element goes through 256 additions in its lane, 4 more, and the last.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["BLOCK", "LANES", "add_up", "sums_of_blocks"]

BLOCK = 1 << 12
LANES = 16


def sums_of_blocks(values: NDArray[Any]) -> NDArray[np.float64]:
    """float64[blocks, 2], the sum of each block of values [n] and that of their squares; all values are finite."""
    blocks = -(-len(values) // BLOCK)
    padded = np.zeros(blocks * BLOCK)
    padded[: len(values)] = values
    rows = padded.reshape(blocks, -1, 1, LANES)
    with np.errstate(over="ignore", invalid="ignore"):
        lanes = np.add.accumulate(np.concatenate((rows, rows * rows), axis=2), axis=1)[:, -1]
        while lanes.shape[-1] > 1:
            half = lanes.shape[-1] // 2
            lanes = lanes[..., :half] + lanes[..., half:]
    return lanes[..., 0]


def add_up(blocks: list[float]) -> float:
    """The sum of the sums of blocks [n]. Beyond float64, if only on the way, it is infinite; NaN if so both ways."""
    try:
        total = math.fsum(blocks)
    except (OverflowError, ValueError):  # on the way; or infinities of both signs
        with np.errstate(over="ignore", invalid="ignore"):
            total = float(np.add.accumulate(blocks)[-1])
    return math.nan if math.isnan(total) else total  # of one sign and payload: processors differ
