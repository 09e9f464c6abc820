"""A step needs no memory beyond a cache block a thread."""

import tracemalloc

import numpy as np
import pytest

import optim
from optim import compiled

SIZE = 1_000_000


@pytest.mark.parametrize("engine", ["plain", "compiled"])
@pytest.mark.parametrize("report", [False, True])
@pytest.mark.parametrize(
    "wrap", [lambda o: o, lambda o: optim.clip_gradients_by_norm(o, 1.0)], ids=["as it is", "clip"]
)
def test_a_step_allocates_next_to_nothing(engine, report, wrap):
    if engine == "compiled":
        pytest.importorskip("numba", reason="the extra `fast` is not installed")
    compiled.use(engine)
    try:
        pairs = [(np.ones(SIZE, np.float32), optim.Variable(np.ones(SIZE, np.float32))) for _ in range(4)]
        optimizer = wrap(optim.AdamOptimizer())
        optimizer.apply_gradients(pairs, report=report)
        tracemalloc.start()
        optimizer.apply_gradients(pairs, report=report)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
        compiled.use(None)
    assert peak < 0.01 * 4 * 4 * SIZE * 4 * 2  # two threads' blocks, where arrays are 64 MB in all
