"""Arrays → tasks for a compiled kernel: one call handles many small arrays, and threads share large ones."""

from __future__ import annotations

import threading
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from optim.kernels.stats import BLOCK
from optim.kernels.threads import get_num_threads
from summaries.execution.sharing import share
from summaries.native.calls import address

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from summaries.native.calls import Function

__all__ = ["Cut", "cut", "run_tasks", "table"]

_SHARED = 1 << 18  # elements: the smallest step for which it is worth waking a second thread
_TASK = 16 * BLOCK  # elements of a task at most: few enough to share evenly, enough for the call not to matter
_PIECE = 1 << 17  # elements of a piece at least: it waits for the interpreter's lock before and after
_PIECES = 16  # per thread, so that a thread delayed by another process does not delay the step


_of_thread = threading.local()


class Cut(NamedTuple):
    """A division of arrays of given sizes, none of them 0, into tasks."""

    array: NDArray[Any]  # int64[tasks]: the index of the array
    offset: NDArray[Any]  # int64[tasks]: the elements of the array before the task
    begin: NDArray[Any]  # int64[tasks, 2]: its elements, and its first row of stats, which have one for each block
    first: NDArray[Any]  # int64[arrays]: each array's first row of stats
    rows: int  # of stats
    pieces: list[tuple[int, int]]  # (first, last) of the tasks that a thread takes at once

    def starts(self, addresses: NDArray[np.int64], itemsize: int) -> NDArray[np.int64]:
        """int64[tasks]: where the elements of each task begin, from where those of each array do."""
        if len(self.array) == len(addresses):  # no array is cut
            return addresses
        begins: NDArray[np.int64] = addresses[self.array] + self.offset * itemsize
        return begins


@lru_cache(maxsize=64)
def cut(sizes: tuple[int, ...], threads: int) -> Cut:
    """Cut arrays of these sizes into tasks for this many threads."""
    counts, blocks = -(-np.array(sizes) // _TASK), -(-np.array(sizes) // BLOCK)
    array = np.repeat(np.arange(len(sizes)), counts)
    offset = (np.arange(len(array)) - (np.cumsum(counts) - counts)[array]) * _TASK
    first = np.cumsum(blocks) - blocks
    elements = np.minimum(np.array(sizes)[array] - offset, _TASK)
    pieces = min(threads * _PIECES, sum(sizes) // _PIECE) if threads > 1 and sum(sizes) >= _SHARED else 1
    goals = np.linspace(0, sum(sizes), min(pieces, len(array)) + 1)[1:]
    bounds = (np.searchsorted(np.cumsum(elements), goals) + 1).clip(max=len(array))
    pairs = list(pairwise(dict.fromkeys([0, *bounds.tolist()])))
    begin = np.stack([elements, first[array] + offset // BLOCK], axis=1)
    return Cut(array, offset, begin, first, int(blocks.sum()), pairs)


def table(parts: Cut, addresses: Sequence[NDArray[np.int64]], itemsize: int) -> NDArray[np.int64]:
    """The task table for a kernel.

    Args:
        parts: how the arrays are cut.
        addresses: for each column, int64[arrays]: the address of each array's first element.
        itemsize: an element's size in bytes.

    Returns:
        int64[tasks, 2 + columns]: the number of elements, the first row of stats, then an address for each column.
    """
    rows = np.empty((len(parts.array), 2 + len(addresses)), np.int64)
    rows[:, :2] = parts.begin
    for k, of_arrays in enumerate(addresses):
        rows[:, k + 2] = parts.starts(of_arrays, itemsize)
    return rows


def run_tasks(
    kernel: Function,
    rows: NDArray[np.int64],
    pieces: list[tuple[int, int]],
    numbers: NDArray[np.float64] | None,
    stats: NDArray[np.float64] | None,
) -> None:
    """Run a compiled kernel over all tasks, in several threads if there are several pieces."""
    before = (address(rows), *rows.shape)
    after: tuple[int, ...] = (0, 0) if numbers is None else (address(numbers), len(numbers))
    after += (0, 0, 0) if stats is None else (address(stats), *stats.shape)
    has_moves = numbers is not None and stats is not None

    def work(piece: tuple[int, int]) -> None:
        kernel.with_words(*before, *piece, *after, _scratch() if has_moves else 0)

    if len(pieces) == 1:
        work(pieces[0])
    else:
        share(work, pieces, get_num_threads())


def _scratch() -> int:
    """The address of memory for the moves of a block and a vector: this thread's, which is in its cache by now."""
    try:
        place: int = _of_thread.address
    except AttributeError:
        _of_thread.scratch = np.empty(BLOCK + 64)
        place = _of_thread.address = address(_of_thread.scratch)
    return place
