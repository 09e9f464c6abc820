"""Counting an array of floats into TensorFlow's bins, compiled: one look at each block. Needs numba. Pure (no I/O)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from summaries.kinds.tensorflow_bins import BINS, places
from summaries.wire.compiled.primitives import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["tally"]

_BLOCK = 1 << 12  # values: stays in the L1 cache between the loops
_ROWS = 4  # of counters: equal values follow each other, and each increment would wait for the one before
_FLOAT32 = np.dtype(np.float32)
_SHIFT_32, _SHIFT_64 = places(_FLOAT32).shift, places(np.dtype(np.float64)).shift


def tally(values: NDArray[Any]) -> tuple[NDArray[np.int64], float, float, float, float]:
    """Count values, and sum them up.

    Args:
        values: float32[n] or float64[n], contiguous, all finite; n is at least 1 and at most 2**32.

    Returns:
        int64[BINS], how many values are in each bin; their sum; the sum of their squares, which is not finite if a
        value is not, and then nothing else is of use; the smallest value; the largest.
    """
    steps = places(values.dtype).steps
    rows, counts = np.zeros((_ROWS, BINS), np.uint32), np.empty(BINS, np.int64)
    extremes = np.empty(3, values.dtype)
    unsigned, signed = f"u{values.itemsize}", f"i{values.itemsize}"
    frozen = values.view()
    frozen.flags.writeable = False  # always: for arrays that may be written to, numba would compile once more
    total, squares = _tally(
        frozen,
        frozen.view(unsigned),
        frozen.view(signed),
        steps,
        rows,
        counts,
        extremes.view(unsigned),
    )
    several = extremes.tolist()
    return counts, total, squares, min(several), max(several)


@compiled(fastmath={"reassoc", "contract"})  # the sums may be taken in any order
def _tally(
    values: NDArray[Any],
    unsigned: NDArray[Any],
    signed: NDArray[Any],
    steps: NDArray[np.int64],
    rows: NDArray[np.uint32],
    counts: NDArray[np.int64],
    extremes: NDArray[Any],
) -> tuple[float, float]:
    """Count and sum, and find the extremes of the bits, among which those of the values are.

    For the bits of positive floats ascend with them, and those of negative ones, which are larger, descend.
    """
    total = squares = 0.0
    least = most = unsigned[0]
    top = signed[0]
    right = np.uint64(_SHIFT_32 if values.dtype == _FLOAT32 else _SHIFT_64)  # a constant, once compiled
    row_0, row_1, row_2, row_3 = rows[0], rows[1], rows[2], rows[3]
    for start in range(0, len(values), _BLOCK):
        block, bits = values[start : start + _BLOCK], unsigned[start : start + _BLOCK]
        ordered = signed[start : start + _BLOCK]
        # Counting comes first: it is slow enough that fetching the block takes no more time.
        whole = np.uint64(len(bits) - len(bits) % _ROWS)
        i = np.uint64(0)  # unsigned, so that nothing is compared with zero
        while i < whole:
            a, b = np.uint64(bits[i]), np.uint64(bits[i + np.uint64(1)])
            c, d = np.uint64(bits[i + np.uint64(2)]), np.uint64(bits[i + np.uint64(3)])
            row_0[(a + np.uint64(steps[a >> right])) >> right] += np.uint32(1)
            row_1[(b + np.uint64(steps[b >> right])) >> right] += np.uint32(1)
            row_2[(c + np.uint64(steps[c >> right])) >> right] += np.uint32(1)
            row_3[(d + np.uint64(steps[d >> right])) >> right] += np.uint32(1)
            i += np.uint64(_ROWS)
        for j in range(len(bits) - len(bits) % _ROWS, len(bits)):
            a = np.uint64(bits[j])
            row_0[(a + np.uint64(steps[a >> right])) >> right] += np.uint32(1)
        for j in range(len(block)):
            wide = np.float64(block[j])
            total += wide
            squares += wide * wide
        for j in range(len(bits)):
            least, most, top = min(least, bits[j]), max(most, bits[j]), max(top, ordered[j])
    for j in range(BINS):
        counts[j] = np.int64(row_0[j]) + np.int64(row_1[j]) + np.int64(row_2[j]) + np.int64(row_3[j])
    extremes[0], extremes[1], extremes[2] = least, most, top
    return total, squares
