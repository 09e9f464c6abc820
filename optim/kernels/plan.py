"""Run a rule over arrays in one pass: compiled where numba is there, on blocks by NumPy where it is not.

Both read the same formula from `rules`, and give the same results to rounding. A `Plan` is all arrays of one dtype
that a step updates, cut into tasks, so that one call of a compiled kernel serves many small arrays, and threads share
large ones. The clipping is folded into the pass, and so is the report.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from optim.kernels import compiled, plain, threads
from optim.kernels.codegen import GRADIENT_STATS, LARGEST, SLOT_STATS, stats_width
from optim.kernels.plain import count_nonfinite

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from optim.rules import Rule

__all__ = [
    "AS_IT_IS",
    "Clip",
    "Plan",
    "addresses",
    "apply_rule",
    "count_nonfinite",
    "measure",
    "norm",
    "norm_from_squares",
    "sums_of_squares",
]

_TASK = 1 << 16  # elements of a task at most: few enough to share evenly, enough to forget the call
_SHARED = 1 << 18  # elements from which on waking a second thread pays
_PIECES = 16  # for each thread, so that one held up by another process does not hold up the step
_SAFE_MIN = 1e-280  # below it squares of float64 may have been rounded to nothing


class Clip(NamedTuple):
    """What is done to each element of a gradient: times `scale`, then kept within [`low`, `high`]. NaN stays NaN."""

    scale: float = 1.0
    low: float = -math.inf
    high: float = math.inf

    def scaled(self, factor: float) -> Clip:
        """This, and then times `factor`, which is positive, or NaN."""
        return self if factor == 1.0 else Clip(self.scale * factor, self.low * factor, self.high * factor)

    def kept_within(self, low: float, high: float) -> Clip:
        """This, and then kept within [`low`, `high`]."""
        return Clip(self.scale, *(min(max(bound, low), high) for bound in (self.low, self.high)))

    @property
    def only_scales(self) -> bool:
        """Whether there are no bounds."""
        return not (self.low > -math.inf or self.high < math.inf)

    def applied(self, array: NDArray[Any]) -> NDArray[Any]:
        """A clipped copy of `array`, in its dtype."""
        wide = plain.compute_dtype(array.dtype)  # the scale may be smaller than what a narrower dtype holds
        with np.errstate(all="ignore"):
            scaled = np.multiply(array, wide.type(self.scale), dtype=wide, out=np.empty(array.shape, wide))
            if not self.only_scales:
                np.minimum(np.maximum(scaled, wide.type(self.low), out=scaled), wide.type(self.high), out=scaled)
            kept: NDArray[Any] = scaled.astype(array.dtype, copy=False)
        return kept


AS_IT_IS = Clip()


def apply_rule(
    rule: Rule,
    hyperparameters: Sequence[float],
    variable: NDArray[Any],
    gradient: NDArray[Any],
    slots: Sequence[NDArray[Any]] = (),
    scale: float = 1.0,
) -> None:
    """Update `variable` and `slots` in place by `rule`, with `gradient` times `scale`.

    Args:
        rule: the formula.
        hyperparameters: what it takes behind the slots, in its order.
        variable: array, any shape, floating dtype.
        gradient: array of the variable's shape and dtype; not modified.
        slots: arrays of the variable's shape, in the rule's order.
        scale: multiplies the gradient; 1.0 leaves it as it is, bit for bit.

    Raises:
        ValueError: the arrays are not of one shape, or variable and slots not of one dtype.
    """
    if gradient.shape != variable.shape:
        raise ValueError(f"gradient must be of shape {variable.shape}, as the variable is, got {gradient.shape}")
    Plan(rule, [(variable, *slots)]).run([gradient], hyperparameters, Clip(scale))


def addresses(arrays: Sequence[NDArray[Any]]) -> NDArray[np.int64]:
    """int64[arrays]: where the elements of each begin."""
    if compiled.available():
        return compiled.addresses(arrays)
    return np.array([array.__array_interface__["data"][0] for array in arrays], np.int64)


def norm(arrays: Sequence[NDArray[Any]]) -> float:
    """The L2 norm of all elements of all arrays together.

    Neither large nor tiny elements spoil it: it is infinite, or 0, only where the true norm is not a float64. NaN where
    an element is NaN.
    """
    by_dtype, others = _by_compiled_dtype(arrays)
    if not by_dtype:
        return plain.norm(arrays)
    squares = []
    if others:
        norm_of_others = plain.norm([arrays[i] for i in others])
        squares.append(norm_of_others * norm_of_others)
    for dtype, chosen in by_dtype.items():
        kernel = compiled.norm_kernel(_COMPILED[dtype])
        squares += _over_arrays(kernel, [arrays[i] for i in chosen], 1)[1][:, 0].tolist()
    return norm_from_squares(squares, arrays)


def sums_of_squares(arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """float64[arrays]: the sum of the squares of each array's elements."""
    found = np.empty(len(arrays))
    by_dtype, others = _by_compiled_dtype(arrays)
    for dtype, chosen in by_dtype.items():
        cut, stats = _over_arrays(compiled.norm_kernel(_COMPILED[dtype]), [arrays[i] for i in chosen], 1)
        found[chosen] = np.add.reduceat(stats[:, 0], cut.first)
    for i in others:
        norm_of_array = plain.norm([arrays[i]])
        found[i] = norm_of_array * norm_of_array
    return found


