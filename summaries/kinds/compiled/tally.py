"""The loops of `tally`. Needs numba, and is imported only to compile them. Pure (no I/O)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from summaries.kinds.sums import BLOCK, LANES
from summaries.kinds.tally import ARGUMENTS
from summaries.kinds.tensorflow_bins import BINS, places
from summaries.native.source import compiled, unpacker

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["EXPORTS", "LEVELS"]

_ROWS = 4
_WIDE = ir.VectorType(ir.DoubleType(), LANES)
_I32 = ir.IntType(32)


@intrinsic
def _look_at_block(typing_context: Any, values: Any, start: Any, stop: Any, sums: Any, extremes: Any) -> Any:
    """Write the sum of values[start:stop], and that of their squares, to sums[0:2], as `sums` defines them.

    extremes[0] falls to the least of them, and extremes[1] rises to the greatest; NaN changes neither.

    Vectors hold the lanes: of a loop over single numbers, LLVM would have to keep the order of additions.
    """

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        given, first, end, *_ = arguments
        data, told, ends = (
            context.make_array(of)(context, builder, array).data
            for of, array in zip((values, sums, extremes), (given, *arguments[3:]), strict=True)
        )
        row = ir.VectorType(context.get_data_type(values.dtype), LANES)
        size, lanes = values.dtype.bitwidth // 8, first.type(LANES)
        # The square of a float32 is exact in float64: added to it at once or after rounding, it gives the same.
        fused = ("contract",) if row != _WIDE else ()
        total, squares = (cgutils.alloca_once_value(builder, ir.Constant(_WIDE, None)) for _ in range(2))
        least, greatest = (
            cgutils.alloca_once_value(builder, _in_each_lane(builder, builder.load(builder.gep(ends, [first.type(i)]))))
            for i in range(2)
        )

        def add(x: Any) -> None:
            x = builder.fpext(x, _WIDE) if row != _WIDE else x
            builder.store(builder.fadd(builder.load(total), x), total)
            builder.store(builder.fadd(builder.load(squares), builder.fmul(x, x, flags=fused), flags=fused), squares)

        def compare(x: Any) -> None:
            builder.store(_lower(builder, x, builder.load(least)), least)
            builder.store(_higher(builder, x, builder.load(greatest)), greatest)

        with cgutils.for_range(builder, builder.udiv(builder.sub(end, first), lanes)) as loop:
            place = builder.gep(data, [builder.add(first, builder.mul(loop.index, lanes))])
            x = builder.load(builder.bitcast(place, row.as_pointer()), align=size)
            add(x)
            compare(x)
        rest = builder.urem(builder.sub(end, first), lanes)
        with builder.if_then(cgutils.is_not_null(builder, rest)):
            place = builder.gep(data, [builder.sub(end, rest)])
            for use, others in (add, ir.Constant(row, None)), (compare, _in_each_lane(builder, builder.load(place))):
                last = cgutils.alloca_once(builder, row)
                builder.store(others, last)
                cgutils.raw_memcpy(builder, last, place, rest, size)
                use(builder.load(last))
        for i, sum_of_lanes in enumerate((total, squares)):
            one = _joined(builder, ir.IRBuilder.fadd, builder.load(sum_of_lanes))
            builder.store(one, builder.gep(told, [first.type(i)]))
        for i, (join, of_lanes) in enumerate(((_lower, least), (_higher, greatest))):
            builder.store(_joined(builder, join, builder.load(of_lanes)), builder.gep(ends, [first.type(i)]))
        return context.get_dummy_value()

    return types.void(values, types.int64, types.int64, sums, extremes), codegen


def _in_each_lane(builder: Any, number: Any) -> Any:
    vector = builder.insert_element(ir.Constant(ir.VectorType(number.type, LANES), ir.Undefined), number, _I32(0))
    return builder.shuffle_vector(vector, vector, ir.Constant(ir.VectorType(_I32, LANES), None))


def _lower(builder: Any, one: Any, other: Any) -> Any:
    return builder.select(builder.fcmp_ordered("<", one, other), one, other)


def _higher(builder: Any, one: Any, other: Any) -> Any:
    return builder.select(builder.fcmp_ordered(">", one, other), one, other)


def _joined(builder: Any, join: Callable[[Any, Any, Any], Any], lanes: Any) -> Any:
    """Lane 0, when each lane i was joined with those of i + 8, i + 4, i + 2 and i + 1."""
    while half := lanes.type.count // 2:
        low, high = (
            builder.shuffle_vector(lanes, lanes, ir.Constant(ir.VectorType(_I32, half), list(range(at, at + half))))
            for at in (0, half)
        )
        lanes = join(builder, low, high)
    return builder.extract_element(lanes, _I32(0))


def _tally(dtype: str) -> Any:
    arguments = unpacker(ARGUMENTS[f"tally_{dtype}"])
    size = np.dtype(dtype).itemsize
    right = np.uint64(places(np.dtype(dtype)).shift)  # a constant, once compiled
    as_unsigned = np.dtype(f"u{size}")

    @compiled
    def tally(words: Any) -> None:
        """Count and sum, and find the least value and the greatest.

        Args:
            words: the address of a row of words:
                values: float[n].
                counts: int64[BINS], filled.
                sums: float64[blocks, 2], filled with the sum of the values and of their squares.
                steps: int64[cells].
                rows: uint32[4, BINS], scratch.
                extremes: float[3], filled with the least and the greatest, and with 0; with NaN instead, if a value is
                    not finite or their sum is not.
        """
        values, counts, sums, steps, rows, extremes = arguments(words)
        unsigned = values.view(as_unsigned)
        extremes[0] = extremes[1] = values[0]
        extremes[2] = 0
        row_0 = rows[0]
        row_1 = rows[1]
        row_2 = rows[2]
        row_3 = rows[3]
        for j in range(BINS):
            row_0[j] = row_1[j] = row_2[j] = row_3[j] = np.uint32(0)
        for block in range((len(values) + BLOCK - 1) // BLOCK):
            start = block * BLOCK
            stop = min(start + BLOCK, len(values))
            bits = unsigned[start:stop]
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
            _look_at_block(values, start, stop, sums[block], extremes)
            if not math.isfinite(sums[block, 0]):
                extremes[2] = np.nan
        for j in range(BINS):
            counts[j] = np.int64(row_0[j]) + np.int64(row_1[j]) + np.int64(row_2[j]) + np.int64(row_3[j])

    return tally


EXPORTS = {f"tally_{dtype}": _tally(dtype) for dtype in ("float32", "float64")}
"""The functions that Python calls."""

LEVELS = ("v2", "v3", "v8")
"""The levels of the processor that they are compiled for: they gain nothing from AVX-512."""
