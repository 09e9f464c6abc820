"""Kernels as functions for numba to compile, from their sources. Needs numba."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from optim.kernels.codegen import ARGUMENTS, kernel_source, rule_lanes
from optim.kernels.intrinsics import intrinsics
from optim.kernels.stats import lanes
from optim.kernels.sums import reader_source
from summaries.native.source import compiled, unpacker

if TYPE_CHECKING:
    from optim.rules import Rule

__all__ = ["reader", "written"]


def written(rule: Rule, dtype: str, report: bool) -> Any:
    """The rule's kernel, not compiled yet."""
    return _defined(kernel_source(rule, dtype, report), dtype, rule_lanes(rule, dtype, report))


def reader(name: str, dtype: str) -> Any:
    """One of `sums.READERS`, not compiled yet."""
    return _defined(reader_source(name, dtype), dtype, lanes(dtype))


def _defined(source: str, dtype: str, count: int) -> Any:
    names = {"inf": math.inf, "nan": math.nan, "compiled": compiled, "arguments": unpacker(ARGUMENTS)}
    names |= intrinsics(dtype, count)
    exec(source, names)  # noqa: S102 - made only from a rule's formula
    return names["run"]
