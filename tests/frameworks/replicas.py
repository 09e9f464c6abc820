"""A program: one of two ranks of DistributedDataParallel, on gloo. Arguments: rank, store's file, directory, how."""

import sys

import torch

from optim.integrations.torch import attach


def main(rank, store, logdir, how):
    torch.distributed.init_process_group("gloo", f"file://{store}", rank=rank, world_size=2)
    torch.manual_seed(0)
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Linear(8, 1)))
    optimizer = torch.optim.Adam(model.parameters(), 1e-2)
    hook = attach(optimizer, logdir, model) if how != "rank 0 only" or rank == 0 else None
    torch.manual_seed(rank + 1)
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
        if how == "by hand" and step == 4 and rank == 1:
            with torch.no_grad():
                model.module[1].bias.add_(1.0)
        torch.distributed.barrier()
    if hook is not None:
        hook.remove()
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main(int(sys.argv[1]), *sys.argv[2:])
