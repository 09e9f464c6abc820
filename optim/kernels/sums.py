"""The compiled sums over blocks, as `stats` defines them: `check`, which all kernels share, and those that only read.

They are source text, because their operations differ from dtype to dtype. Pure: no numba.
"""

from __future__ import annotations

from optim.kernels.stats import ARRAY_WIDTH, BLOCK, BOUNDS, LARGEST, NONFINITE, SUM, ZEROS

__all__ = ["READERS", "check_source", "reader_source"]

READERS = ("norm", "gradients", "measure")
"""The kernels that measure each task's first array.

norm has one column, SQUARES; gradients and measure have an array's columns, but gradients leaves SUM and LARGEST 0.
"""

_CHECK = """
@compiled
def check(p, first, last, out, of_squares, of_sum, of_nonfinite):
    if {least} < item(out, of_squares) < {most}:
        return
    squares, summed, nonfinite = wide(0.0), wide(0.0), none()
    for i in range(first, last, LANES):
        x = load(p, i) if i + LANES <= last else leading(load_first(p, i, last - i), last - i)
        squares = wide_add(wide_multiply(wider(x), wider(x)), squares)
        summed = wide_add(wider(x), summed)
        nonfinite = count_nonfinite(x, nonfinite)
    put(out, of_squares, wide_total(squares))
    if of_sum >= 0:
        put(out, of_sum, wide_total(summed))
    if of_nonfinite >= 0:
        put(out, of_nonfinite, count(nonfinite))
"""

_LOOP = """
@compiled
def {name}(p, first, last, out, at):
    squares, summed, most, nonzero = real(0.0), real(0.0), real(-inf), none()
    whole = last - (last - first) % LANES
    for i in range(first, whole, LANES):
        fetch(p, i + AHEAD)
        x = load(p, i)
        {of_all}
        {of_sums}
    if whole < last:
        x = load_first(p, whole, last - whole)
        {of_all}
        x = leading(x, last - whole)
        {of_sums}
"""
_SQUARES = "squares = add(multiply(x, x), squares)"

# Two loops for `measure`: with all of its sums in one, registers run out. In the second, the block is in the cache.
_FILL = {
    "norm": "check(p, first, last, out, at, -1, -1)",
    "gradients": f"""put(out, at + {SUM}, 0.0)
    put(out, at + {LARGEST}, 0.0)
    check(p, first, last, out, at, -1, at + {NONFINITE})""",
    "measure": f"""extent(p, first, last, out, at)
    check(p, first, last, out, at, at + {SUM}, at + {NONFINITE})""",
}

_RUN = """
@compiled
def run(words):
    tasks, first, last, numbers, stats, scratch = arguments(words)
    out = data(stats)
    for task in range(first, last):
        elements, at, p = tasks[task, 0], tasks[task, 1] * {width}, real_at(tasks[task, 2])
        for start in range(0, elements, {block}):
            fill(p, start, min(start + {block}, elements), out, at)
            at += {width}
"""


def check_source(dtype: str) -> str:
    """The source of `check`, which corrects a block's sums.

    It is called with a pointer, the first and last of its elements, the stats, and the positions there of the sum of
    squares, of the sum, and of NONFINITE, or -1. Sums that the dtype was too narrow for are made again, and elements
    that are not finite counted. (If the squares' sum is in bounds, so is the elements'.)
    """
    least, most = BOUNDS[dtype]
    return _CHECK.format(least=least, most=most)


def reader_source(name: str, dtype: str) -> str:
    """The source of one of the READERS."""
    counts = name != "norm"
    sums = f"{_SQUARES}\n        nonzero = count_nonzero(x, nonzero)" if counts else _SQUARES
    fill = _LOOP.format(name="fill", of_all="", of_sums=sums) + "    put(out, at, total(squares))\n"
    if counts:
        fill += f"    put(out, at + {ZEROS}, last - first - count(nonzero))\n    put(out, at + {NONFINITE}, 0.0)\n"
    extent = _LOOP.format(name="extent", of_all="most = more(x, most)", of_sums="summed = add(x, summed)")
    extent += f"    put(out, at + {SUM}, total(summed))\n    put(out, at + {LARGEST}, largest(most))\n"
    run = _RUN.format(width=ARRAY_WIDTH if counts else 1, block=BLOCK)
    return f"{check_source(dtype)}{extent * (name == 'measure')}{fill}    {_FILL[name]}\n{run}"
