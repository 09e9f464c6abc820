"""The compiled sums over blocks, as `stats` defines them: the kernels that only read, and what all kernels share.

Needs numba.
"""

from __future__ import annotations

import math
from functools import cache
from types import SimpleNamespace
from typing import Any

from optim.kernels.codegen import AHEAD, ARGUMENTS
from optim.kernels.intrinsics import intrinsics
from optim.kernels.stats import ARRAY_WIDTH, BLOCK, BOUNDS, LARGEST, NONFINITE, SQUARES, SUM, ZEROS, lanes
from summaries.native.source import compiled, unpacker

__all__ = ["checker", "readers"]


@cache
def checker(dtype: str, count: int) -> Any:
    """Make a function that corrects a block's sums in `count` lanes: see `stats`.

    It is called with a pointer, the first and last of its elements, the stats, and the positions there of the sum of
    squares, of the sum, and of NONFINITE, or -1. Sums that the dtype was too narrow for are made again, and elements
    that are not finite counted. (If the squares' sum is in bounds, so is the elements'.)
    """
    least, most = BOUNDS[dtype]
    names = SimpleNamespace(**intrinsics(dtype, count))
    load, leading, load_first = names.load, names.leading, names.load_first
    item, put = names.item, names.put
    wide, wider, add, multiply, total = names.wide, names.wider, names.wide_add, names.wide_multiply, names.wide_total
    none, count_nonfinite, counted = names.none, names.count_nonfinite, names.count

    @compiled
    def check(p: Any, first: Any, last: Any, out: Any, of_squares: Any, of_sum: Any, of_nonfinite: Any) -> Any:
        if least < item(out, of_squares) < most:
            return
        squares, summed, nonfinite = wide(0.0), wide(0.0), none()
        for i in range(first, last, count):
            x = load(p, i) if i + count <= last else leading(load_first(p, i, last - i), last - i)
            squares = add(multiply(wider(x), wider(x)), squares)
            summed = add(wider(x), summed)
            nonfinite = count_nonfinite(x, nonfinite)
        put(out, of_squares, total(squares))
        if of_sum >= 0:
            put(out, of_sum, total(summed))
        if of_nonfinite >= 0:
            put(out, of_nonfinite, counted(nonfinite))

    return check


def readers(dtype: str) -> dict[str, Any]:
    """The kernels that measure each task's first array, by name; their numbers are unused.

    norm has one column, SQUARES; gradients and measure have an array's columns, but gradients leaves SUM and LARGEST 0.
    """
    step, ahead = lanes(dtype), AHEAD[dtype]
    check, names = checker(dtype, step), SimpleNamespace(**intrinsics(dtype, step))
    real, load, load_first, leading, fetch, put = (
        names.real, names.load, names.load_first, names.leading, names.fetch, names.put
    )  # fmt: skip
    add, multiply, more, total, largest = names.add, names.multiply, names.more, names.total, names.largest
    none, count_nonzero, count = names.none, names.count_nonzero, names.count

    @compiled
    def norm(p: Any, first: Any, last: Any, out: Any, row: Any) -> Any:
        squares = real(0.0)
        whole = last - (last - first) % step
        for i in range(first, whole, step):
            fetch(p, i + ahead)
            x = load(p, i)
            squares = add(multiply(x, x), squares)
        if whole < last:
            x = leading(load_first(p, whole, last - whole), last - whole)
            squares = add(multiply(x, x), squares)
        put(out, row, total(squares))
        check(p, first, last, out, row, -1, -1)

    @compiled
    def summed(p: Any, first: Any, last: Any, out: Any, at: Any) -> Any:
        squares, nonzero = real(0.0), none()
        whole = last - (last - first) % step
        for i in range(first, whole, step):
            fetch(p, i + ahead)
            x = load(p, i)
            squares = add(multiply(x, x), squares)
            nonzero = count_nonzero(x, nonzero)
        if whole < last:
            x = leading(load_first(p, whole, last - whole), last - whole)
            squares = add(multiply(x, x), squares)
            nonzero = count_nonzero(x, nonzero)
        put(out, at + SQUARES, total(squares))
        put(out, at + ZEROS, last - first - count(nonzero))
        put(out, at + NONFINITE, 0.0)

    @compiled
    def extent(p: Any, first: Any, last: Any, out: Any, at: Any) -> Any:  # the block is in the cache by now
        total_, most = real(0.0), real(-math.inf)
        whole = last - (last - first) % step
        for i in range(first, whole, step):
            x = load(p, i)
            total_ = add(x, total_)
            most = more(x, most)
        if whole < last:
            x = load_first(p, whole, last - whole)
            total_ = add(leading(x, last - whole), total_)
            most = more(x, most)
        put(out, at + SUM, total(total_))
        put(out, at + LARGEST, largest(most))

    @compiled
    def gradients(p: Any, first: Any, last: Any, out: Any, row: Any) -> Any:
        at = row * ARRAY_WIDTH
        summed(p, first, last, out, at)
        put(out, at + SUM, 0.0)
        put(out, at + LARGEST, 0.0)
        check(p, first, last, out, at, -1, at + NONFINITE)

    @compiled
    def measure(p: Any, first: Any, last: Any, out: Any, row: Any) -> Any:
        at = row * ARRAY_WIDTH
        summed(p, first, last, out, at)
        extent(p, first, last, out, at)
        check(p, first, last, out, at, at + SUM, at + NONFINITE)

    made = {"norm": norm, "gradients": gradients, "measure": measure}
    return {f"{name}_{dtype}": _over_tasks(names, fill) for name, fill in made.items()}


def _over_tasks(names: SimpleNamespace, fill: Any) -> Any:
    """The kernel that fills a row of stats for each block of each task's first array."""
    data, real_at, arguments = names.data, names.real_at, unpacker(ARGUMENTS)

    @compiled
    def run(words: Any) -> Any:
        tasks, first, last, _, stats = arguments(words)
        out = data(stats)
        for task in range(first, last):
            elements, row, p = tasks[task, 0], tasks[task, 1], real_at(tasks[task, 2])
            for start in range(0, elements, BLOCK):
                fill(p, start, min(start + BLOCK, elements), out, row)
                row += 1

    return run
