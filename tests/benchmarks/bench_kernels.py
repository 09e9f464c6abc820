"""What the report adds to an update: to Adam's kernel on one core, in cache; and to whole steps that are logged.

In memory that is slow arithmetic hides behind it, so the kernel is measured in cache, where it cannot.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmarks.bench_optim import LARGE, PAUSE_SECS, SMALL
from benchmarks.bench_telemetry import bare, our_step
from benchmarks.figures import OURS, Figure
from benchmarks.peers import Contender, compare, take_turns
from benchmarks.places import in_memory
from optim import rules
from optim.kernels import compiled
from optim.kernels.stats import BLOCK, stats_width
from summaries.native import library
from summaries.native.calls import Call, address

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ELEMENTS = 16_384  # of each array: four of them are 256 kB
_TIMES = 16


def figures() -> Iterator[Figure]:
    """Yield the kernel in cache; then what telemetry adds to a large and to a small step, in percent."""
    yield compare(
        f"Adam's kernel with the full report, one core, arrays of {ELEMENTS:,} in cache, an element",
        "ns",
        {OURS: Contender(kernel_in_cache, (True,)), "bare": Contender(kernel_in_cache, (False,))},
        per=ELEMENTS * _TIMES,
        was=0.45,
        wanted="0.25, where bare is 0.174",
    )
    for shape, was, wanted in ((LARGE, 86.0, "25"), (SMALL, 51.0, "50")):
        yield added_to_a_step(shape, was, wanted)


def added_to_a_step(shape: tuple[int, int], was: float, wanted: str) -> Figure:
    """The time that the full report and a summary at each step add to a step, in percent of the bare one."""
    with in_memory() as directory:
        contenders = {
            OURS: Contender(our_step, (shape, directory)),
            "bare": Contender(our_step, (shape,)),
            "torch's fused Adam, bare": Contender(bare, (shape,), "torch"),
        }
        outcome = take_turns(contenders, 4.0, PAUSE_SECS)
    least = outcome.least()
    steps = ", ".join(f"{name} {took * 1e6:,.0f} µs" for name, took in least.items())
    what = f"clip + Adam, {shape[0]} x {shape[1]:,}: the full report, written every step, adds"
    more = 100 * (least[OURS] / least["bare"] - 1)
    return Figure(what, "% of bare", more, was=was, wanted=wanted, left_out=outcome.left_out, notes=(steps,))


def kernel_in_cache(report: bool) -> Callable[[], object]:
    """A call of Adam's kernel on the same arrays, again and again."""
    library.use("compiled")
    run = compiled.kernel(rules.ADAM, "float32", report)
    assert run is not None
    rng = np.random.default_rng(0)
    arrays = [rng.uniform(1e-4, 1e-3, ELEMENTS).astype(np.float32) for _ in range(4)]
    blocks = -(-ELEMENTS // BLOCK)
    rows = np.array([[ELEMENTS, i * blocks, *(address(array) for array in arrays)] for i in range(_TIMES)], np.int64)
    numbers = np.array([0.5, -np.inf, np.inf, 1e-3, 0.9, 0.999, 1e-8])
    stats = np.empty((_TIMES * blocks, stats_width(2)))
    scratch = np.empty(BLOCK + 64)
    step = Call(run, (rows, 0, _TIMES, numbers, stats, address(scratch)))
    return lambda: (step(), arrays, scratch)  # the kernel has only their addresses


if __name__ == "__main__":
    for figure in figures():
        print(*figure.lines(), sep="\n")
