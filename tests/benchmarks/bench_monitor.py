"""The cost of a step's norms: GradientMonitor, norms by hand, and torch's total alone, in one run.

    python -m pip install 'gradledger[fast]' torch==2.13.0

All are timed in turns, and the shortest of all rounds counts. By hand means: the norm of each gradient and each
weight, one by one or by one call of torch's `_foreach_norm`, each logged as a scalar by our writer. `get_total_norm`
logs one scalar. With the flight recorder, steps are measured and kept, and not written.
"""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING, Any

import optim
from benchmarks.bench_optim import THREADS, arrays_of, least
from optim.kernels import threads
from summaries import SummaryWriter

if TYPE_CHECKING:
    from collections.abc import Callable

    Step = Callable[[], Any]

SHAPES = ((50, 4_000), (20, 1_000_000))
_MEMORY = "/dev/shm"  # noqa: S108 - a file system in memory
_SECONDS = 10.0  # for each shape


def steps_of(torch: Any, shape: tuple[int, int], directory: str) -> dict[str, Step]:
    """What to time."""
    model = torch.nn.Module()
    for i, (w, g) in enumerate(arrays_of(shape)):
        parameter = torch.nn.Parameter(torch.from_numpy(w))
        parameter.grad = torch.from_numpy(g)
        model.register_parameter(f"layer{i}", parameter)
    parameters = dict(model.named_parameters())
    gradients = [parameter.grad for parameter in parameters.values()]

    def writer() -> SummaryWriter:
        return SummaryWriter(tempfile.mkdtemp(dir=directory))

    log, monitor = writer(), optim.GradientMonitor(writer())
    sparse, recorder = optim.GradientMonitor(writer(), 1 << 40), optim.GradientMonitor(writer(), 1 << 40, keep_last=500)
    number = 0

    def counted(step: Callable[[int], Any]) -> Step:
        def run() -> None:
            nonlocal number
            number += 1
            step(number)

        return run

    def by_hand(step: int) -> None:
        total = 0.0
        for name, parameter in parameters.items():
            norm = parameter.grad.norm().item()
            total += norm * norm
            log.add_scalar(f"gradients/norm/{name}", norm, step)
            log.add_scalar(f"weights/norm/{name}", parameter.detach().norm().item(), step)
        log.add_scalar("gradients/global_norm", total**0.5, step)

    def by_foreach(step: int) -> None:
        tensors = [parameter.grad for parameter in parameters.values()] + [*parameters.values()]
        norms = torch.stack(torch._foreach_norm(tensors)).tolist()
        for name, norm, of_weights in zip(parameters, norms, norms[len(parameters) :], strict=False):
            log.add_scalar(f"gradients/norm/{name}", norm, step)
            log.add_scalar(f"weights/norm/{name}", of_weights, step)
        log.add_scalar("gradients/global_norm", sum(norm * norm for norm in norms[: len(parameters)]) ** 0.5, step)

    def total_only(step: int) -> None:
        log.add_scalar("total", torch.nn.utils.get_total_norm(gradients), step)

    return {
        "norms by hand, logged": counted(by_hand),
        "by hand with _foreach_norm, logged": counted(by_foreach),
        "GradientMonitor": counted(lambda step: monitor.observe(step, model)),
        "get_total_norm, logged": counted(total_only),
        "GradientMonitor, the total only": counted(lambda step: sparse.observe(step, model, clip_norm=1.0)),
        "GradientMonitor, flight recorder": counted(lambda step: recorder.observe(step, model)),
    }


def main(seconds: float = _SECONDS) -> None:
    """Print the table."""
    try:
        import torch
    except ImportError:
        print("torch is not installed: nothing to compare with")
        return
    torch.set_num_threads(THREADS)
    threads.set_num_threads(THREADS)
    optim.compile_kernels()
    with tempfile.TemporaryDirectory(dir=_MEMORY if os.path.isdir(_MEMORY) else None) as directory:
        for shape in SHAPES:
            count, size = shape
            print(f"{count} x {size:,}, norms of gradients and weights{'':<8}{'µs':>10}{'of by hand':>12}")
            steps = steps_of(torch, shape, directory)
            found = dict(zip(steps, least(list(steps.values()), seconds), strict=True))
            by_hand = next(iter(found.values()))
            for name, took in found.items():
                print(f"  {name:<40}{took * 1e6:>12.0f}{took / by_hand:>12.2f}")
    threads.set_num_threads(None)


if __name__ == "__main__":
    main()
