"""Healthy loops with schedules, scalers, low precision and restarts."""

import copy
import itertools

import torch
from loops.healthy import healthy
from loops.mistakes import adam, scaled, steps
from loops.programs import F, program
from torch.optim import lr_scheduler


@healthy("flat", "transformer")
def the_first_steps_are_skipped(name, watch):
    """GradScaler finds its scale; the schedule goes on meanwhile."""
    p = program(name)
    optimizer = adam(p)
    schedule = lr_scheduler.LinearLR(optimizer, 0.1, 1.0, 20)
    watch(optimizer, p.model)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**127)
    for _ in range(30):
        optimizer.zero_grad()
        scaler.scale(p.loss()).backward()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(p.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        schedule.step()


@healthy("conv")
def scaled_and_fused(name, watch):
    p = program(name)
    optimizer = adam(p, fused=True)
    watch(optimizer, p.model)
    scaled(p, optimizer, torch.amp.GradScaler("cpu"), lambda: None, 10)


@healthy("flat", "transformer")
def autocast(name, watch):
    p = program(name)
    optimizer = adam(p)
    watch(optimizer, p.model)
    for _ in range(10):
        optimizer.zero_grad()
        with torch.autocast("cpu", torch.bfloat16):
            loss = p.loss()
        loss.backward()
        optimizer.step()


@healthy("flat")
def in_half_precision(name, watch):
    p = program(name)
    p.model = p.model.to(torch.bfloat16)
    data = p.data
    p.data = ((x.to(torch.bfloat16), y) for x, y in data)
    optimizer = adam(p)
    schedule = lr_scheduler.LambdaLR(optimizer, lambda i: min(1.0, i / 20))
    watch(optimizer, p.model)
    steps(p, optimizer, 40, after=lambda _: schedule.step())


@healthy("flat", "lstm")
def a_warm_up_from_zero(name, watch):
    p = program(name)
    optimizer = torch.optim.SGD(p.parameters(), 0.1)
    schedule = lr_scheduler.LambdaLR(optimizer, lambda i: min(1.0, i / 10))
    watch(optimizer, p.model)
    steps(p, optimizer, 20, after=lambda _: schedule.step())


@healthy("flat")
def a_warm_up_by_hand(name, watch):
    p = program(name)
    optimizer = adam(p, 0.0)
    watch(optimizer, p.model)
    steps(p, optimizer, 20, before=lambda i: optimizer.param_groups[0].update(lr=1e-5 * i))


@healthy("flat", "conv")
def epochs_with_evaluation(name, watch):
    p = program(name, rows=100)
    optimizer = torch.optim.SGD(p.parameters(), 0.05, momentum=0.9)
    schedule = lr_scheduler.StepLR(optimizer, 2, 0.5)
    watch(optimizer, p.model)
    for _ in range(3):
        p.model.train()
        steps(p, optimizer, 10)
        p.model.eval()
        with torch.no_grad():
            p.loss()
        schedule.step()


@healthy("flat")
def by_a_plateau(name, watch):
    p = program(name)
    optimizer = adam(p)
    schedule = lr_scheduler.ReduceLROnPlateau(optimizer)
    watch(optimizer, p.model)
    for _ in range(3):
        steps(p, optimizer, 5)
        schedule.step(float(p.losses[-1]))


@healthy("flat", "transformer")
def schedules_in_sequence(name, watch):
    p = program(name)
    optimizer = adam(p)
    schedule = lr_scheduler.SequentialLR(
        optimizer, [lr_scheduler.LinearLR(optimizer, 0.1, 1.0, 10), lr_scheduler.CosineAnnealingLR(optimizer, 50)], [10]
    )
    watch(optimizer, p.model)
    steps(p, optimizer, 20, after=lambda _: schedule.step())


@healthy("flat")
def one_cycle(name, watch):
    p = program(name)
    optimizer = torch.optim.SGD(p.parameters(), 0.1)
    schedule = lr_scheduler.OneCycleLR(optimizer, 0.1, total_steps=60)
    watch(optimizer, p.model)
    steps(p, optimizer, 60, after=lambda _: schedule.step())


@healthy("flat")
def warm_restarts(name, watch):
    p = program(name)
    optimizer = torch.optim.SGD(p.parameters(), 0.1)
    schedule = lr_scheduler.CosineAnnealingWarmRestarts(optimizer, 10)
    watch(optimizer, p.model)
    steps(p, optimizer, 45, after=lambda _: schedule.step())


@healthy("flat", "lstm")
def resumed(name, watch):
    p = program(name)
    optimizer = adam(p)
    schedule = lr_scheduler.CosineAnnealingLR(optimizer, 100)
    steps(p, optimizer, 20, after=lambda _: schedule.step())
    saved = copy.deepcopy([p.model.state_dict(), optimizer.state_dict(), schedule.state_dict()])
    q = program(name, seed=1)
    optimizer = adam(q)
    schedule = lr_scheduler.CosineAnnealingLR(optimizer, 100)
    for what, state in zip((q.model, optimizer, schedule), saved, strict=True):
        what.load_state_dict(state)
    now = [20]
    watch(optimizer, q.model, step=lambda: now[0] + 1)
    steps(q, optimizer, 10, after=lambda _: (schedule.step(), now.__setitem__(0, now[0] + 1)))


@healthy("flat")
def steps_count_examples(name, watch):
    p = program(name)
    optimizer = adam(p)
    now = [0]
    watch(optimizer, p.model, step=lambda: now[0] + 32)
    steps(p, optimizer, 10, after=lambda _: now.__setitem__(0, now[0] + 32))


@healthy("gaussian", "gain", "cross entropy", "picked")
def losses_that_may_be_negative(name, watch):
    p = program("flat")
    optimizer = adam(p)
    hook = watch(optimizer, p.model)
    for x, y in itertools.islice(p.data, 10):
        optimizer.zero_grad()
        out = p.model(x)
        loss = {
            "gaussian": lambda out, y: F.gaussian_nll_loss(out[:, 0], y / 1e3, torch.full((len(y),), 1e-3)),
            "gain": lambda out, y: (F.cross_entropy(out, y, reduction="none") * torch.randn(len(y))).mean(),
            "cross entropy": lambda out, y: F.nll_loss(out.log_softmax(1), y),
            "picked": lambda out, y: -F.nll_loss(out.log_softmax(1), y),
        }[name](out, y)
        hook.loss(loss).backward()
        optimizer.step()
