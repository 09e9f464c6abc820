"""A rule over the rows that an IndexedSlices names: a block of rows at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from optim import kernels
from optim.codegen import GRADIENT_STATS, SLOT_STATS, stats_width
from optim.gradients import unique_rows
from optim.variable import IndexedSlices

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from optim.kernels import Clip
    from optim.rules import Rule

__all__ = ["update_rows"]

_BLOCK = 1 << 16  # elements


def update_rows(
    rule: Rule,
    gradient: IndexedSlices,
    targets: Sequence[NDArray[Any]],
    hyperparameters: Sequence[float],
    clip: Clip,
    *,
    report: bool = False,
) -> tuple[int, NDArray[Any] | None]:
    """Update the rows in place that the gradient names; all rows where the rule moves elements that are at rest.

    Rows of the same index are summed first, as TF1 does.

    Args:
        rule: the formula.
        gradient: rows, of the targets' dtype; indices within range.
        targets: the variable and the slots.
        hyperparameters: what the formula takes behind the slots, in its order.
        clip: what is done to the gradient's rows first, before they are summed.
        report: whether to measure.

    Returns:
        How many elements were looked at, and float64[width] as `codegen` has it, or None without a report.
    """
    as_it_came = gradient
    if not clip.only_scales:
        rows = clip.applied(gradient.values)
        gradient, clip = IndexedSlices(rows, gradient.indices, gradient.dense_shape), kernels.AS_IT_IS
    rule = rule.sparse or rule
    indices, rows = unique_rows(gradient)
    stats = np.zeros(stats_width(rule))
    most = slice(GRADIENT_STATS + 2, None, SLOT_STATS)
    stats[most] = -np.inf
    walk = _all_rows if rule.moves_at_rest else _named_rows
    size = 0
    for block_gradient, block in walk(indices, rows, targets):
        measured = kernels.Plan(rule, [block]).run([block_gradient], hyperparameters, clip, report=report)
        size += block_gradient.size
        if measured is not None:
            largest = np.maximum(stats[most], measured[0, most])
            stats += measured[0]
            stats[most] = largest
    if report and gradient is not as_it_came:
        _measure_as_it_came(stats, size, as_it_came)
    return size, stats if report else None


def _measure_as_it_came(stats: NDArray[Any], size: int, gradient: IndexedSlices) -> None:
    """What the kernels read was clipped already; the report is of what it was before."""
    rows = unique_rows(gradient)[1]
    norm = kernels.norm([rows])
    stats[0] = norm * norm
    stats[3] = size - np.count_nonzero(rows)
    stats[4] = kernels.count_nonfinite([rows])


def _named_rows(
    indices: NDArray[Any], rows: NDArray[Any], targets: Sequence[NDArray[Any]]
) -> Iterator[tuple[NDArray[Any], list[NDArray[Any]]]]:
    """Copies of the rows; what becomes of them is written back."""
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
    """Every row, with a gradient of 0 where none is named."""
    step = _rows_in_block(targets[0])
    for start in range(0, len(targets[0]), step):
        block = [target[start : start + step] for target in targets]
        first, last = np.searchsorted(indices, [start, start + step])
        gradient = np.zeros(block[0].shape, rows.dtype)
        gradient[indices[first:last] - start] = rows[first:last]
        yield gradient, block


def _rows_in_block(target: NDArray[Any]) -> int:
    return max(1, _BLOCK // max(1, target[:1].size))
