"""Building blocks of the compiled scanner: loads, varints, CRC-32C. Needs numba. Pure (no I/O).

With NUMBA_BOUNDSCHECK=1, every load first indexes its first and last byte, so that bounds are checked although the wide
loads below bypass NumPy's indexing.

References: Intel's CRC32 and Arm's CRC32CX instructions, which both compute CRC-32C; for machines with neither,
slicing by 8 (Kounavis and Berry 2005).
"""

from __future__ import annotations

import os
from functools import partial
from typing import Any

import numpy as np
from llvmlite import binding, ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

from summaries.wire.crc32c import MASK_DELTA, crc32c

__all__ = [
    "checksum",
    "compiled",
    "copy_to",
    "load_f32",
    "load_f64",
    "load_u8",
    "load_u32",
    "load_u64",
    "mask",
    "sliced_crc",
    "varint",
]

_CHECKED = os.environ.get("NUMBA_BOUNDSCHECK", "0") not in {"", "0"}
_U32, _U64 = np.uint32, np.uint64


def _can_cache() -> bool:
    """Whether numba finds a directory for compiled code: next to this file, or in the user's cache."""
    try:
        njit(cache=True)(lambda: 0)
    except RuntimeError:
        return False
    return True


compiled = partial(njit, nogil=True, cache=_can_cache(), error_model="numpy", _nrt=False)
"""njit as it is used here: without the GIL, and cached on disk if possible.

`_nrt=False` disables numba's reference counting: nothing here creates an array, and counting the references of arrays
that are passed from function to function took nine tenths of the time.
"""


