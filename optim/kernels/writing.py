"""Kernels as functions for numba to compile, from their sources. Needs numba."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from optim.kernels.codegen import ARGUMENTS, kernel_source, rule_lanes
from optim.kernels.intrinsics import intrinsics
from optim.kernels.stats import lanes
from optim.kernels.sums import sums
from summaries.native.source import compiled, unpacker

if TYPE_CHECKING:
    from optim.rules import Rule

__all__ = ["written"]


def written(rule: Rule, dtype: str, report: bool, *, at_once: bool = False) -> Any:
    """The rule's kernel, not compiled yet. The arguments are as in `kernel_source`."""
    names = {"inf": math.inf, "nan": math.nan, "compiled": compiled, "arguments": unpacker(ARGUMENTS)}
    names |= intrinsics(dtype, rule_lanes(rule, dtype, report)) | sums(dtype, lanes(dtype, of_rule=True))
    exec(kernel_source(rule, dtype, report, at_once=at_once), names)  # noqa: S102 - made only from a rule's formula
    return names["run"]
