"""The cost of a step's norms: GradientMonitor, norms by hand, and torch's total alone, in one run.

All take turns, in one process, since ours works on torch's tensors. By hand means: the norm of each gradient and each
weight, one by one or by one call of torch's `_foreach_norm`, each logged as a scalar by our writer. `get_total_norm`
logs one scalar. With the flight recorder, steps are measured and kept, and not written.
"""

from __future__ import annotations

import itertools
import tempfile
from typing import TYPE_CHECKING, Any

import optim
from benchmarks.bench_optim import PAUSE_SECS, THREADS, arrays_of
from benchmarks.figures import OURS, Figure
from benchmarks.peers import Contender, compare
from benchmarks.places import in_memory
from benchmarks.scale import sized
from optim.kernels import threads
from summaries import SummaryWriter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SHAPES = ((50, 4_000), (20, sized(1_000_000, 100_000)))
_NEVER = 1 << 40


def figures() -> Iterator[Figure]:
    """Yield one for each size: GradientMonitor beside the other ways."""
    with in_memory() as directory:
        for shape in SHAPES:
            ways = {
                OURS: observing,
                "by hand": by_hand,
                "by hand with _foreach_norm": by_foreach,
                "get_total_norm": total_only,
                "ours, the total only": observing_the_total,
                "ours, flight recorder": recording,
            }
            contenders = {name: Contender(prepare, (shape, directory), "torch") for name, prepare in ways.items()}
            what = f"norms of {shape[0]} x {shape[1]:,} gradients and weights, logged"
            yield compare(what, "µs", contenders, seconds=3.0, pause=PAUSE_SECS)


def model_of(shape: tuple[int, int]) -> Any:
    """A torch module with such parameters and gradients."""
    import torch

    torch.set_num_threads(THREADS)
    threads.set_num_threads(THREADS)
    model = torch.nn.Module()
    for i, (w, g) in enumerate(arrays_of(shape)):
        parameter = torch.nn.Parameter(torch.from_numpy(w))
        parameter.grad = torch.from_numpy(g)
        model.register_parameter(f"layer{i}", parameter)
    return model


def writer_in(directory: str) -> SummaryWriter:
    return SummaryWriter(tempfile.mkdtemp(dir=directory))


def counted(step: Callable[[int], object]) -> Callable[[], object]:
    """The step, with a number that rises."""
    numbers = itertools.count(1)
    return lambda: step(next(numbers))


def by_hand(shape: tuple[int, int], directory: str) -> Callable[[], object]:
    parameters, log = dict(model_of(shape).named_parameters()), writer_in(directory)

    def step(number: int) -> None:
        total = 0.0
        for name, parameter in parameters.items():
            norm = parameter.grad.norm().item()
            total += norm * norm
            log.add_scalar(f"gradients/norm/{name}", norm, number)
            log.add_scalar(f"weights/norm/{name}", parameter.detach().norm().item(), number)
        log.add_scalar("gradients/global_norm", total**0.5, number)

    return counted(step)


def by_foreach(shape: tuple[int, int], directory: str) -> Callable[[], object]:
    import torch

    parameters, log = dict(model_of(shape).named_parameters()), writer_in(directory)

    def step(number: int) -> None:
        tensors = [parameter.grad for parameter in parameters.values()] + [*parameters.values()]
        norms = torch.stack(torch._foreach_norm(tensors)).tolist()
        for name, norm, of_weights in zip(parameters, norms, norms[len(parameters) :], strict=False):
            log.add_scalar(f"gradients/norm/{name}", norm, number)
            log.add_scalar(f"weights/norm/{name}", of_weights, number)
        log.add_scalar("gradients/global_norm", sum(norm * norm for norm in norms[: len(parameters)]) ** 0.5, number)

    return counted(step)


def total_only(shape: tuple[int, int], directory: str) -> Callable[[], object]:
    import torch

    model, log = model_of(shape), writer_in(directory)
    gradients = [parameter.grad for parameter in model.parameters()]
    return counted(lambda number: log.add_scalar("total", torch.nn.utils.get_total_norm(gradients), number))


def observing(shape: tuple[int, int], directory: str) -> Callable[[], object]:
    model, monitor = model_of(shape), optim.GradientMonitor(writer_in(directory))
    return counted(lambda number: monitor.observe(number, model))


def observing_the_total(shape: tuple[int, int], directory: str) -> Callable[[], object]:
    """At a step that is not due."""
    model, monitor = model_of(shape), optim.GradientMonitor(writer_in(directory), _NEVER)
    return counted(lambda number: monitor.observe(number, model, clip_norm=1.0))


def recording(shape: tuple[int, int], directory: str) -> Callable[[], object]:
    model, monitor = model_of(shape), optim.GradientMonitor(writer_in(directory), _NEVER, keep_last=500)
    return counted(lambda number: monitor.observe(number, model))