def _loader(scalar: Any, bits: Any) -> Any:
    """Make a function (uint8[:] buffer, int64 offset) → one little-endian scalar, which need not be aligned."""

    @intrinsic
    def load(typing_context: Any, buffer: Any, offset: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            array = context.make_array(signature.args[0])(context, builder, arguments[0])
            address = builder.gep(array.data, [arguments[1]])
            value = builder.load(builder.bitcast(address, bits.as_pointer()))
            value.align = 1
            return value

        return scalar(buffer, types.int64), codegen

    return load


@intrinsic
def _store(typing_context: Any, address: Any, value: Any) -> Any:
    """(int64 address, a number of 8 bytes) → nothing."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        builder.store(arguments[1], builder.inttoptr(arguments[0], arguments[1].type.as_pointer()))
        return context.get_dummy_value()

    return types.void(types.int64, value), codegen


@compiled
def copy_to(address: Any, numbers: Any, start: Any, stop: Any) -> Any:
    """Copy numbers[start:stop], of 8 bytes each, to an aligned address, behind which there is room for them."""
    for i in range(start, stop):
        _store(address + 8 * (i - start), numbers[i])


_raw_u64 = _loader(types.uint64, ir.IntType(64))
_raw_u32 = _loader(types.uint32, ir.IntType(32))
_raw_u8 = _loader(types.uint8, ir.IntType(8))
_raw_f64 = _loader(types.float64, ir.DoubleType())
_raw_f32 = _loader(types.float32, ir.FloatType())


@compiled
def load_u8(buffer: Any, offset: Any) -> Any:
    """The byte at `offset`, which must not be negative: NumPy's indexing would check."""
    if _CHECKED:
        buffer[offset]
    return _raw_u8(buffer, offset)


@compiled
def load_u64(buffer: Any, offset: Any) -> Any:
    """The uint64 at buffer[offset : offset + 8]."""
    if _CHECKED:
        buffer[offset], buffer[offset + 7]
    return _raw_u64(buffer, offset)


@compiled
def load_u32(buffer: Any, offset: Any) -> Any:
    """The uint32 at buffer[offset : offset + 4]."""
    if _CHECKED:
        buffer[offset], buffer[offset + 3]
    return _raw_u32(buffer, offset)


@compiled
def load_f64(buffer: Any, offset: Any) -> Any:
    """The float64 at buffer[offset : offset + 8]."""
    if _CHECKED:
        buffer[offset], buffer[offset + 7]
    return _raw_f64(buffer, offset)


@compiled
def load_f32(buffer: Any, offset: Any) -> Any:
    """The float32 at buffer[offset : offset + 4]."""
    if _CHECKED:
        buffer[offset], buffer[offset + 3]
    return _raw_f32(buffer, offset)


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
        number |= _U64(byte & np.uint8(0x7F)) << shift
        if byte < np.uint8(0x80):
            if shift == _U64(63) and byte > np.uint8(1):
                break
            return number, np.int64(offset)
        shift += _U64(7)
    return _U64(0), np.int64(-1)


@compiled
def mask(crc: Any) -> Any:
    """The form in which a checksum is stored."""
    return _U32(_U32(_U32(crc >> _U32(15)) | _U32(crc << _U32(17))) + _U32(MASK_DELTA))


def _sliced_tables() -> np.ndarray[Any, np.dtype[np.uint32]]:
    """uint32[8, 256]: what a byte, i bytes before the end of a word, contributes to the register."""
    tables = np.array([[crc32c(bytes([b])) ^ crc32c(b"\0") for b in range(256)]], np.uint32)
    for _ in range(7):
        last = tables[-1]
        tables = np.concatenate((tables, (last >> 8 ^ tables[0][last & 0xFF])[None]))
    return tables


_SLICED = _sliced_tables()


@compiled
def _sliced_step8(crc: Any, word: Any) -> Any:
    word ^= _U64(crc)
    out = _U32(0)
    for i in range(8):
        out ^= _SLICED[7 - i, (word >> _U64(8 * i)) & _U64(0xFF)]
    return out


@compiled
def _sliced_step4(crc: Any, word: Any) -> Any:
    word ^= crc
    out = _U32(0)
    for i in range(4):
        out ^= _SLICED[3 - i, (word >> _U32(8 * i)) & _U32(0xFF)]
    return out


@compiled
def _sliced_step1(crc: Any, byte: Any) -> Any:
    return _U32(_SLICED[0, (crc ^ _U32(byte)) & _U32(0xFF)] ^ (crc >> _U32(8)))


def _instruction(name: str, register: Any, word: Any) -> Any:
    """Make a function (checksum register, word) → the register after that word: one machine instruction."""

    @intrinsic
    def step(typing_context: Any, crc: Any, data: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            kinds = [ir.IntType(types_.bitwidth) for types_ in (register, word)]
            function = cgutils.get_or_insert_function(builder.module, ir.FunctionType(kinds[0], kinds), name)
            return builder.call(function, arguments)

        return register(register, word), codegen

    return step


def _steps() -> tuple[Any, Any, Any]:
    """The steps over 8, 4 and 1 bytes, with CRC instructions if this machine has them."""
    features = binding.get_host_cpu_features()
    if features.get("sse4.2") and "x86" in binding.get_process_triple():
        wide = _instruction("llvm.x86.sse42.crc32.64.64", types.uint64, types.uint64)
        middle = _instruction("llvm.x86.sse42.crc32.32.32", types.uint32, types.uint32)
        narrow = _instruction("llvm.x86.sse42.crc32.32.8", types.uint32, types.uint8)
        return (
            compiled(lambda crc, word: _U32(wide(_U64(crc), _U64(word)))),
            compiled(lambda crc, word: middle(_U32(crc), _U32(word))),
            compiled(lambda crc, byte: narrow(_U32(crc), np.uint8(byte))),
        )
    if features.get("crc") and "aarch64" in binding.get_process_triple():
        wide = _instruction("llvm.aarch64.crc32cx", types.uint32, types.uint64)
        middle = _instruction("llvm.aarch64.crc32cw", types.uint32, types.uint32)
        narrow = _instruction("llvm.aarch64.crc32cb", types.uint32, types.uint32)
        return (
            compiled(lambda crc, word: wide(_U32(crc), _U64(word))),
            compiled(lambda crc, word: middle(_U32(crc), _U32(word))),
            compiled(lambda crc, byte: narrow(_U32(crc), _U32(byte))),
        )
    return _sliced_step8, _sliced_step4, _sliced_step1


_step8, _step4, _step1 = _steps()


@compiled
def checksum(buffer: Any, start: Any, stop: Any) -> Any:
    """The masked CRC-32C of buffer[start:stop]."""
    crc = _U32(0xFFFFFFFF)
    while start + 8 <= stop:
        crc = _step8(crc, load_u64(buffer, start))
        start += 8
    if start + 4 <= stop:
        crc = _step4(crc, load_u32(buffer, start))
        start += 4
    while start < stop:
        crc = _step1(crc, load_u8(buffer, start))
        start += 1
    return mask(_U32(crc ^ _U32(0xFFFFFFFF)))


@compiled
def sliced_crc(buffer: Any, start: Any, stop: Any) -> Any:
    """The same as `checksum`, with tables only, for machines without CRC instructions."""
    crc = _U32(0xFFFFFFFF)
    while start + 8 <= stop:
        crc = _sliced_step8(crc, load_u64(buffer, start))
        start += 8
    if start + 4 <= stop:
        crc = _sliced_step4(crc, load_u32(buffer, start))
        start += 4
    while start < stop:
        crc = _sliced_step1(crc, load_u8(buffer, start))
        start += 1
    return mask(_U32(crc ^ _U32(0xFFFFFFFF)))
