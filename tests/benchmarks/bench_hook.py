"""What the torch hook adds to a step of a small transformer on the processor: steps with and without it take turns.

Two equal models, of which one has the hook. Its steps are not due, so that what is left are its looks at the loop: for
mistakes in it, most of them in the first steps.
"""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING, Any

from benchmarks.figures import Figure
from benchmarks.places import in_memory
from benchmarks.scale import sized

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROUNDS, FIRST, LATER = sized(3, 1), 16, sized(320, 32)
_NEVER = 1 << 40


def figures() -> Iterator[Figure]:
    """Yield two: the first steps, in which each is looked at; and later ones, of which each sixteenth is."""
    try:
        import torch
    except ImportError as error:
        yield Figure("a step with the torch hook", "ms", float("nan"), left_out={"torch": str(error)})
        return
    torch.set_num_threads(1)
    first: tuple[list[float], list[float]] = ([], [])
    later: tuple[list[float], list[float]] = ([], [])
    with in_memory() as directory:
        for number in range(ROUNDS):
            pair = training(f"{directory}/{number}"), training(None)
            for count, spent in ((FIRST, first), (LATER, later)):
                for _ in range(count):
                    for step, times in zip(pair, spent, strict=True):
                        times.append(milliseconds(step))
    for what, wanted, (ours, theirs) in (
        (f"the first {FIRST} steps", "", first),
        (f"{LATER} later steps", "at most 2 % more", later),
    ):
        hooked, plain = (statistics.median(times) for times in (ours, theirs))
        notes = (f"{hooked / plain - 1:+.1%} by medians, {trimmed(ours) / trimmed(theirs) - 1:+.1%} by means",)
        yield Figure(
            f"a step of a small transformer with the torch hook, {what}", "ms", hooked, {"without it": plain},
            wanted=wanted, notes=notes,
        )  # fmt: skip


def trimmed(times: list[float]) -> float:
    """The mean without the slowest twentieth, in which other programs had the processor."""
    return statistics.fmean(sorted(times)[: max(len(times) * 19 // 20, 1)])


def milliseconds(step: Callable[[], object]) -> float:
    """How long a step takes of the processor."""
    began = time.process_time()
    step()
    return 1000 * (time.process_time() - began)


def training(logdir: str | None) -> Callable[[], object]:
    """What makes a step; hooked, if there is a directory."""
    import torch

    from optim.integrations.torch import attach

    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(128, 4, 512, dropout=0.0, batch_first=True)
    model: Any = torch.nn.TransformerEncoder(layer, 3)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-4)
    hook = None if logdir is None else attach(optimizer, logdir, model, every_n_steps=_NEVER)
    x = torch.randn(8, 64, 128)

    def step() -> None:
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        if hook is not None:
            hook.loss(loss)
        optimizer.step()

    return step
