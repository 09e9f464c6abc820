"""Cold start: first calls in new processes.

Peer: the same call on the plain path. Each process says how long its first call took, with the imports that it needs.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
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
READ = TIMED.format(imports="from summaries import read_run", call="read_run(sys.argv[1])")
STEP = TIMED.format(
    imports="import optim\nv = optim.Variable(np.ones(1000, np.float32))\ngrads = [(np.ones(1000, np.float32), v)]",
    call="optim.AdamOptimizer().apply_gradients(grads)",
)


def figures() -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as directory:
        file = os.path.join(directory, "run", "x.tfevents")
        write(file, POINTS)
        megabytes = os.path.getsize(file) / 1e6
        read = f"the first read of {megabytes:.0f} MB"
        compiled, plain = (min(first(READ, kernels, file) for _ in range(ROUNDS)) for kernels in ("", "plain"))
        yield Figure(read, "s", compiled, {"plain": plain}, 0.1)
        yield Figure("the first Adam step", "s", min(first(STEP, "") for _ in range(ROUNDS)))


def first(program: str, kernels: str, *arguments: str) -> float:
    """The seconds that a new process prints."""
    environment = os.environ | {"GRADLEDGER_KERNELS": kernels}
    command = [sys.executable, "-c", program, *arguments]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    return float(done.stdout)


if __name__ == "__main__":
    for figure in figures():
        print("\n".join(figure.lines()), flush=True)
