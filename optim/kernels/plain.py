"""The plain engine: rules over NumPy arrays, a cache block at a time, without numba.

A block is small enough for the formula's temporaries to stay in the cache, so memory is read and written once, and
nothing as large as a variable is ever allocated. Any strides and floating dtypes are supported: arrays that are not
contiguous, or are narrower than float32, pass through a buffer of one block, as float32 or wider.
"""

from __future__ import annotations

import math
import threading
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from optim.kernels import threads
from optim.kernels.codegen import SUMMED
from optim.kernels.fusion import program
from optim.kernels.stats import (
    ARRAY_WIDTH,
    LARGEST,
    NONFINITE,
    SQUARES,
    SUM,
    UPDATE_SQUARES,
    WEIGHT_SQUARES,
    ZEROS,
    combined,
    empty_stats,
    slot_columns,
    stats_width,
)
from optim.kernels.tasks import SHARED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from optim.rules import Rule

    Arrays = tuple[NDArray[Any], ...]
    Task = Sequence[tuple[int, int, slice, Arrays]]  # row of the block, its variable, its elements, views of targets

__all__ = ["ENGINE", "BufferedRun", "Engine", "compute_dtype", "count_nonfinite", "scaled_norm"]

# Elements. With fewer, operations are so short that two threads mostly pass the GIL to each other; with more, the cache
# overflows.
_BLOCK = 160 << 10
_TOGETHER = 4  # blocks that a thread takes at once; one by one at the end, so that all threads end together
_PAGE = 4096  # bytes
_APART = 272  # elements between the page offsets of scratch blocks: a store one page from a load delays the load
_CACHE_LINE = 64  # bytes; a store across two of them takes twice as long
_own = threading.local()


def compute_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype of the arithmetic: float64 for float64, float32 for all narrower dtypes."""
    return np.dtype(np.float64 if dtype.itemsize >= 8 else np.float32)  # noqa: PLR2004 - bytes, in either byte order


class Engine:
    """NumPy, for any floating dtypes and strides; only `prepare` needs ready arrays."""

    def prepare(self, rule: Rule, targets: Sequence[Sequence[NDArray[Any]]]) -> _Run:
        """Prepare a run of the rule over these arrays."""
        return _Run(rule, targets)

    def squares(self, arrays: Sequence[NDArray[Any]]) -> NDArray[np.float64]:
        """float64[arrays]: the sum of the squares of each array's elements."""
        with np.errstate(all="ignore"):
            return np.array([sum([_squares(block) for block in _read(array)]) for array in arrays], np.float64)

    def measure(self, arrays: Sequence[NDArray[Any]]) -> NDArray[np.float64]:
        """float64[arrays, ARRAY_WIDTH]: an array's columns of `stats`."""
        stats = np.zeros((len(arrays), ARRAY_WIDTH))
        stats[:, LARGEST] = -np.inf
        with np.errstate(all="ignore"):
            for row, array in zip(stats, arrays, strict=True):
                for block in _read(array):
                    _tally_block(row, block, _squares(block))
        return stats

    def addresses(self, arrays: Sequence[NDArray[Any]]) -> NDArray[np.int64]:
        """int64[arrays]: the address of each array's first element."""
        return np.array([array.__array_interface__["data"][0] for array in arrays], np.int64)


ENGINE = Engine()


class _Run:
    """A rule over ready arrays, block by block; threads share the blocks."""

    def __init__(self, rule: Rule, targets: Sequence[Sequence[NDArray[Any]]]) -> None:
        self._rule = rule
        self._dtype = targets[0][0].dtype
        self._blocks = _Blocks(targets)

    def __call__(
        self, gradients: Sequence[NDArray[Any]], numbers: NDArray[np.float64], report: bool
    ) -> NDArray[np.float64] | None:
        """Update the arrays in place: see `engine.Run`."""
        blocks, step = self._blocks, _Step(self._rule, numbers.tolist(), self._dtype)
        stats = empty_stats(blocks.rows, stats_width(len(self._rule.slots))) if report else None
        flat = [gradient.reshape(-1) for gradient in gradients]
        most = len(blocks.tasks) if blocks.elements >= SHARED else 1
        threads.share(lambda task: step.run(blocks.of(task, flat), stats), blocks.tasks, most)
        return None if stats is None else combined(stats, blocks.first)


class BufferedRun:
    """A rule over targets and gradients that need not be ready; threads share the variables.

    Args:
        rule: the formula.
        targets: as in `Engine.prepare`; of any strides and size, and the same floating dtype.
    """

    def __init__(self, rule: Rule, targets: Sequence[Sequence[NDArray[Any]]]) -> None:
        self._rule = rule
        self._dtype = compute_dtype(targets[0][0].dtype)
        self._targets = targets

    def __call__(
        self, gradients: Sequence[NDArray[Any]], numbers: NDArray[np.float64], report: bool
    ) -> NDArray[np.float64] | None:
        """Update the arrays in place: see `engine.Run`."""
        step = _Step(self._rule, numbers.tolist(), self._dtype)
        stats = empty_stats(len(self._targets), stats_width(len(self._rule.slots))) if report else None

        def work(row: int) -> None:
            step.run_buffered(row, (gradients[row], *self._targets[row]), stats)

        rows = range(len(self._targets))
        size = sum(gradient.size for gradient in gradients)
        threads.share(work, rows, len(rows) if size >= SHARED else 1)
        return stats


