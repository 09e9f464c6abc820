"""Counting a float32 array into TensorFlow's bins, compiled. Needs numba. Pure (no I/O).

Each bin is a tenth wider than the one before, and the upper 16 bits of a float32 give its value to within a 128th. So a
table over those bits gives each value's bin, or the one below if an edge falls between; one comparison decides.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from summaries.wire.compiled.primitives import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Tally", "tally"]

_BLOCK = 1 << 12  # values: stays in the L1 cache between the loops
_ROWS = 4  # of counters: equal values follow each other, and each increment would wait for the one before


class Tally(NamedTuple):
    """What was counted.

    Attributes:
        counts: int64[m + 1], how many values have so many edges at or below them; of no meaning if a sum is not finite.
        total: the sum of the values, finite if all values are.
        squares: the sum of their squares.
        lowest: the smallest value.
        highest: the largest value.
    """

    counts: NDArray[np.int64]
    total: float
    squares: float
    lowest: float
    highest: float


def tally(values: NDArray[np.float32], edges: NDArray[np.float64]) -> Tally:
    """Count the values by the number of edges at or below them.

    Args:
        values: float32[n], contiguous; n is at least 1 and less than 2**32.
        edges: float64[m], ascending; no two of them fall between float32 numbers of equal upper halves.
    """
    thresholds, below = _tables(edges.tobytes())
    counts = np.zeros((_ROWS, len(thresholds)), np.uint32)
    total, squares = _tally(values, values.view(np.uint32), thresholds, below, *counts)
    return Tally(counts.sum(axis=0, dtype=np.int64), total, squares, float(values.min()), float(values.max()))


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
def _tally(
    values: NDArray[np.float32],
    bits: NDArray[np.uint32],
    thresholds: NDArray[np.float32],
    below: NDArray[np.uint32],
    row_0: NDArray[np.uint32],
    row_1: NDArray[np.uint32],
    row_2: NDArray[np.uint32],
    row_3: NDArray[np.uint32],
) -> tuple[float, float]:
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
    return total, squares
