"""Calling machine code: arguments become a row of 64-bit words, which compiled code takes apart again.

An integer is one word; an array is its address, then its shape; a tuple is what it holds.
"""

from __future__ import annotations

from array import array
from ctypes import CFUNCTYPE, addressof, c_char, c_int32, c_void_p
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import DTypeLike, NDArray

__all__ = ["INTEGER", "Array", "Call", "Function", "NativeError", "address"]

_first_byte = c_char.from_buffer
_PROTOTYPE = CFUNCTYPE(c_int32, c_void_p, c_void_p, c_void_p)  # numba's: result, error, arguments → 0 if all is well

INTEGER = int
"""The type of an argument that is an int64."""


class Array(NamedTuple):
    """The type of an argument that is an array, contiguous in C order."""

    dtype: DTypeLike
    ndim: int = 1


class NativeError(IndexError):
    """A compiled function stopped: with NUMBA_BOUNDSCHECK=1, because it indexed outside an array."""


class Function:
    """A compiled function.

    Args:
        name: its name, for errors.
        address: where its code is.

    The caller's arguments must be of the types for which it was compiled: nothing is checked.
    """

    def __init__(self, name: str, address: int) -> None:
        self.name = name
        self.code: Callable[[int, int, int], int] = _PROTOTYPE(address)

    def __call__(self, *arguments: Any) -> int:
        """Call it, without the interpreter's lock; returns its result, or 0 if it has none."""
        row: list[int] = []
        _add_words(row, arguments)
        return self.with_words(*row)

    def with_words(self, *words: int) -> int:
        """As a call with the arguments that these words are, which the caller keeps alive."""
        row = array("q", (0, 0, *words))
        start = row.buffer_info()[0]
        if self.code(start, start + 8, start + 16):
            raise NativeError(f"{self.name} indexed outside an array")
        return row[0]


class Call:
    """A call of a compiled function that is made again and again, with arguments of which some change.

    Args:
        function: the function.
        arguments: its arguments. Arrays are kept alive.

    Attributes:
        words: int64[n], the arguments, which may be changed. The first argument has the first word.
    """

    def __init__(self, function: Function, arguments: tuple[Any, ...]) -> None:
        self._arguments = arguments
        self._function = function
        row: list[int] = []
        _add_words(row, arguments)
        self.words: array[int] = array("q", row)
        self._results = array("q", (0, 0))
        start = self._results.buffer_info()[0]
        self._places = (start, start + 8, self.words.buffer_info()[0])

    def __call__(self) -> int:
        """Make the call; returns its result, or 0 if it has none."""
        if self._function.code(*self._places):
            raise NativeError(f"{self._function.name} indexed outside an array")
        return self._results[0]


def address(values: NDArray[Any]) -> int:
    """Where the elements of an array are: the first of its words."""
    try:
        return addressof(_first_byte(values))  # type: ignore[arg-type]  # takes a third of the time of `ctypes`
    except (TypeError, ValueError):  # the array is read-only, or empty
        return values.ctypes.data


def _add_words(row: list[int], arguments: tuple[Any, ...]) -> None:
    for argument in arguments:
        if type(argument) is np.ndarray:
            row.append(address(argument))
            row += argument.shape
        elif isinstance(argument, tuple):
            _add_words(row, argument)
        else:
            row.append(argument)
