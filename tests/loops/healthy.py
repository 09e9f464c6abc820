"""What lists training loops that are fine, however unusual, and those of one model that is trained in many ways."""

import functools
import math

import torch
from loops.mistakes import adam, steps
from loops.programs import F, nn, program
from torch.optim import lr_scheduler
from torch.utils.checkpoint import checkpoint

HEALTHY = []
"""(what it is, the loop): a loop is given what attaches to it; nothing is to be told of it."""
ALL = ("flat", "conv", "lstm", "transformer")


def healthy(*names):
    """List a loop once for each of these programs."""

    def listed(loop):
        HEALTHY.extend((f"{loop.__name__}-{name}", functools.partial(loop, name)) for name in names)
        return loop

    return listed


@healthy(*ALL)
def as_usual(name, watch):
    p = program(name)
    optimizer = adam(p)
    schedule = lr_scheduler.CosineAnnealingLR(optimizer, 30)
    watch(optimizer, p.model)
    steps(p, optimizer, 30, lambda _: torch.nn.utils.clip_grad_norm_(p.parameters(), 1.0), lambda _: schedule.step())


@healthy("flat", "lstm")
def accumulated(name, watch):
    p = program(name)
    optimizer = adam(p)
    watch(optimizer, p.model)
    for i in range(30):
        (p.loss() / 3).backward()
        if i % 3 == 2:
            torch.nn.utils.clip_grad_norm_(p.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()


@healthy("conv", "transformer")
def accumulated_by_varying_counts(name, watch):
    p = program(name)
    optimizer = adam(p)
    watch(optimizer, p.model)
    for count in (1, 2, 1, 3, 1, 1, 4, 2):
        p.model.zero_grad(set_to_none=False)
        for _ in range(count):
            (p.loss() / count).backward()
        optimizer.step()


@healthy(*ALL)
def zeros_are_kept(name, watch):
    p = program(name)
    optimizer = adam(p)
    watch(optimizer, p.model)
    for _ in range(10):
        optimizer.zero_grad(set_to_none=False)
        p.loss().backward()
        optimizer.step()


@healthy("flat")
def zeroed_by_hand(name, watch):
    p = program(name)
    optimizer = adam(p)
    watch(optimizer, p.model)
    for _ in range(10):
        p.loss().backward()
        optimizer.step()
        for parameter in p.parameters():
            parameter.grad.data.zero_()


@healthy("flat", "conv", "transformer")
def frozen(name, watch):
    p = program(name)
    for parameter in p.model.body.parameters():
        parameter.requires_grad = False
    p.model.body.eval()
    optimizer = torch.optim.SGD([q for q in p.parameters() if q.requires_grad], 0.1)
    watch(optimizer, p.model)
    steps(p, optimizer, 10)


@healthy("flat", "conv")
def frozen_and_all_in_evaluation(name, watch):
    """A linear probe: the body's batch norm keeps its statistics."""
    p = program(name)
    p.model.requires_grad_(False)
    p.model.head.requires_grad_(True)
    p.model.eval()
    optimizer = torch.optim.SGD(p.model.head.parameters(), 0.1)
    watch(optimizer, p.model)
    steps(p, optimizer, 10)


@healthy("flat", "transformer")
def unfrozen_later(name, watch):
    p = program(name)
    p.model.requires_grad_(False)
    p.model.head.requires_grad_(True)
    optimizer = torch.optim.AdamW(p.model.head.parameters(), 1e-3)
    watch(optimizer, p.model)
    steps(p, optimizer, 5)
    p.model.body.requires_grad_(True)
    optimizer.add_param_group({"params": list(p.model.body.parameters()), "lr": 1e-4})
    steps(p, optimizer, 5)


@healthy("lstm")
def unfrozen_by_flags(name, watch):
    p = program(name)
    p.model.body.requires_grad_(False)
    p.model.head.bias.requires_grad_(True)
    optimizer = adam(p)
    watch(optimizer, p.model)
    steps(p, optimizer, 4)
    p.model.body.requires_grad_(True)
    steps(p, optimizer, 6)


@healthy("flat", "lstm")
def a_closure(name, watch):
    p = program(name)
    optimizer = torch.optim.LBFGS(p.parameters(), lr=0.1, max_iter=3)
    watch(optimizer, p.model)
    x, y = next(p.data)

    def closure():
        optimizer.zero_grad()
        loss = F.cross_entropy(p.model(x), y)
        loss.backward()
        return loss

    for _ in range(6):
        optimizer.step(closure)


@healthy("flat")
def a_closure_of_sgd(name, watch):
    p = program(name)
    optimizer = torch.optim.SGD(p.parameters(), 0.1)
    watch(optimizer, p.model)

    def closure():
        optimizer.zero_grad()
        loss = p.loss()
        loss.backward()
        return loss

    for _ in range(10):
        optimizer.step(closure)


@healthy("fused", "foreach", "plain", "amsgrad")
def kinds_of_adam(name, watch):
    p = program("flat")
    optimizer = adam(p, **{name: True} if name != "plain" else {"foreach": False})
    watch(optimizer, p.model)
    steps(p, optimizer, 10)


@healthy("SGD", "Adagrad", "RMSprop", "NAdam", "RAdam", "Adadelta", "Adamax", "Rprop", "ASGD", "Adafactor")
def optimizers(name, watch):
    p = program("flat")
    optimizer = getattr(torch.optim, name)(p.parameters())
    watch(optimizer, p.model)
    steps(p, optimizer, 10)


class Checkpointed(nn.Module):
    def __init__(self, model, *, reentrant):
        super().__init__()
        self.model, self.reentrant = model, reentrant

    def forward(self, x):
        x = x.requires_grad_() if self.reentrant else x
        return self.model.head(checkpoint(self.model.body, x, use_reentrant=self.reentrant))


@healthy("reentrant", "not")
def checkpointed(name, watch):
    p = program("conv")
    p.model = Checkpointed(p.model, reentrant=name == "reentrant")
    optimizer = adam(p)
    watch(optimizer, p.model)
    steps(p, optimizer, 10)


@healthy("flat")
def a_full_batch(name, watch):
    p = program(name, rows=500)
    p.data = iter([next(p.data)] * 60)
    optimizer = adam(p)
    watch(optimizer, p.model)
    steps(p, optimizer, 60)


@healthy("flat", "conv")
def an_optimizer_for_each_part(name, watch):
    p = program(name)
    optimizer, second = adam(p), None
    optimizer = torch.optim.Adam(p.model.body.parameters(), 1e-3)
    second = torch.optim.SGD(p.model.head.parameters(), 0.1)
    watch(optimizer, p.model)
    steps(p, optimizer, 10, before=lambda _: second.step(), after=lambda _: second.zero_grad())


@healthy("flat")
def part_of_it_by_hand(name, watch):
    p = program(name)
    optimizer = torch.optim.Adam(p.model.body.parameters(), 1e-3)
    watch(optimizer, p.model)

    def by_hand(i):
        for q in p.model.head.parameters():
            q.data -= 0.1 * q.grad
            q.grad = None

    steps(p, optimizer, 10, after=by_hand)


@healthy("flat", "lstm")
def clipped_by_layers(name, watch):
    p = program(name)
    optimizer = adam(p)
    watch(optimizer, p.model)

    def clip(i):
        for layer in p.model.children():
            torch.nn.utils.clip_grad_norm_(layer.parameters(), 1.0)

    steps(p, optimizer, 10, before=clip)


@healthy("flat", "transformer")
def the_norm_is_asked_after_the_step(name, watch):
    p = program(name)
    optimizer = adam(p)
    watch(optimizer, p.model)
    steps(p, optimizer, 10, after=lambda _: torch.nn.utils.clip_grad_norm_(p.parameters(), math.inf))


@healthy("conv")
def a_last_batch_of_one(name, watch):
    p = program(name, rows=33)
    x, y = next(p.data)
    batches = [(x[:16], y[:16]), (x[16:32], y[16:32]), (x[32:], y[32:])] * 5
    optimizer = adam(p)
    watch(optimizer, p.model)
    p.data = iter(batches)
    steps(p, optimizer, 15)


@healthy("flat")
def tasks_in_turn(name, watch):
    """Two optimizers and two heads; each task trains its own at its turn, and both optimizers step."""
    p = program(name)
    heads = nn.ModuleList(nn.Linear(32, 10) for _ in range(2))
    both = nn.ModuleDict({"body": p.model.body, "heads": heads})
    optimizers = [
        torch.optim.Adam([*heads[0].parameters(), *p.model.body.parameters()]),
        torch.optim.Adam(heads[1].parameters()),
    ]
    for optimizer in optimizers:
        watch(optimizer, both)
    for i in range(12):
        x, y = next(p.data)
        for optimizer in optimizers:
            optimizer.zero_grad()
        F.cross_entropy(heads[i // 2 % 2](p.model.body(x.flatten(1))), y).backward()
        for optimizer in optimizers:
            optimizer.step()


@healthy("flat", "transformer")
def sharpness_aware(name, watch):
    """SAM: two backward passes for a step, at other weights."""
    p = program(name)
    optimizer = torch.optim.SGD(p.parameters(), 0.05)
    watch(optimizer, p.model)
    for _ in range(8):
        x, y = next(p.data)
        F.cross_entropy(p.model(x), y).backward()
        moves = [0.01 * q.grad / (q.grad.norm() + 1e-9) for q in p.parameters()]
        with torch.no_grad():
            torch._foreach_add_(list(p.parameters()), moves)
        optimizer.zero_grad()
        F.cross_entropy(p.model(x), y).backward()
        with torch.no_grad():
            torch._foreach_sub_(list(p.parameters()), moves)
        optimizer.step()
        optimizer.zero_grad()


@healthy("flat")
def gradients_from_elsewhere(name, watch):
    """Evolution strategies: gradients are written by hand, by way of data too."""
    p = program(name)
    optimizer = adam(p)
    for q in p.parameters():
        q.grad = torch.zeros_like(q)
    watch(optimizer, p.model)
    for _ in range(10):
        for q in p.parameters():
            q.grad.data.copy_(torch.randn_like(q))
        optimizer.step()
