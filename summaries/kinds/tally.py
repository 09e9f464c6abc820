"""Counting a float32 array into TensorFlow's bins, compiled. Pure (no I/O).

Each bin is a tenth wider than the one before, and the upper 16 bits of a float32 give its value to within a 128th. So a
table over those bits gives each value's bin, or the one below if an edge falls between; one comparison decides.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from summaries.native.calls import Array
from summaries.native.library import Library

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["COUNTER", "Tally", "tally"]

_ROWS = 4  # of counters: equal values follow each other, and each increment would wait for the one before

_COUNTS = Array(np.uint32)
COUNTER = Library(
    "counter",
    "the counter of histograms",
    "summaries.kinds.compiled.tally",
    {"tally": (Array(np.float32), _COUNTS, Array(np.float32), _COUNTS, *[_COUNTS] * _ROWS, Array(np.float64))},
    ("kinds/compiled/tally.py", "kinds/tally.py"),
)


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
    sums = np.empty(2)
    COUNTER.functions()["tally"](values, values.view(np.uint32), thresholds, below, *counts, sums)
    total, squares = sums.tolist()
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
