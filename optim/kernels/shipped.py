"""The kernels that come compiled, for `summaries.native.building`. Needs numba, which only building needs."""

from __future__ import annotations

from itertools import product
from typing import Any

from optim.kernels.codegen import DTYPES, SHIPPED, kernel_name
from optim.kernels.intrinsics import int64_at
from optim.kernels.sums import READERS, reader
from optim.kernels.writing import written
from summaries.native.calls import INTEGER, Array
from summaries.native.source import compiled, unpacker

__all__ = ["EXPORTS", "LEVELS", "VARIANTS"]

LEVELS = ("v4", "v3", "v8")

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


EXPORTS: dict[str, Any] = {"addresses": addresses}
VARIANTS: dict[str, dict[str, Any]] = {"v4": {}}  # by level, what these functions are there: it has the registers
for _name, _dtype in product(READERS, DTYPES):
    EXPORTS[f"{_name}_{_dtype}"] = reader(_name, _dtype)
for _rule, _dtype, _report in SHIPPED:
    EXPORTS[kernel_name(_rule, _dtype, _report)] = written(_rule, _dtype, _report)
    if _report:
        VARIANTS["v4"][kernel_name(_rule, _dtype, True)] = written(_rule, _dtype, True, at_once=True)
