"""The plain engine: what the compiled one computes, in NumPy's words: a block at a time, in one thread.

It is the reference, and runs where there is no library, no kernel for a rule, or no ready array: any strides and
floating dtypes are supported. A block that is not float32 or wider, or lies scattered, is copied; nothing as large as a
variable is ever allocated.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

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
from optim.kernels.tracing import Trace, Traced, trace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from optim.rules import Rule

    # (an array's index, a range of its elements, their rows of stats to fill) → None
    Work = Callable[[int, slice, NDArray[np.float64]], None]

__all__ = ["ENGINE", "Engine", "compute_dtype", "count_nonfinite", "scaled_norm"]

_BLOCK = 8 * BLOCK  # elements: a formula's temporaries stay in the cache


def compute_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype of the arithmetic: float64 for float64, float32 for all narrower dtypes."""
    return np.dtype(np.float64 if dtype.itemsize >= 8 else np.float32)  # noqa: PLR2004 - bytes, in either byte order


class Engine:
    """NumPy, for any arrays."""

    def prepare(self, rule: Rule, targets: Sequence[Sequence[NDArray[Any]]]) -> _PlainRun:
        """Prepare a run of the rule over these arrays: for each variable its own and its slots', in rule order."""
        return _PlainRun(rule, targets)

    def squares(self, arrays: Sequence[NDArray[Any]]) -> NDArray[np.float64]:
        """float64[arrays]: the sum of the squares of each array's elements."""

        def fill(k: int, part: slice, stats: NDArray[np.float64]) -> None:
            _add_up(stats, _read(arrays[k], part))

        return _in_blocks(arrays, fill, 1, slice(0))[:, SQUARES]

    def measure(self, arrays: Sequence[NDArray[Any]]) -> NDArray[np.float64]:
        """float64[arrays, ARRAY_WIDTH]: an array's columns of `stats`."""

        def fill(k: int, part: slice, stats: NDArray[np.float64]) -> None:
            block = _read(arrays[k], part)
            _add_up(stats[:, : LARGEST + 1], block)
            _count(stats, block)

        return _in_blocks(arrays, fill, ARRAY_WIDTH, slice(LARGEST, LARGEST + 1))

    def addresses(self, arrays: Sequence[NDArray[Any]]) -> NDArray[np.int64]:
        """int64[arrays]: the address of each array's first element; the arrays need not be ready."""
        return np.array([array.__array_interface__["data"][0] for array in arrays], np.int64)


ENGINE = Engine()


class _PlainRun:
    """A rule over arrays."""

    def __init__(self, rule: Rule, targets: Sequence[Sequence[NDArray[Any]]]) -> None:
        self._formula = trace(rule)
        self._targets = targets
        self._dtype = compute_dtype(targets[0][0].dtype)
        self._width = stats_width(len(rule.slots))

    def __call__(
        self, gradients: Sequence[NDArray[Any]], numbers: NDArray[np.float64], report: bool
    ) -> NDArray[np.float64] | None:
        """Update the arrays in place.

        Args:
            gradients: one for each variable, of its shape and dtype; not modified.
            numbers: scale, low, high, then the hyperparameters; see `codegen`.
            report: whether to measure.

        Returns:
            float64[variables, width], a rule's columns of `stats`; None without a report.
        """
        with np.errstate(all="ignore"):
            scale, low, high, *hyperparameters = numbers.astype(self._dtype)

        def update(k: int, part: slice, stats: NDArray[np.float64]) -> None:
            targets = self._targets[k]
            gradient, *blocks = [_read(array, part) for array in (gradients[k], *targets)]
            clipped = np.minimum(np.maximum(gradient * scale, low), high)
            old = blocks[0].copy() if report else blocks[0]
            for array, new in zip(targets, _computed(self._formula, [clipped, *blocks, *hyperparameters]), strict=True):
                _write(array, part, new)
            if report:  # the values as stored, which may be narrower
                _measure_step(stats, gradient, old, [_read(array, part) for array in targets])

        stats = _in_blocks(gradients, update, self._width, LARGEST_OF_SLOTS)
        return stats if report else None


def _computed(formula: Trace, inputs: Sequence[Any]) -> list[Any]:
    """The formula's results for these arrays and numbers, in their dtype, which its own numbers take, too."""
    number = inputs[0].dtype.type
    values = {id(x): value for x, value in zip(formula.inputs, inputs, strict=True)}
    for function, arguments, result, ended in formula.operations:
        values[id(result)] = function(*[values[id(x)] if isinstance(x, Traced) else number(x) for x in arguments])
        for x in ended:
            del values[id(x)]
    return [values[id(x)] for x in formula.results]


def scaled_norm(arrays: Sequence[NDArray[Any]]) -> float:
    """The L2 norm of all elements together, if their squares are too large or too small for a float64."""
    with np.errstate(all="ignore"):
        parts = (np.max(np.abs(block)) for array in arrays for block in _blocks(array))
        largest = float(np.max([0.0, *map(float, parts)]))  # NaN if an element is NaN
        if largest == 0.0 or not math.isfinite(largest):
            return largest
        scaled = (block.astype(np.float64) / largest for array in arrays for block in _blocks(array))
        return largest * math.sqrt(math.fsum(float(np.vdot(block, block)) for block in scaled))


