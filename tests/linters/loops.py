"""What the trainings by steps share: loaders, rates, a loop, and means."""

import itertools

import torch

from linters.learning import OPTIMIZERS, mean_of, scheduled, update, usual_bugs


def batches_of(columns, size, seed, *, steps, shuffle=True, breaks_at=None, fails=None,
          drop_last=False):  # fmt: skip
    """Batches without an end, an epoch after the other.

    From the share `breaks_at` of the steps on, a batch is what `fails` makes of it; without it, the loader hangs: it
    gives the same batch again and again.
    """
    rng = torch.Generator().manual_seed(seed)
    count = len(columns[0])
    kept, step = None, 0
    while True:
        order = torch.randperm(count, generator=rng) if shuffle else torch.arange(count)
        for at in order[: count // size * size if drop_last else None].split(size):
            batch = [column[at] for column in columns]
            if breaks_at is not None and step >= breaks_at * steps:
                kept = kept or batch
                batch = fails(*batch) if fails else kept
            yield batch
            step += 1


def share_of_rate(kind, step, steps):
    """A share of the highest rate; the square root is fairseq's."""
    if kind == "inverse root":
        return min((step + 1) / 40, (40 / (step + 1)) ** 0.5)
    if kind == "warm-up and steps":
        return min((step + 1) / 50, 1.0) * 0.1 ** ((step > 0.7 * steps) + (step > 0.9 * steps))
    return scheduled(kind, step / steps)


def train_by_steps(model, loader, loss_of, log, *, steps, rate, on_step, optimizer="adam", schedule="", clip=None,
           zero_grad=True, sign=1.0, learnt=None, factor=None):  # fmt: skip
    """Train for some steps; on_step(step, loss, rate, norm, parts) is called after each of them, from 1 on."""
    updates = OPTIMIZERS[optimizer](model.parameters() if learnt is None else learnt, lr=rate)
    model.train()
    for step, batch in enumerate(itertools.islice(loader, steps)):
        now = rate * share_of_rate(schedule, step, steps) * (factor() if factor else 1)
        loss, parts = loss_of(model, *batch)
        norm = update(model, updates, loss, now, clip=clip, zero_grad=zero_grad, sign=sign)
        log.tick()
        model.eval()
        with torch.no_grad():
            on_step(step + 1, float(loss), now, norm, {name: float(value) for name, value in parts.items()})
        model.train()
    return model.eval()


class Means:
    """Means since the last call of `taken`."""

    def __init__(self):
        self.rows = []

    def put(self, **values):
        self.rows.append(values)

    def taken(self):
        means = mean_of(self.rows)
        self.rows = []
        return means


def common_bugs(rate, **changed):
    """The usual ones, and a rate that is stepped at every batch."""
    return usual_bugs(rate, **({"rate_halved_each_batch": {"schedule": "dies"}} | changed))
