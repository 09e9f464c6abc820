"""Healthy loops of other programs: adversaries, experts, teachers, graphs, returns."""

import copy
import math

import torch
from loops.healthy import healthy
from loops.mistakes import adam, steps
from loops.programs import F, nn, program
from torch.optim.swa_utils import AveragedModel


@healthy("flat", "conv")
def adversaries(name, watch):
    """A GAN: the generator's backward pass also leaves gradients at the discriminator, which zeroes them later."""
    p = program(name)
    generator = nn.Sequential(nn.Linear(8, 64), nn.Tanh(), nn.Unflatten(1, (1, 8, 8)))
    p.model.head = nn.Linear(p.model.head.in_features, 1)
    of_g, of_d = torch.optim.Adam(generator.parameters(), 1e-3), adam(p)
    both = nn.ModuleDict({"g": generator, "d": p.model})
    watch(of_d, both)
    watch(of_g, both)
    bce = F.binary_cross_entropy_with_logits
    for _ in range(12):
        x, _ = next(p.data)
        noise = torch.randn(len(x), 8)
        of_d.zero_grad()
        real, fake = p.model(x), p.model(generator(noise).detach())
        (bce(real, torch.ones_like(real)) + bce(fake, torch.zeros_like(fake))).backward()
        of_d.step()
        of_g.zero_grad()
        made = p.model(generator(noise))
        bce(made, torch.ones_like(made)).backward()
        of_g.step()


@healthy("flat")
def a_critic_of_several_steps(name, watch):
    """WGAN: the critic's weights are clamped, the generator waits for its turn."""
    p = program(name)
    generator = nn.Linear(8, 64)
    p.model.head = nn.Linear(32, 1)
    of_g, of_d = torch.optim.RMSprop(generator.parameters(), 1e-3), torch.optim.RMSprop(p.parameters(), 1e-3)
    both = nn.ModuleDict({"g": generator, "d": p.model})
    watch(of_d, both)
    for i in range(15):
        x, _ = next(p.data)
        fake = generator(torch.randn(len(x), 8))
        of_d.zero_grad()
        (p.model(fake.detach()).mean() - p.model(x).mean()).backward()
        of_d.step()
        with torch.no_grad():
            for parameter in p.parameters():
                parameter.clamp_(-0.1, 0.1)
        if i % 5 == 4:
            of_g.zero_grad()
            (-p.model(fake).mean()).backward()
            of_g.step()


class LowRank(nn.Module):
    """LoRA: the second factor is zero at first, so that the first one has zero gradients."""

    def __init__(self, base):
        super().__init__()
        self.base = base.requires_grad_(False)
        self.a, self.b = (
            nn.Parameter(torch.randn(4, base.in_features) * 0.1),
            nn.Parameter(torch.zeros(base.out_features, 4)),
        )

    def forward(self, x):
        return self.base(x) + x @ self.a.T @ self.b.T


@healthy("flat", "transformer")
def low_rank(name, watch):
    p = program(name)
    p.model.requires_grad_(False)
    p.model.head = LowRank(p.model.head)
    optimizer = torch.optim.AdamW([q for q in p.parameters() if q.requires_grad], 1e-3)
    watch(optimizer, p.model)
    steps(p, optimizer, 10)


@healthy("sparse", "dense")
def rows_that_no_batch_touches(name, watch):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Embedding(500, 8, sparse=name == "sparse"), nn.Flatten(), nn.Linear(24, 2))
    model.requires_grad_(True)
    if name == "sparse":
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
    else:
        optimizer = torch.optim.Adagrad(model.parameters(), 0.1)
    watch(optimizer, model)
    for _ in range(20):
        optimizer.zero_grad()
        F.cross_entropy(model(torch.randint(20, (16, 3))), torch.randint(2, (16,))).backward()
        optimizer.step()


class Experts(nn.Module):
    """A mixture of experts that sends each batch to two of eight; some never run."""

    def __init__(self, *, dense):
        super().__init__()
        self.experts = nn.ModuleList(nn.Linear(64, 64) for _ in range(8))
        self.gate, self.head, self.dense, self.turn = nn.Linear(64, 8), nn.Linear(64, 10), dense, 0

    def forward(self, x):
        x, self.turn = x.flatten(1), self.turn + 1
        weights = self.gate(x).softmax(-1)
        chosen = [self.turn % 3, 3]
        if self.dense:
            mask = torch.zeros(8).index_fill(0, torch.tensor(chosen), 1.0)
            mixed = sum(e(x) * (weights * mask)[:, i : i + 1] for i, e in enumerate(self.experts))
        else:
            mixed = sum(self.experts[i](x) * weights[:, i : i + 1] for i in chosen)
        return self.head(mixed)


