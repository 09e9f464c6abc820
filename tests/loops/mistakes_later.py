"""Loops with mistakes in the order of calls, in what steps do, and in what the model is given."""

import torch
from loops.mistakes import adam, mistake, scaled, steps
from loops.programs import F, program
from torch.optim import lr_scheduler


@mistake("GL721", 1, "flat", "conv")
def values_are_clipped_after_the_step(name, watch):
    p = program(name)
    optimizer = adam(p)
    watch(optimizer, p.model)
    steps(p, optimizer, after=lambda _: torch.nn.utils.clip_grad_value_(p.parameters(), 0.1))


@mistake("GL721", 1, "flat", "lstm")
def clipping_after_the_step(name, watch):
    p = program(name)
    optimizer = adam(p)
    watch(optimizer, p.model)
    steps(p, optimizer, after=lambda _: torch.nn.utils.clip_grad_norm_(p.parameters(), 0.1))


@mistake("GL722", 1, "flat", "transformer")
def clipping_before_unscaling(name, watch):
    p = program(name)
    optimizer = adam(p)
    watch(optimizer, p.model)
    scaled(p, optimizer, torch.amp.GradScaler("cpu"), lambda: torch.nn.utils.clip_grad_norm_(p.parameters(), 1.0))


@mistake("GL722", 1, "conv", "lstm")
def clipping_before_a_fused_step(name, watch):
    p = program(name)
    optimizer = adam(p, fused=True)
    watch(optimizer, p.model)
    scaled(p, optimizer, torch.amp.GradScaler("cpu"), lambda: torch.nn.utils.clip_grad_norm_(p.parameters(), 1.0))


@mistake("GL723", 1, "flat", "conv")
def clipping_a_used_up_iterator(name, watch):
    p = program(name)
    parameters = p.parameters()
    optimizer = torch.optim.Adam(parameters, 1e-3)
    watch(optimizer, p.model)
    steps(p, optimizer, before=lambda _: torch.nn.utils.clip_grad_norm_(list(parameters), 1.0))


@mistake("GL723", 1, "lstm")
def clipping_another_model(name, watch):
    p, q = program(name), program(name)
    optimizer = adam(p)
    watch(optimizer, p.model)
    steps(p, optimizer, before=lambda _: torch.nn.utils.clip_grad_norm_(q.parameters(), 1.0))


@mistake("GL724", 1, "flat", "lstm")
def the_schedule_steps_first(name, watch):
    p = program(name)
    optimizer = adam(p)
    schedule = lr_scheduler.StepLR(optimizer, 1000)
    watch(optimizer, p.model)
    steps(p, optimizer, before=lambda _: schedule.step())


@mistake("GL725", 100, "flat")
def factors_for_epochs_at_each_batch(name, watch):
    p = program(name)
    optimizer = torch.optim.SGD(p.parameters(), 0.1)
    schedule = lr_scheduler.ExponentialLR(optimizer, 0.9)
    watch(optimizer, p.model)
    steps(p, optimizer, 110, after=lambda _: schedule.step())


@mistake("GL725", 41, "conv")
def steps_for_epochs_at_each_batch(name, watch):
    p = program(name)
    optimizer = torch.optim.SGD(p.parameters(), 0.1)
    schedule = lr_scheduler.StepLR(optimizer, 10)
    watch(optimizer, p.model)
    steps(p, optimizer, 60, after=lambda _: schedule.step())


@mistake("GL725", 12, "flat")
def a_cosine_of_epochs_at_each_batch(name, watch):
    p = program(name)
    data = torch.utils.data.TensorDataset(*next(p.data))
    loader = torch.utils.data.DataLoader(data, batch_size=1)
    optimizer = torch.optim.SGD(p.parameters(), 0.1)
    schedule = lr_scheduler.CosineAnnealingLR(optimizer, T_max=10)
    watch(optimizer, p.model)
    for x, y in loader:
        optimizer.zero_grad()
        F.cross_entropy(p.model(x), y).backward()
        optimizer.step()
        schedule.step()


@mistake("GL725", 43, "transformer")
def training_goes_on_after_the_schedule(name, watch):
    p = program(name)
    optimizer = adam(p)
    schedule = lr_scheduler.LinearLR(optimizer, 1.0, 0.0, 40)
    watch(optimizer, p.model)
    steps(p, optimizer, 60, after=lambda _: schedule.step())


@mistake("GL726", 12, "flat", "lstm")
def the_schedule_never_steps(name, watch):
    p = program(name)
    optimizer = adam(p)
    schedule = lr_scheduler.CosineAnnealingLR(optimizer, 12)
    watch(optimizer, p.model)
    steps(p, optimizer, 12)
    assert schedule.last_epoch == 0


@mistake("GL727", 6, "flat", "conv", "lstm", "transformer")
def evaluation_is_left_on(name, watch):
    p = program(name)
    optimizer = adam(p)
    watch(optimizer, p.model)
    steps(p, optimizer, 5)
    p.model.eval()
    with torch.no_grad():
        p.loss()
    steps(p, optimizer)


