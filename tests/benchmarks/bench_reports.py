"""What a report costs: each optimizer's step with one beside the same step without, in processor time.

The two take turns on the same arrays, which everything that disturbs one then disturbs as much; medians count. A
busy machine makes reports dearer, since their sums need the processor where the step waits for memory.
"""

from __future__ import annotations

import logging
import time
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

import optim
from benchmarks.bench_optim import LARGE, SMALL, THREADS
from benchmarks.figures import Figure
from benchmarks.scale import sized, timed
from optim.kernels import threads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MOST_SHARE = 0.05  # what a report may add to a step
MOST_SHARE_OF_MATRICES = 0.02  # of optimizers that multiply matrices, whose steps are longer
SECONDS = 3.0  # for each optimizer and model
ROWS = 40  # of a matrix: layer-wise optimizers look at matrices

MODELS: dict[str, list[tuple[int, int]]] = {
    f"{LARGE[0]} x {LARGE[1]:,}": [(ROWS, LARGE[1] // ROWS)] * LARGE[0],
    f"{SMALL[0]} x {SMALL[1]:,}": [(ROWS, SMALL[1] // ROWS)] * SMALL[0],
    "200 small and 3 large": [(1, 64), (32, 32)] * 100 + [(1000, sized(1000, 100))] * 3,
}
OPTIMIZERS: dict[str, Callable[[], optim.Optimizer]] = {
    "Adam": optim.AdamOptimizer,
    "AdaMax": optim.AdaMaxOptimizer,
    "RAdam": optim.RAdamOptimizer,
    "AdEMAMix": optim.AdEMAMixOptimizer,
    "ScheduleFreeAdamW": optim.ScheduleFreeAdamW,
    "LARS": lambda: optim.LARSOptimizer(1e-3),
    "LAMB": optim.LambOptimizer,
    "Adafactor": optim.AdafactorOptimizer,
    "Prodigy": optim.ProdigyOptimizer,
}
WIDTH = sized(512, 64)
MATRICES = [(WIDTH, WIDTH)] * 8
OF_MATRICES: dict[str, Callable[[], optim.Optimizer]] = {"Muon": optim.MuonOptimizer, "SOAP": optim.SoapOptimizer}


def figures() -> Iterator[Figure]:
    """Yield one for each model and optimizer."""
    threads.set_num_threads(THREADS)
    logging.getLogger("optim").setLevel(logging.ERROR)  # what is compiled is told
    for model, shapes in MODELS.items():
        for name, make in OPTIMIZERS.items():
            yield figure(f"a report of {name}, {model}", make(), shapes, MOST_SHARE)
    for name, make in OF_MATRICES.items():
        model = f"{len(MATRICES)} matrices of {WIDTH} x {WIDTH}"
        yield figure(f"a report of {name}, {model}", make(), MATRICES, MOST_SHARE_OF_MATRICES)


def figure(what: str, optimizer: optim.Optimizer, shapes: list[tuple[int, int]], most: float) -> Figure:
    """What a report adds to a step, in percent."""
    without, with_one = costs(optimizer, shapes)
    notes = (f"{1e6 * without:,.0f} µs without", f"{1e6 * (with_one - without):,.0f} µs more with")
    return Figure(what, "% of a step", 100 * (with_one / without - 1), wanted=f"at most {100 * most:.0f}", notes=notes)


def costs(optimizer: optim.Optimizer, shapes: list[tuple[int, int]]) -> tuple[float, float]:
    """The processor time of a step without a report, and with one, in seconds."""
    random = np.random.default_rng(0)
    pairs: list[Any] = []
    for i, shape in enumerate(shapes):
        weights, gradient = random.standard_normal((2, *shape), np.float32)
        pairs.append((0.01 * gradient, optim.Variable(weights, name=f"layer{i}/weights")))
    took: dict[bool, list[float]] = {False: [], True: []}
    until = time.perf_counter() + timed(SECONDS)
    while len(took[True]) < 6 or time.perf_counter() < until:
        for report in sorted(took, reverse=len(took[True]) % 2 == 1):
            began = time.process_time()
            optimizer.apply_gradients(pairs, report=report)
            took[report].append(time.process_time() - began)
    return median(took[False][1:]), median(took[True][1:])  # the first ones make slots and kernels
