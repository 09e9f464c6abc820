"""Trainings with critics, and of a density: a Wasserstein GAN, a soft actor, and a flow."""

import math

import torch
from sklearn import datasets
from torch import nn
from torch.nn import functional as F  # noqa: N812 - its usual name

from linters.learning import of_no_model, split
from linters.loops import Means, batches_of, common_bugs, train_by_steps


def _gap(real, fake):
    """The distance of Fréchet between images, of the means and of the covariances along the real ones' axes."""
    centre = real.mean(0)
    axes = torch.linalg.svd(real - centre, full_matrices=False)[2][:16]
    a, b = (real - centre) @ axes.T, (fake - centre) @ axes.T
    root = torch.linalg.eigvals(torch.cov(a.T) @ torch.cov(b.T)).real.clamp(min=0).sqrt().sum()
    return float(b.mean(0).square().sum() + torch.cov(a.T).trace() + torch.cov(b.T).trace() - 2 * root)


def wasserstein(log, seed, steps=450, batch=64, generator_rate=1e-3, critic_rate=1e-3, rounds=3, penalty=10.0,
                generator_sign=1.0, critic_sign=1.0, zero_grad=True, frozen="", scale=1.0, examples=None,
                breaks_at=None):  # fmt: skip
    """A Wasserstein GAN of digits with a penalty of the gradient: four scalars every ten generator steps."""
    rng = torch.Generator().manual_seed(seed)
    images = torch.tensor(datasets.load_digits().data, dtype=torch.float32) / 8 - 1
    (train,), (test,) = split(rng, images, examples=examples)
    generate = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64), nn.Tanh())
    judge = nn.Sequential(nn.Linear(64, 64), nn.LeakyReLU(0.2), nn.Linear(64, 64), nn.LeakyReLU(0.2), nn.Linear(64, 1))
    for_g = torch.optim.Adam(generate.parameters(), generator_rate, betas=(0.5, 0.9))
    for_d = torch.optim.Adam(judge.parameters(), critic_rate, betas=(0.5, 0.9))
    loader = batches_of((scale * train,), batch, seed, steps=steps * rounds, breaks_at=breaks_at,
                   fails=lambda x: (torch.zeros_like(x),))  # fmt: skip
    for step in range(steps):
        for _ in range(rounds):
            (real,) = next(loader)
            fake = generate(torch.randn(len(real), 16, generator=rng)).detach()
            share = torch.rand(len(real), 1, generator=rng)
            between = (share * real + (1 - share) * fake).requires_grad_()
            (slope,) = torch.autograd.grad(judge(between).sum(), between, create_graph=True)
            steep = (slope.norm(dim=1) - 1).square().mean()
            apart = judge(real).mean() - judge(fake).mean()
            loss_d = -critic_sign * apart + penalty * steep
            if zero_grad:
                judge.zero_grad()
            loss_d.backward()
            if frozen != "critic":
                for_d.step()
        loss_g = -judge(generate(torch.randn(batch, 16, generator=rng))).mean()
        generate.zero_grad()
        if zero_grad:
            judge.zero_grad()
        (generator_sign * loss_g).backward()
        if frozen != "generator":
            for_g.step()
        log.tick()
        if step % 10 == 0:
            told = {"d_loss": loss_d, "g_loss": loss_g, "wasserstein_distance": apart, "gradient_penalty": steep}
            log.named(step, {name: float(value.detach()) for name, value in told.items()})
    with torch.no_grad():
        return _gap(test, generate(torch.randn(1000, 16, generator=rng)))


def _layers(before, after, width=32):
    return nn.Sequential(
        nn.Linear(before, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, after)
    )


