"""How compiled functions are written: in numba's Python, with these. Needs numba, which only building needs.

What is called from Python takes the address of a row of words (see `calls`), which its first line takes apart:

    _arguments = unpacker(ARGUMENTS["scan"])

    @compiled
    def scan(words):
        end, buffer, … = _arguments(words)

Such functions are in the `EXPORTS` of their module, by the names by which `library.function` knows them. Nothing may
depend on the machine that compiles: `building` emits the same functions for all targets.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from llvmlite import ir
from numba import from_dtype, njit, types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import populate_array

from summaries.native.calls import INTEGER, Array

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["CRC32C", "compiled", "unpacker"]

CRC32C = ("gradledger_crc32c_8", "gradledger_crc32c_4", "gradledger_crc32c_1")
"""The steps of CRC-32C over 8, 4 and 1 bytes, (uint64 register, word) → register, which `building` defines."""

compiled: Callable[..., Any] = partial(
    njit, error_model="numpy", _nrt=False, no_cpython_wrapper=True, no_cfunc_wrapper=True
)
"""njit as it is used here: for calls from other compiled functions only.

`_nrt=False` disables numba's reference counting: nothing here creates an array.
"""


def unpacker(arguments: Sequence[Any]) -> Any:
    """Make a function (words) → a tuple of arguments of these types, which are as in `Library`."""
    wanted = tuple(_type(argument) for argument in arguments)

    @intrinsic
    def unpack(typing_context: Any, words: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            read = _Reader(context, builder, arguments[0])
            return context.make_tuple(builder, signature.return_type, [read(item) for item in wanted])

        return types.Tuple(wanted)(words), codegen

    return unpack


def _type(argument: Any) -> Any:
    """Numba's type of an argument."""
    if argument is INTEGER:
        return types.int64
    if isinstance(argument, Array):
        return types.Array(from_dtype(np.dtype(argument.dtype)), argument.ndim, "C")
    return types.NamedTuple([_type(item) for item in argument], type(argument))


class _Reader:
    """Emits the code that reads one argument after another."""

    def __init__(self, context: Any, builder: Any, words: Any) -> None:
        self._context, self._builder, self._words = context, builder, words
        self._next = 0

    def __call__(self, wanted: Any) -> Any:
        if isinstance(wanted, types.Array):
            return self._array(wanted)
        if isinstance(wanted, types.BaseTuple):
            return self._context.make_tuple(self._builder, wanted, [self(item) for item in wanted])
        return self._word()

    def _word(self) -> Any:
        place = self._builder.gep(self._words, [ir.Constant(ir.IntType(64), self._next)])
        self._next += 1
        return self._builder.load(place)

    def _array(self, wanted: Any) -> Any:
        context, builder = self._context, self._builder
        item = context.get_data_type(wanted.dtype)
        data = builder.inttoptr(self._word(), item.as_pointer())
        shape = [self._word() for _ in range(wanted.ndim)]
        size = context.get_constant(types.intp, context.get_abi_sizeof(item))
        strides = [size]
        for length in shape[:0:-1]:
            strides.insert(0, builder.mul(strides[0], length))
        array = context.make_array(wanted)(context, builder)
        populate_array(
            array,
            data=data,
            shape=cgutils.pack_array(builder, shape),
            strides=cgutils.pack_array(builder, strides),
            itemsize=size,
            meminfo=None,
        )
        return array._getvalue()  # noqa: SLF001 - numba's name for it
