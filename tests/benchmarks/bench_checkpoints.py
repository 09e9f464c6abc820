"""Checkpoints of 50 arrays, 8 MB in all: saved so that a loss of power leaves the old one or the new one, and restored.

Ours has a checksum of each array, keeps a list of checkpoints, and syncs all of it. Peers' files are moved to their
names, and nothing is synced. They lie in memory, where a sync costs next to nothing: what is left is the work.
"""

from __future__ import annotations

import functools
import itertools
import os
from typing import TYPE_CHECKING, Any

import numpy as np

import optim
from benchmarks.figures import OURS
from benchmarks.peers import Contender, compare
from benchmarks.places import in_memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from benchmarks.figures import Figure

ARRAYS, SHAPE = 50, (200, 200)
SECS = 1.0


def figures() -> Iterator[Figure]:
    """Yield one for saving, and one for restoring."""
    with in_memory() as directory:
        for what, prepare in (("save", saving), ("restore", restoring)):
            contenders = {
                OURS: Contender(prepare, (OURS, directory)),
                "torch": Contender(prepare, ("torch", directory), "torch"),
                "safetensors": Contender(prepare, ("safetensors", directory), "safetensors"),
            }
            yield compare(f"{what} {ARRAYS} arrays, 8 MB, in memory", "ms", contenders, seconds=SECS)


def saving(library: str, directory: str) -> Callable[[], object]:
    """Save over and over: ours keeps two checkpoints, a peer's file is replaced."""
    path = os.path.join(directory, library)
    if library == OURS:
        saver, steps = optim.Saver(variables(), max_to_keep=2), itertools.count()
        return lambda: saver.save(path, global_step=next(steps))
    save = saved_by(library)

    def replaced() -> None:
        save(path + ".new")
        os.replace(path + ".new", path)

    return replaced


def restoring(library: str, directory: str) -> Callable[[], object]:
    """Restore what was saved once."""
    path = os.path.join(directory, f"{library}-restored")
    if library == OURS:
        saver = optim.Saver(variables())
        return functools.partial(saver.restore, saver.save(path))
    saved_by(library)(path)
    if library == "torch":
        import torch

        return lambda: torch.load(path, weights_only=True)
    from safetensors.numpy import load_file

    return lambda: load_file(path)


def variables() -> list[optim.Variable]:
    """What ours saves."""
    return [optim.Variable(array, name=name) for name, array in arrays().items()]


def arrays() -> dict[str, NDArray[Any]]:
    """What all save."""
    return {f"layer{number}/w": np.ones(SHAPE, np.float32) for number in range(ARRAYS)}


def saved_by(library: str) -> Callable[[str], None]:
    """How a peer writes a file."""
    if library == "torch":
        import torch

        tensors = {name: torch.from_numpy(array) for name, array in arrays().items()}
        return lambda path: torch.save(tensors, path)
    from safetensors.numpy import save_file

    return functools.partial(save_file, arrays())
