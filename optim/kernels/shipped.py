"""The kernels that come compiled, for `summaries.native.building`. Needs numba, which only building needs."""

from __future__ import annotations

from typing import Any

from optim.kernels.codegen import ARGUMENTS, shipped
from optim.kernels.intrinsics import defined, int64_at
from summaries.native.calls import INTEGER, Array
from summaries.native.source import compiled, unpacker

__all__ = ["EXPORTS", "LEVELS"]

LEVELS = ("v4", "v3", "v2", "v8")

_addresses_arguments = unpacker((Array("int64"), INTEGER, Array("int64")))


@compiled
def addresses(words: Any) -> Any:
    """The addresses of arrays' elements, from those of the arrays as Python's objects.

    It follows the object's header: NumPy's C macro PyArray_DATA reads it there in every extension module. Asking NumPy
    in Python takes a microsecond per array.
    """
    objects, header_bytes, found = _addresses_arguments(words)
    for i in range(objects.size):
        found[i] = int64_at(objects[i] + header_bytes)


EXPORTS = {"addresses": addresses} | {name: defined(source, ARGUMENTS) for name, source in shipped().items()}
