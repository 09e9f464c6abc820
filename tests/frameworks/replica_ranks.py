"""Two processes that train replicas with DistributedDataParallel, as they should and not: run by test_wiring_replicas.

    python replica_ranks.py DIRECTORY RANK

Each case makes a run below the directory.
"""

import itertools
import sys
import warnings

import torch
import torch.distributed as dist

from optim.integrations.torch import attach
from optim.wiring import checks

DIRECTORY, RANK = sys.argv[1], int(sys.argv[2])
# Ranks find one another by how many loops each has attached to, so that what only one attaches to comes last.
CASES = ("as it should be", "no_sync", "past the wrapper", "by hand", "rank 0 only")


def train(how):
    torch.manual_seed(0)
    checks._loops = itertools.count()  # each is a program's first loop
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Linear(8, 1)))
    optimizer = torch.optim.Adam(model.parameters(), 1e-2)
    hook = attach(optimizer, f"{DIRECTORY}/{how}", model) if how != "rank 0 only" or RANK == 0 else None
    torch.manual_seed(RANK + 1)
    for step in range(12):
        optimizer.zero_grad()
        x = torch.randn(16, 4)
        if how == "no_sync" and step % 2:
            with model.no_sync():
                model(x).square().mean().backward()
            x = torch.randn(16, 4)
        whole = model.module if how == "past the wrapper" else model
        whole(x).square().mean().backward()
        optimizer.step()
        if how == "by hand" and step == 4 and RANK == 1:
            with torch.no_grad():
                model.module[1].bias.add_(1.0)
        dist.barrier()
    if hook is not None:
        hook.remove()


def main():
    warnings.simplefilter("ignore")
    for number, how in enumerate(CASES):
        dist.init_process_group("gloo", init_method=f"file://{DIRECTORY}/meeting-{number}", rank=RANK, world_size=2)
        train(how)
        dist.destroy_process_group()


main()
