"""What the trainings share: a log, and a loop with the bugs that loops have.

A program gives `fit` a model, data and a loss; the arguments of `fit` are what a healthy setting and a bug differ in.
"""

import math
from collections import defaultdict

import torch
from torch import nn

START = 1_700_000_000.0


class Log:
    """What a training logs: {tag: [(step, value)]}, in the order of the calls, at a second a call of `tick`."""

    def __init__(self):
        self.points = []
        self.time = START
        self.last = defaultdict(float)

    def tick(self, secs=0.05):
        self.time += secs

    def add(self, step, **values):
        """Log values; two underscores in a name are a slash, as in `train__loss`."""
        self.named(step, {name.replace("__", "/"): value for name, value in values.items()})

    def named(self, step, values):
        for tag, value in values.items():
            self.points.append((self.time, int(step), tag, float(value)))
            self.last[tag] = float(value)


def batches(count, size, rng, *, shuffle=True):
    """The indices of one epoch's batches; the last one may be smaller."""
    order = torch.randperm(count, generator=rng) if shuffle else torch.arange(count)
    return order.split(size)


def scheduled(kind, share):
    """The rate at a share of the run, as a share of the highest."""
    if kind == "cosine":
        return 0.5 * (1 + math.cos(math.pi * share))
    if kind == "warm-up and cosine":
        return min(share / 0.1, 1) * 0.5 * (1 + math.cos(math.pi * max(share - 0.1, 0) / 0.9)) + 1e-4
    if kind == "linear":
        return 1 - share + 1e-6
    if kind == "one cycle":
        return 0.04 + 0.96 * share / 0.3 if share < 0.3 else math.cos(math.pi / 2 * (share - 0.3) / 0.7) ** 2 + 1e-4
    if kind == "steps":
        return 0.1 ** int(share * 3)
    if kind == "dies":  # stepped at every batch, where it was meant for epochs
        return 0.5 ** (share * 200)
    if kind == "dies at a fifth":
        return 1.0 if share < 0.1 else 1e-5
    return 1.0


OPTIMIZERS = {
    "adam": torch.optim.Adam,
    "adamw": torch.optim.AdamW,
    "sgd": lambda parameters, lr: torch.optim.SGD(parameters, lr=lr, momentum=0.9),
    "plain sgd": torch.optim.SGD,
}


def update(model, updates, loss, rate, *, clip=None, zero_grad=True, sign=1.0):
    """Update by the gradient of a loss at a rate, with the bugs that this may have; the norm of the gradient."""
    for group in updates.param_groups:
        group["lr"] = rate
    if zero_grad:
        model.zero_grad()
    (sign * loss).backward()
    norm = float(nn.utils.clip_grad_norm_(model.parameters(), clip or math.inf))
    updates.step()
    return norm


def fit(model, train, loss_of, log, *, seed, epochs, batch, rate, on_step=None, on_epoch=None, optimizer="adam",
        schedule="", clip=None, zero_grad=True, shuffle=True, sign=1.0, frozen=False, breaks_at=None,
        every=1):  # fmt: skip
    """Train a model, and call back.

    Args:
        model: a torch module.
        train: a tuple of tensors with one first axis.
        loss_of: loss_of(model, *batch) → a scalar, or (scalar, {name: value}).
        on_step: on_step(step, loss, rate, norm, parts), every `every` steps.
        on_epoch: on_epoch(epoch, step, mean loss, rate, mean parts).
        breaks_at: the share of the run from which the inputs are noise: a loader that fails.
    """
    rng = torch.Generator().manual_seed(seed)
    learnt = [nn.Parameter(torch.zeros(1))] if frozen else list(model.parameters())
    updates = OPTIMIZERS[optimizer](learnt, lr=rate)
    steps = epochs * math.ceil(len(train[0]) / batch)
    step = 0
    for epoch in range(epochs):
        model.train()
        losses, sums = [], defaultdict(list)
        for at in batches(len(train[0]), batch, rng, shuffle=shuffle):
            parts = [part[at] for part in train]
            if breaks_at is not None and step >= breaks_at * steps:
                parts[0] = torch.zeros_like(parts[0]) if parts[0].dtype == torch.long else torch.randn_like(parts[0])
            now = rate * scheduled(schedule, step / steps)
            made = loss_of(model, *parts)
            loss, others = made if isinstance(made, tuple) else (made, {})
            norm = update(model, updates, loss, now, clip=clip, zero_grad=zero_grad, sign=sign)
            losses.append(float(loss))
            for name, value in others.items():
                sums[name].append(float(value))
            log.tick()
            if on_step is not None and step % every == 0:
                on_step(step, float(loss), now, norm, {name: values[-1] for name, values in sums.items()})
            step += 1
        model.eval()
        with torch.no_grad():
            if on_epoch is not None:
                means = {name: sum(values) / len(values) for name, values in sums.items()}
                on_epoch(epoch, step, sum(losses) / len(losses), now, means)
    return model


def zeroed(model):
    """All weights at zero: a symmetry that no gradient breaks."""
    for parameter in model.parameters():
        nn.init.zeros_(parameter)
    return model


def split(rng, *columns, test=0.25, examples=None):
    """Shuffle, and split into training and validation; `examples` is how many are trained with."""
    order = torch.randperm(len(columns[0]), generator=rng)
    cut = int(len(order) * test)
    train = order[cut:][:examples]
    return [column[train] for column in columns], [column[order[:cut]] for column in columns]


def sorted_by(target, *columns):
    """The columns in the order of the target, as a data set lies on the disk."""
    order = torch.argsort(target, stable=True)
    return [column[order] for column in columns]


def of_no_model():
    """What an optimizer learns that was given the parameters of another model."""
    return [nn.Parameter(torch.zeros(1))]


def shuffled(rng, column):
    """The rows of a column in another order, apart from those of others."""
    return column[torch.randperm(len(column), generator=rng)]


def mean_of(rows):
    """The mean of each name's values."""
    return {name: sum(row[name] for row in rows) / len(rows) for name in rows[0]}


def usual_bugs(rate, **changed):
    """The bugs that most loops have, at the strength of a real mistake; None leaves one out."""
    named = {
        "rate too low": {"rate": rate / 100},
        "rate too high": {"rate": rate * 100},
        "rate ten times too high": {"rate": rate * 10},
        "dead schedule": {"schedule": "dies at a fifth"},
        "no zero_grad": {"zero_grad": False},
        "wrong sign": {"sign": -1.0},
        "loader breaks": {"breaks_at": 0.5},
    }
    named |= {name.replace("_", " ").replace("zero grad", "zero_grad"): how for name, how in changed.items()}
    return {name: how for name, how in named.items() if how is not None}
