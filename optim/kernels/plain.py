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
from optim.kernels.fusion import program
from optim.kernels.stats import (
    ARRAY_WIDTH,
    BLOCK,
    BOUNDS,
    LARGEST,
    LARGEST_OF_SLOTS,
    NONFINITE,
    SQUARES,
    SUM,
    UPDATE_SQUARES,
    WEIGHT_SQUARES,
    ZEROS,
    combined,
    lanes,
    slot_columns,
    stats_width,
)
from optim.kernels.tasks import SHARED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from optim.rules import Rule

    Arrays = tuple[NDArray[Any], ...]
    Task = Sequence[tuple[slice, int, slice, Arrays]]  # rows of stats, the variable, its elements, views of targets

__all__ = ["ENGINE", "BufferedRun", "Engine", "compute_dtype", "count_nonfinite", "scaled_norm"]

# Elements. With fewer, operations are so short that two threads mostly pass the GIL to each other; with more, the cache
# overflows.
_BLOCK = 40 * BLOCK
_TOGETHER = 4  # blocks that a thread takes at once; one by one at the end, so that all threads end together
_PAGE = 4096  # bytes
_APART = 272  # elements between the page offsets of scratch blocks: a store one page from a load delays the load
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
        return np.array([_of_blocks(array, 1, slice(0), _add_up)[SQUARES] for array in arrays], np.float64)

    def measure(self, arrays: Sequence[NDArray[Any]]) -> NDArray[np.float64]:
        """float64[arrays, ARRAY_WIDTH]: an array's columns of `stats`."""
        rows = [_of_blocks(array, ARRAY_WIDTH, slice(LARGEST, LARGEST + 1), _measure) for array in arrays]
        return np.array(rows).reshape(-1, ARRAY_WIDTH)

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
        stats = np.empty((blocks.rows, stats_width(len(self._rule.slots)))) if report else None
        flat = [gradient.reshape(-1) for gradient in gradients]
        most = len(blocks.tasks) if blocks.elements >= SHARED else 1
        threads.share(lambda task: step.run(blocks.of(task, flat, stats)), blocks.tasks, most)
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
        width = stats_width(len(self._rule.slots))
        stats = np.empty((len(self._targets), width)) if report else None

        def work(row: int) -> None:
            arrays = gradients[row], *self._targets[row]
            blocks: list[NDArray[np.float64]] = []
            step.run(
                (
                    (_rows(blocks, width, block[0].size) if report else None, block)
                    for block in _buffered(arrays, self._dtype, writes=True)
                ),
                arrays,
            )
            if stats is not None:
                stats[row] = _together(blocks, width, LARGEST_OF_SLOTS)

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

    def run(self, blocks: Iterable[tuple[NDArray[np.float64] | None, Arrays]], stored: Arrays | None = None) -> None:
        """Update variables and slots in place.

        Args:
            blocks: (stats to fill, or None; arrays: the gradient, which is not modified, the variable and its slots).
            stored: if the blocks are only buffers, the arrays behind them, which may have narrower dtypes.
        """
        update, clip, size = self._update, self._clip, -1
        needed = self._scratch + (clip is not None)
        with np.errstate(all="ignore"):  # divergence shows in the values, with numba and without
            for stats, block in blocks:
                if size != block[0].size:
                    size = block[0].size
                    spare = [scratch[:size] for scratch in _scratch(needed + 2, self._dtype)]
                    free = spare[: self._scratch]
                *_, old, squares = spare
                if stats is not None:
                    np.copyto(old, block[1])
                update(block[0] if clip is None else _clipped(block[0], clip, spare[len(free)]), *block[1:], *free)
                if stats is not None:
                    for array, target in zip(block[1:], (stored or block)[1:], strict=True):
                        if target.dtype != self._dtype:  # measure the values as stored
                            array[...] = array.astype(target.dtype)
                    _tally(stats, block, np.subtract(block[1], old, out=old), squares)