def count_nonfinite(arrays: Sequence[NDArray[Any]]) -> int:
    """The number of elements that are NaN or infinite."""
    return sum(int(np.count_nonzero(~np.isfinite(block))) for array in arrays for block in _blocks(array))


def _blocks(array: NDArray[Any]) -> Iterator[NDArray[Any]]:
    return (_read(array, part) for part in _parts(array.size))


def _parts(size: int) -> list[slice]:
    return [slice(start, min(start + _BLOCK, size)) for start in range(0, size, _BLOCK)]


def _read(array: NDArray[Any], part: slice) -> NDArray[Any]:
    """These elements, in the dtype to compute in: a view where that is possible."""
    dtype = compute_dtype(array.dtype)
    if array.flags.c_contiguous:
        return array.reshape(-1)[part].astype(dtype, copy=False)
    chunks: Any = np.nditer(array, ["buffered", "external_loop", "ranged"], order="C", buffersize=_BLOCK)
    chunks.iterrange = part.start, part.stop  # reads quicker than `array.flat`, whose elements come one by one
    return np.concatenate([chunk.astype(dtype) for chunk in chunks])


def _write(array: NDArray[Any], part: slice, new: Any) -> None:
    elements: Any = array.reshape(-1) if array.flags.c_contiguous else array.flat
    elements[part] = new


def _in_blocks(arrays: Sequence[NDArray[Any]], work: Work, width: int, largest: slice) -> NDArray[np.float64]:
    """float64[arrays, width]: the stats that `work` fills for each block; `largest` as in `combined`.

    They begin as 0, and -inf where the largest element is asked for.
    """
    rows = np.array([max(1, -(-array.size // BLOCK)) for array in arrays], np.int64)
    first = np.cumsum(rows) - rows
    stats = np.zeros((rows.sum(), width))
    stats[:, largest] = -math.inf
    with np.errstate(all="ignore"):  # divergence shows in the values, with kernels and without
        for k, (array, row) in enumerate(zip(arrays, first.tolist(), strict=True)):
            for part in _parts(array.size):
                work(k, part, stats[row + part.start // BLOCK : row - (-part.stop // BLOCK)])
    return combined(stats, first, largest)


def _measure_step(
    stats: NDArray[np.float64], gradient: NDArray[Any], old: NDArray[Any], new: Sequence[NDArray[Any]]
) -> None:
    """Fill a rule's columns, from a block of the variable's old values, its new ones and its slots'."""
    variable, *slots = new
    for column, array in ((SQUARES, gradient), (WEIGHT_SQUARES, variable), (UPDATE_SQUARES, variable - old)):
        _add_up(stats[:, column : column + 1], array, of_rule=True)
    _count(stats, gradient)
    for k, slot in enumerate(slots):
        _add_up(stats[:, slot_columns(k)], slot, of_rule=True)


def _count(stats: NDArray[np.float64], block: NDArray[Any]) -> None:
    """Fill ZEROS and NONFINITE, whose sums are exact in any order, so that all go to the first row."""
    stats[0, ZEROS] = np.count_nonzero(block == 0)
    stats[0, NONFINITE] = np.count_nonzero(~np.isfinite(block))


def _add_up(columns: NDArray[np.float64], block: NDArray[Any], *, of_rule: bool = False) -> None:
    """Fill SQUARES and, where there are these columns, SUM and LARGEST."""
    count, (least, most) = lanes(block.dtype.name, of_rule=of_rule), BOUNDS[block.dtype.name]
    has_sum = columns.shape[1] > SUM
    rows = np.zeros((len(columns), BLOCK), block.dtype)  # zeros after the last element add nothing
    rows.reshape(-1)[: block.size] = block
    columns[:, SQUARES] = _sums(rows * rows, count)
    if has_sum:
        columns[:, SUM] = _sums(rows, count)
        columns[:, LARGEST] = np.fmax.reduce(block, initial=-math.inf) + 0.0  # never -0, which equals 0
    narrow = ~((least < columns[:, SQUARES]) & (columns[:, SQUARES] < most))
    if narrow.any():
        wide = rows[narrow].astype(np.float64)
        columns[narrow, SQUARES] = _sums(wide * wide, count)
        if has_sum:
            columns[narrow, SUM] = _sums(wide, count)


def _sums(rows: NDArray[Any], count: int) -> NDArray[np.float64]:
    """float64[rows]: the sum of each row in `count` lanes, as `stats` defines it."""
    in_lanes = rows.reshape(len(rows), BLOCK // count, count)
    total = np.add.reduce(in_lanes, axis=1, initial=0.0).astype(np.float64)
    while total.shape[1] > 1:
        half = total.shape[1] // 2
        total = total[:, :half] + total[:, half:]
    sums: NDArray[np.float64] = total[:, 0]
    return sums