class _Step:
    """A rule with the numbers of one step, for any of its variables, in any thread.

    Everything that is the same for all blocks is computed once, here. While a thread holds the GIL between two
    operations, no other thread can begin its next one: it goes to sleep, and waking takes longer than an operation.
    """

    def __init__(self, rule: Rule, numbers: Sequence[float], dtype: np.dtype[Any]) -> None:
        """Prepare the formula.

        Args:
            rule: the formula.
            numbers: scale, low, high, then the hyperparameters, as for a kernel: see `codegen`.
            dtype: the dtype to compute in.
        """
        todo = program(rule)
        self._dtype = dtype
        self._scratch = len(todo.scratch)
        with np.errstate(all="ignore"):
            typed = [np.array(number, dtype) for number in numbers]
            self._clip = typed[:3] if tuple(numbers[:3]) != (1.0, -math.inf, math.inf) else None
            self._update = todo.prepare(typed[3:])

    def run(
        self, blocks: Iterable[tuple[int, Arrays]], stats: NDArray[Any] | None, stored: Arrays | None = None
    ) -> None:
        """Update variables and slots in place.

        Args:
            blocks: (row of `stats`, arrays): the gradient, which is not modified, the variable and its slots.
            stats: `empty_stats`, to add to; or None.
            stored: if the blocks are only buffers, the arrays behind them, which may have narrower dtypes.
        """
        update, clip, size = self._update, self._clip, -1
        wanted = self._scratch + (clip is not None) + (stats is not None)
        with np.errstate(all="ignore"):  # divergence shows in the values, with numba and without
            for row, block in blocks:
                if size != block[0].size:
                    size = block[0].size
                    spare = [scratch[:size] for scratch in _scratch(wanted, self._dtype)]
                    free = spare[: self._scratch]
                if stats is not None:
                    np.copyto(old := spare[-1], block[1])
                update(block[0] if clip is None else _clipped(block[0], clip, spare[len(free)]), *block[1:], *free)
                if stats is not None:
                    for array, target in zip(block[1:], (stored or block)[1:], strict=True):
                        if target.dtype != self._dtype:  # measure the values as stored
                            array[...] = array.astype(target.dtype)
                    _tally(stats[row], block, np.subtract(block[1], old, out=old))

    def run_buffered(self, row: int, arrays: Arrays, stats: NDArray[Any] | None) -> None:
        """Like `run`, for whole arrays of any strides, size and floating dtype."""
        self.run(((row, block) for block in _buffered(arrays, self._dtype, writes=True)), stats, arrays)


class _Blocks:
    """Arrays at fixed addresses, cut into blocks, which are grouped into tasks.

    Args:
        targets: for each variable its array and its slots', contiguous and of the dtype to compute in.

    Attributes:
        tasks: groups of blocks that a thread takes at once.
        rows: the number of blocks.
        first: int64[variables]: the row of each variable's first block.
        elements: the number of elements of all variables.
    """

    def __init__(self, targets: Sequence[Sequence[NDArray[Any]]]) -> None:
        parts = [_parts(arrays[0].size) for arrays in targets]
        flat = [[array.reshape(-1) for array in arrays] for arrays in targets]
        every = [(k, part, tuple(a[part] for a in flat[k])) for k, of_one in enumerate(parts) for part in of_one]
        blocks = [(row, *block) for row, block in enumerate(every)]
        counts = np.array([len(of_one) for of_one in parts])
        self.rows = len(blocks)
        self.first = np.cumsum(counts) - counts
        self.elements = sum(arrays[0].size for arrays in targets)
        late = max(0, self.rows - 2 * _TOGETHER)
        bounds = [*range(0, late, _TOGETHER), *range(late, self.rows + 1)]
        self.tasks: list[Task] = [blocks[start:stop] for start, stop in pairwise(bounds)]

    @staticmethod
    def of(task: Task, gradients: Sequence[NDArray[Any]]) -> Iterator[tuple[int, Arrays]]:
        """The task's blocks for `_Step.run`, with these flat gradients, one for each variable."""
        return ((row, (gradients[k][part], *targets)) for row, k, part, targets in task)


def _clipped(g: NDArray[Any], clip: Sequence[NDArray[Any]], out: NDArray[Any]) -> NDArray[Any]:
    scale, low, high = clip
    if scale != 1.0:
        g = np.multiply(g, scale, out)
    if low > -math.inf or high < math.inf:
        g = np.minimum(np.maximum(g, low, out=out), high, out=out)
    return g