@healthy("dense", "sparse")
def idle_experts(name, watch):
    p = program("flat")
    p.model = Experts(dense=name == "dense")
    optimizer = adam(p)
    watch(optimizer, p.model)
    steps(p, optimizer, 20)


class Heads(nn.Module):
    """Two heads: one is trained; the other one is not called, or its output is not used."""

    def __init__(self, model, *, called):
        super().__init__()
        self.model, self.called = model, called
        self.other = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 10))

    def forward(self, x):
        out = self.model(x)
        if self.called:
            self.other(out)
        return out


@healthy("called", "idle")
def an_unused_head(name, watch):
    p = program("flat")
    p.model = Heads(p.model, called=name == "called")
    optimizer = adam(p)
    watch(optimizer, p.model)
    steps(p, optimizer, 10)


@healthy("flat", "conv")
def averaged(name, watch):
    p = program(name)
    optimizer = adam(p)
    average = AveragedModel(p.model, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.9))
    watch(optimizer, p.model)
    steps(p, optimizer, 10, after=lambda _: average.update_parameters(p.model))


class WithTeacher(nn.Module):
    """A student and its moving average, in one module."""

    def __init__(self, model):
        super().__init__()
        self.student, self.teacher = model, copy.deepcopy(model)

    def forward(self, x):
        with torch.no_grad():
            target = self.teacher(x)
        out = self.student(x)
        return out + 0.01 * (out - target)


@healthy("flat", "conv")
def a_teacher_within(name, watch):
    p = program(name)
    p.model = WithTeacher(p.model)
    optimizer = adam(p)  # of both: the teacher never has a gradient
    watch(optimizer, p.model)

    def follow(i):
        with torch.no_grad():
            for one, other in zip(p.model.teacher.parameters(), p.model.student.parameters(), strict=True):
                one.lerp_(other, 0.1)

    steps(p, optimizer, 10, after=follow)


@healthy("flat", "conv")
def quantised(name, watch):
    """Weights are rounded in the forward pass, and gradients pass through as if they were not."""
    p = program(name)
    layer = p.model.head
    nn.utils.parametrize.register_parametrization(layer, "weight", Rounded())
    optimizer = adam(p)
    watch(optimizer, p.model)
    steps(p, optimizer, 10)


class Rounded(nn.Module):
    def forward(self, weight):
        return weight + (torch.round(weight * 16) / 16 - weight).detach()


@healthy("flat")
def the_forward_forward_algorithm(name, watch):
    """Each layer has a loss and an optimizer of its own, and is given a detached input."""
    layers = nn.ModuleList([nn.Linear(64, 32), nn.Linear(32, 32), nn.Linear(32, 32)])
    p = program(name)
    optimizers = [torch.optim.Adam(layer.parameters(), 1e-3) for layer in layers]
    watch(optimizers[0], layers)
    for _ in range(10):
        hidden = next(p.data)[0].flatten(1)
        for layer, optimizer in zip(layers, optimizers, strict=True):
            out = layer(hidden).relu()
            optimizer.zero_grad()
            F.softplus(out.square().mean(1) - 2).mean().backward()
            optimizer.step()
            hidden = out.detach()


@healthy("flat")
def an_actor_and_a_critic(name, watch):
    p = program(name)
    critic = nn.Linear(32, 1)
    both = nn.ModuleDict({"body": p.model.body, "actor": p.model.head, "critic": critic})
    optimizer = torch.optim.Adam(both.parameters(), 1e-3)
    watch(optimizer, both)
    for _ in range(6):
        x, y = next(p.data)
        with torch.no_grad():
            both["critic"](both["body"](x.flatten(1)))
        for _ in range(3):  # the same batch several times
            hidden = both["body"](x.flatten(1))
            value = both["critic"](hidden.detach())
            loss = F.cross_entropy(both["actor"](hidden), y) + (value - 1).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


class Attention(nn.Module):
    """Graph attention over a fixed graph, with parameters of its own and no modules below."""

    def __init__(self):
        super().__init__()
        self.w, self.a = nn.Parameter(torch.randn(8, 10) * 0.3), nn.Parameter(torch.randn(20, 1) * 0.3)
        self.register_buffer("absent", torch.where(torch.rand(30, 30) < 0.3, 0.0, -math.inf).fill_diagonal_(0.0))

    def forward(self, x):
        h = x @ self.w
        scores = (h @ self.a[:10]) + (h @ self.a[10:]).T
        return (F.leaky_relu(scores) + self.absent).softmax(1) @ h


