"""Building blocks of the compiled scanner: loads, varints, CRC-32C. Needs numba. Pure (no I/O).

Those that are a few instructions are intrinsics, which cost next to nothing to compile. With NUMBA_BOUNDSCHECK=1, every
load checks its first and last byte, although it bypasses NumPy's indexing.

References: Intel's CRC32 and Arm's CRC32CX instructions, which both compute CRC-32C.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from summaries.native.source import CRC32C, compiled
from summaries.wire.crc32c import MASK_DELTA

__all__ = [
    "checksum",
    "load_f32",
    "load_f64",
    "load_u8",
    "load_u32",
    "load_u64",
    "store_f64",
    "store_i64",
    "varint",
]

_U32, _U64 = np.uint32, np.uint64


def _loader(scalar: Any, bits: Any, size: int) -> Any:
    """Make a function (uint8[:] buffer, int64 offset) → one little-endian scalar, which need not be aligned.

    The offset must not be negative: NumPy's indexing would check.
    """

    @intrinsic
    def load(typing_context: Any, buffer: Any, offset: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            array = context.make_array(signature.args[0])(context, builder, arguments[0])
            if context.enable_boundscheck:
                for last in (0, size - 1):
                    at = builder.add(arguments[1], arguments[1].type(last))
                    cgutils.do_boundscheck(context, builder, at, array.nitems)
            address = builder.gep(array.data, [arguments[1]])
            value = builder.load(builder.bitcast(address, bits.as_pointer()))
            value.align = 1
            return builder.zext(value, ir.IntType(64)) if scalar is types.int64 else value

        return scalar(buffer, types.int64), codegen

    return load


load_u8: Any = _loader(types.int64, ir.IntType(8), 1)
"""(buffer, offset) → the byte there, an int64: comparing it with small numbers then takes no conversion."""
load_u32: Any = _loader(types.uint32, ir.IntType(32), 4)
load_u64: Any = _loader(types.uint64, ir.IntType(64), 8)
load_f32: Any = _loader(types.float32, ir.FloatType(), 4)
load_f64: Any = _loader(types.float64, ir.DoubleType(), 8)


def _storer(scalar: Any) -> Any:
    """Make a function (int64 address, number) that writes the number there; the caller knows that it may."""

    @intrinsic
    def store(typing_context: Any, address: Any, number: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            place, value = arguments
            builder.store(value, builder.inttoptr(place, value.type.as_pointer()))

        return types.void(types.int64, scalar), codegen

    return store


store_i64: Any = _storer(types.int64)
store_f64: Any = _storer(types.float64)


@compiled
def varint(buffer: Any, offset: Any, stop: Any) -> Any:
    """Decode a varint that starts at `offset` and ends before `stop`.

    Returns:
        (uint64, the offset after it), or (0, -1) if there is none, or decoders might disagree about it.
    """
    number = _U64(0)
    shift = _U64(0)
    while offset < stop and shift < _U64(70):
        byte = load_u8(buffer, offset)
        offset += 1
        number |= _U64(byte & 0x7F) << shift
        if byte < 0x80:
            if shift == _U64(63) and byte > 1:
                break
            return number, offset
        shift += _U64(7)
    return _U64(0), np.int64(-1)


def _instruction(name: str, word: Any) -> Any:
    """Make a function (checksum register, word) → the register after that word; `native.building` defines it."""

    @intrinsic
    def step(typing_context: Any, crc: Any, data: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            kinds = [ir.IntType(64), ir.IntType(word.bitwidth)]
            function = cgutils.get_or_insert_function(builder.module, ir.FunctionType(kinds[0], kinds), name)
            return builder.call(function, arguments)

        return types.uint64(types.uint64, word), codegen

    return step


_crc_of_8, _crc_of_4, _crc_of_1 = map(_instruction, CRC32C, (types.uint64, types.uint32, types.uint8))


@compiled
def checksum(buffer: Any, start: Any, stop: Any) -> Any:
    """The masked CRC-32C of buffer[start:stop]."""
    crc = _U64(0xFFFFFFFF)
    while start + 8 <= stop:
        crc = _crc_of_8(crc, load_u64(buffer, start))
        start += 8
    if start + 4 <= stop:
        crc = _crc_of_4(crc, load_u32(buffer, start))
        start += 4
    while start < stop:
        crc = _crc_of_1(crc, np.uint8(load_u8(buffer, start)))
        start += 1
    crc = ~crc & _U64(0xFFFFFFFF)
    rotated = (crc >> _U64(15)) | (crc << _U64(17))
    return _U32(rotated + _U64(MASK_DELTA))
