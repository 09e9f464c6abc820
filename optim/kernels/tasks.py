"""Arrays → tasks for a compiled kernel: one call handles many small arrays, and threads share large ones."""

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

SHARED = 1 << 18  # elements: the smallest step for which it is worth waking a second thread
_TASK = 1 << 16  # elements of a task at most: few enough to share evenly, enough for the call not to matter
_PIECES = 16  # per thread, so that a thread delayed by another process does not delay the step


class Cut(NamedTuple):
    """A division of arrays of given sizes, none of them 0, into tasks."""

    array: NDArray[Any]  # int64[tasks]: the index of the array
    offset: NDArray[Any]  # int64[tasks]: the elements of the array before the task
    elements: NDArray[Any]  # int64[tasks]: the elements of the task
    first: NDArray[Any]  # int64[arrays]: each array's first task
    pieces: list[tuple[int, int]]  # (first, last) of the tasks that a thread takes at once


@lru_cache(maxsize=64)
def cut(sizes: tuple[int, ...], threads_: int) -> Cut:
    """Cut arrays of these sizes into tasks for `threads_` threads."""
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
    """The task table for a kernel.

    Args:
        parts: how the arrays are cut.
        addresses: for each column, int64[arrays]: the address of each array's first element.
        itemsize: an element's size in bytes.

    Returns:
        int64[tasks, 1 + columns]: the number of elements, then an address for each column.
    """
    rows = np.empty((len(parts.array), 1 + len(addresses)), np.int64)
    rows[:, 0] = parts.elements
    for k, starts in enumerate(addresses):
        whole = len(rows) == len(starts)  # as small arrays are
        rows[:, k + 1] = starts if whole else starts[parts.array] + parts.offset * itemsize
    return rows


def run_tasks(
    kernel: Callable[..., None],
    rows: NDArray[np.int64],
    pieces: list[tuple[int, int]],
    numbers: NDArray[np.float64],
    stats: NDArray[np.float64],
) -> None:
    """Run a compiled kernel over all tasks, in several threads if there are several pieces."""
    if len(pieces) == 1:
        kernel(rows, 0, len(rows), numbers, stats)
        return

    def work(piece: tuple[int, int]) -> None:
        kernel(rows, *piece, numbers, stats)

    threads.share(work, pieces, len(pieces))
