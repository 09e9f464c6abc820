"""The cost of logging gradients: with_summaries on our Adam; GradientMonitor, and logging by hand, on torch's.

Every step clips by global norm and updates 50 arrays with Adam. Each takes turns with its bare step, and the shortest
of all counts. Event files go to a file system in memory if there is one.
"""

from __future__ import annotations

import functools
import itertools
import tempfile
from typing import TYPE_CHECKING, Any

import optim
from benchmarks.bench_optim import CLIP_NORM, LARGE, PAUSE_SECS, SMALL, THREADS, arrays_of
from benchmarks.figures import OURS, Figure
from benchmarks.peers import Contender, Outcome, take_turns
from benchmarks.places import in_memory
from optim.kernels import threads
from summaries import SummaryWriter
from summaries.native import library

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Step = Callable[[], Any]

MOST_SHARE = 0.15  # the most that telemetry may add to a large step, relative to the bare step
MOST_MICROSECONDS = 150  # the most that it may add to a small step


def figures() -> Iterator[Figure]:
    """Yield one for each size and library: steps with telemetry, beside the bare one."""
    with in_memory() as directory:
        for shape in (SMALL, LARGE):
            most = f"at most {MOST_MICROSECONDS} µs more" if shape == SMALL else f"at most {MOST_SHARE:.0%} more"
            contenders = {
                OURS: Contender(our_step, (shape, directory)),
                "every 100 steps": Contender(our_step, (shape, directory, 100)),
                "bare": Contender(our_step, (shape,)),
            }
            yield of("clip + Adam with summaries", shape, take_turns(contenders, 4.0, PAUSE_SECS), most)
        for shape in (SMALL, LARGE):
            contenders = {
                OURS: Contender(monitored, (shape, directory, 1), "torch"),
                "every 100 steps": Contender(monitored, (shape, directory, 100), "torch"),
                "norms by hand": Contender(by_hand, (shape, directory), "torch"),
                "bare": Contender(bare, (shape,), "torch"),
            }
            yield of("torch's clip + Adam with GradientMonitor", shape, take_turns(contenders, 4.0, PAUSE_SECS))


def of(what: str, shape: tuple[int, int], outcome: Outcome, wanted: str = "") -> Figure:
    """A figure of steps, which says how much more than the bare one each takes."""
    least = {name: took * 1e6 for name, took in outcome.least().items()}
    bare = least["bare"]
    more = f"{least[OURS] - bare:.0f} µs more than bare, {least[OURS] / bare - 1:.1%}"
    return Figure(f"{what}, {shape[0]} x {shape[1]:,}", "µs", least.pop(OURS), least, wanted=wanted, notes=(more,))


def our_step(shape: tuple[int, int], directory: str | None = None, every_n_steps: int = 1) -> Step:
    """A step of our Adam; with telemetry if a directory is given."""
    library.use(None)
    threads.set_num_threads(THREADS)
    pairs = [(g, optim.Variable(w, name=f"layer{i}/weights")) for i, (w, g) in enumerate(arrays_of(shape))]
    optimizer = optim.clip_gradients_by_norm(optim.AdamOptimizer(), CLIP_NORM)
    if directory is not None:
        optimizer = optim.with_summaries(optimizer, SummaryWriter(tempfile.mkdtemp(dir=directory)), every_n_steps)
    return functools.partial(optimizer.apply_gradients, pairs)


def torch_adam(shape: tuple[int, int]) -> tuple[dict[str, Any], Any, Step]:
    """Parameters by name, torch's fused Adam of them, and a function that clips their gradients."""
    import torch

    torch.set_num_threads(THREADS)
    threads.set_num_threads(THREADS)
    parameters = {}
    for i, (w, g) in enumerate(arrays_of(shape)):
        parameters[f"layer{i}.weights"] = torch.nn.Parameter(torch.from_numpy(w))
        parameters[f"layer{i}.weights"].grad = torch.from_numpy(g)
    every = list(parameters.values())
    clip = functools.partial(torch.nn.utils.clip_grad_norm_, every, CLIP_NORM)
    return parameters, torch.optim.Adam(every, lr=1e-3, fused=True), clip


def bare(shape: tuple[int, int]) -> Step:
    _, optimizer, clip = torch_adam(shape)

    def step() -> None:
        clip()
        optimizer.step()

    return step


def by_hand(shape: tuple[int, int], directory: str) -> Step:
    """Log the global norm, and the norms of each gradient and each weight, one by one."""
    parameters, optimizer, clip = torch_adam(shape)
    writer, numbers = SummaryWriter(tempfile.mkdtemp(dir=directory)), itertools.count()

    def step() -> None:
        number = next(numbers)
        writer.add_scalar("gradients/global_norm", clip(), number)
        for name, parameter in parameters.items():
            writer.add_scalar(f"gradients/norm/{name}", parameter.grad.norm(), number)
            writer.add_scalar(f"weights/norm/{name}", parameter.detach().norm(), number)
        optimizer.step()

    return step


def monitored(shape: tuple[int, int], directory: str, every_n_steps: int) -> Step:
    """Let GradientMonitor log the same, and more."""
    parameters, optimizer, clip = torch_adam(shape)
    pairs, numbers = list(parameters.items()), itertools.count()
    monitor = optim.GradientMonitor(SummaryWriter(tempfile.mkdtemp(dir=directory)), every_n_steps)

    def step() -> None:
        monitor.observe(next(numbers), pairs, clip_norm=CLIP_NORM, global_norm=clip())
        optimizer.step()

    return step
