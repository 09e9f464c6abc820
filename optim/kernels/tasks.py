"""Arrays → tasks for a compiled kernel: one call serves many small arrays, and threads share large ones."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from optim.kernels import threads

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

__all__ = ["SHARED", "Cut", "cut", "run_tasks", "table"]

SHARED = 1 << 18  # elements from which on waking a second thread pays
_TASK = 1 << 16  # elements of a task at most: few enough to share evenly, enough to forget the call
_PIECES = 16  # for each thread, so that one held up by another process does not hold up the step


class Cut(NamedTuple):
    """How arrays of given sizes, none of them 0, are cut into tasks."""

    array: NDArray[Any]  # int64[tasks]: which of the arrays
    offset: NDArray[Any]  # int64[tasks]: elements before
    elements: NDArray[Any]  # int64[tasks]
    first: NDArray[Any]  # int64[arrays]: each array's first task
    pieces: list[tuple[int, int]]  # (first, last) of the tasks that a thread takes at once


@lru_cache(maxsize=64)
def cut(sizes: tuple[int, ...], threads_: int) -> Cut:
    """Cut arrays of these sizes into tasks, for so many threads."""
    counts = -(-np.array(sizes) // _TASK)
    array = np.repeat(np.arange(len(sizes)), counts)
    first = np.cumsum(counts) - counts
    offset = (np.arange(len(array)) - first[array]) * _TASK
    elements = np.minimum(np.array(sizes)[array] - offset, _TASK)
    pieces = threads_ * _PIECES if threads_ > 1 and sum(sizes) >= SHARED else 1
    goals = np.linspace(0, sum(sizes), min(pieces, len(array)) + 1)[1:]
    bounds = np.unique(np.searchsorted(np.cumsum(elements), goals) + 1).clip(max=len(array))
    return Cut(array, offset, elements, first, list(pairwise([0, *np.unique(bounds).tolist()])))


def table(parts: Cut, addresses: Sequence[NDArray[np.int64]], itemsize: int) -> NDArray[np.int64]:
    """The tasks as a kernel takes them.

    Args:
        parts: how the arrays are cut.
        addresses: int64[arrays] for each column: where the elements of each array begin.
        itemsize: an element's size in bytes.

    Returns:
        int64[tasks, 1 + columns]: the number of elements, then an address for each column.
    """
    rows = np.empty((len(parts.array), 1 + len(addresses)), np.int64)
    rows[:, 0] = parts.elements
    for k, starts in enumerate(addresses):
        rows[:, k + 1] = starts[parts.array] + parts.offset * itemsize
    return rows


def run_tasks(
    kernel: Callable[..., None],
    rows: NDArray[np.int64],
    pieces: list[tuple[int, int]],
    numbers: NDArray[np.float64],
    stats: NDArray[np.float64],
) -> None:
    """Run a compiled kernel over all tasks, in several threads where there are several pieces."""
    if len(pieces) == 1:
        kernel(rows, 0, len(rows), numbers, stats)
        return

    def work(piece: tuple[int, int]) -> None:
        kernel(rows, *piece, numbers, stats)

    threads.share(work, pieces, len(pieces))
