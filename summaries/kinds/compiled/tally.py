"""The loops of `tally`. Needs numba, and is imported only to compile them. Pure (no I/O)."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from summaries.kinds.sums import BLOCK, LANES
from summaries.kinds.tally import ARGUMENTS
from summaries.kinds.tensorflow_bins import BINS, places
from summaries.native.source import compiled, unpacker

__all__ = ["EXPORTS", "LEVELS"]

_ROWS = 4
_WIDE = ir.VectorType(ir.DoubleType(), LANES)


@intrinsic
def _sum_block(typing_context: Any, values: Any, start: Any, stop: Any, sums: Any) -> Any:
    """Write the sum of values[start:stop], and that of their squares, to sums[0:2], as `sums` defines them.

    A vector holds the lanes: of a loop over single numbers, LLVM would have to keep the order of additions.
    """

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        given, first, end, _ = arguments
        data = context.make_array(values)(context, builder, given).data
        row = ir.VectorType(context.get_data_type(values.dtype), LANES)
        size = values.dtype.bitwidth // 8
        total, squares = (cgutils.alloca_once(builder, _WIDE) for _ in range(2))
        last = cgutils.alloca_once(builder, row)
        for place in (total, squares, last):
            builder.store(ir.Constant(place.type.pointee, None), place)

        def add(place: Any) -> None:
            x = builder.load(builder.bitcast(place, row.as_pointer()), align=size)
            x = builder.fpext(x, _WIDE) if row != _WIDE else x
            builder.store(builder.fadd(builder.load(total), x), total)
            builder.store(builder.fadd(builder.load(squares), builder.fmul(x, x)), squares)

        count, lanes = builder.sub(end, first), first.type(LANES)
        with cgutils.for_range(builder, builder.udiv(count, lanes)) as loop:
            add(builder.gep(data, [builder.add(first, builder.mul(loop.index, lanes))]))
        rest = builder.urem(count, lanes)
        with builder.if_then(cgutils.is_not_null(builder, rest)):
            cgutils.raw_memcpy(builder, last, builder.gep(data, [builder.sub(end, rest)]), rest, size)
            add(last)
        out = context.make_array(sums)(context, builder, arguments[3]).data
        for i, place in enumerate((total, squares)):
            builder.store(_joined(builder, builder.load(place)), builder.gep(out, [first.type(i)]))
        return context.get_dummy_value()

    return types.void(values, types.int64, types.int64, sums), codegen


def _joined(builder: Any, lanes: Any) -> Any:
    """Lane 0, when each lane i has added those of i + 8, i + 4, i + 2 and i + 1."""
    i32 = ir.IntType(32)
    while half := lanes.type.count // 2:
        low, high = (
            builder.shuffle_vector(lanes, lanes, ir.Constant(ir.VectorType(i32, half), list(range(at, at + half))))
            for at in (0, half)
        )
        lanes = builder.fadd(low, high)
    return builder.extract_element(lanes, i32(0))


def _tally(dtype: str) -> Any:
    arguments = unpacker(ARGUMENTS[f"tally_{dtype}"])
    size = np.dtype(dtype).itemsize
    right = np.uint64(places(np.dtype(dtype)).shift)  # a constant, once compiled
    as_unsigned, as_signed = np.dtype(f"u{size}"), np.dtype(f"i{size}")

    @compiled
    def tally(words: Any) -> None:
        """Count and sum, and find the extremes of the bits, among which those of the values are.

        For the bits of positive floats ascend with them, and those of negative ones, which are larger, descend.

        Args:
            words: the address of a row of words:
                values: float[n].
                counts: int64[BINS], filled.
                sums: float64[blocks, 2], filled with the sum of the values and of their squares.
                steps: int64[cells].
                rows: uint32[4, BINS], scratch.
                extremes: float[3], filled.
        """
        values, counts, sums, steps, rows, extremes = arguments(words)
        unsigned, signed, found = values.view(as_unsigned), values.view(as_signed), extremes.view(as_unsigned)
        least = most = unsigned[0]
        top = signed[0]
        for j in range(BINS):  # which compiles in a third of the time of `rows[:] = 0`
            for row in range(_ROWS):
                rows[row, j] = np.uint32(0)
        row_0 = rows[0]
        row_1 = rows[1]
        row_2 = rows[2]
        row_3 = rows[3]
        for block in range((len(values) + BLOCK - 1) // BLOCK):
            start = block * BLOCK
            stop = min(start + BLOCK, len(values))
            bits, ordered = unsigned[start:stop], signed[start:stop]
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
            _sum_block(values, start, stop, sums[block])
            for j in range(len(bits)):
                least, most, top = min(least, bits[j]), max(most, bits[j]), max(top, ordered[j])
        for j in range(BINS):
            counts[j] = np.int64(row_0[j]) + np.int64(row_1[j]) + np.int64(row_2[j]) + np.int64(row_3[j])
        found[0] = least
        found[1] = most
        found[2] = top

    return tally


EXPORTS = {f"tally_{dtype}": _tally(dtype) for dtype in ("float32", "float64")}
"""The functions that Python calls."""

LEVELS = ("v2", "v3", "v8")
"""The levels of the processor that they are compiled for: they gain nothing from AVX-512."""
