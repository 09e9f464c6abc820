"""Two processes that train `reference_loop.network` sharded in every way, and log it: run by test_sharded.

    python sharded_ranks.py DIRECTORY RANK

Each case makes a run below the directory, with `rank=<k>` below that.
"""

import json
import os
import sys
from contextlib import nullcontext

import torch
import torch.distributed as dist
from reference_loop import CLIP, LR, batches, network
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FullyShardedDataParallel, ShardingStrategy, fully_shard
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

from optim import GradientMonitor
from optim.integrations.torch import attach
from optim.telemetry.trees import gradients_by_name
from summaries import SummaryWriter

DIRECTORY, RANK = sys.argv[1], int(sys.argv[2])
CPU = torch.device("cpu")


def fsdp2(model, mesh, **options):
    for layer in (model[0], model[2]):
        fully_shard(layer, mesh=mesh, **options)
    return fully_shard(model, mesh=mesh, **options)


def tensor_parallel(model, mesh):
    return parallelize_module(model, mesh, {"0": ColwiseParallel(), "2": RowwiseParallel()})


def fsdp1(model, mesh, **options):
    return FullyShardedDataParallel(model, device_id=CPU, **options)


def nested_fsdp1(model, mesh):
    model[0] = FullyShardedDataParallel(model[0], device_id=CPU, use_orig_params=True)
    return FullyShardedDataParallel(model, device_id=CPU, use_orig_params=True)


def mixed(model, mesh):
    """The first layer is on a mesh, the second one is plain."""
    fully_shard(model[0], mesh=mesh)
    return model


MODELS = {
    "fsdp2": fsdp2,
    "fsdp1": lambda model, mesh: fsdp1(model, mesh, use_orig_params=True),
    "fsdp1 flat": lambda model, mesh: fsdp1(model, mesh, use_orig_params=False),
    "fsdp1 whole": lambda model, mesh: fsdp1(
        model, mesh, use_orig_params=True, sharding_strategy=ShardingStrategy.NO_SHARD
    ),
    "fsdp1 nested": nested_fsdp1,
    "ddp": lambda model, _: torch.nn.parallel.DistributedDataParallel(model),
    "tensor parallel": tensor_parallel,
    "mixed": mixed,
}


def clip(model):
    """As users of each kind clip."""
    if isinstance(model, FullyShardedDataParallel):
        model.clip_grad_norm_(CLIP)
        return
    meshes = {}
    for parameter in model.parameters():
        meshes.setdefault(getattr(parameter.grad, "device_mesh", None), []).append(parameter)
    parts = [torch.nn.utils.get_total_norm([p.grad for p in each]) for each in meshes.values()]
    total = torch.stack([p.full_tensor() if isinstance(p, DTensor) else p for p in parts]).norm()
    for each in meshes.values():
        torch.nn.utils.clip_grads_with_norm_(each, CLIP, total)


def train(name, mesh, accumulate=1, *, clips=False, scaled=False):
    """Every rank sees the same batches, so that gradients are those of one process."""
    model = MODELS[name](network(torch), mesh)
    optimizer = torch.optim.SGD(model.parameters(), LR)
    case = name + " accumulated" * (accumulate > 1) + " clipped" * clips + " scaled" * scaled
    scale = 1024.0 if scaled else 1.0
    hook = attach(optimizer, f"{DIRECTORY}/{case}", model, per_rank=True)
    for i, (x, y) in enumerate(batches(torch, 6 * accumulate)):
        loss = torch.nn.functional.mse_loss(model(x), y)
        (loss * scale / accumulate).backward()
        if (i + 1) % accumulate:
            continue
        if scaled:
            hook.observe(scale=scale)
            for parameter in model.parameters():
                if parameter.grad is not None:  # FSDP1 gives a rank only some
                    parameter.grad /= scale
        if clips:
            clip(model)
        optimizer.step()
        optimizer.zero_grad()
    hook.remove()


def one_row(mesh):
    """The last layer has one row, of which the second rank holds nothing."""
    model = fully_shard(network(torch), mesh=mesh)
    optimizer = torch.optim.SGD(model.parameters(), LR)
    hook = attach(optimizer, f"{DIRECTORY}/one row", model, per_rank=True)
    model(torch.ones(1, 8)).sum().backward()
    optimizer.step()
    hook.remove()


def norms_of(gradients, **options):
    report = GradientMonitor(None).observe(1, gradients, **options)
    return {variable.name: variable.gradient_norm for variable in report.variables} | {"": report.global_norm}


def error_of(*arguments, **options):
    try:
        norms_of(*arguments, **options)
    except ValueError as error:
        return str(error)
    return None