@mistake("GL728", 19, "flat", "transformer")
def no_scale_fits(name, watch):
    p = program(name)
    optimizer = adam(p)
    watch(optimizer, p.model)
    loss = p.loss
    p.loss = lambda: loss() * torch.tensor(float("inf"))
    scaled(p, optimizer, torch.amp.GradScaler("cpu"), lambda: None, 30)


@mistake("GL731", 4, "flat", "transformer")
def updates_below_the_precision(name, watch):
    p = program(name)
    p.model = p.model.to(torch.bfloat16)
    data = p.data
    p.data = ((x.to(torch.bfloat16) if x.is_floating_point() else x, y) for x, y in data)
    optimizer = torch.optim.AdamW(p.parameters(), 1e-6)
    watch(optimizer, p.model)
    steps(p, optimizer, 12)


@mistake("GL731", 4, "conv")
def a_rate_that_is_far_too_low(name, watch):
    p = program(name)
    optimizer = torch.optim.SGD(p.parameters(), 1e-10)
    watch(optimizer, p.model)
    steps(p, optimizer, 12)


@mistake("GL731", 4, "conv")
def a_rate_that_is_far_too_low_beside_dead_units(name, watch):
    """Their layer's bias has too few elements with a gradient to say anything."""
    p = program(name)
    with torch.no_grad():
        [*(q for q in p.parameters() if q.shape == (16,))][-1][:4] = -100.0
    optimizer = torch.optim.SGD(p.parameters(), 1e-10)
    watch(optimizer, p.model)
    steps(p, optimizer, 12)


@mistake("GL732", 1001, "flat", "lstm")
def resumed_without_the_optimizer(name, watch):
    p = program(name)
    optimizer = adam(p)
    at = iter(range(1001, 2000))
    now = [1000]
    watch(optimizer, p.model, step=lambda: now[0] + 1)
    steps(p, optimizer, after=lambda _: now.__setitem__(0, next(at)))


@mistake("GL741", 4, "conv")
def a_buffer_becomes_infinite(name, watch):
    p = program(name)
    optimizer = adam(p)
    watch(optimizer, p.model)

    def spoil(i):
        if i == 2:
            p.model.body[1].running_mean[3] = float("inf")

    steps(p, optimizer, after=spoil)


@mistake("GL741", 4, "flat")
def a_slot_becomes_nan(name, watch):
    p = program(name)
    optimizer = adam(p)
    watch(optimizer, p.model)

    def spoil(i):
        if i == 2:
            optimizer.state[p.model.head.bias]["exp_avg_sq"][0] = float("nan")

    steps(p, optimizer, after=spoil)


@mistake("GL742", 1, "conv")
def batch_norm_of_one_example(name, watch):
    p = program(name, rows=1)
    optimizer = adam(p)
    watch(optimizer, p.model)
    steps(p, optimizer)


@mistake("GL742", 1, "conv")
def batch_norm_of_one_example_accumulated(name, watch):
    p = program(name, rows=1)
    optimizer = adam(p)
    watch(optimizer, p.model)
    for _ in range(6):
        for _ in range(4):
            (p.loss() / 4).backward()
        optimizer.step()
        optimizer.zero_grad()


class Same(torch.utils.data.IterableDataset):
    """Each worker gives all of it, as it does not ask which one it is."""

    def __iter__(self):
        random = torch.Generator().manual_seed(0)
        for _ in range(12):
            yield torch.rand(64, generator=random), torch.randint(10, (), generator=random)


@mistake("GL743", 6, "flat")
def workers_that_do_the_same(name, watch):
    p = program(name)
    loader = torch.utils.data.DataLoader(Same(), batch_size=2, num_workers=2)
    optimizer = adam(p)
    watch(optimizer, p.model)
    for x, y in loader:
        optimizer.zero_grad()
        F.cross_entropy(p.model(x), y).backward()
        optimizer.step()


@mistake("GL726", 102, "flat")
def a_schedule_of_plateaus_that_never_steps(name, watch):
    p = program(name)
    optimizer = adam(p)
    plateau = lr_scheduler.ReduceLROnPlateau(optimizer)
    loader = torch.utils.data.DataLoader(torch.arange(40), 4)
    watch(optimizer, p.model)
    for _ in range(12):
        for _ in loader:
            steps(p, optimizer, 1)
    assert plateau.last_epoch == 0


@mistake("GL704", 3, "flat")
def a_rate_of_zero_below_a_schedule(name, watch):
    p = program(name)
    first, *others = p.parameters()
    optimizer = torch.optim.SGD([{"params": others}, {"params": [first], "lr": 0.0}], 0.1)
    schedule = lr_scheduler.CosineAnnealingLR(optimizer, 100)
    watch(optimizer, p.model)
    steps(p, optimizer, after=lambda _: schedule.step())


@mistake("GL713", 8, "flat")
def gradients_of_one_of_two_optimizers_are_zeroed(name, watch):
    p = program(name)
    *body, weight, bias = p.parameters()
    optimizer, other = torch.optim.Adam(body), torch.optim.Adam([weight, bias])
    watch(optimizer, p.model)
    for _ in range(10):
        other.zero_grad()
        p.loss().backward()
        optimizer.zero_grad()
        optimizer.step()
        other.step()
