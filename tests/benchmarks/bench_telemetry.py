"""The cost of logging gradients: with_summaries on our Adam; GradientMonitor, and logging by hand, on torch's.

    python -m pip install 'gradledger[fast]' torch==2.13.0

Every step clips by global norm and updates 50 arrays with Adam. Each line is timed in turns with its bare step, and the
shortest of all rounds counts. Event files go to a file system in memory if there is one.
"""

from __future__ import annotations

import functools
import os
import tempfile
from typing import TYPE_CHECKING, Any

import optim
from benchmarks.bench_optim import CLIP_NORM, LARGE, SMALL, THREADS, arrays_of, least
from optim.kernels import threads
from summaries import SummaryWriter

if TYPE_CHECKING:
    from collections.abc import Callable

    Step = Callable[[], Any]

_MEMORY = "/dev/shm"  # noqa: S108 - a file system in memory
MOST_SHARE = 0.15  # the most that telemetry may add to a large step, relative to the bare step
MOST_MICROSECONDS = 150  # the most that it may add to a small step


def our_step(shape: tuple[int, int], directory: str | None = None, every_n_steps: int = 1) -> Step:
    """A step of our Adam; with telemetry if a directory is given."""
    pairs = [(g, optim.Variable(w, name=f"layer{i}/weights")) for i, (w, g) in enumerate(arrays_of(shape))]
    optimizer = optim.clip_gradients_by_norm(optim.AdamOptimizer(), CLIP_NORM)
    if directory is not None:
        optimizer = optim.with_summaries(optimizer, SummaryWriter(tempfile.mkdtemp(dir=directory)), every_n_steps)
    return functools.partial(optimizer.apply_gradients, pairs)


def torch_steps(torch: Any, shape: tuple[int, int], directory: str) -> dict[str, Step]:
    """Steps of torch's fused Adam: bare, with norms logged by hand, and with GradientMonitor."""
    parameters = {}
    for i, (w, g) in enumerate(arrays_of(shape)):
        parameters[f"layer{i}.weights"] = torch.nn.Parameter(torch.from_numpy(w))
        parameters[f"layer{i}.weights"].grad = torch.from_numpy(g)
    every = list(parameters.values())
    optimizer = torch.optim.Adam(every, lr=1e-3, fused=True)
    writer = SummaryWriter(tempfile.mkdtemp(dir=directory))
    monitors = {n: optim.GradientMonitor(SummaryWriter(tempfile.mkdtemp(dir=directory)), n) for n in (1, 100)}
    step_number = 0

    def bare() -> None:
        torch.nn.utils.clip_grad_norm_(every, CLIP_NORM)
        optimizer.step()

    def by_hand() -> None:
        """Log the global norm, and the norms of each gradient and each weight, one by one."""
        nonlocal step_number
        step_number += 1
        writer.add_scalar("gradients/global_norm", torch.nn.utils.clip_grad_norm_(every, CLIP_NORM), step_number)
        for name, parameter in parameters.items():
            writer.add_scalar(f"gradients/norm/{name}", parameter.grad.norm(), step_number)
            writer.add_scalar(f"weights/norm/{name}", parameter.detach().norm(), step_number)
        optimizer.step()

    def monitored(every_n_steps: int) -> None:
        nonlocal step_number
        step_number += 1
        norm = torch.nn.utils.clip_grad_norm_(every, CLIP_NORM)
        pairs = list(parameters.items())
        monitors[every_n_steps].observe(step_number, pairs, clip_norm=CLIP_NORM, global_norm=norm)
        optimizer.step()

    return {
        "torch, bare": bare,
        "torch, norms by hand": by_hand,
        "torch, GradientMonitor": functools.partial(monitored, 1),
        "torch, GradientMonitor, every 100": functools.partial(monitored, 100),
    }


def report(steps: dict[str, Step], elements: int, seconds: float, wanted: dict[str, float]) -> None:
    """Print a line for each; the first is the bare step. `wanted` is in seconds, in addition to it."""
    found = dict(zip(steps, least(list(steps.values()), seconds), strict=True))
    bare = next(iter(found.values()))
    for name, took in found.items():
        more = took - bare
        row = f"  {name:<36}{took * 1e6:>10.0f}{took / elements * 1e9:>10.3f}{more * 1e6:>10.0f}{more / bare:>9.1%}"
        if name in wanted:
            limit = wanted[name]
            row += f"   at most {limit * 1e6:.0f} µs more" + ("" if more <= limit else "  short")
        print(row)


def main(seconds: float = 12.0) -> None:
    """Print the table; `seconds` for each group of lines."""
    try:
        import torch
    except ImportError:
        torch = None
        print("torch is not installed: ours alone")
    else:
        torch.set_num_threads(THREADS)
    threads.set_num_threads(THREADS)
    optim.compile_kernels()
    with tempfile.TemporaryDirectory(dir=_MEMORY if os.path.isdir(_MEMORY) else None) as directory:
        for shape in (SMALL, LARGE):
            count, size = shape
            print(f"{count} x {size:,}, clip + Adam{'':<15}{'µs':>10}{'ns/param':>10}{'more µs':>10}{'more':>9}")
            ours = {
                "ours, bare": our_step(shape),
                "ours, every step": our_step(shape, directory),
                "ours, every 100 steps": our_step(shape, directory, 100),
            }
            bare = least([ours["ours, bare"]], seconds / 6)[0]
            limit = MOST_MICROSECONDS * 1e-6 if shape == SMALL else MOST_SHARE * bare
            report(ours, count * size, seconds, {"ours, every step": limit})
            del ours
            if torch is not None:
                report(torch_steps(torch, shape, directory), count * size, seconds, {})
    threads.set_num_threads(None)


if __name__ == "__main__":
    main()