class _Blocks:
    """Arrays at fixed addresses, cut into blocks, which are grouped into tasks.

    Args:
        targets: for each variable its array and its slots', contiguous and of the dtype to compute in.

    Attributes:
        tasks: groups of blocks that a thread takes at once.
        rows: the number of rows of stats.
        first: int64[variables]: each variable's first row of stats.
        elements: the number of elements of all variables.
    """

    def __init__(self, targets: Sequence[Sequence[NDArray[Any]]]) -> None:
        sizes = np.array([arrays[0].size for arrays in targets])
        counts = -(-sizes // BLOCK)
        self.rows = int(counts.sum())
        self.first = np.cumsum(counts) - counts
        self.elements = int(sizes.sum())
        blocks: list[tuple[slice, int, slice, Arrays]] = []
        for k, arrays in enumerate(targets):
            flat = [array.reshape(-1) for array in arrays]
            for part in _parts(flat[0].size):
                row = int(self.first[k]) + part.start // BLOCK
                rows = slice(row, row - (-flat[0][part].size // BLOCK))
                blocks.append((rows, k, part, tuple(array[part] for array in flat)))
        late = max(0, len(blocks) - 2 * _TOGETHER)
        bounds = [*range(0, late, _TOGETHER), *range(late, len(blocks) + 1)]
        self.tasks: list[Task] = [blocks[start:stop] for start, stop in pairwise(bounds)]

    @staticmethod
    def of(
        task: Task, gradients: Sequence[NDArray[Any]], stats: NDArray[np.float64] | None
    ) -> Iterator[tuple[NDArray[np.float64] | None, Arrays]]:
        """The task's blocks for `_Step.run`, with these flat gradients, one for each variable."""
        return (
            (None if stats is None else stats[rows], (gradients[k][part], *targets)) for rows, k, part, targets in task
        )


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


def _tally(
    stats: NDArray[np.float64], block: Sequence[NDArray[Any]], update: NDArray[Any], scratch: NDArray[Any]
) -> None:
    """Fill the stats of a block of a rule's arrays."""
    gradient, variable, *slots = block
    for column, array in ((SQUARES, gradient), (WEIGHT_SQUARES, variable), (UPDATE_SQUARES, update)):
        _add_up(stats[:, column : column + 1], array, scratch, of_rule=True)
    _count(stats, gradient)
    for k, slot in enumerate(slots):
        _add_up(stats[:, slot_columns(k)], slot, scratch, of_rule=True)


def _measure(stats: NDArray[np.float64], block: NDArray[Any], scratch: NDArray[Any]) -> None:
    _add_up(stats[:, : LARGEST + 1], block, scratch)
    _count(stats, block)


def _count(stats: NDArray[np.float64], block: NDArray[Any]) -> None:
    """Fill ZEROS and NONFINITE, whose sums are exact in any order."""
    stats[:, [ZEROS, NONFINITE]] = 0.0
    stats[0, ZEROS] = block.size - np.count_nonzero(block)
    if not np.isfinite(stats[:, SQUARES]).all():  # if the sums are finite, so are all elements
        stats[0, NONFINITE] = block.size - np.count_nonzero(np.isfinite(block))


def _add_up(columns: NDArray[np.float64], block: NDArray[Any], scratch: NDArray[Any], *, of_rule: bool = False) -> None:
    """Fill SQUARES and, where there are these columns, SUM and LARGEST."""
    count, (least, most) = lanes(block.dtype.name, of_rule=of_rule), BOUNDS[block.dtype.name]
    has_sum = columns.shape[1] > SUM
    columns[:, SQUARES] = _sums(np.multiply(block, block, out=scratch), count)
    if has_sum:
        columns[:, SUM] = _sums(block, count)
        columns[:, LARGEST] = np.fmax.reduce(block, initial=-math.inf) + 0.0  # never -0, which equals 0
    narrow = ~((least < columns[:, SQUARES]) & (columns[:, SQUARES] < most))
    if narrow.any():
        wide = block.astype(np.float64)
        columns[narrow, SQUARES] = _sums(wide * wide, count)[narrow]
        if has_sum:
            columns[narrow, SUM] = _sums(wide, count)[narrow]


def _sums(values: NDArray[Any], count: int) -> NDArray[np.float64]:
    """float64[blocks]: the sum of each block in `count` lanes, as `stats` defines it."""
    whole = values.size - values.size % BLOCK
    last = np.zeros(-(-(values.size - whole) // count) * count, values.dtype)
    last[: values.size - whole] = values[whole:]
    parts = [part for part in (values[:whole].reshape(-1, BLOCK), last.reshape(1, -1)) if part.size]
    sums = [np.add.reduce(part.reshape(len(part), -1, count), axis=1, initial=0.0) for part in parts]
    total = np.concatenate(sums).astype(np.float64)
    while total.shape[1] > 1:
        half = total.shape[1] // 2
        total = total[:, :half] + total[:, half:]
    return total[:, 0]


def _of_blocks(array: NDArray[Any], width: int, largest: slice, fill: Callable[..., None]) -> NDArray[np.float64]:
    """float64[width]: the stats of an array, whose blocks' are filled by `fill`."""
    rows: list[NDArray[np.float64]] = []
    with np.errstate(all="ignore"):
        for block in _read(array):
            fill(_rows(rows, width, block.size), block, _scratch(1, block.dtype)[0][: block.size])
        return _together(rows, width, largest)


def _rows(made: list[NDArray[np.float64]], width: int, size: int) -> NDArray[np.float64]:
    """Stats of `size` elements to fill, also added to the list."""
    made.append(np.empty((-(-size // BLOCK), width)))
    return made[-1]


def _together(rows: Sequence[NDArray[np.float64]], width: int, largest: slice) -> NDArray[np.float64]:
    """float64[width]: the stats of an array of these blocks, maybe none."""
    none = np.zeros((1, width))
    none[:, largest] = -math.inf
    every = np.concatenate(rows) if rows else none
    found: NDArray[np.float64] = combined(every, np.zeros(1, np.int64), largest)[0]
    return found


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
    block = -(-size // (max(1, blocks) * BLOCK)) * BLOCK
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
