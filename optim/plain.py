"""Rules over NumPy arrays, a cache block at a time, without numba.

A block is small enough that the formula's temporaries stay in the cache, so that memory is read and written once, and
nothing as large as a variable is ever allocated. Any strides and any floating dtype will do: what is not contiguous,
or is narrower than float32, passes through a buffer of one block, as float32 or wider.
"""

from __future__ import annotations

import math
import threading
from typing import TYPE_CHECKING, Any

import numpy as np

from optim.codegen import GRADIENT_STATS, SLOT_STATS
from optim.tracing import program

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from optim.rules import Rule

__all__ = ["compute_dtype", "count_nonfinite", "measure", "norm", "run_rule"]

# Elements. With fewer, an operation is over so soon that two threads only hand the interpreter's lock to each other;
# with more, the cache overflows.
_BLOCK = 1 << 17
_APART = 272  # elements between scratch blocks: a store 4,096 bytes from a load would hold that load up
_CACHE_LINE = 64  # bytes; what is stored across two of them takes twice as long
_own = threading.local()
_SAFE_MIN = 1e-280  # below it squares may have been rounded to nothing


def compute_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype that arithmetic is done in: float64 for float64, float32 for all narrower ones."""
    return np.dtype(np.float64 if dtype.itemsize >= 8 else np.float32)  # noqa: PLR2004 - bytes, in whichever order


def run_rule(
    rule: Rule,
    numbers: Sequence[float],
    gradient: NDArray[Any],
    targets: Sequence[NDArray[Any]],
    stats: NDArray[Any] | None = None,
) -> None:
    """Update `targets` in place.

    Args:
        rule: the formula.
        numbers: scale, low, high, then the hyperparameters, as a kernel takes them: see `codegen`.
        gradient: not modified.
        targets: the variable and the slots, each of the gradient's shape.
        stats: float64[width], a row of `codegen`'s stats to fill; or None.
    """
    dtype = compute_dtype(targets[0].dtype)
    clip, hyperparameters = numbers[:3], [np.array(number, dtype) for number in numbers[3:]]
    todo = program(rule)
    scratch = _scratch(len(todo.scratch) + 2, dtype)
    if stats is not None:
        stats[:] = 0.0
        stats[GRADIENT_STATS + 2 :: SLOT_STATS] = -np.inf
    with np.errstate(all="ignore"):  # a diverging run says so by its values, with numba and without
        update = todo.prepare(hyperparameters)
        for block in _blocks([gradient, *targets], dtype, writes=True):
            *free, clipped, old = scratch[:, : block[0].size]
            if stats is not None:
                np.copyto(old, block[1])
            update(_clipped(block[0], clip, clipped), *block[1:], *free)
            if stats is not None:
                for array, target in zip(block[1:], targets, strict=True):
                    if target.dtype != dtype:  # it is stored as a narrower one, and that is what counts
                        array[...] = array.astype(target.dtype)
                _tally(stats, block, np.subtract(block[1], old, out=old))


def _scratch(count: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """dtype[count, _BLOCK + _APART]: this thread's, kept for its next step, since fresh pages cost time."""
    kept: dict[str, NDArray[Any]] = _own.__dict__
    key = f"{count} of {dtype}"
    if key not in kept:
        room = np.empty(count * (_BLOCK + _APART) + _CACHE_LINE, dtype)
        skipped = -room.ctypes.data % _CACHE_LINE // dtype.itemsize
        kept[key] = room[skipped:][: count * (_BLOCK + _APART)].reshape(count, -1)
    return kept[key]


def norm(arrays: Sequence[NDArray[Any]]) -> float:
    """The L2 norm of all elements of all arrays together.

    Neither large nor tiny elements spoil it: it is infinite, or 0, only where the true norm is not a float64. NaN where
    an element is NaN.
    """
    with np.errstate(all="ignore"):
        squares = _exact_sum(_squares(block) for array in arrays for block in _read(array))
        if _SAFE_MIN < squares < math.inf or math.isnan(squares):
            return math.sqrt(squares)
        largest = max((float(np.max(np.abs(block))) for array in arrays for block in _read(array)), default=0.0)
        if largest == 0.0 or not math.isfinite(largest):
            return largest
        scaled = (block.astype(np.float64) / largest for array in arrays for block in _read(array))
        return largest * math.sqrt(math.fsum(float(np.vdot(block, block)) for block in scaled))


