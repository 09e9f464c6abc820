"""W&B's offline logging, as its users log: one dictionary for each step. Nothing is sent anywhere."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.peers import Contender, Measured

if TYPE_CHECKING:
    from collections.abc import Callable


def contender(prepare: Callable[..., Callable[[], object]], *args: object) -> Contender:
    """One of these, in W&B's process."""
    return Contender(prepare, args, "wandb")


def call(directory: str, tags: list[str], count: int) -> Callable[[], object]:
    """The calls alone, in seconds a scalar."""
    run = begin(directory)

    def once() -> Measured:
        began = time.perf_counter()
        log(run, tags, count)
        return Measured((time.perf_counter() - began) / count)

    return once


def scalars(directory: str, tags: list[str], count: int) -> Callable[[], object]:
    """A scalar, from the call to the finished run, in seconds; to begin a run takes half a second, and is left out."""

    def once() -> Measured:
        run = begin(directory)
        began = time.perf_counter()
        log(run, tags, count)
        run.finish()
        return Measured((time.perf_counter() - began) / count)

    return once


def histogram(directory: str, elements: int) -> Callable[[], object]:
    """A histogram of W&B's 64 bins: its call, since there is no flush."""
    import wandb

    values = np.random.default_rng(0).normal(size=elements).astype(np.float32)
    run = begin(directory)

    def once() -> None:
        run.log({"h": wandb.Histogram(values)})

    once()
    return once


def begin(directory: str) -> Any:
    """A new run."""
    import wandb

    return wandb.init(mode="offline", dir=directory, project="benchmarks", reinit="finish_previous")


def log(run: Any, tags: list[str], count: int) -> None:
    """Log `count` scalars: all tags at each step."""
    for _ in range(count // len(tags)):
        run.log(dict.fromkeys(tags, 0.5))
