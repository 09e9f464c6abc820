"""Calls of compiled functions as `driver` reads them, and what they do on this machine."""

from __future__ import annotations

import struct
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from summaries.native.calls import Call, Function

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray


POINTING = {"scatter"}
"""Functions that a reader calls with addresses in an array."""


class Recording:
    """Calls that were made on this machine.

    Attributes:
        names: the functions' names.
        results: for each call, what it left behind, as `driver` writes it.
    """

    def __init__(self) -> None:
        self.names: list[str] = []
        self.results: list[bytes] = []
        self._calls: list[bytes] = []

    def calls(self, levels: Sequence[str | None]) -> bytes:
        """The calls as `driver` reads them, of the functions for these levels; None leaves a call out."""
        return b"".join(
            f"gradledger_{name}_{level}".encode().ljust(64, b"\0") + call
            for name, call, level in zip(self.names, self._calls, levels, strict=True)
            if level is not None
        )

    def call(self, call: Call, memory: Sequence[NDArray[Any]] = ()) -> int:
        """Make a call, and record it; `memory` is what its arguments point to, without being arguments."""
        if call._function.name in POINTING and not memory:  # a reader's own: nobody knows what it points to
            return _make(call)
        buffers = [np.frombuffer(call.words, np.int64), *_arrays(call._arguments), *memory]
        pointers = _pointers(buffers)
        self._calls.append(_packed(buffers, pointers))
        result = _make(call)
        self.names.append(call._function.name)
        self.results.append(struct.pack("<2q", 0, result) + _left(buffers, pointers))
        return result


@contextmanager
def recording() -> Iterator[Recording]:
    """Within the block, all calls are recorded."""
    recorded = Recording()
    Call.__call__ = lambda call: recorded.call(call)  # type: ignore[method-assign]  # noqa: PLW0108 - a method of Call
    Function.__call__ = lambda function, *arguments: recorded.call(Call(function, arguments))  # type: ignore[method-assign]
    try:
        yield recorded
    finally:
        Call.__call__, Function.__call__ = _make, _call  # type: ignore[method-assign]


_make, _call = Call.__call__, Function.__call__


def _arrays(arguments: Sequence[Any]) -> list[NDArray[Any]]:
    found: list[NDArray[Any]] = []
    for argument in arguments:
        if isinstance(argument, np.ndarray):
            found.append(argument)
        elif isinstance(argument, tuple):
            found += _arrays(argument)
    return found


def _pointers(buffers: Sequence[NDArray[Any]]) -> list[tuple[int, int, int, int]]:
    """(buffer, offset, buffer it points to, offset there) of each integer that is an address in one of them."""
    found = []
    for number, buffer in enumerate(buffers):
        if buffer.dtype != np.int64:
            continue
        flat = buffer.reshape(-1)
        for target, pointed in enumerate(buffers):
            start = pointed.ctypes.data
            inside = (flat >= start) & (flat < start + max(pointed.nbytes, 1))
            found += [(number, 8 * i, target, int(flat[i]) - start) for i in np.flatnonzero(inside).tolist()]
    return found


def _packed(buffers: Sequence[NDArray[Any]], pointers: Sequence[tuple[int, int, int, int]]) -> bytes:
    out = [struct.pack("<q", len(buffers))]
    for buffer in buffers:
        data = buffer.tobytes()
        out += [struct.pack("<q", len(data)), data, bytes(-len(data) % 8)]
    out += [struct.pack("<q", len(pointers)), *(struct.pack("<4q", *pointer) for pointer in pointers)]
    return b"".join(out)


def _left(buffers: Sequence[NDArray[Any]], pointers: Sequence[tuple[int, int, int, int]]) -> bytes:
    """The bytes of buffers, with 0 for each pointer."""
    data = [bytearray(buffer.tobytes()) for buffer in buffers]
    for buffer, offset, _, _ in pointers:
        data[buffer][offset : offset + 8] = bytes(8)
    return b"".join(data)
