"""The compiled sums over a block, as `stats` defines them, and the kernels that only read. Needs numba."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

from optim.kernels.codegen import ARGUMENTS
from optim.kernels.intrinsics import apart, intrinsics
from optim.kernels.stats import ARRAY_WIDTH, BLOCK, BOUNDS, LARGEST, NONFINITE, SUM, ZEROS, lanes
from summaries.native.source import compiled, unpacker

__all__ = ["READERS", "reader", "sums"]

READERS = ("norm", "gradients", "measure")
"""The kernels that measure each task's first array.

norm has one column, SQUARES; gradients and measure have an array's columns, but gradients leaves SUM and LARGEST 0.
"""

_arguments = unpacker(ARGUMENTS)


@cache
def sums(dtype: str, lanes: int) -> dict[str, Any]:
    """The functions that measure a block, by name: (pointer, first element, last, stats, position of SQUARES there).

    squares fills SQUARES; gradient SQUARES, ZEROS and NONFINITE; extent SQUARES, SUM and LARGEST, after which zeros may
    fill the rest. Where SQUARES is out of bounds, they look again: check_squares, check_gradient and check_extent do
    only that, for a block whose sums are there.

    add_moved and add_slot return a rule's sums with the elements of a piece: of gradients, weights and moves, which
    begin at `start`, together, so that no sum waits for itself; and of a slot, as extent has them.
    """
    least, most = BOUNDS[dtype]
    v = intrinsics(dtype, lanes)
    LANES, AHEAD, fetch, load, load_first = (v[name] for name in ("LANES", "AHEAD", "fetch", "load", "load_first"))
    real, add, multiply, more, leading = v["real"], v["add"], v["multiply"], v["more"], v["leading"]
    wide, wider, wide_add, wide_multiply = v["wide"], v["wider"], v["wide_add"], v["wide_multiply"]
    count_nonzero, count_nonfinite = v["count_nonzero"], v["count_nonfinite"]
    item, put, total, wide_total, largest = (v[name] for name in ("item", "put", "total", "wide_total", "largest"))

    @compiled
    def over(step, state, p, first, last):
        """The state after all elements: step(state, elements, the same with 0 after the array's last one)."""
        whole = last - (last - first) % LANES
        for i in range(first, whole, LANES):
            fetch(p, i + AHEAD)
            x = load(p, i)
            state = step(state, x, x)
        if whole < last:
            x = load_first(p, whole, last - whole)
            state = step(state, x, leading(x, last - whole))
        return state

    @compiled
    def add_square(state, _, x):
        return add(multiply(x, x), state)

    @compiled
    def add_wide_square(state, _, x):
        return wide_add(wide_multiply(wider(x), wider(x)), state)

    @compiled
    def add_wide(state, _, x):
        return wide_add(wider(x), state)

    @compiled
    def add_nonzero(state, _, x):
        return count_nonzero(x, state)

    @compiled
    def add_square_and_nonzero(state, _, x):
        summed, nonzero = state
        return add(multiply(x, x), summed), count_nonzero(x, nonzero)

    @compiled
    def add_nonfinite(state, _, x):
        return count_nonfinite(x, state)

    @compiled
    def add_extent(state, repeated, x):
        squared, summed, highest = state
        return add(multiply(x, x), squared), add(x, summed), more(repeated, highest)

    @compiled
    def wide_squares(p, first, last):
        apart()
        return wide_total(over(add_wide_square, wide(0.0), p, first, last))

    @compiled
    def wide_sum(p, first, last):
        apart()
        return wide_total(over(add_wide, wide(0.0), p, first, last))

    @compiled
    def nonfinite(p, first, last):
        apart()
        return total(over(add_nonfinite, real(0.0), p, first, last))

    @compiled
    def check_squares(p, first, last, out, at):
        if not least < item(out, at) < most:
            put(out, at, wide_squares(p, first, last))

    @compiled
    def squares(p, first, last, out, at):
        apart()
        put(out, at, total(over(add_square, real(0.0), p, first, last)))
        check_squares(p, first, last, out, at)

    @compiled
    def check_zeros(p, first, last, out, at):
        put(out, at + NONFINITE, 0.0)
        if not least < item(out, at) < most:
            put(out, at + NONFINITE, nonfinite(p, first, last))

    @compiled
    def check_gradient(p, first, last, out, at):
        check_zeros(p, first, last, out, at)
        check_squares(p, first, last, out, at)

    @compiled
    def check_extent(p, first, last, out, at):
        if not least < item(out, at) < most:
            put(out, at + SUM, wide_sum(p, first, last))
        check_squares(p, first, last, out, at)

    @compiled
    def gradient(p, first, last, out, at):
        apart()
        summed, nonzero = over(add_square_and_nonzero, (real(0.0), real(0.0)), p, first, last)
        put(out, at, total(summed))
        put(out, at + ZEROS, last - first - total(nonzero))
        check_gradient(p, first, last, out, at)

    @compiled
    def zeros(p, first, last, out, at):
        apart()
        put(out, at + ZEROS, last - first - total(over(add_nonzero, real(0.0), p, first, last)))
        check_zeros(p, first, last, out, at)

    @compiled
    def extent(p, first, last, out, at):
        apart()
        squared, summed, highest = over(add_extent, (real(0.0), real(0.0), real(-math.inf)), p, first, last)
        put(out, at, total(squared))
        put(out, at + SUM, total(summed))
        put(out, at + LARGEST, largest(highest))
        check_extent(p, first, last, out, at)

    @compiled
    def add_move(state, gradient, weight, move):
        of_gradient, of_weights, of_moves, nonzero = state
        of_weights, of_moves = add(multiply(weight, weight), of_weights), add(multiply(move, move), of_moves)
        return add(multiply(gradient, gradient), of_gradient), of_weights, of_moves, count_nonzero(gradient, nonzero)

    @compiled
    def add_moved(state, gradients, weights, moves, start, first, last):
        apart()
        whole = last - (last - first) % LANES
        for i in range(first, whole, LANES):
            state = add_move(state, load(gradients, i), load(weights, i), load(moves, i - start))
        if whole < last:
            n = last - whole
            gradient, weight = load_first(gradients, whole, n), load_first(weights, whole, n)
            move = load_first(moves, whole - start, n)
            state = add_move(state, leading(gradient, n), leading(weight, n), leading(move, n))
        return state

    @compiled
    def add_slot(state, p, first, last):
        apart()
        return over(add_extent, state, p, first, last)

    measuring = (zeros, squares, gradient, extent, check_squares, check_gradient, check_extent, add_moved, add_slot)
    return {each.__name__: each for each in measuring}


def reader(name: str, dtype: str) -> Any:
    """One of the READERS, not compiled yet."""
    width = 1 if name == "norm" else ARRAY_WIDTH
    zeros, squares, gradient, extent, *_ = sums(dtype, lanes(dtype)).values()
    v = intrinsics(dtype, lanes(dtype))
    data, put, real_at = v["data"], v["put"], v["real_at"]

    @compiled
    def run(words):
        tasks, first_task, last_task, _, stats, _ = _arguments(words)
        out = data(stats)
        for task in range(first_task, last_task):
            elements, at, p = tasks[task, 0], tasks[task, 1] * width, real_at(tasks[task, 2])
            for start in range(0, elements, BLOCK):
                stop = min(start + BLOCK, elements)
                if name == "norm":
                    squares(p, start, stop, out, at)
                elif name == "gradients":
                    gradient(p, start, stop, out, at)
                    put(out, at + SUM, 0.0)
                    put(out, at + LARGEST, 0.0)
                else:
                    extent(p, start, stop, out, at)
                    zeros(p, start, stop, out, at)
                at += width

    return run
