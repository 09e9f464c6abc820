"""The loops of `tally`. Needs numba, and is imported only to compile them. Pure (no I/O)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from summaries.kinds.tally import COUNTER
from summaries.native.building import compiled, unpacker

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["tally"]

_BLOCK = 1 << 12  # values: stays in the L1 cache between the loops
_ROWS = 4
_arguments = unpacker(COUNTER.types["tally"])


@compiled()
def _count(
    row: NDArray[np.uint32],
    values: NDArray[np.float32],
    bits: NDArray[np.uint32],
    at: np.uint64,
    thresholds: NDArray[np.float32],
    below: NDArray[np.uint32],
) -> None:
    """Count one value in a row of counters. Indices without a sign need no test for counting from the end."""
    edge = below[bits[at] >> np.uint32(16)]
    row[np.uint64(edge) + np.uint64(values[at] >= thresholds[edge])] += np.uint32(1)


@compiled(fastmath={"reassoc", "contract"})  # the sums may be taken in any order
def tally(words: Any) -> None:
    """Count the values in four rows of counters, and store their sum and that of their squares."""
    values, bits, thresholds, below, row_0, row_1, row_2, row_3, sums = _arguments(words)
    total = squares = 0.0
    for start in range(0, len(values), _BLOCK):
        block, halves = values[start : start + _BLOCK], bits[start : start + _BLOCK]
        for i in range(len(block)):
            wide = np.float64(block[i])
            total += wide
            squares += wide * wide
        whole = len(block) - len(block) % _ROWS
        for i in range(0, whole, _ROWS):
            _count(row_0, block, halves, np.uint64(i), thresholds, below)
            _count(row_1, block, halves, np.uint64(i + 1), thresholds, below)
            _count(row_2, block, halves, np.uint64(i + 2), thresholds, below)
            _count(row_3, block, halves, np.uint64(i + 3), thresholds, below)
        for i in range(whole, len(block)):
            _count(row_0, block, halves, np.uint64(i), thresholds, below)
    sums[0] = total
    sums[1] = squares