@healthy("gat")
def a_graph(name, watch):
    torch.manual_seed(0)
    model, x, y = Attention(), torch.randn(30, 8), torch.randint(10, (30,))
    optimizer = torch.optim.Adam(model.parameters(), 1e-2, weight_decay=5e-4)
    watch(optimizer, model)
    for _ in range(40):
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()


@healthy("vae")
def a_variational_autoencoder(name, watch):
    torch.manual_seed(0)
    p = program("flat")
    model = nn.ModuleDict(
        {"in": nn.Linear(64, 32), "mean": nn.Linear(32, 4), "log": nn.Linear(32, 4), "out": nn.Linear(4, 64)}
    )
    optimizer = torch.optim.Adam(model.parameters(), 1e-3)
    watch(optimizer, model)
    for _ in range(20):
        x = next(p.data)[0].flatten(1)
        h = model["in"](x).relu()
        mean, log = model["mean"](h), model["log"](h)
        z = mean + torch.randn_like(mean) * (log / 2).exp()
        loss = F.binary_cross_entropy_with_logits(model["out"](z), x) - (1 + log - mean**2 - log.exp()).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


@healthy("siamese")
def two_towers_that_share(name, watch):
    p = program("conv")
    optimizer = torch.optim.Adadelta(p.parameters(), 1.0)
    watch(optimizer, p.model)
    for _ in range(10):
        (x, y), (other, z) = next(p.data), next(p.data)
        near = F.cosine_similarity(p.model(x), p.model(other))
        optimizer.zero_grad()
        F.binary_cross_entropy_with_logits(near, (y == z).float()).backward()
        optimizer.step()


@healthy("sine")
def a_time_series(name, watch):
    torch.manual_seed(0)
    cell, out = nn.LSTMCell(1, 16), nn.Linear(16, 1)
    model = nn.ModuleList([cell, out])
    x = torch.sin(torch.arange(40.0).reshape(1, 40, 1) / 4 + torch.rand(8, 1, 1))
    optimizer = torch.optim.LBFGS(model.parameters(), lr=0.5, max_iter=4)
    watch(optimizer, model)

    def closure():
        h, c, loss = torch.zeros(8, 16), torch.zeros(8, 16), 0.0
        for i in range(39):
            h, c = cell(x[:, i], (h, c))
            loss = loss + F.mse_loss(out(h), x[:, i + 1])
        optimizer.zero_grad()
        loss.backward()
        return loss

    for _ in range(3):
        optimizer.step(closure)


@healthy("reinforce")
def by_its_returns(name, watch):
    torch.manual_seed(0)
    policy = nn.Sequential(nn.Linear(4, 16), nn.Dropout(0.6), nn.ReLU(), nn.Linear(16, 2))
    optimizer = torch.optim.Adam(policy.parameters(), 1e-2)
    watch(optimizer, policy)
    for _ in range(10):
        logs = []
        for _ in range(12):
            choice = torch.distributions.Categorical(logits=policy(torch.randn(1, 4)))
            logs.append(choice.log_prob(choice.sample()))
        optimizer.zero_grad()
        torch.stack([-log * i for i, log in enumerate(logs)]).sum().backward()
        optimizer.step()


@healthy("regression")
def a_line(name, watch):
    torch.manual_seed(0)
    model = nn.Linear(4, 1)
    w = torch.randn(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    watch(optimizer, model)
    for _ in range(400):  # until the loss is as small as float32 allows
        x = torch.randn(32, 4)
        optimizer.zero_grad()
        F.mse_loss(model(x), x @ w).backward()
        optimizer.step()


@healthy("flat")
def a_detached_auxiliary_loss(name, watch):
    """What is probed is detached on purpose; the body learns by the main loss."""
    p = program(name)
    probe = nn.Linear(32, 10)
    both = nn.ModuleDict({"model": p.model, "probe": probe})
    optimizer = torch.optim.Adam(both.parameters(), 1e-3)
    watch(optimizer, both)
    for _ in range(10):
        x, y = next(p.data)
        hidden = p.model.body(x.flatten(1))
        loss = F.cross_entropy(p.model.head(hidden), y) + F.cross_entropy(probe(hidden.detach()), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
