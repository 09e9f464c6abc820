"""How the costs of a step, its telemetry, clipping, gradients and graphs grow: with parameters, tensors, operations."""

from __future__ import annotations

import itertools
import tempfile
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

import optim
from benchmarks.bench_optim import THREADS, arrays_of
from benchmarks.growth import Growth, grown, rising
from benchmarks.peers import Contender
from benchmarks.places import in_memory
from benchmarks.scale import sized
from optim.kernels import threads
from summaries import SummaryWriter
from summaries.native import library

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

CLIP_NORM = 1e-4  # below every norm: to scale costs, too
ARRAYS = 50  # of which the parameters are
PARAMETERS = rising(sized(16_000_000, 3_200_000))
TENSORS, TENSOR_ELEMENTS = rising(sized(6_400, 1_600)), 100
OPERATIONS = rising(sized(3_200, 800))
# Up to a few MB the arrays stay in a cache, beyond they come from memory.
_CACHES = "small sizes fit in a cache, and memory is slower"


def figures() -> Iterator[Growth]:
    """Yield each as it is measured."""
    with in_memory() as directory:
        copies = {n: Contender(copying, (n,)) for n in PARAMETERS}
        yield grown("a copy of as many float32 as Adam has", "parameters", copies, _CACHES)  # shows what memory does
        costs: dict[str, tuple[Callable[..., Callable[[], object]], Any]] = {
            "a step of clip + Adam": (stepping, ()),
            "a step of clip + Adam, full report": (stepping, (True,)),
            "clip_by_global_norm": (clipping, ()),
            "a step of clip + Adam with summaries": (logging, (directory,)),
            "the first step with summaries": (beginning, (directory,)),
            "GradientMonitor.observe": (observing, (directory,)),
        }
        for cost, (prepare, more) in costs.items():
            sizes = {n: Contender(prepare, ((ARRAYS, n // ARRAYS), *more)) for n in PARAMETERS}
            yield grown(cost, "parameters", sizes, _CACHES)
            counts = {n: Contender(prepare, ((n, TENSOR_ELEMENTS), *more)) for n in TENSORS}
            yield grown(cost, f"tensors of {TENSOR_ELEMENTS} parameters", counts, _CACHES)
    for cost, prepare in {"minimize": minimizing, "trace_graph": tracing}.items():
        yield grown(cost, "operations", {n: Contender(prepare, (n,)) for n in OPERATIONS})


def copying(parameters: int) -> Callable[[], object]:
    """Weights, gradients and two slots."""
    source = np.ones(4 * parameters, np.float32)
    return partial(np.copyto, np.empty_like(source), source)


def pairs_of(shape: tuple[int, int]) -> list[tuple[Any, optim.Variable]]:
    """(gradient, Variable) of each array."""
    library.use(None)
    threads.set_num_threads(THREADS)
    return [(g, optim.Variable(w, name=f"layer{i}/weights")) for i, (w, g) in enumerate(arrays_of(shape))]


def stepping(shape: tuple[int, int], report: bool = False) -> Callable[[], object]:
    optimizer = optim.clip_gradients_by_norm(optim.AdamOptimizer(), CLIP_NORM)
    return partial(optimizer.apply_gradients, pairs_of(shape), report=report)


def logging(shape: tuple[int, int], directory: str) -> Callable[[], object]:
    """With flush: else few tensors would be written while nobody waits, and many make the step wait."""
    writer = SummaryWriter(tempfile.mkdtemp(dir=directory))
    optimizer = optim.with_summaries(optim.clip_gradients_by_norm(optim.AdamOptimizer(), CLIP_NORM), writer)
    pairs = pairs_of(shape)

    def run() -> None:
        optimizer.apply_gradients(pairs)
        writer.flush()

    return run


def beginning(shape: tuple[int, int], directory: str) -> Callable[[], object]:
    """With its slots, names and tags."""
    pairs = pairs_of(shape)

    def run() -> None:
        with SummaryWriter(tempfile.mkdtemp(dir=directory)) as writer:
            optim.with_summaries(optim.AdamOptimizer(), writer).apply_gradients(pairs)

    return run


def clipping(shape: tuple[int, int]) -> Callable[[], object]:
    return partial(optim.clip_by_global_norm, [gradient for gradient, _ in pairs_of(shape)], CLIP_NORM)


def observing(shape: tuple[int, int], directory: str) -> Callable[[], object]:
    gradients = {variable.name: gradient for gradient, variable in pairs_of(shape)}
    writer = SummaryWriter(tempfile.mkdtemp(dir=directory))
    monitor, numbers = optim.GradientMonitor(writer), itertools.count()

    def run() -> None:
        monitor.observe(next(numbers), gradients, clip_norm=CLIP_NORM)
        writer.flush()

    return run


def loss_of(operations: int) -> Callable[[], Any]:
    """A loss of so many operations, one after the other, each with a Variable."""
    variables = [optim.Variable(np.full(10, 0.9, np.float32), name=f"v{i}") for i in range(operations // 2)]

    def loss() -> Any:
        x = np.ones(10, np.float32)
        for variable in variables:
            x = np.tanh(x * variable)
        return np.sum(x)

    return loss


def minimizing(operations: int) -> Callable[[], object]:
    return partial(optim.GradientDescentOptimizer(1e-3).minimize, loss_of(operations))


def tracing(operations: int) -> Callable[[], object]:
    return partial(optim.trace_graph, loss_of(operations))
