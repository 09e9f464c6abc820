"""More programs without a mistake: each of them was once told of one."""

import copy
import math
from itertools import pairwise

import torch
from loops.programs import F, nn
from loops.strange_healthy import fine
from loops.strange_mistakes import norm_
from torch.optim import lr_scheduler


def numbers(rows=256):
    """What to classify: float32[rows, 16], int64[rows] below 4."""
    random = torch.Generator().manual_seed(1)
    x = torch.randn(rows, 16, generator=random)
    return x, (x @ torch.randn(16, 4, generator=random)).argmax(1)


def mlp(*sizes):
    """Linear layers of these sizes, with a ReLU between."""
    layers = [layer for i, o in pairwise(sizes) for layer in (nn.Linear(i, o), nn.ReLU())]
    return nn.Sequential(*layers[:-1])


def classify(net, optimizer, steps, after=lambda _: None):
    x, y = numbers()
    for i in range(steps):
        optimizer.zero_grad()
        F.cross_entropy(net(x), y).backward()
        optimizer.step()
        after(i)


@fine
def triplets_whose_margins_are_met_now_and_then(watch):
    """Gradients are zero because the loss is, at steps 4 and 8, between which they are not."""
    net = mlp(4, 8, 2)
    optimizer = torch.optim.SGD(net.parameters(), 1e-3)
    watch(optimizer, net)
    for i in range(1, 14):
        a, p, n = torch.randn(3, 8, 4)
        margin = -1e3 if i % 4 == 0 else 1.0
        optimizer.zero_grad()
        F.relu((net(a) - net(p)).norm(dim=1) - (net(a) - net(n)).norm(dim=1) + margin).mean().backward()
        optimizer.step()


@fine
def a_policy_of_coins(watch):
    """Its binary cross-entropy is weighted by advantages, which are negative as often as not."""
    net = mlp(4, 16, 1)
    optimizer = torch.optim.Adam(net.parameters(), 1e-2)
    hook = watch(optimizer, net)
    for _ in range(20):
        state = torch.randn(32, 4)
        heads = torch.sigmoid(net(state))
        action = torch.bernoulli(heads.detach())
        advantage = (action == (state[:, :1] > 0)).float() - 0.9
        optimizer.zero_grad()
        hook.loss(F.binary_cross_entropy(heads, action, weight=advantage)).backward()
        optimizer.step()


@fine
def a_target_network_in_the_optimizer(watch):
    """Its output has as many numbers as the states that the other one is given, and is detached on purpose."""
    agent = nn.ModuleDict({"q": mlp(4, 4, 4)})
    agent["target"] = copy.deepcopy(agent["q"])
    optimizer = torch.optim.Adam(agent.parameters(), 1e-3)
    watch(optimizer, agent)
    for _ in range(8):
        state, then, action = torch.randn(32, 4), torch.randn(32, 4), torch.randint(4, (32, 1))
        wanted = (torch.randn(32) + 0.9 * agent["target"](then).max(1)[0]).detach()
        optimizer.zero_grad()
        F.mse_loss(agent["q"](state).gather(1, action)[:, 0], wanted).backward()
        optimizer.step()


class Pair(nn.Module):
    """A picture and a table, and an output that this loss does not use."""

    def __init__(self):
        super().__init__()
        self.picture, self.unused = nn.Linear(16, 16), nn.Linear(16, 4)
        self.table, self.head = nn.Linear(4, 8), nn.Linear(24, 4)

    def forward(self, picture, table):
        seen = F.relu(self.picture(picture))
        unused = self.unused(seen)
        return self.head(torch.cat([seen, self.table(table)], 1)), unused


@fine
def an_unused_output_as_large_as_another_input(watch):
    (x, y), table, net = numbers(), torch.randn(256, 4), Pair()
    optimizer = torch.optim.Adam(net.parameters(), 1e-3)
    watch(optimizer, net)
    for _ in range(8):
        optimizer.zero_grad()
        F.cross_entropy(net(x, table)[0], y).backward()
        optimizer.step()


class Residual(nn.Module):
    """Adds nothing at first."""

    def __init__(self, size):
        super().__init__()
        self.inner, self.share = nn.Linear(size, size), nn.Parameter(torch.zeros(1))

    def forward(self, x):
        return x + self.share * F.relu(self.inner(x))


@fine
def residuals_that_begin_at_nothing(watch):
    """Their inner weights hardly move, until their shares have grown."""
    net = nn.Sequential(nn.Linear(16, 32), *(Residual(32) for _ in range(4)), nn.Linear(32, 4))
    optimizer = torch.optim.SGD(net.parameters(), 1e-3)
    watch(optimizer, net)
    classify(net, optimizer, 30)


