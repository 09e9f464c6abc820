"""Counting a large float32 array into TensorFlow's bins, compiled. Needs numba. Pure (no I/O).

Each bin is a tenth wider than the one before, and the upper 16 bits of a float32 give its value to within a 128th. So a
table over those bits gives each value's bin, or the one below if an edge falls between; one comparison decides.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from summaries.wire.compiled.primitives import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["tally"]

_BLOCK = 1 << 12  # values: stays in the L1 cache between the two loops
_ROWS = 4  # of counters: equal values follow each other, and each increment would wait for the one before


def tally(values: NDArray[np.float32], edges: NDArray[np.float64]) -> tuple[NDArray[np.int64], float, float]:
    """Count the values by the number of edges at or below them.

    Args:
        values: float32[n], contiguous, finite; n is less than 2**32.
        edges: float64[m], ascending; no two of them fall between float32 numbers of equal upper halves.

    Returns:
        The counts, int64[m + 1]; the sum of the values; and the sum of their squares.
    """
    thresholds, below = _tables(edges.tobytes())
    counts = np.zeros((_ROWS, len(thresholds)), np.uint32)
    total, squares = _tally(values, values.view(np.uint32), thresholds, below, counts.reshape(-1))
    return counts.sum(axis=0, dtype=np.int64), total, squares


@cache
def _tables(edges: bytes) -> tuple[NDArray[np.float32], NDArray[np.uint32]]:
    """float32[m + 1]: the least number at or above each edge, then infinity.

    And uint32[65536]: for each upper half, the number of edges at or below the least number that has it.
    """
    wide = np.append(np.frombuffer(edges), np.inf)
    thresholds = wide.astype(np.float32)
    thresholds = np.where(thresholds < wide, np.nextafter(thresholds, np.float32(np.inf)), thresholds)
    least = np.arange(1 << 16, dtype=np.uint32) << np.uint32(16)
    least[1 << 15 :] |= np.uint32(0xFFFF)  # of negative numbers, the largest in magnitude
    numbers = least.view(np.float32)
    numbers[np.isnan(numbers)] = 0
    return thresholds, np.searchsorted(thresholds[:-1], numbers, side="right").astype(np.uint32)


@compiled(fastmath={"reassoc", "contract"})  # the sums may be taken in any order
def _tally(
    values: NDArray[np.float32],
    bits: NDArray[np.uint32],
    thresholds: NDArray[np.float32],
    below: NDArray[np.uint32],
    counts: NDArray[np.uint32],
) -> tuple[float, float]:
    row = np.uint64(len(thresholds))
    total = squares = 0.0
    for start in range(0, len(values), _BLOCK):
        block, halves = values[start : start + _BLOCK], bits[start : start + _BLOCK]
        for i in range(len(block)):
            wide = np.float64(block[i])
            total += wide
            squares += wide * wide
        for i in range(len(block)):
            edge = below[halves[i] >> np.uint32(16)]
            place = np.uint64(edge) + np.uint64(block[i] >= thresholds[edge])
            counts[np.uint64(i & (_ROWS - 1)) * row + place] += np.uint32(1)
    return total, squares
