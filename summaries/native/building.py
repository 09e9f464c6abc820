"""Making machine code of functions in numba's Python. Needs numba, and is imported only to compile.

Functions are compiled with `compiled`, without the parts by which Python calls them. Those of a library take the
address of a row of words (see `calls`), which their first line takes apart:

    _scan_arguments = unpacker(SCANNER.types["scan"])

    @compiled
    def scan(words):
        end, buffer, … = _scan_arguments(words)

They are linked to one object file, for `target.host`.
"""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from llvmlite import binding, ir
from numba import from_dtype, njit, types
from numba.core import cgutils, config
from numba.extending import intrinsic
from numba.np.arrayobj import populate_array

from summaries.native.calls import INTEGER, Array
from summaries.native.target import target_machine

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["build", "compiled", "unpacker"]

compiled = partial(njit, error_model="numpy", _nrt=False, no_cpython_wrapper=True, no_cfunc_wrapper=True)
"""njit as it is used here: for calls from other compiled functions only. What calls Python takes a third of the time.

`_nrt=False` disables numba's reference counting: nothing here creates an array, and counting the references of arrays
that are passed from function to function took nine tenths of the time.
"""

_WORDS = types.CPointer(types.int64)


def build(module: str, functions: Iterable[str]) -> bytes:
    """Compile functions of a module into one object file.

    Args:
        module: the module's name.
        functions: the functions' names.

    Returns:
        An object file with a symbol `gradledger_<name>` for each function.

    Raises:
        ImportError: numba is switched off.
    """
    if config.DISABLE_JIT:
        raise ImportError("numba compiles nothing, because NUMBA_DISABLE_JIT is set")
    defined = import_module(module)
    whole = binding.parse_assembly("")
    for name in functions:
        whole.link_in(_module(name, getattr(defined, name)))
    code: bytes = target_machine().emit_object(whole)
    return code


def _module(name: str, function: Any) -> Any:
    """LLVM's module of a function and all that it calls."""
    function.compile((_WORDS,))
    module = binding.parse_assembly(function.inspect_llvm(function.signatures[0]))
    external = binding.Linkage.external
    (made,) = (item for item in module.functions if not item.is_declaration and item.linkage == external)
    made.name = f"gradledger_{name}"
    return module


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
