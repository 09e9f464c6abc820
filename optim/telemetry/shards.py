"""Which ranks hold the other parts of a torch tensor, and sums over those ranks.

| tensor | its other parts |
|---|---|
| plain, as in DDP | none: each rank has all of it |
| DTensor: FSDP2, tensor and expert parallelism | on its mesh; where it is replicated, one rank's copy counts |
| FSDP1's flat parameters, and views of them | on the process group of the FSDP module that owns them |
| plain, but marked as one expert or one part, as Megatron and DeepSpeed do | not known here |
"""

from __future__ import annotations

import sys
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from optim.kernels.stats import LARGEST
from summaries.foreign_arrays import library_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    Table = NDArray[np.float64]

__all__ = ["Shards", "flat_groups", "local_parts", "not_known_here", "over_all_ranks"]


class Shards(NamedTuple):
    """Rows of a table whose tensors lie on the same ranks.

    Attributes:
        rows: the rows.
        counted: for each row, whether this rank's elements count; False if they are a copy of another rank's.
        groups: the process groups to sum over, one after the other.
        device: the kind of device that these groups communicate from.
    """

    rows: list[int]
    counted: list[bool]
    groups: list[Any]
    device: str


def local_parts(leaves: Sequence[Any], flat: Sequence[Any]) -> tuple[list[Any], list[Shards]]:
    """Each leaf's elements on this rank, and where the others are.

    Args:
        leaves: arrays of any library.
        flat: for each variable its (group, device) if FSDP1 flattened it, else None; [] if none is. The leaves are all
            variables' gradients, then perhaps all their weights, and so on.
    """
    parts = list(leaves)
    if not flat and not any(library_of(kind) == "DTensor" for kind in set(map(type, parts))):
        return parts, []
    meshes: dict[Any, dict[int, Any]] = {}
    for row, leaf in enumerate(leaves):
        if library_of(type(leaf)) == "DTensor":
            tensor = _without_pending_sums(leaf)
            meshes.setdefault(tensor.device_mesh, {})[row] = tensor
            parts[row] = tensor.to_local()
    shards = [_on_mesh(mesh, tensors) for mesh, tensors in meshes.items()]
    groups: dict[Any, list[int]] = {}
    for row in range(len(leaves)) if flat else ():
        if flat[row % len(flat)] is not None:
            groups.setdefault(flat[row % len(flat)], []).append(row)
    shards += [Shards(rows, [True] * len(rows), [group], device) for (group, device), rows in groups.items()]
    return parts, [shard for shard in shards if shard.groups or not all(shard.counted)]


def over_all_ranks(table: Table, shards: Sequence[Shards], *, largest: bool) -> Table:
    """The table of whole tensors, from that of this rank's parts: one reduction for each group.

    Args:
        table: float64[tensors, columns]: sums over the elements, and in the column LARGEST a maximum.
        shards: as `local_parts` found them.
        largest: whether the maxima are needed.
    """
    table = table.copy()
    for shard in shards:
        part = table[shard.rows]
        part[~np.array(shard.counted)] = 0.0
        most = table[shard.rows, LARGEST]
        table[shard.rows] = _reduced(part, shard, "SUM")
        if largest:
            table[shard.rows, LARGEST] = _reduced(most, shard, "MAX")
    return table


def flat_groups(tree: Any, parameters: Mapping[str, Any]) -> list[Any]:
    """For each parameter the (group, device) that FSDP1 shards it over, or None; [] if FSDP1 shards none.

    Args:
        tree: what the caller gave: only the module knows the groups.
        parameters: by name.
    """
    if not any(_is_flat(parameter) for parameter in _marked(parameters).values()):
        return []
    owners = _fsdp_owners(tree)
    return [owners.get(id(parameter)) for parameter in parameters.values()]


def not_known_here(tree: Any, parameters: Mapping[str, Any]) -> dict[str, str]:
    """The names of parameters of which other ranks hold parts or others of the kind, and nothing says which ranks.

    Args:
        tree: what the caller gave.
        parameters: by name.

    Returns:
        Name → what this rank holds.
    """
    holdings = {}
    for name, parameter in _marked(parameters).items():
        marks = parameter.__dict__
        if library_of(type(parameter)) == "DTensor":
            continue
        if marks.get("allreduce") is False:
            holdings[name] = "one of several experts:"
        elif marks.get("tensor_model_parallel"):
            holdings[name] = "a part of it:"
        elif _is_flat(parameter) and id(parameter) not in _fsdp_owners(tree):
            holdings[name] = (
                "a part that FSDP made: give the outermost FSDP module itself, which knows the other ranks, or"
            )
    return holdings


def _marked(parameters: Mapping[str, Any]) -> Mapping[str, Any]:
    """Those that have attributes of their own, which is how libraries mark them; most have none."""
    if not any(map(attrgetter("__dict__"), parameters.values())):
        return {}
    return {name: parameter for name, parameter in parameters.items() if parameter.__dict__}


def _is_flat(parameter: Any) -> bool:
    """Whether FSDP1 flattened this parameter, or made it by flattening others."""
    return "_fsdp_flattened" in parameter.__dict__


def _fsdp_owners(tree: Any) -> dict[int, Any]:
    """Parameter's id → its (group, device); None for one that FSDP does not shard."""
    fsdp = sys.modules["torch.distributed.fsdp"]
    owners: dict[int, Any] = {}
    for module in tree.modules() if hasattr(tree, "modules") else ():  # inner ones come later
        if isinstance(module, fsdp.FullyShardedDataParallel):
            whole = module.sharding_strategy is fsdp.ShardingStrategy.NO_SHARD
            owner = None if whole else (module.process_group, module.compute_device.type)
            owners |= {id(parameter): owner for parameter in module.parameters()}
    return owners


def _without_pending_sums(tensor: Any) -> Any:
    """The DTensor itself; if ranks hold summands of it, the sum."""
    if not any(placement.is_partial() for placement in tensor.placements):
        return tensor
    replicate = sys.modules["torch.distributed.tensor"].Replicate()
    placements = [replicate if placement.is_partial() else placement for placement in tensor.placements]
    return tensor.redistribute(placements=placements)


def _on_mesh(mesh: Any, tensors: Mapping[int, Any]) -> Shards:
    """DTensors of one mesh: summed along the dimensions that shard any of them."""
    placements = [tensor.placements for tensor in tensors.values()]
    dimensions = [
        d for d in range(mesh.ndim) if mesh.size(d) > 1 and not all(each[d].is_replicate() for each in placements)
    ]
    here = mesh.get_coordinate()
    if here is None:  # a rank outside of the mesh has no elements, and none to talk to
        return Shards(list(tensors), [False] * len(tensors), [], mesh.device_type)
    counted = [all(here[d] == 0 or not each[d].is_replicate() for d in dimensions) for each in placements]
    return Shards(list(tensors), counted, [mesh.get_group(d) for d in dimensions], mesh.device_type)


def _reduced(values: Table, shard: Shards, how: str) -> Table:
    torch = sys.modules["torch"]
    distributed = torch.distributed
    tensor = torch.from_numpy(values).to(shard.device)
    for group in shard.groups:
        distributed.all_reduce(tensor, getattr(distributed.ReduceOp, how), group=group)
    result: Table = tensor.cpu().numpy()
    return result
