"""Cold start: first calls in new processes, whose compiled code is there, or is not; and compiling it ahead.

Peer: the same call on the plain path. Each process says how long its first call took, with the imports that it needs.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from typing import TYPE_CHECKING

from benchmarks.bench_reader import write
from benchmarks.figures import Figure
from benchmarks.scale import sized

if TYPE_CHECKING:
    from collections.abc import Iterator

POINTS = 400_000  # 20 MB
ROUNDS = sized(5, 2)
TIMED = """
import sys, time
import numpy as np
{imports}
start = time.perf_counter()
{call}
print(time.perf_counter() - start)
"""
READ = TIMED.format(imports="from summaries import read_run", call="read_run(sys.argv[1], fast=eval(sys.argv[2]))")
SLOWEST = """
import time
import numpy as np
from summaries import histogram
values = np.random.default_rng(0).normal(size=1 << 20).astype(np.float32)

def seconds():
    start = time.perf_counter()
    histogram("x", values)
    return time.perf_counter() - start

print(max(seconds() for _ in range(180)))
"""
STEP = TIMED.format(
    imports="import optim\nv = optim.Variable(np.ones(1000, np.float32))\ngrads = [(np.ones(1000, np.float32), v)]",
    call="optim.AdamOptimizer().apply_gradients(grads)",
)


def figures() -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as directory:
        file = os.path.join(directory, "run", "x.tfevents")
        write(file, POINTS)
        megabytes = os.path.getsize(file) / 1e6
        filled = os.path.join(directory, "filled")
        seconds = {what: warm_up(filled, what) for what in ("reading", "histograms")}
        plain = min(first(READ, filled, file, "False") for _ in range(ROUNDS))
        warm = min(first(READ, filled, file, "None") for _ in range(ROUNDS))
        empty = [os.path.join(directory, f"empty{i}") for i in range(ROUNDS)]
        cold = min(first(READ, cache, file, "None") for cache in empty)
        told = first(READ, os.path.join(directory, "told"), file, "True")
        read = f"the first read of {megabytes:.0f} MB"
        yield Figure(f"{read}, nothing compiled", "s", cold, {"plain": plain}, 5.9, "not above plain")
        yield Figure(f"{read}, all compiled", "s", warm, {"plain": plain}, 0.55)
        yield Figure(f"{read}, nothing compiled, fast=True", "s", told, {"plain": plain}, 5.9)
        stall = min(first(SLOWEST, cache) for cache in empty)
        slowest = "the slowest of the first 180 histograms of 1,048,576 float32"
        yield Figure(f"{slowest}, nothing compiled", "s", stall, {"all compiled": first(SLOWEST, filled)})
        yield Figure("compiling scanner and indexer: warm-up reading", "s", seconds["reading"])
        yield Figure("compiling the counter: warm-up histograms", "s", seconds["histograms"])
        yield Figure("the first Adam step, nothing compiled", "s", first(STEP, empty[0]))
        yield Figure("the first Adam step, its kernel compiled", "s", min(first(STEP, empty[0]) for _ in range(ROUNDS)))


def first(program: str, cache: str, *arguments: str) -> float:
    """The seconds that a new process prints."""
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        check=True,
        capture_output=True,
        text=True,
        env=os.environ | {"GRADLEDGER_CACHE_DIR": cache},
    )
    return float(done.stdout)


def warm_up(cache: str, what: str) -> float:
    """How long the command takes, as a whole."""
    start = time.perf_counter()
    command = [sys.executable, "-m", "summaries", "warm-up", what]
    subprocess.run(command, check=True, capture_output=True, env=os.environ | {"GRADLEDGER_CACHE_DIR": cache})
    return time.perf_counter() - start


if __name__ == "__main__":
    for figure in figures():
        print("\n".join(figure.lines()), flush=True)
