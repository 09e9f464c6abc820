"""Two processes of which each trains a part that no tensor tells of: run by test_parted.

    python parted_ranks.py DIRECTORY RANK

Each case makes a run below the directory.
"""

import json
import math
import os
import sys
import warnings

import torch
import torch.distributed as dist
from reference_loop import LR, batches, network
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.optim import ZeroRedundancyOptimizer

from optim.integrations import torch_peers
from optim.integrations.torch import attach

DIRECTORY, RANK = sys.argv[1], int(sys.argv[2])


def run(case, model, train, optimizer=None, **options):
    """What one rank is told while it trains, and the norms of its own gradients at each step."""
    made = torch.optim.SGD(model.parameters(), LR) if optimizer is None else optimizer
    inner, here = options.pop("inner", lambda made: made), options.pop("here", True)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        hook = attach(inner(made), f"{DIRECTORY}/{case}", model, **options) if here else None
        squares = []
        for x, y in batches(torch, 3):
            made.zero_grad()
            train(model, x, y)
            gradients = [p.grad.full_tensor() if hasattr(p, "full_tensor") else p.grad for p in model.parameters()]
            squares.append(sum(float(gradient.square().sum()) for gradient in gradients))
            if "clip" in case:
                total = torch.tensor(squares[-1])
                dist.all_reduce(total)
                torch.nn.utils.clip_grads_with_norm_(model.parameters(), 0.05, total.sqrt())
            made.step()
        if hook is not None:
            hook.remove()
    return {"told": [str(each.message) for each in told if "gradients" in str(each.message)], "squares": squares}


def stage(model, x, y):
    """A pipeline of two linear layers of the same shape: activations go one way, their gradients back."""
    if RANK == 0:
        out = model(x)
        dist.send(out.detach(), 1)
        back = torch.empty_like(out)
        dist.recv(back, 1)
        out.backward(back)
        return
    into = torch.empty(len(x), 8)
    dist.recv(into, 0)
    into.requires_grad_()
    torch.nn.functional.mse_loss(model(into).sum(1, keepdim=True), y).backward()
    dist.send(into.grad, 0)


def whole(model, x, y):
    torch.nn.functional.mse_loss(model(x), y).backward()


def a_stage():
    torch.manual_seed(RANK)
    return torch.nn.Linear(8, 8)


def sharded():
    return fully_shard(network(torch), mesh=init_device_mesh("cpu", (2,)))


def zero(model):
    return ZeroRedundancyOptimizer(model.parameters(), torch.optim.SGD, lr=LR)


def main():
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "RANK": str(RANK), "WORLD_SIZE": "2"}
    dist.init_process_group("gloo", init_method=f"file://{DIRECTORY}/meeting", rank=RANK, world_size=2)
    torch_peers.PATIENCE_SECS = 1.0
    ddp = torch.nn.parallel.DistributedDataParallel
    known = [0.0]

    def told_stage(model, x, y):
        stage(model, x, y)
        total = torch.tensor(sum(float(p.grad.square().sum()) for p in model.parameters()))
        dist.all_reduce(total)
        known[0] = math.sqrt(total)

    models = [ddp(network(torch)) for _ in range(4)]
    found = {
        "stage": run("stage", a_stage(), stage),
        "stage, group": run("stage, group", a_stage(), stage, group=dist.group.WORLD),
        "stage, clip, group": run("stage, clip, group", a_stage(), stage, group=dist.group.WORLD),
        "stage, global_norm": run("stage, global_norm", a_stage(), told_stage, global_norm=lambda: known[0]),
        "ddp": run("ddp", models[0], whole),
        "ddp, one hook": run("ddp, one hook", models[1], whole, here=RANK == 0),
        "zero": run("zero", models[2], whole, zero(models[2])),
        "zero, inner": run("zero, inner", models[3], whole, zero(models[3]), inner=lambda made: made.optim),
        "fsdp2, one hook": run("fsdp2, one hook", sharded(), whole, here=RANK == 0),
    }
    with open(f"{DIRECTORY}/found-{RANK}.json", "w", encoding="utf-8") as file:
        json.dump(found, file)
    dist.barrier()
    dist.destroy_process_group()


main()
sys.stdout.flush()
sys.stderr.flush()
os._exit(0)  # as in sharded_ranks.py