def soft_actor(log, seed, steps=960, rate=2e-3, alpha=0.02, gamma=0.95, tau=0.02, sign=1.0, reward_sign=1.0,  # noqa: C901, PLR0915 - a whole algorithm
               lie=False, starts=50, memory=20_000, frozen=False, batch=64, rewards=1.0):  # fmt: skip
    """A soft actor and two critics stop a sledge at the origin: CleanRL's names, and a return of each episode."""
    rng = torch.Generator().manual_seed(seed)
    count, lasts = 4, 40
    actor, critics, targets = _layers(2, 2), [_layers(3, 1) for _ in "12"], [_layers(3, 1) for _ in "12"]
    for critic, target in zip(critics, targets, strict=True):
        target.load_state_dict(critic.state_dict())
    for_actor = torch.optim.Adam(of_no_model() if frozen else actor.parameters(), rate)
    for_critics = torch.optim.Adam([*critics[0].parameters(), *critics[1].parameters()], rate)
    kept, gained, sums, state = [], [], torch.zeros(count), torch.zeros(count, 2)

    def begun():
        return torch.stack([4 * torch.rand(count, generator=rng) - 2, torch.randn(count, generator=rng)], 1)

    def acted(state):
        mean, spread = actor(state).chunk(2, 1)
        spread = spread.clamp(-5, 1)
        raw = mean + spread.exp() * torch.randn(mean.shape, generator=rng)
        density = -0.5 * ((raw - mean) / spread.exp()).square() - spread - 0.92
        return raw.tanh(), (density - (1 - raw.tanh().square() + 1e-6).log())[:, 0]

    def judged(nets, state, action):
        return [net(torch.cat([state, action], 1))[:, 0] for net in nets]

    for step in range(steps):
        if step % lasts == 0:
            state, sums = begun(), torch.zeros(count)
        with torch.no_grad():
            action = acted(state)[0] if step >= starts else 2 * torch.rand(count, 1, generator=rng) - 1
        place, speed = state.unbind(1)
        after = torch.stack([place + 0.2 * speed, (speed + 0.4 * action[:, 0]).clamp(-3, 3)], 1)
        reward = -(after[:, 0].square() + 0.1 * after[:, 1].square() + 0.01 * action[:, 0].square()).clamp(max=10)
        sums += reward
        told = torch.randn(count, generator=rng) if lie else rewards * reward_sign * reward
        kept.append((state, action, told, after))
        kept = kept[-memory:]
        state = after
        log.tick(0.01)
        if step % lasts == lasts - 1:
            gained += sums.tolist()
            for total in sums.tolist():
                log.named(count * (step + 1), {"charts/episodic_return": total, "charts/episodic_length": lasts})
        if step < starts:
            continue
        at = torch.randint(len(kept), (batch // count,), generator=rng).tolist()
        s, a, r, n = (torch.cat([kept[i][part] for i in at]) for part in range(4))
        with torch.no_grad():
            b, log_p = acted(n)
            aim = r + gamma * (torch.min(*judged(targets, n, b)) - alpha * log_p)
        values = judged(critics, s, a)
        losses = [F.mse_loss(value, aim) for value in values]
        for_critics.zero_grad()
        sum(losses).backward()
        for_critics.step()
        b, log_p = acted(s)
        actor_loss = (alpha * log_p - torch.min(*judged(critics, s, b))).mean()
        for_actor.zero_grad()
        (sign * actor_loss).backward()
        for_actor.step()
        with torch.no_grad():
            for critic, target in zip(critics, targets, strict=True):
                for new, old in zip(critic.parameters(), target.parameters(), strict=True):
                    old.lerp_(new, tau)
        if step % 25 == 0:
            shown = {"qf1_values": values[0].mean(), "qf2_values": values[1].mean(), "qf1_loss": losses[0],
                     "qf2_loss": losses[1], "qf_loss": sum(losses) / 2, "actor_loss": actor_loss}  # fmt: skip
            log.named(count * step, {f"losses/{name}": float(value.detach()) for name, value in shown.items()})
            log.named(count * step, {"losses/alpha": alpha, "charts/SPS": 400 + 5 * math.sin(step)})
    return -sum(gained[-32:]) / 32


class _Couplings(nn.Module):
    """A flow: one coordinate is scaled and moved by the other, in turn."""

    def __init__(self, count, width, alternates):
        super().__init__()
        self.alternates = alternates
        self.nets = nn.ModuleList(
            nn.Sequential(nn.Linear(1, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 2))
            for _ in range(count)
        )

    def forward(self, x):
        volume = torch.zeros(len(x))
        for number, net in enumerate(self.nets):
            fixed, moved = x.chunk(2, 1) if self.alternates and number % 2 else x.flip(1).chunk(2, 1)
            size, shift = net(fixed).chunk(2, 1)
            size = 2 * (size / 2).tanh()
            moved = moved * size.exp() + shift
            volume = volume + size[:, 0]
            x = torch.cat([fixed, moved], 1) if self.alternates and number % 2 else torch.cat([moved, fixed], 1)
        return x, volume


def flow(log, seed, epochs=28, batch=64, examples=None, width=24, couplings=4, volume=1.0, alternates=True, offset=0.0,
         eval_scale=1.0, learns="", breaks_at=None, **how):  # fmt: skip
    """A flow of points on two moons: Lightning's names, every ten steps and at epochs, with the norm and the rate."""
    rng = torch.Generator().manual_seed(seed)
    points, _ = datasets.make_moons(1600, noise=0.1, random_state=seed)
    x = torch.tensor(points, dtype=torch.float32)
    (train,), (test,) = split(rng, (x - x.mean(0)) / x.std(0) + offset, examples=examples)
    model, means = _Couplings(couplings, width, alternates), Means()
    each = math.ceil(len(train) / batch)
    steps = epochs * each

    def nll(x, volume):
        z, size = model(x)
        return (0.5 * z.square().sum(1) + math.log(2 * math.pi) - volume * size).mean()

    def loss_of(model, x):
        return nll(x, volume), {}

    def on_step(step, loss, rate, norm, parts):
        means.put(loss=loss)
        if step % 10 == 0:
            log.named(step - 1, {"train/nll_step": loss, "epoch": (step - 1) // each, "grad_2.0_norm_total": norm})
            log.named(step - 1, {"lr-AdamW/pg1": rate})
        if step % each == 0:
            log.named(step - 1, {"train/nll_epoch": means.taken()["loss"]})
            log.named(step - 1, {"val/nll_loss": float(nll(eval_scale * test, volume))})

    how = {"rate": 5e-3, "optimizer": "adamw", "schedule": "cosine", "clip": 5.0} | how
    learnt = {"": None, "nothing": of_no_model(), "last": list(model.nets[-1].parameters())}[learns]
    loader = batches_of((train,), batch, seed, steps=steps, breaks_at=breaks_at, fails=lambda x: (torch.zeros_like(x),))
    train_by_steps(model, loader, loss_of, log, steps=steps, on_step=on_step, learnt=learnt, **how)
    with torch.no_grad():
        return float(nll(eval_scale * test, 1.0))


PROGRAMS = {
    "wasserstein": (
        wasserstein,
        [{}, {"batch": 128, "steps": 400}, {"rounds": 4, "steps": 400}],
        {
            "rates too low": {"generator_rate": 1e-5, "critic_rate": 1e-5},
            "rates too high": {"generator_rate": 0.1, "critic_rate": 0.1},
            "critic frozen": {"frozen": "critic"},
            "generator frozen": {"frozen": "generator"},
            "generator with the wrong sign": {"generator_sign": -1.0},
            "critic with the wrong sign": {"critic_sign": -1.0},
            "no zero_grad": {"zero_grad": False},
            "no scaling": {"scale": 8.0},
            "penalty too strong": {"penalty": 1000.0},
            "few examples": {"examples": 16},
            "loader breaks": {"breaks_at": 0.5},
        },
    ),
    "soft actor": (
        soft_actor,
        [{}, {"rate": 1.5e-3, "steps": 1200}, {"alpha": 0.05, "gamma": 0.97}],
        {
            "rate too low": {"rate": 2e-5},
            "rate too high": {"rate": 0.2},
            "wrong sign": {"sign": -1.0},
            "reward with the wrong sign": {"reward_sign": -1.0},
            "rewards of noise": {"lie": True},
            "entropy alone": {"alpha": 20.0},
            "target never moves": {"tau": 0.0},
            "actor not in the optimizer": {"frozen": True},
            "memory too small": {"memory": 2},
            "rewards too large": {"rewards": 1000.0},
        },
    ),
    "flow": (
        flow,
        [{}, {"rate": 3e-3, "schedule": "", "epochs": 30}, {"batch": 50, "rate": 8e-3, "schedule": "one cycle"}],
        common_bugs(
            5e-3,
            few_examples={"examples": 24, "epochs": 500, "width": 48},
            no_volume={"volume": 0.0},
            halves_never_swapped={"alternates": False},
            only_the_last_layer={"learns": "last"},
            validation_not_scaled={"eval_scale": 4.0},
            wrong_sign=None,
        ),
    ),
}