def _scratch(count: int, dtype: np.dtype[Any]) -> list[NDArray[Any]]:
    """`count` arrays dtype[_BLOCK] of this thread, kept for its next step, because new pages cost time."""
    kept: list[NDArray[Any]] = _own.__dict__.setdefault(dtype.char, [])
    for i in range(len(kept), count):
        room = np.empty(_BLOCK + i * _APART + _PAGE // dtype.itemsize, dtype)
        kept.append(room[-room.ctypes.data % _PAGE // dtype.itemsize + i * _APART :][:_BLOCK])
    return kept[:count]


def scaled_norm(arrays: Sequence[NDArray[Any]]) -> float:
    """The L2 norm of all elements together, if their squares are too large or too small for a float64."""
    with np.errstate(all="ignore"):
        parts = (np.max(np.abs(block)) for array in arrays for block in _read(array))
        largest = float(np.max([0.0, *map(float, parts)]))  # NaN if an element is NaN
        if largest == 0.0 or not math.isfinite(largest):
            return largest
        scaled = (block.astype(np.float64) / largest for array in arrays for block in _read(array))
        return largest * math.sqrt(math.fsum(float(np.vdot(block, block)) for block in scaled))


def count_nonfinite(arrays: Sequence[NDArray[Any]]) -> int:
    """The number of elements that are NaN or infinite."""
    return sum(int(block.size - np.count_nonzero(np.isfinite(block))) for array in arrays for block in _read(array))


def _tally(stats: NDArray[Any], block: Sequence[NDArray[Any]], update: NDArray[Any]) -> None:
    """Add the statistics of a block of a rule's arrays to its row."""
    gradient, variable, *slots = block
    squares = _squares(gradient)
    stats[SQUARES] += squares
    stats[WEIGHT_SQUARES] += _squares(variable)
    stats[UPDATE_SQUARES] += _squares(update)
    _count(stats, gradient, squares)
    for k, slot in enumerate(slots):
        _sum_up(stats[slot_columns(k)], slot, _squares(slot))


def _tally_block(stats: NDArray[Any], block: NDArray[Any], squares: float) -> None:
    _sum_up(stats, block, squares)
    _count(stats, block, squares)


def _count(stats: NDArray[Any], block: NDArray[Any], squares: float) -> None:
    stats[ZEROS] += block.size - np.count_nonzero(block)
    if not math.isfinite(squares):  # if the sum is finite, so are all elements
        stats[NONFINITE] += block.size - np.count_nonzero(np.isfinite(block))


def _sum_up(stats: NDArray[Any], block: NDArray[Any], squares: float) -> None:
    total = np.sum(block)
    stats[SQUARES] += squares
    stats[SUM] += total if np.isfinite(total) else np.sum(block, dtype=np.float64)
    stats[LARGEST] = np.maximum(stats[LARGEST], np.max(block))


def _squares(block: NDArray[Any]) -> float:
    if block.dtype == np.float32 and block.flags.c_contiguous:
        whole = block.size - block.size % SUMMED
        rows, rest = block[:whole].reshape(-1, SUMMED), block[whole:]
        total = float(np.vecdot(rows, rows).sum(dtype=np.float64)) + float(np.vdot(rest, rest))
        if 1e-30 < total < math.inf:  # noqa: PLR2004 - no square was lost below or above float32's range
            return total
    double = block.astype(np.float64, copy=False)
    return float(np.vdot(double, double))


def _read(array: NDArray[Any]) -> Iterator[NDArray[Any]]:
    dtype = compute_dtype(array.dtype)
    if array.flags.c_contiguous and array.dtype == dtype:
        flat = array.reshape(-1)
        yield from (flat[part] for part in _parts(flat.size))
    else:
        yield from (block for (block,) in _buffered([array], dtype))


def _parts(size: int) -> list[slice]:
    """Cut an array of `size` elements into blocks of about equal size, so that none is very short."""
    blocks = -(-size // _BLOCK)
    block = -(-size // (max(1, blocks) * _CACHE_LINE)) * _CACHE_LINE
    return [slice(start, start + block) for start in range(0, size, block or 1)]


def _buffered(arrays: Sequence[NDArray[Any]], dtype: np.dtype[Any], *, writes: bool = False) -> Iterator[Arrays]:
    """Yield the same elements of all arrays, a block at a time; with `writes`, write all but the first back."""
    if not arrays[0].size:
        return
    access: Any = [["readonly"], *[["readwrite" if writes else "readonly"]] * (len(arrays) - 1)]
    iterator: Any = np.nditer(
        list(arrays),
        ["external_loop", "buffered"],
        access,
        op_dtypes=[dtype] * len(arrays),
        casting="unsafe",  # to float32 and back: the narrower dtype is the caller's choice
        buffersize=_BLOCK,
    )
    with iterator:
        for block in iterator:
            yield block if len(arrays) > 1 else (block,)
