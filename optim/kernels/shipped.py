"""The kernels that come compiled, for `summaries.native.building`. Needs numba, which only building needs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from optim.kernels.codegen import ARGUMENTS, DTYPES, SHIPPED, kernel_name, kernel_source
from optim.kernels.intrinsics import int64_at, intrinsics
from optim.kernels.sums import checker, readers
from summaries.native.calls import INTEGER, Array
from summaries.native.source import compiled, unpacker

if TYPE_CHECKING:
    from optim.rules import Rule

__all__ = ["EXPORTS", "LEVELS"]

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


def kernel(rule: Rule, dtype: str, report: bool) -> Any:
    """A rule's kernel, not compiled yet."""
    source = kernel_source(rule, dtype, report)
    names = {"np": np, "inf": math.inf, "nan": math.nan, "LANES": source.lanes}  # numbers, as formulas write them
    names |= {"compiled": compiled, "arguments": unpacker(ARGUMENTS)}
    names |= {**intrinsics(dtype, source.lanes), "check": checker(dtype, source.lanes)}
    exec(source.text, names)  # noqa: S102 - made only from a rule's formula
    return names["run"]


EXPORTS = {"addresses": addresses}
for _dtype in DTYPES:
    EXPORTS |= readers(_dtype)
    EXPORTS |= {kernel_name(rule, _dtype, report): kernel(rule, _dtype, report) for rule in SHIPPED for report in (False, True)}
