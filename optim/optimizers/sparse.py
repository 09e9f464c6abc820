"""Applies a rule to the rows that an IndexedSlices names, a block of rows at a time."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from optim.kernels.measure import count_nonfinite, measure, sums_of_squares
from optim.kernels.plain import compute_dtype
from optim.kernels.plan import Plan
from optim.kernels.scale_and_bounds import AS_IT_IS, Clip
from optim.kernels.stats import LARGEST_OF_SLOTS, NONFINITE, SLOT_WIDTH, SQUARES, WEIGHT_SQUARES, ZEROS, slot_columns
from optim.optimizers.gradient_checks import unique_rows
from optim.variable import IndexedSlices

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from optim.rules import Rule

__all__ = ["update_rows"]

_BLOCK = 1 << 16  # elements


def update_rows(
    rule: Rule,
    gradient: IndexedSlices,
    targets: Sequence[NDArray[Any]],
    hyperparameters: Sequence[float],
    clip: Clip,
    stats: NDArray[Any] | None = None,
) -> None:
    """Update in place the rows that the gradient names; or all rows if the rule moves elements at rest.

    Rows of the same index are summed first, as in TF1. Statistics are of the whole arrays: rows that the gradient does
    not name count as 0, and the weights' norm includes all rows. So a measured step reads each array once in full.

    Args:
        rule: the formula.
        gradient: rows, of the targets' dtype; indices within range.
        targets: the variable and the slots.
        hyperparameters: the numbers that the formula takes after the slots, in its order.
        clip: applied to the gradient's rows before they are summed.
        stats: float64[width], a row of a rule's `stats` to fill; or None.
    """
    wide = compute_dtype(gradient.dtype)
    if gradient.dtype != wide:  # rounded once, when variables and slots are stored
        gradient = IndexedSlices(gradient.values.astype(wide), gradient.indices, gradient.dense_shape)
    as_it_came = gradient
    # Rows that are not named stay 0, even if the clip's bounds exclude 0 or its scale is NaN.
    if rule.is_linear or not clip.only_scales or not math.isfinite(clip.scale):
        rows = clip.applied(gradient.values)
        if rule.is_linear:
            rows, hyperparameters = Clip(*hyperparameters).applied(rows), (1.0,)
        gradient, clip = IndexedSlices(rows, gradient.indices, gradient.dense_shape), AS_IT_IS
    rule = rule.sparse or rule
    indices, rows = unique_rows(gradient)
    if stats is not None:
        stats[:] = 0.0
        stats[LARGEST_OF_SLOTS] = -np.inf
    walk = _all_rows if rule.moves_at_rest else _named_rows
    for block_gradient, block in walk(indices, rows, targets):
        measured = Plan(rule, [block]).run([block_gradient], hyperparameters, clip, report=stats is not None)
        if stats is not None and measured is not None:
            largest = np.fmax(stats[LARGEST_OF_SLOTS], measured[0, LARGEST_OF_SLOTS])
            stats += measured[0]
            stats[LARGEST_OF_SLOTS] = largest
    if stats is not None and not rule.moves_at_rest:
        _include_rows_at_rest(stats, rows.size, targets)
    if stats is not None and gradient is not as_it_came:
        _measure_as_it_came(stats, targets[0].size, as_it_came)


def _include_rows_at_rest(stats: NDArray[Any], named: int, targets: Sequence[NDArray[Any]]) -> None:
    """Add the rows that the gradient does not name: the gradient is 0 there, and their weights and slots count."""
    measured = measure(targets)
    stats[WEIGHT_SQUARES] = measured[0, SQUARES]
    stats[ZEROS] += targets[0].size - named
    for k, of_slot in enumerate(measured[1:]):
        stats[slot_columns(k)] = of_slot[:SLOT_WIDTH]


def _measure_as_it_came(stats: NDArray[Any], size: int, gradient: IndexedSlices) -> None:
    """Measure the gradient before clipping: the kernels saw only the clipped one."""
    rows = unique_rows(gradient)[1]
    stats[SQUARES] = sums_of_squares([rows])[0]
    stats[ZEROS] = size - np.count_nonzero(rows)
    stats[NONFINITE] = count_nonfinite([rows])


def _named_rows(
    indices: NDArray[Any], rows: NDArray[Any], targets: Sequence[NDArray[Any]]
) -> Iterator[tuple[NDArray[Any], list[NDArray[Any]]]]:
    """Yield copies of the named rows, and write them back after use."""
    step = _rows_in_block(targets[0])
    for start in range(0, len(indices), step):
        chosen = indices[start : start + step]
        block = [target[chosen] for target in targets]
        yield rows[start : start + step], block
        for target, new in zip(targets, block, strict=True):
            target[chosen] = new


def _all_rows(
    indices: NDArray[Any], rows: NDArray[Any], targets: Sequence[NDArray[Any]]
) -> Iterator[tuple[NDArray[Any], list[NDArray[Any]]]]:
    """Yield every row, with a gradient of 0 for rows that are not named."""
    step = _rows_in_block(targets[0])
    for start in range(0, len(targets[0]), step):
        block = [target[start : start + step] for target in targets]
        first, last = np.searchsorted(indices, [start, start + step])
        gradient = np.zeros(block[0].shape, rows.dtype)
        gradient[indices[first:last] - start] = rows[first:last]
        yield gradient, block


def _rows_in_block(target: NDArray[Any]) -> int:
    return max(1, _BLOCK // max(1, target[:1].size))
