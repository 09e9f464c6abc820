"""The loops of `tally`. Needs numba, and is imported only to compile them. Pure (no I/O)."""

from __future__ import annotations

from typing import Any

import numpy as np

from summaries.kinds.tally import ARGUMENTS
from summaries.kinds.tensorflow_bins import BINS, places
from summaries.native.source import compiled, unpacker

__all__ = ["EXPORTS", "LEVELS"]

_BLOCK = 1 << 12  # values: stays in the L1 cache between the loops
_ROWS = 4


def _tally(dtype: str) -> Any:
    arguments = unpacker(ARGUMENTS[f"tally_{dtype}"])
    size = np.dtype(dtype).itemsize
    right = np.uint64(places(np.dtype(dtype)).shift)  # a constant, once compiled
    as_unsigned, as_signed = np.dtype(f"u{size}"), np.dtype(f"i{size}")

    @compiled(fastmath={"reassoc", "contract"})  # the sums may be taken in any order
    def tally(words: Any) -> None:
        """Count and sum, and find the extremes of the bits, among which those of the values are.

        For the bits of positive floats ascend with them, and those of negative ones, which are larger, descend.

        Args:
            words: the address of a row of words:
                values: float[n].
                counts: int64[BINS], filled.
                steps: int64[cells].
                rows: uint32[4, BINS], scratch.
                extremes: float[3], filled.
                sums: float64[2], filled with the sum of the values and of their squares.
        """
        values, counts, steps, rows, extremes, sums = arguments(words)
        unsigned, signed, found = values.view(as_unsigned), values.view(as_signed), extremes.view(as_unsigned)
        total = squares = 0.0
        least = most = unsigned[0]
        top = signed[0]
        for j in range(BINS):  # which compiles in a third of the time of `rows[:] = 0`
            for row in range(_ROWS):
                rows[row, j] = np.uint32(0)
        row_0 = rows[0]
        row_1 = rows[1]
        row_2 = rows[2]
        row_3 = rows[3]
        for start in range(0, len(values), _BLOCK):
            stop = start + _BLOCK
            block, bits, ordered = values[start:stop], unsigned[start:stop], signed[start:stop]
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
        found[0] = least
        found[1] = most
        found[2] = top
        sums[0] = total
        sums[1] = squares

    return tally


EXPORTS = {f"tally_{dtype}": _tally(dtype) for dtype in ("float32", "float64")}
"""The functions that Python calls."""

LEVELS = ("v2", "v3", "v8")
"""The levels of the processor that they are compiled for: they gain nothing from AVX-512."""