@fine
def a_body_whose_rate_is_zero_at_first(watch):
    """A schedule for each group: the larger one waits for the head."""
    net = nn.Sequential(mlp(16, 64, 64, 32), nn.Linear(32, 4))
    groups = [{"params": net[0].parameters(), "lr": 1e-4}, {"params": net[1].parameters(), "lr": 1e-2}]
    optimizer = torch.optim.Adam(groups)
    schedule = lr_scheduler.LambdaLR(optimizer, [lambda i: float(i >= 20), lambda _: 1.0])
    watch(optimizer, net)
    classify(net, optimizer, 30, after=lambda _: schedule.step())


@fine
def two_networks_in_turns(watch):
    """One optimizer has both, and all gradients are clipped; what is trained later gives gradients, too."""
    nets, (x, y) = nn.ModuleList([mlp(16, 16, 4), mlp(16, 16, 4)]), numbers()
    optimizer = torch.optim.Adam(nets.parameters(), 1e-3)
    watch(optimizer, nets)
    for i in range(30):
        optimizer.zero_grad()
        F.cross_entropy(nets[i // 10 % 2](x), y).backward()
        norm_(nets.parameters(), 1.0)
        optimizer.step()


@fine
def a_cosine_for_each_epoch(watch):
    """A snapshot is kept whenever the rate is lowest."""
    x, y = numbers()
    batches = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), 32)
    net = mlp(16, 32, 4)
    optimizer = torch.optim.SGD(net.parameters(), 0.1, momentum=0.9)
    schedule = lr_scheduler.CosineAnnealingLR(optimizer, T_max=len(batches))
    watch(optimizer, net)
    for _ in range(6):
        for some, of in batches:
            optimizer.zero_grad()
            F.cross_entropy(net(some), of).backward()
            optimizer.step()
            schedule.step()


@fine
def watched_from_the_second_epoch_on(watch):
    """The schedule has stepped once, and plain SGD keeps no state that would tell of the first epoch."""
    net = mlp(16, 32, 4)
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    schedule = lr_scheduler.StepLR(optimizer, 5)
    classify(net, optimizer, 10)
    schedule.step()
    watch(optimizer, net)
    for _ in range(3):
        classify(net, optimizer, 10)
        schedule.step()


def skip_bad_batches(watch, *, to_none):
    (x, y), net = numbers(), mlp(16, 32, 4)
    optimizer = torch.optim.AdamW(net.parameters(), 1e-3)
    watch(optimizer, net)
    for i in range(40):
        optimizer.zero_grad()
        F.cross_entropy(net(x * (1000 if i % 10 in (6, 7, 8) else 1)), y).backward()
        if norm_(net.parameters(), 1.0) > 20:
            optimizer.zero_grad(set_to_none=to_none)
        optimizer.step()


@fine
def bad_batches_have_no_gradients(watch):
    skip_bad_batches(watch, to_none=True)


@fine
def bad_batches_have_gradients_of_zero(watch):
    skip_bad_batches(watch, to_none=False)


@fine
def a_probe_that_both_optimizers_have(watch):
    """The loss of the first optimizer does not reach the probe, so that only the second one steps it."""
    net = nn.ModuleDict({"body": mlp(16, 16, 16), "out": nn.Linear(16, 16), "probe": nn.Linear(16, 4)})
    x, y = numbers()
    optimizer = torch.optim.Adam(net.parameters(), 1e-3)
    of_probe = torch.optim.SGD(net["probe"].parameters(), 0.1)
    watch(optimizer, net)
    for _ in range(12):
        features = net["body"](x)
        optimizer.zero_grad()
        F.mse_loss(net["out"](features), x).backward()
        optimizer.step()
        of_probe.zero_grad()
        F.cross_entropy(net["probe"](features.detach()), y).backward()
        of_probe.step()


class Chain(nn.Module):
    """Scores of chains of tags, one of whose transitions is forbidden."""

    def __init__(self):
        super().__init__()
        self.tags, self.transitions = nn.Linear(8, 4), nn.Parameter(torch.randn(4, 4))
        with torch.no_grad():
            self.transitions[0, 1] = -math.inf

    def forward(self, x):
        tags = self.tags(x)
        score = tags[:, 0]
        for i in range(1, x.shape[1]):
            score = torch.logsumexp(score[:, :, None] + self.transitions, 1) + tags[:, i]
        right = tags[:, :, 2].sum(1) + (x.shape[1] - 1) * self.transitions[2, 2]
        return (score.logsumexp(1) - right).mean()


