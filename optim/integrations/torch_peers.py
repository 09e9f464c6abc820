"""What the other ranks of torch.distributed train, as far as a hook has to know it.

A hook measures what its optimizer trains, and sums what DTensors and FSDP1 shard. The rest it cannot see in a tensor:

| other ranks | what a hook does |
|---|---|
| hold parts of these parameters, and have no hook | measures nothing, since nobody would answer, and warns |
| train others: stages of a pipeline, inner optimizers of ZeroRedundancyOptimizer | logs no global norm, and warns |
| the same, and they are in `group` | sums the global norm over the group |

Hooks leave a note in the store by which the ranks have found one another. So a rank without one keeps nobody waiting
for longer than `PATIENCE_SECS`; in a collective, it would keep all waiting.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import time
import warnings
from typing import TYPE_CHECKING, Any

import torch
from torch import distributed

from optim.integrations.ranks import rank
from optim.telemetry.arriving import Arriving
from optim.telemetry.shards import flat_groups
from optim.wiring.versions import local_part

if TYPE_CHECKING:
    from collections.abc import Callable

    from optim.integrations.selected import Selected
    from optim.telemetry.measuring import Measured, Observation

__all__ = ["PATIENCE_SECS", "Peers"]

PATIENCE_SECS = 60.0  # for hooks of ranks that hold parts of the same parameters: they step together
_GRACE_SECS = 5.0  # for a hook that is there to say what it trains
_PAUSE_SECS = 0.02
_ELEMENTS = 8  # of each parameter, that tell a copy from another one

_attached: dict[str, str] = {}  # of this process's hooks: a digest of the names -> one of the elements, "" until a step


class Peers:
    """The hooks of the other ranks.

    Args:
        selected: what is measured here.
        group: the process group whose ranks train other parameters of the same model; or None.
        knows_norm: whether the global norm comes from elsewhere.
    """

    def __init__(self, selected: Selected, group: Any, *, knows_norm: bool) -> None:
        self._selected, self._group, self._knows_norm = selected, group, knows_norm
        self._asked = self._alone = self._partial = False
        self._names = ""
        if distributed.is_available() and distributed.is_initialized() and distributed.get_world_size() > 1:
            self._names = _digest(name for name, _ in selected.named_parameters())
            _tell(self._names, "")

    @property
    def are_there(self) -> bool:
        """Whether there may be any."""
        return bool(self._names) or self._group is not None

    def answer(self) -> bool:
        """Whether those ranks that hold parts of these parameters are attached too; otherwise it warns once."""
        if self._names and not self._asked:
            self._asked = True
            self._ask()
        return not self._alone

    def completed(self, observation: Observation | None) -> Observation | None:
        """The observation with the norm of all ranks of the group; without one, if this rank's is a part of it."""
        if self._group is not None:
            return self._summed(observation)
        if self._partial and observation is not None:
            partial = observation.found.then(lambda measured: measured._replace(norm=None, nonfinite=None))
            return observation._replace(found=partial)
        return observation

    def leave(self) -> None:
        """Take the note away."""
        if _attached.pop(self._names, None) is not None and distributed.is_initialized():
            with contextlib.suppress(RuntimeError):  # the rank that holds the store may have ended
                _write()

    def _summed(self, observation: Observation | None) -> Observation | None:
        norm, nonfinite = (None, None) if observation is None else observation.measured[:2]
        device = next((p.device.type for p in self._selected.parameters().values()), "cpu")
        sums = torch.tensor([(norm or 0.0) ** 2, nonfinite or 0, norm is not None], dtype=torch.float64, device=device)
        distributed.all_reduce(sums, group=self._group)
        if observation is None:
            return None
        squares, nonfinite, known = sums.tolist()
        measured: Measured = observation.measured
        if known:
            measured = measured._replace(norm=math.sqrt(squares), nonfinite=int(nonfinite))
        return observation._replace(found=Arriving.of(measured))

    def _ask(self) -> None:
        parameters = dict(self._selected.named_parameters())
        holders = _holders(self._selected, parameters)
        if holders:
            missing = _waiting_for(lambda: [k for k in sorted(holders) if self._names not in _read(k)], PATIENCE_SECS)
            self._alone = bool(missing)
            if missing:
                warnings.warn(
                    "gradients are not measured: each rank holds a part of them, and the hook is not attached on rank "
                    f"{', '.join(map(str, missing))}. Attach it on every rank; one of them writes.",
                    stacklevel=5,
                )
        elif self._group is None and not self._knows_norm:
            different = self._training_others(parameters)
            self._partial = bool(different)
            if different:
                warnings.warn(
                    f"rank {rank()} trains other parameters than rank {different[0]}, as a stage of a pipeline or the "
                    "inner optimizer of ZeroRedundancyOptimizer does, so gradients/global_norm and clipping's tags are "
                    "not logged. Pass group=, to sum the norm over the stages' process group, or global_norm=, a "
                    "function that returns it; attach to ZeroRedundancyOptimizer itself.",
                    stacklevel=5,
                )

    def _training_others(self, parameters: dict[str, Any]) -> list[int]:
        """The ranks with hooks, but none for copies of these parameters."""
        few = [local_part(p.detach()).reshape(-1)[:_ELEMENTS].double().tolist() for p in parameters.values()]
        mine = _digest(zip((tuple(p.shape) for p in parameters.values()), few, strict=True))
        _tell(self._names, mine)
        others = range(distributed.get_world_size())
        _waiting_for(lambda: [k for k in others if _read(k).get(self._names) == ""], _GRACE_SECS)
        notes = {k: _read(k) for k in others}
        return [k for k, note in notes.items() if note and note.get(self._names) not in {mine, ""}]


def _waiting_for(missing: Callable[[], list[int]], patience_secs: float) -> list[int]:
    """The ranks that are still missing after a while."""
    until = time.monotonic() + patience_secs
    while (ranks := missing()) and time.monotonic() < until:
        time.sleep(_PAUSE_SECS)
    return ranks


def _holders(selected: Selected, parameters: dict[str, Any]) -> set[int]:
    """The ranks that hold parts of these parameters."""
    ranks: set[int] = set()
    for mesh in {parameter.device_mesh for parameter in parameters.values() if hasattr(parameter, "device_mesh")}:
        ranks |= set(mesh.mesh.flatten().tolist())
    for owner in flat_groups(selected, parameters):
        ranks |= set(distributed.get_process_group_ranks(owner[0])) if owner is not None else set()
    return ranks


def _digest(told: Any) -> str:
    return hashlib.sha256(repr(list(told)).encode()).hexdigest()


def _tell(names: str, elements: str) -> None:
    """Leave this process's note for the other ranks."""
    _attached[names] = elements
    _write()


def _write() -> None:
    _store().set(_key(rank()), json.dumps(_attached))


def _read(of: int) -> dict[str, str]:
    """What another rank has left; nothing if it has no hooks."""
    note: dict[str, str] = json.loads(_store().get(_key(of))) if _store().check([_key(of)]) else {}
    return note


def _store() -> Any:
    return distributed.distributed_c10d._get_default_store()  # noqa: SLF001 - it has no public name


def _key(of: int) -> str:
    return f"gradledger/hooks/{of}"
