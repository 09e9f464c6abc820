"""What the trainings in rounds share: optimizers, rates, a loop, and batches."""

import torch

from linters.learning import scheduled, update

MAKERS = {
    "adam": lambda learnt, rate, decay: torch.optim.Adam(learnt, lr=rate, weight_decay=decay),
    "adamw": lambda learnt, rate, decay: torch.optim.AdamW(learnt, lr=rate, weight_decay=decay),
    "rmsprop": lambda learnt, rate, decay: torch.optim.RMSprop(learnt, lr=rate, weight_decay=decay),
    "momentum": lambda learnt, rate, decay: torch.optim.SGD(learnt, lr=rate, momentum=0.9, weight_decay=decay),
    "sgd": lambda learnt, rate, decay: torch.optim.SGD(learnt, lr=rate, weight_decay=decay),
}


def share_of_rate(kind, share):
    if kind == "exponential":
        return 0.05**share
    if kind == "multi-step":
        return 0.5 ** sum(share >= at for at in (0.5, 0.75, 0.9))
    if kind == "tenth at half":
        return 1.0 if share < 0.5 else 0.1
    return scheduled(kind, share)


def looped(model, loss_of, log, *, steps, rate, optimizer="adam", schedule="", clip=None, decay=0.0, zero_grad=True,
          sign=1.0, learnt=None, factor=None):  # fmt: skip
    """Train, and yield (steps done, loss, parts, rate, norm) after each step; loss_of(step) → a loss and its parts."""
    updates = MAKERS[optimizer](list(model.parameters() if learnt is None else learnt), rate, decay)
    for step in range(steps):
        model.train()
        now = rate * share_of_rate(schedule, step / steps) * (factor() if factor else 1.0)
        loss, parts = loss_of(step)
        norm = update(model, updates, loss, now, clip=clip, zero_grad=zero_grad, sign=sign)
        log.tick()
        model.eval()
        yield (
            step + 1,
            float(loss.detach()),
            {k: float(torch.as_tensor(v).detach()) for k, v in parts.items()},
            now,
            norm,
        )


class Batches:
    """Indices of batches, an epoch after the other."""

    def __init__(self, count, size, rng, shuffle=True):
        self.count, self.size, self.rng, self.shuffle, self.left = count, size, rng, shuffle, []

    def taken(self):
        if not self.left:
            order = torch.randperm(self.count, generator=self.rng) if self.shuffle else torch.arange(self.count)
            self.left = list(order.split(self.size))
        return self.left.pop(0)
