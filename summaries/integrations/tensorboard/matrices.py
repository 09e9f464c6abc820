"""Matrices over steps: what a run logged as tensors, such as confusion matrices, attention, or one number per layer."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from summaries.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from summaries.reading.run import Run
    from summaries.reading.series import Items

__all__ = ["MOST_SIDE", "has_matrices", "level_range", "matrix_at", "matrix_tags", "shown"]

MOST_SIDE = 512
"""A matrix with more rows or columns is shown as the means of equal blocks."""

_PLANE = 2
_MOST_TAGS = 500  # a value of each is read to see its shape
_PROBED_TAGS = 20
_SAMPLES = 24  # so many steps tell the range of the colors


def has_matrices(run: Run) -> bool:
    """Whether one of the first tags with tensors has a matrix; many runs have tensors that are something else."""
    first = islice(run.tensors.values(), _PROBED_TAGS)
    try:
        return any(next(_readable(items, range(min(len(items), 1))), None) is not None for items in first)
    except OSError:  # the file went while it was read
        return False


def matrix_tags(run: Run) -> list[dict[str, Any]]:
    """The tags with matrices or vectors: `tag`, `shape` of the first value, `steps` of those that stand."""
    found = []
    for tag, items in islice(run.tensors.items(), _MOST_TAGS):
        latest = items.latest()
        first = next(_readable(latest, range(min(len(latest), 3))), None)
        if first is not None:
            found.append({"tag": tag, "shape": list(first.shape), "steps": latest.step.tolist()})
    return found


def matrix_at(run: Run, tag: str, index: int) -> tuple[int, NDArray[np.float64]]:
    """The step and the values of a tag's matrix, float64[rows, columns]; a vector is one column.

    Raises:
        LookupError: the run has no such tag, or no such value.
        ValueError: the value is no matrix of numbers.
        OSError: the file can no longer be read.
    """
    items = run.tensors.get(tag)
    latest = None if items is None else items.latest()
    if latest is None or not 0 <= index < len(latest):
        raise LookupError(f"there is no matrix {index} of tag {tag!r}")
    found = next(_readable(latest, [index]), None)
    if found is None:
        raise ValueError(f"value {index} of tag {tag!r} must be a matrix of numbers")
    return int(latest.step[index]), found


def level_range(run: Run, tag: str) -> tuple[float, float]:
    """The smallest and the largest finite value in some of a tag's matrices; (0, 0) if there are none."""
    latest = run.tensors[tag].latest()
    at = np.unique(np.linspace(0, len(latest) - 1, min(len(latest), _SAMPLES)).round().astype(int))
    ends = [(finite.min(), finite.max()) for one in _readable(latest, at) if len(finite := one[np.isfinite(one)])]
    return (float(min(low for low, _ in ends)), float(max(high for _, high in ends))) if ends else (0.0, 0.0)


def shown(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """The matrix, or if it has more than 512 rows or columns, the means of its blocks.

    >>> shown(np.arange(4096.0).reshape(4, 1024))[0, :3]
    array([0.5, 2.5, 4.5])
    """
    for axis in (0, 1):
        size = matrix.shape[axis]
        if size > MOST_SIDE:
            starts = np.arange(MOST_SIDE) * size // MOST_SIDE
            counts = np.diff(starts, append=size)
            with np.errstate(all="ignore"):
                sums = np.add.reduceat(matrix, starts, axis=axis)
                matrix = sums / (counts[:, None] if axis == 0 else counts)
    return matrix


def _readable(items: Items, indices: Any) -> Iterator[NDArray[np.float64]]:
    """Those of the values that are matrices or vectors of numbers."""
    for index in indices:
        try:
            value = np.asarray(items[int(index)])
        except FormatError:  # the audit tells of it
            continue
        if value.dtype.kind not in "biuf" or value.size == 0:
            continue
        value = value.squeeze().astype(np.float64)
        if value.ndim in {1, _PLANE}:
            yield value.reshape(len(value), -1)