def measure(arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Read each array once, and change none.

    Args:
        arrays: of any shapes, floating dtypes.

    Returns:
        float64[arrays, 5], the columns as `codegen` names them from SQUARES to LARGEST: the sum of squares, how many
        elements are 0 and how many are not finite, the sum, and the largest; -inf of no elements.
    """
    measured = np.empty((len(arrays), LARGEST + 1))
    by_dtype, others = _by_compiled_dtype(arrays)
    for dtype, chosen in by_dtype.items():
        kernel = compiled.measure_kernel(_COMPILED[dtype])
        cut, stats = _over_arrays(kernel, [arrays[i] for i in chosen], LARGEST + 1)
        measured[chosen] = _combined(stats, cut.first, slice(LARGEST, None))
    for i in others:
        measured[i] = plain.measure(arrays[i])
    return measured


def _by_compiled_dtype(arrays: Sequence[NDArray[Any]]) -> tuple[dict[np.dtype[Any], list[int]], list[int]]:
    """Which arrays a compiled kernel can walk through, by their dtypes; and which it cannot."""
    by_dtype: dict[np.dtype[Any], list[int]] = {}
    others: list[int] = []
    compiles = compiled.available()
    for i, array in enumerate(arrays):
        (by_dtype.setdefault(array.dtype, []) if compiles and _is_ready(array) else others).append(i)
    return by_dtype, others


def norm_from_squares(squares: Sequence[float], arrays: Sequence[NDArray[Any]]) -> float:
    """The root of the sum of sums of squares; or the arrays' norm, measured again, where float64 lost squares."""
    try:
        sum_of_squares = math.fsum(squares)  # rounded once, so that the order of the arrays does not matter
    except OverflowError:
        sum_of_squares = math.inf
    if _SAFE_MIN < sum_of_squares < math.inf or math.isnan(sum_of_squares):
        return math.sqrt(sum_of_squares)
    return plain.norm(arrays)


class Plan:
    """Arrays of one dtype that one rule updates, cut into tasks; made once, and run at every step.

    Args:
        rule: the formula.
        targets: for each variable its array and its slots', in the rule's order; of one shape, floating dtype.

    Raises:
        ValueError: a variable's arrays are not all of one shape and dtype, or not as many as the rule takes.
    """

    def __init__(self, rule: Rule, targets: Sequence[Sequence[NDArray[Any]]]) -> None:
        self.rule = rule
        self.targets = [tuple(arrays) for arrays in targets]
        for first, *others in self.targets:  # a kernel would write past the end of the shorter ones
            if len(others) != len(rule.slots) or {(a.shape, a.dtype) for a in others} - {(first.shape, first.dtype)}:
                got = ", ".join(f"{array.dtype} of shape {array.shape}" for array in (first, *others))
                raise ValueError(f"{rule.name} needs 1 + {len(rule.slots)} arrays of one shape and dtype, got {got}")
        self._dtype = plain.compute_dtype(self.targets[0][0].dtype).name
        self._ready = [all(_is_ready(array) and array.flags.writeable for array in arrays) for arrays in self.targets]
        self._tables: dict[tuple[int, tuple[int, ...]], _Table] = {}
        self._blocks: dict[tuple[int, ...], plain.Blocks] = {}

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_tables": {}, "_blocks": {}}  # a copy's arrays are elsewhere; these are views of ours

    def run(
        self,
        gradients: Sequence[NDArray[Any]],
        hyperparameters: Sequence[float],
        clip: Clip = AS_IT_IS,
        *,
        report: bool = False,
    ) -> NDArray[Any] | None:
        """Update the targets in place.

        Args:
            gradients: one for each variable, of its shape and dtype; not modified.
            hyperparameters: what the formula takes behind the slots, in its order.
            clip: what is done to the gradients first.
            report: whether to measure.

        Returns:
            float64[variables, width], the columns as `codegen` has them; None without a report.
        """
        numbers = np.array([*clip, *hyperparameters], np.float64)
        stats = np.empty((len(self.targets), stats_width(self.rule))) if report else None
        served = tuple(i for i, g in enumerate(gradients) if self._ready[i] and _is_ready(g))
        if served:
            kernel = compiled.kernel(self.rule, self._dtype, report) if compiled.available() else None
            if kernel is not None:
                self._run_compiled(kernel, served, gradients, numbers, stats)
            else:
                self._run_blocks(served, gradients, numbers, stats)
        if len(served) < len(self.targets):
            rest = sorted(set(range(len(self.targets))).difference(served))
            self._run_buffered(rest, gradients, numbers, stats)
        return stats

    def _run_compiled(
        self,
        kernel: Callable[..., None],
        served: tuple[int, ...],
        gradients: Sequence[NDArray[Any]],
        numbers: NDArray[Any],
        stats: NDArray[Any] | None,
    ) -> None:
        key = threads.get_num_threads(), served
        table = self._tables.get(key)
        if table is None:
            table = self._tables[key] = _Table([self.targets[i] for i in served])
        rows = table.pointing_at([gradients[i] for i in served])
        if stats is None:
            _run(kernel, rows, table.cut.pieces, numbers, _NO_STATS)
            return
        measured = np.empty((len(rows), stats.shape[1]))
        _run(kernel, rows, table.cut.pieces, numbers, measured)
        stats[list(served)] = _combined(measured, table.cut.first)

    def _run_blocks(
        self,
        served: tuple[int, ...],
        gradients: Sequence[NDArray[Any]],
        numbers: NDArray[Any],
        stats: NDArray[Any] | None,
    ) -> None:
        blocks = self._blocks.get(served)
        if blocks is None:
            blocks = self._blocks[served] = plain.Blocks([self.targets[i] for i in served])
        step = self._step(numbers)
        measured = None if stats is None else plain.empty_stats(blocks.rows, stats.shape[1])
        flat = [gradients[i].reshape(-1) for i in served]
        most = len(blocks.tasks) if blocks.elements >= _SHARED else 1
        threads.share(lambda task: step.run(blocks.of(task, flat), measured), blocks.tasks, most)
        if stats is not None and measured is not None:
            stats[list(served)] = _combined(measured, blocks.first)

    def _run_buffered(
        self,
        chosen: Sequence[int],
        gradients: Sequence[NDArray[Any]],
        numbers: NDArray[Any],
        stats: NDArray[Any] | None,
    ) -> None:
        step = self._step(numbers)
        measured = None if stats is None else plain.empty_stats(len(chosen), stats.shape[1])

        def work(row: int) -> None:
            i = chosen[row]
            step.run_buffered(row, (gradients[i], *self.targets[i]), measured)

        size = sum(gradients[i].size for i in chosen)
        threads.share(work, range(len(chosen)), len(chosen) if size >= _SHARED else 1)
        if stats is not None and measured is not None:
            stats[list(chosen)] = measured

    def _step(self, numbers: NDArray[Any]) -> plain.Step:
        return plain.Step(self.rule, numbers.tolist(), np.dtype(self._dtype))


class _Cut(NamedTuple):
    """Arrays of given sizes, none of them 0, cut into tasks."""

    array: NDArray[Any]  # int64[tasks]: which of the arrays
    offset: NDArray[Any]  # int64[tasks]: elements before
    elements: NDArray[Any]  # int64[tasks]
    first: NDArray[Any]  # int64[arrays]: each array's first task
    pieces: list[tuple[int, int]]  # (first, last) of the tasks that a thread takes at once


def _combined(
    stats: NDArray[Any], first: NDArray[Any], most: slice = slice(GRADIENT_STATS + 2, None, SLOT_STATS)
) -> NDArray[Any]:
    """Rows of tasks → rows of arrays, whose first tasks are `first`: the largest of the columns `most`, else sums."""
    if len(first) == len(stats):
        return stats
    with np.errstate(invalid="ignore"):  # infinities of both signs: a diverging run says so by its values
        sums: NDArray[Any] = np.add.reduceat(stats, first)
    sums[:, most] = np.fmax.reduceat(stats[:, most], first)
    return sums


@lru_cache(maxsize=64)
def _cut(sizes: tuple[int, ...], threads_: int) -> _Cut:
    counts = -(-np.array(sizes) // _TASK)
    array = np.repeat(np.arange(len(sizes)), counts)
    first = np.cumsum(counts) - counts
    offset = (np.arange(len(array)) - first[array]) * _TASK
    elements = np.minimum(np.array(sizes)[array] - offset, _TASK)
    pieces = threads_ * _PIECES if threads_ > 1 and sum(sizes) >= _SHARED else 1
    goals = np.linspace(0, sum(sizes), min(pieces, len(array)) + 1)[1:]
    bounds = np.unique(np.searchsorted(np.cumsum(elements), goals) + 1).clip(max=len(array))
    return _Cut(array, offset, elements, first, list(pairwise([0, *np.unique(bounds).tolist()])))


class _Table:
    """The tasks of arrays that stay where they are, as a kernel takes them."""

    def __init__(self, targets: Sequence[Sequence[NDArray[Any]]]) -> None:
        sizes = tuple(arrays[0].size for arrays in targets)
        self.cut = _cut(sizes, threads.get_num_threads())
        self._bytes = self.cut.offset * targets[0][0].itemsize
        self._rows = np.empty((len(self.cut.array), 2 + len(targets[0])), np.int64)
        self._rows[:, 0] = self.cut.elements
        for k in range(len(targets[0])):
            self._rows[:, k + 2] = compiled.addresses([arrays[k] for arrays in targets])[self.cut.array] + self._bytes

    def pointing_at(self, gradients: Sequence[NDArray[Any]]) -> NDArray[Any]:
        """int64[tasks, 2 + arrays]: the tasks of a step with these gradients."""
        rows = self._rows.copy()  # another thread may be at a step of its own
        rows[:, 1] = compiled.addresses(gradients)[self.cut.array] + self._bytes
        return rows


def _over_arrays(kernel: Callable[..., None], arrays: Sequence[NDArray[Any]], width: int) -> tuple[_Cut, NDArray[Any]]:
    """How a kernel that only reads was given the arrays, and float64[tasks, width] from it."""
    cut = _cut(tuple(array.size for array in arrays), threads.get_num_threads())
    rows = np.empty((len(cut.array), 2), np.int64)
    rows[:, 0] = cut.elements
    rows[:, 1] = compiled.addresses(arrays)[cut.array] + cut.offset * arrays[0].itemsize
    stats = np.empty((len(rows), width))
    _run(kernel, rows, cut.pieces, _NO_NUMBERS, stats)
    return cut, stats


def _run(
    kernel: Callable[..., None],
    rows: NDArray[Any],
    pieces: list[tuple[int, int]],
    numbers: NDArray[Any],
    stats: NDArray[Any],
) -> None:
    if len(pieces) == 1:
        kernel(rows, 0, len(rows), numbers, stats)
        return

    def work(piece: tuple[int, int]) -> None:
        kernel(rows, *piece, numbers, stats)

    threads.share(work, pieces, len(pieces))


def _is_ready(array: NDArray[Any]) -> bool:
    """Whether a compiled kernel can walk through it."""
    flags = array.flags
    return flags.c_contiguous and flags.aligned and array.dtype in _COMPILED and array.size > 0


_COMPILED = {np.dtype(np.float32): "float32", np.dtype(np.float64): "float64"}
_NO_NUMBERS = np.empty(0)
_NO_STATS = np.empty((0, 0))