def count_nonfinite(arrays: Sequence[NDArray[Any]]) -> int:
    """How many elements are NaN or infinite."""
    return sum(int(block.size - np.count_nonzero(np.isfinite(block))) for array in arrays for block in _read(array))


def measure(array: NDArray[Any]) -> tuple[float, int, int, float, float]:
    """Sum of squares, elements that are 0 and that are not finite, sum, largest; -inf of no elements."""
    squares, zeros, nonfinite, total, largest = 0.0, 0, 0, 0.0, -math.inf
    with np.errstate(all="ignore"):
        for block in _read(array):
            of_block = _squares(block)
            squares += of_block
            zeros += block.size - int(np.count_nonzero(block))
            if not math.isfinite(of_block):  # a finite sum has no element that is not
                nonfinite += block.size - int(np.count_nonzero(np.isfinite(block)))
            total += float(np.sum(block, dtype=np.float64))
            largest = max(largest, float(np.max(block)))
    return squares, zeros, nonfinite, total, largest


def _exact_sum(squares: Iterator[float]) -> float:
    """Rounded once, so that the order of the arrays does not matter; infinite where it is too large."""
    try:
        return math.fsum(squares)
    except OverflowError:
        return math.inf


def _clipped(g: NDArray[Any], clip: Sequence[float], out: NDArray[Any]) -> NDArray[Any]:
    scale, low, high = (g.dtype.type(number) for number in clip)
    if scale != 1.0:
        g = np.multiply(g, scale, out=out)
    if low > -math.inf or high < math.inf:
        g = np.minimum(np.maximum(g, low, out=out), high, out=out)
    return g


def _tally(stats: NDArray[Any], block: Sequence[NDArray[Any]], update: NDArray[Any]) -> None:
    gradient, variable, *slots = block
    squares = _squares(gradient)
    stats[0] += squares
    stats[1] += _squares(variable)
    stats[2] += _squares(update)
    stats[3] += gradient.size - np.count_nonzero(gradient)
    if not math.isfinite(squares):  # a finite sum has no element that is not
        stats[4] += gradient.size - np.count_nonzero(np.isfinite(gradient))
    for k, slot in enumerate(slots):
        column = GRADIENT_STATS + SLOT_STATS * k
        mean = np.sum(slot)
        stats[column] += mean if np.isfinite(mean) else np.sum(slot, dtype=np.float64)
        stats[column + 1] += _squares(slot)
        stats[column + 2] = np.maximum(stats[column + 2], np.max(slot))


def _squares(block: NDArray[Any]) -> float:
    if block.dtype == np.float64:
        return float(np.vdot(block, block))
    total = float(np.vdot(block, block))
    if 1e-30 < total < math.inf:  # noqa: PLR2004 - no square was lost below or above float32's range
        return total
    double = block.astype(np.float64)
    return float(np.vdot(double, double))


def _read(array: NDArray[Any]) -> Iterator[NDArray[Any]]:
    for (block,) in _blocks([array], compute_dtype(array.dtype)):
        yield block


def _blocks(
    arrays: Sequence[NDArray[Any]], dtype: np.dtype[Any], *, writes: bool = False
) -> Iterator[tuple[NDArray[Any], ...]]:
    """The same elements of every array, a block at a time; all but the first array are written back, if asked."""
    if not arrays[0].size:
        return
    if all(array.flags.c_contiguous and array.dtype == dtype for array in arrays):
        flat = [array.reshape(-1) for array in arrays]
        size = flat[0].size
        blocks = -(-size // _BLOCK)
        block = -(-size // (blocks * _CACHE_LINE)) * _CACHE_LINE  # all of one size, so that none is over at once
        for start in range(0, size, block):
            yield tuple(array[start : start + block] for array in flat)
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
