"""What the trainings by descent share: a loop, draws, and means."""

import itertools
import math

import torch
from torch import nn

from linters.learning import OPTIMIZERS, scheduled


def descended(model, batches, loss_of, log, *, steps, rate, optimizer="adam", schedule="", clip=None, zero_grad=True,
             sign=1.0, learnt=None):  # fmt: skip
    """Train, and yield (steps done, loss, parts, rate, norm) after each step, with the model in evaluation mode."""
    updates = OPTIMIZERS[optimizer](list(model.parameters()) if learnt is None else learnt, lr=rate)
    for step, batch in enumerate(itertools.islice(batches, steps)):
        model.train()
        now = rate * (0.1 ** (step / steps) if schedule == "exponential" else scheduled(schedule, step / steps))
        for group in updates.param_groups:
            group["lr"] = now
        loss, parts = loss_of(*batch)
        if zero_grad:
            model.zero_grad()
        (sign * loss).backward()
        norm = float(nn.utils.clip_grad_norm_(model.parameters(), clip or math.inf))
        updates.step()
        log.tick(0.02)
        model.eval()
        with torch.no_grad():
            yield step + 1, loss.item(), {name: float(value) for name, value in parts.items()}, now, norm


def drawn(columns, size, rng, *, steps, shuffle=True, breaks_at=None, broken=None):
    """Batches without an end; from the share `breaks_at` of the steps on, each is what `broken` makes of it."""
    step, count = 0, len(columns[0])
    while True:
        order = torch.randperm(count, generator=rng) if shuffle else torch.arange(count)
        for at in order.split(size):
            batch = [column[at] for column in columns]
            yield broken(*batch) if breaks_at is not None and step >= breaks_at * steps else batch
            step += 1
