"""Run a rule over arrays, a cache block at a time: the only place where arrays are walked through.

A block is small enough that the formula's temporaries stay in the cache, so that memory is read and written once, and
nothing as large as a variable is ever allocated. The clipping scale is folded into the same pass.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from optim.rules import Rule

__all__ = ["apply_rule", "count_nonfinite", "norm"]

_BLOCK = 1 << 13  # elements


def apply_rule(
    rule: Rule,
    hyperparameters: Sequence[float],
    variable: NDArray[Any],
    gradient: NDArray[Any],
    slots: Sequence[NDArray[Any]] = (),
    scale: float = 1.0,
) -> None:
    """Update `variable` and `slots` in place by `rule`, with `gradient` times `scale`.

    Args:
        rule: the formula.
        hyperparameters: what it takes behind the slots, in its order.
        variable: array, any shape, floating dtype.
        gradient: array of the variable's shape and dtype; not modified.
        slots: arrays of the variable's shape, in the rule's order.
        scale: multiplies the gradient; 1.0 leaves it as it is, bit for bit.
    """
    for g, *targets in _blocks(gradient, variable, *slots):
        clipped = g if scale == 1.0 else g * g.dtype.type(scale)
        for target, new in zip(targets, rule.formula(clipped, *targets, *hyperparameters), strict=True):
            target[...] = new


def norm(arrays: Sequence[NDArray[Any]]) -> float:
    """The L2 norm of all elements of all arrays together.

    Neither large nor tiny elements spoil it: it is infinite, or 0, only where the true norm is not a float64. NaN where
    an element is NaN.
    """
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        squares = math.fsum(_sum_of_squares(block) for array in arrays for (block,) in _blocks(array))
    if _SAFE_MIN < squares < math.inf or math.isnan(squares):
        return math.sqrt(squares)
    largest = max((float(np.max(np.abs(array))) for array in arrays if array.size), default=0.0)
    if largest == 0.0 or not math.isfinite(largest):
        return largest
    scaled = (block.astype(np.float64) / largest for array in arrays for (block,) in _blocks(array))
    return largest * math.sqrt(math.fsum(float(np.vdot(block, block)) for block in scaled))


def count_nonfinite(arrays: Sequence[NDArray[Any]]) -> int:
    """How many elements are NaN or infinite."""
    return sum(int(block.size - np.count_nonzero(np.isfinite(block))) for a in arrays for (block,) in _blocks(a))


_SAFE_MIN = 1e-280  # below it squares may have been rounded to nothing


def _sum_of_squares(block: NDArray[Any]) -> float:
    if block.dtype == np.float64:
        return float(np.vdot(block, block))
    single = block.astype(np.float32, copy=False)
    total = float(np.vdot(single, single))
    if 1e-30 < total < math.inf:  # noqa: PLR2004 - no square was lost below or above float32's range
        return total
    double = single.astype(np.float64)
    return float(np.vdot(double, double))


def _blocks(*arrays: NDArray[Any]) -> Iterator[tuple[NDArray[Any], ...]]:
    """The same elements of every array, a block at a time, as views."""
    if not all(array.flags.c_contiguous for array in arrays):
        yield arrays  # no flat view exists: in one go
        return
    flat = [array.reshape(-1) for array in arrays]
    for start in range(0, flat[0].size, _BLOCK):
        yield tuple(array[start : start + _BLOCK] for array in flat)
