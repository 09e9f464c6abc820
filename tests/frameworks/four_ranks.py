"""Four processes that train `reference_loop.network`, each on its share of every batch, and log it.

    python four_ranks.py DIRECTORY RANK

Run by test_four_ranks. Each case makes a run below the directory.
"""

import os
import sys
from contextlib import nullcontext

import torch
import torch.distributed as dist
from reference_loop import CLIP, LR, batches, network
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

from optim.integrations.torch import attach

DIRECTORY, RANK = sys.argv[1], int(sys.argv[2])
RANKS = 4


def sharded(model, mesh):
    for layer in (model[0], model[2]):
        fully_shard(layer, mesh=mesh)
    return fully_shard(model, mesh=mesh)


def in_two_ways(model, mesh):
    parallelize_module(model, mesh["tensor"], {"0": ColwiseParallel(), "2": RowwiseParallel()})
    return sharded(model, mesh["data"])


def replicated(model, mesh):
    return torch.nn.parallel.DistributedDataParallel(model)


CASES = {
    "ddp": (replicated, (RANKS,), RANKS),
    "fsdp2": (sharded, (RANKS,), RANKS),
    "hybrid fsdp2": (sharded, (2, 2), RANKS),
    "fsdp2 of tensor parallel": (in_two_ways, (2, 2), 2),
}
"""Name → what shards or copies the model, the shape of its mesh, into how many shares a batch is cut."""


def train(name, accumulate, *, clips):
    wrap, shape, shares = CASES[name]
    mesh = init_device_mesh("cpu", shape, mesh_dim_names=("data", "tensor")[: len(shape)])
    model = wrap(network(torch), mesh)
    own = RANK * shares // RANKS
    optimizer = torch.optim.SGD(model.parameters(), LR)
    case = name + " accumulated" * (accumulate > 1) + " clipped" * clips
    hook = attach(optimizer, f"{DIRECTORY}/{case}", model)
    for i, (x, y) in enumerate(batches(torch, 6 * accumulate)):
        last = (i + 1) % accumulate == 0
        with nullcontext() if last or name != "ddp" else model.no_sync():
            loss = torch.nn.functional.mse_loss(model(x.chunk(shares)[own]), y.chunk(shares)[own])
            (loss / accumulate).backward()
        if last:
            if clips:
                clip(model)
            optimizer.step()
            optimizer.zero_grad()
    hook.remove()


def clip(model):
    """By the common norm, which torch's own function has for gradients on one mesh."""
    gradients = [p.grad for p in model.parameters()]
    meshes = {getattr(gradient, "device_mesh", None) for gradient in gradients}
    groups = [[g for g in gradients if getattr(g, "device_mesh", None) == mesh] for mesh in meshes]
    parts = [torch.nn.utils.get_total_norm(group) for group in groups]
    total = torch.stack([p.full_tensor() if isinstance(p, DTensor) else p for p in parts]).norm()
    torch.nn.utils.clip_grads_with_norm_(model.parameters(), CLIP, total)


def main():
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "RANK": str(RANK), "WORLD_SIZE": str(RANKS)}
    dist.init_process_group("gloo", init_method=f"file://{DIRECTORY}/meeting", rank=RANK, world_size=RANKS)
    for name in CASES:
        train(name, 1, clips=False)
        train(name, 1, clips=True)
        train(name, 3, clips=True)
    dist.destroy_process_group()


main()
sys.stdout.flush()
sys.stderr.flush()
os._exit(0)  # as sharded_ranks does
