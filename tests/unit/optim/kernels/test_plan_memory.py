"""A step needs no memory beyond a cache block a thread."""

import os
import tracemalloc

import numpy as np
import pytest
from helpers import run_script

import optim
from summaries.native import library

SIZE = 2_000_000


@pytest.mark.parametrize("engine", ["plain", "compiled"])
@pytest.mark.parametrize("report", [False, True])
@pytest.mark.parametrize(
    "wrap", [lambda o: o, lambda o: optim.clip_gradients_by_norm(o, 1.0)], ids=["as it is", "clip"]
)
def test_a_step_allocates_next_to_nothing(engine, report, wrap):
    if engine == "compiled" and not library.is_available():
        pytest.skip("there is no compiled code for this machine")
    library.use(engine)
    try:
        pairs = [(np.ones(SIZE, np.float32), optim.Variable(np.ones(SIZE, np.float32))) for _ in range(2)]
        optimizer = wrap(optim.AdamOptimizer())
        optimizer.apply_gradients(pairs, report=report)
        tracemalloc.start()
        optimizer.apply_gradients(pairs, report=report)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
        library.use(None)
    assert peak < SIZE * 4 / 2  # half a variable: room for the blocks of a thread that did not help with the first step


RESIDENT = """
import sys
import numpy as np
import optim
from summaries.native import library

library.use(sys.argv[1])
pairs = [(np.full(1_000_000, 0.1, np.float32), optim.Variable(np.ones(1_000_000, np.float32))) for _ in range(10)]
optimizer = optim.clip_gradients_by_norm(optim.AdamOptimizer(), 1.0)


def resident(key):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) << 10 for line in status if line.startswith(key))


def step():
    optimizer.apply_gradients(pairs)
    optimizer.apply_gradients(pairs, report=True)


for _ in range(4):  # makes the slots, and the scratch blocks of each thread, which may have come too late for the first
    step()
with open("/proc/self/clear_refs", "w") as peak:
    peak.write("5")  # counts the peak from here
before = resident("VmRSS")
step()
print((resident("VmHWM") - before) / (4 * 4 * 10_000_000))
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/clear_refs"), reason="only Linux tells a peak since then")
@pytest.mark.parametrize("engine", ["plain", "compiled"])
def test_peak_resident_memory(tmp_path, engine):
    """It stays within a hundredth of the arrays: 160 MB of variables, gradients and slots."""
    if engine == "compiled" and not library.is_available():
        pytest.skip("there is no compiled code for this machine")
    assert float(run_script(tmp_path, RESIDENT, engine)) < 0.01