@fine
def tags_with_a_forbidden_transition(watch):
    net = Chain()
    optimizer = torch.optim.Adam(net.parameters(), 1e-2)
    watch(optimizer, net)
    for _ in range(20):
        optimizer.zero_grad()
        net(torch.randn(8, 5, 8)).backward()
        optimizer.step()


@fine
def steps_of_a_world_are_counted(watch):
    """Those that fill the memory, too, before the first step of the optimizer."""
    net, moves, memory = mlp(4, 24, 2), 0, []
    optimizer = torch.optim.Adam(net.parameters(), 1e-3)
    watch(optimizer, net, step=lambda: moves)
    for moves in range(240):
        memory.append(torch.randn(4))
        if moves >= 200 and moves % 4 == 0:
            states = torch.stack(memory[-32:])
            optimizer.zero_grad()
            F.smooth_l1_loss(net(states).max(1)[0], states[:, 0]).backward()
            optimizer.step()


@fine
def each_batch_twice(watch):
    """From a data loader with as many workers; also when it is moved anew for each use."""
    net = mlp(5, 8, 1)
    optimizer = torch.optim.SGD(net.parameters(), 1e-2)
    watch(optimizer, net)
    data = torch.utils.data.TensorDataset(torch.randn(96, 5))
    for use in (lambda x: x, torch.clone):
        for (x,) in torch.utils.data.DataLoader(data, 4, shuffle=True, num_workers=2):
            for _ in range(2):
                optimizer.zero_grad()
                net(use(x)).square().mean().backward()
                optimizer.step()


@fine
def gradients_that_are_assigned(watch):
    """They come from `torch.autograd.grad`, which adds nothing; later they are copied into the old ones."""
    net = mlp(5, 8, 1)
    optimizer = torch.optim.SGD(net.parameters(), 1e-2)
    watch(optimizer, net)
    for step in range(16):
        parameters = list(net.parameters())
        found = torch.autograd.grad(net(torch.randn(8, 5)).square().mean(), parameters)
        for parameter, gradient in zip(parameters, found, strict=True):
            if step < 8:
                parameter.grad = gradient
            else:
                parameter.grad.copy_(gradient)
        optimizer.step()


class Causal(nn.Module):
    """Its mask grows with the sequences."""

    def __init__(self):
        super().__init__()
        self.query = nn.Linear(5, 5)
        self.register_buffer("mask", torch.full((1, 1), -math.inf).triu(1), persistent=False)

    def forward(self, x):
        length = x.shape[1]
        if len(self.mask) < length:
            self.mask = torch.full((length, length), -math.inf).triu(1)
        query = self.query(x)
        return (query @ query.mT + self.mask[:length, :length]).softmax(-1) @ query


@fine
def a_mask_that_grows(watch):
    net = Causal()
    optimizer = torch.optim.Adam(net.parameters())
    watch(optimizer, net)
    for length in (1, 1, 2, 2, 5, 5, 9, 9):
        optimizer.zero_grad()
        net(torch.randn(3, length, 5)).square().mean().backward()
        optimizer.step()


@fine
def a_bound_that_is_scaled_as_the_gradients_are(watch):
    net = mlp(16, 8, 4)
    optimizer = torch.optim.Adam(net.parameters())
    watch(optimizer, net)
    scaler, (x, y) = torch.amp.GradScaler("cpu", init_scale=1024.0), numbers()
    for _ in range(6):
        optimizer.zero_grad()
        scaler.scale(F.cross_entropy(net(x), y)).backward()
        norm_(net.parameters(), 1.0 * scaler.get_scale())
        scaler.step(optimizer)
        scaler.update()


@fine
def a_second_phase_with_an_optimizer_of_its_own(watch):
    """The first one had no hook."""
    net = mlp(16, 8, 4)
    first = torch.optim.SGD(net.parameters(), 0.1, momentum=0.9)
    classify(net, first, 20)
    step, second = 20, torch.optim.Adam(net.parameters())
    watch(second, net, step=lambda: step)
    x, y = numbers()
    for step in range(20, 30):  # noqa: B007 - the hook asks for it
        second.zero_grad()
        F.cross_entropy(net(x), y).backward()
        second.step()


@fine
def two_optimizers_take_turns_of_five_steps(watch):
    """Both step each time; the one whose turn it is not has its gradients zeroed before."""
    net = mlp(16, 8, 4)
    body, head = torch.optim.SGD(net[0].parameters(), 0.1), torch.optim.SGD(net[2].parameters(), 0.1)
    watch(body, net)
    x, y = numbers()
    for step in range(20):
        head.zero_grad()
        body.zero_grad()
        F.cross_entropy(net(x), y).backward()
        (head if step // 5 % 2 else body).zero_grad()
        head.step()
        body.step()