def tensors(mesh):
    """Norms of tensors that are placed in every way; the same on each rank."""
    torch.manual_seed(3)
    whole = torch.randn(5, 3)
    column = init_device_mesh("cpu", (1, 2), mesh_dim_names=("dp", "tp"))
    experts = init_device_mesh("cpu", (2,), mesh_dim_names=("ep",))
    placed = {
        "plain": whole,
        "rows": distribute_tensor(whole, mesh, [Shard(0)]),
        "columns": distribute_tensor(whole, mesh, [Shard(1)]),
        "replicated": distribute_tensor(whole, mesh, [Replicate()]),
        "summands": DTensor.from_local(whole * (0.25 if RANK else 0.75), mesh, [Partial()]),
        "two dimensions": distribute_tensor(whole, column, [Replicate(), Shard(0)]),
        "experts": distribute_tensor(whole.reshape(5, 3, 1), experts, [Shard(0)]),
        "one row": distribute_tensor(whole[:1], mesh, [Shard(0)]),
        "bfloat16": distribute_tensor(whole.bfloat16(), mesh, [Shard(0)]),
    }
    found = norms_of(placed)
    slots = {"m": {name: tensor * 2 for name, tensor in placed.items()}}
    report = GradientMonitor(None).observe(1, placed, slots=slots)
    of_slots = [(slot.mean, slot.norm, slot.max) for v in report.variables for slot in v.slots.values()]
    zeros = GradientMonitor(None).observe(1, {"w": distribute_tensor(torch.relu(whole), mesh, [Shard(0)])})
    bad = distribute_tensor(torch.tensor([1.0, 2.0, 3.0, float("nan")]), mesh, [Shard(0)])
    spoilt = GradientMonitor(None).observe(1, {"w": bad}, clip_norm=1.0)
    return {
        "norms": found,
        "slots": of_slots,
        "zeros": zeros.variables[0].gradient_zero_fraction,
        "nonfinite": [spoilt.nonfinite, GradientMonitor(None, 7).observe(1, {"w": bad}, clip_norm=1.0).nonfinite],
        "total given as a DTensor": norms_of(
            {"w": placed["rows"]}, global_norm=torch.nn.utils.get_total_norm([placed["rows"]])
        )[""],
    }


def experts():
    """A plain parameter on each rank, marked as Megatron and DeepSpeed mark experts."""
    model = network(torch)
    model(torch.ones(1, 8)).sum().backward()
    model[2].weight.allreduce = False
    model[2].bias.tensor_model_parallel = True
    return {"error": error_of(model), "norms": norms_of(model, global_norm=9.0)}


def a_step(mesh):
    """What a step costs and cannot do."""
    reductions = []
    reduce = dist.all_reduce

    def counted(*arguments, **options):
        reductions.append(arguments)
        return reduce(*arguments, **options)

    models = [MODELS[name](network(torch), mesh) for name in ("fsdp2", "fsdp1")]
    for model in models:
        model(torch.ones(1, 8)).sum().backward()
    dist.all_reduce = counted
    norms_of(models[0])
    dist.all_reduce = reduce
    with SummaryWriter(f"{DIRECTORY}/histograms") if RANK == 0 else nullcontext() as writer:
        GradientMonitor(writer, 1, 1).observe(1, models[0])
    try:
        GradientMonitor(None, 1, 1).observe(1, models[1])
    except ValueError as error:
        return {"reductions": len(reductions), "error": str(error)}


def fsdp1_without_its_module():
    model = MODELS["fsdp1"](network(torch), None)
    model(torch.ones(1, 8)).sum().backward()
    return {"error": error_of(dict(model.named_parameters())), "names": list(gradients_by_name(model)[0])}


def main():
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "RANK": str(RANK), "WORLD_SIZE": "2"}
    dist.init_process_group("gloo", init_method=f"file://{DIRECTORY}/meeting", rank=RANK, world_size=2)
    mesh = init_device_mesh("cpu", (2,))
    for name in MODELS:
        train(name, mesh)
        train(name, mesh, clips=True)
    for name in ("fsdp2", "fsdp1", "ddp"):
        train(name, mesh, accumulate=3)
        train(name, mesh, scaled=True)
    one_row(mesh)
    found = {
        "tensors": tensors(mesh),
        "experts": experts(),
        "a step": a_step(mesh),
        "fsdp1 by name": fsdp1_without_its_module(),
    }
    with open(f"{DIRECTORY}/found-{RANK}.json", "w", encoding="utf-8") as file:
        json.dump(found, file)
    dist.destroy_process_group()


main()
# fully_shard keeps its group, so gloo's threads outlive destroy_process_group(). One that frees the tensors of
# the last collective needs the GIL, and aborts the process when the interpreter is already shutting down
# (pytorch/pytorch#179291). All is written and every writer is closed: leave without a shutdown.
sys.stdout.flush()
sys.stderr.flush()
os._exit(0)
