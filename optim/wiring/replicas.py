"""GL751: replicas of DistributedDataParallel that should have the same parameters, and do not.

Ranks leave what they have found in torch.distributed's store, and rank 0 looks at it at a later step. So nobody waits
for anybody, and a rank that is not attached, or makes other steps, holds up no other.
"""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING, Any

import torch
from torch import distributed

from optim.wiring.mistake import Check, Mistake
from summaries.words import listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from optim.wiring.loop import Loop

__all__ = ["Replicas", "is_replicated"]

_FIRST = (1, 2, 4, 8, 16, 32)  # steps that are compared; later every so many
_EACH = 64
_MOST_WAITING = 8  # of other ranks that may not be attached
_numbers = itertools.count()  # of loops in this process; the ranks attach in the same order


class Replicas(Check):
    """Compares checksums of the parameters: the sum of each, which is the same number where they are the same."""

    def __init__(self) -> None:
        self._store: Any = None
        self._prefix = f"gradledger/wiring/{next(_numbers)}"
        self._waiting: dict[int, list[str]] = {}  # rank 0's own, by step, until the others' are there

    def after_step(self, loop: Loop) -> Iterator[Mistake]:
        if loop.steps in _FIRST or loop.steps % _EACH == 0:
            sums = [p.detach().sum(dtype=torch.float64) for p in loop.parameters.values() if p.is_floating_point()]
            own, rank = list(map(repr, torch.stack(sums).tolist())), distributed.get_rank()
            self._store = self._store or distributed.distributed_c10d._get_default_store()  # noqa: SLF001 - the only store that every rank has
            if rank:
                self._store.set(f"{self._prefix}/{loop.steps}/{rank}", json.dumps(own))
            else:
                self._waiting[loop.steps] = own
                self._waiting.pop(min(self._waiting) if len(self._waiting) > _MOST_WAITING else -1, None)
        if self._waiting:
            yield from self._compared(loop)

    def end(self, loop: Loop) -> Iterable[Mistake]:
        return self._compared(loop) if self._waiting else ()

    def _compared(self, loop: Loop) -> Iterator[Mistake]:
        """What differs at the steps of which all ranks have told."""
        for step, own in sorted(self._waiting.items()):
            keys = [f"{self._prefix}/{step}/{rank}" for rank in range(1, distributed.get_world_size())]
            if not self._store.check(keys):
                return
            del self._waiting[step]
            others = [json.loads(self._store.get(key)) for key in keys]
            names = loop.named(p for p in loop.parameters.values() if p.is_floating_point())
            differing = tuple(n for n, *sums in zip(names, own, *others, strict=True) if len(set(sums)) > 1)
            if differing:
                self._waiting.clear()
                ranks = [rank for rank, sums in enumerate(others, 1) if sums != own]
                message = (
                    f"{listed(differing)} differ{'s' if len(differing) == 1 else ''} between the replicas at step "
                )
                yield Mistake("GL751", f"{message}{step}: rank 0 and rank {listed(list(map(str, ranks)))}", differing)
                return


def is_replicated(model: Any) -> bool:
    """Whether other ranks have copies of a model."""
    ddp = torch.nn.parallel.DistributedDataParallel
    return isinstance(model, ddp) and distributed.is_initialized() and distributed.get_world_size() > 1
