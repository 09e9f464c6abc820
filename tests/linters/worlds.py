"""Trainings on small worlds: an equation, a game, and strokes by a codebook."""

import math

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812 - its usual name

from linters.learning import of_no_model, usual_bugs
from linters.rounds import Batches, looped


def heat(log, seed, steps=800, points=96, width=24, weight=10.0, fixed=None, activation="tanh", equation=1.0,
         stretch=1.0, frozen=False, breaks_at=None, **how):  # fmt: skip
    """A network that solves the equation of heat: the residual, the border and the start, and the error."""
    rng = torch.Generator().manual_seed(seed)
    kind = {"tanh": nn.Tanh, "relu": nn.ReLU, "silu": nn.SiLU}[activation]
    model = nn.Sequential(nn.Linear(2, width), kind(), nn.Linear(width, width), kind(), nn.Linear(width, 1))
    diffusivity = 0.08

    def exact(x, t):
        return sum(
            size * (-diffusivity * (k * math.pi) ** 2 * t).exp() * (k * math.pi * x).sin()
            for k, size in ((1, 1.0), (2, 0.5))
        )

    def u(x, t):
        return model(torch.cat([stretch * (2 * x - 1), stretch * (2 * t - 1)], 1))

    def uniform(count):
        return torch.rand(count, 1, generator=rng)

    held = (uniform(fixed), uniform(fixed)) if fixed else None
    grid = torch.linspace(0, 1, 21)
    gx, gt = (part.reshape(-1, 1) for part in torch.meshgrid(grid, grid, indexing="ij"))

    def loss_of(step):
        x, t = held or (uniform(points), uniform(points))
        if breaks_at is not None and step >= breaks_at * steps:
            x, t = torch.zeros_like(x), torch.ones_like(t)
        x, t = x.clone().requires_grad_(), t.clone().requires_grad_()
        out = u(x, t)
        by_x, by_t = torch.autograd.grad(out.sum(), (x, t), create_graph=True)
        twice = torch.autograd.grad(by_x.sum(), x, create_graph=True)[0] if by_x.requires_grad else 0 * by_x
        residual = (by_t - equation * diffusivity * twice).square().mean()
        sides, begun = uniform(32), (held[0] if held else uniform(32))
        border = (u(torch.zeros_like(sides), sides).square() + u(torch.ones_like(sides), sides).square()).mean()
        start = (u(begun, torch.zeros_like(begun)) - exact(begun, torch.zeros_like(begun))).square().mean()
        return residual + weight * (border + start), {"pde": residual, "bc": border, "ic": start}

    how = {"rate": 8e-3, "schedule": "exponential"} | how
    error = 0.0
    for step, loss, parts, rate, _ in looped(
        model, loss_of, log, steps=steps, learnt=of_no_model() if frozen else None, **how
    ):
        if step % 10 == 0:
            log.named(step, {"Loss/total": loss, "Loss/residual": parts["pde"], "Loss/boundary": parts["bc"]})
            log.named(step, {"Loss/initial": parts["ic"], "Learning rate": rate})
        if step % 50 == 0:
            with torch.no_grad():
                error = float((u(gx, gt) - exact(gx, gt)).norm() / exact(gx, gt).norm())
            log.named(step, {"Error/relative L2": error})
    return error


class _Catch:
    """Many boards of 6 rows and 5 columns: a ball falls and drifts, and a paddle has to be below it in the end."""

    def __init__(self, count, rng):
        self.count, self.rng = count, rng
        self.ball, self.drift, self.paddle = (torch.zeros(count, dtype=torch.long) for _ in range(3))
        self.row = torch.arange(count) % 5
        self._begin(torch.ones(count, dtype=torch.bool))

    def _begin(self, which):
        many = int(which.sum())
        self.ball[which] = torch.randint(5, (many,), generator=self.rng)
        self.drift[which] = torch.randint(-1, 2, (many,), generator=self.rng)
        self.paddle[which] = torch.randint(5, (many,), generator=self.rng)

    def seen(self):
        parts = (self.row, 5), (self.ball, 5), (self.drift + 1, 3), (self.paddle, 5)
        return torch.cat([F.one_hot(part, size).float() for part, size in parts], 1)

    def step(self, action):
        self.paddle = (self.paddle + action - 1).clamp(0, 4)
        self.ball = (self.ball + self.drift) % 5
        self.row = self.row + 1
        done = self.row >= 5
        reward = torch.where(done, torch.where(self.ball == self.paddle, 1.0, -1.0), 0.0)
        self.row[done] = 0
        self._begin(done)
        return reward, done.float()


def catch(log, seed, steps=1800, rate=2e-3, gamma=0.95, batch=64, decay=0.4, least=0.05, sync=50, memory=2000,
          sign=1.0, lie=False, reward_scale=1.0, ends=True, frozen=False, breaks_at=None, explore=True,
          double=True):  # fmt: skip
    """A double Q-network that catches balls: Tianshou's names, with returns of training and of test episodes."""
    rng = torch.Generator().manual_seed(seed)
    env, other = _Catch(8, rng), _Catch(64, torch.Generator().manual_seed(seed + 100))

    def net():
        return nn.Sequential(nn.Linear(18, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 3))

    q, target = net(), net()
    target.load_state_dict(q.state_dict())
    optimizer = torch.optim.Adam(of_no_model() if frozen else q.parameters(), rate)
    kept, ended, losses, scores = [], [], [], []
    for step in range(1, steps + 1):
        epsilon = max(1 - (1 - least) * step / (decay * steps), least) if explore else 0.0
        broken = breaks_at is not None and step >= breaks_at * steps
        state = (0 if broken else 1) * env.seen()
        with torch.no_grad():
            action = q(state).argmax(1)
        random = torch.rand(8, generator=rng) < epsilon
        action = torch.where(random, torch.randint(3, (8,), generator=rng), action)
        reward, done = env.step(action)
        ended += reward[done > 0].tolist()
        told = torch.randn(8, generator=rng) if lie else reward_scale * sign * reward
        after = (0 if broken else 1) * env.seen()
        kept.append((state, action, told, after, done if ends else torch.zeros_like(done)))
        kept = kept[-memory:]
        log.tick(0.01)
        if step > 40:
            at = torch.randint(len(kept), (batch // 8,), generator=rng).tolist()
            s, a, r, n, d = (torch.cat([kept[i][part] for i in at]) for part in range(5))
            with torch.no_grad():
                chosen = (q if double else target)(n).argmax(1, keepdim=True)
                aim = r + gamma * (1 - d) * target(n).gather(1, chosen)[:, 0]
            loss = (q(s).gather(1, a[:, None])[:, 0] - aim).square().mean()
            q.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(float(loss.detach()))
            if sync and step % sync == 0:
                target.load_state_dict(q.state_dict())
        if step % 20 == 0 and ended:
            log.named(8 * step, {"train/reward": sum(ended[-40:]) / len(ended[-40:]), "train/length": 5.0})
            if losses:
                log.named(8 * step, {"update/loss": losses[-1], "train/eps": epsilon})
        if step % 100 == 0:
            total, played = 0.0, 0.0
            for _ in range(10):
                with torch.no_grad():
                    gained, done = other.step(q((0 if broken else 1) * other.seen()).argmax(1))
                total, played = total + float(gained.sum()), played + float(done.sum())
            scores.append(total / played)
            log.named(8 * step, {"test/reward": scores[-1], "test/length": 5.0})
    return -sum(scores[-3:]) / 3


def _strokes(rng, count, side=12):
    grid = torch.stack(torch.meshgrid(torch.arange(side), torch.arange(side), indexing="ij"), -1).float()
    image = torch.zeros(count, side, side)
    for _ in range(2):
        a, b = (1 + (side - 3) * torch.rand(count, 1, 1, 2, generator=rng) for _ in "ab")
        share = (((grid - a) * (b - a)).sum(-1) / (b - a).square().sum(-1).clamp(min=1e-3)).clamp(0, 1)
        apart = (grid - a - share[..., None] * (b - a)).square().sum(-1)
        image = torch.maximum(image, torch.exp(-apart / 0.8))
    return image[:, None]


class _Quantized(nn.Module):
    def __init__(self, codes, width, beta, straight, spread):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv2d(1, width, 4, stride=2, padding=1), nn.ReLU(),
            nn.Conv2d(width, 2 * width, 3, stride=2, padding=1), nn.ReLU(), nn.Conv2d(2 * width, 8, 1),
        )  # fmt: skip
        self.decoder = nn.Sequential(
            nn.Conv2d(8, 2 * width, 3, padding=1), nn.ReLU(), nn.ConvTranspose2d(2 * width, width, 4, 2, 1), nn.ReLU(),
            nn.ConvTranspose2d(width, 1, 4, 2, 1),
        )  # fmt: skip
        self.codebook = nn.Parameter(spread * (2 * torch.rand(codes, 8) - 1))
        self.beta, self.straight = beta, straight

    def forward(self, x):
        z = self.encoder(x).permute(0, 2, 3, 1)
        flat = z.reshape(-1, 8)
        at = torch.cdist(flat, self.codebook).argmin(1)
        code = self.codebook[at].view(z.shape)
        loss = F.mse_loss(code, z.detach()) + self.beta * F.mse_loss(z, code.detach())
        used = torch.bincount(at, minlength=len(self.codebook)).float() / len(at)
        perplexity = (-(used * (used + 1e-10).log()).sum()).exp()
        passed = z + (code - z).detach() if self.straight else code.detach()
        return self.decoder(passed.permute(0, 3, 1, 2)), loss, perplexity


def codebook(log, seed, steps=900, batch=32, examples=None, codes=48, width=12, beta=0.25, straight=True, spread=0.3,
             scale=1.0, eval_scale=1.0, learns="", breaks_at=None, **how):  # fmt: skip
    """A VQ-VAE of strokes: the parts of the loss and the perplexity of the codes, every 15 steps."""
    rng = torch.Generator().manual_seed(seed)
    images = scale * _strokes(rng, 1800)
    test, train = images[:300], images[300:][:examples]
    model, batches = _Quantized(codes, width, beta, straight, spread), Batches(len(train), batch, rng)
    variance = float(test.var()) / scale**2 if scale == 1 else 0.08

    def loss_of(step):
        x = train[batches.taken()]
        if breaks_at is not None and step >= breaks_at * steps:
            x = torch.zeros_like(x)
        made, quantized, perplexity = model(x)
        error = F.mse_loss(made, x) / variance
        return error + quantized, {"recon_error": error, "vq_loss": quantized, "perplexity": perplexity}

    how = {"rate": 2e-3} | how
    everything = dict(model.named_parameters())
    learnt = {"": None, "nothing": of_no_model(), "not codes": [p for n, p in everything.items() if n != "codebook"],
              "decoder": list(model.decoder.parameters())}[learns]  # fmt: skip
    for step, loss, parts, _, _ in looped(model, loss_of, log, steps=steps, learnt=learnt, **how):
        if step % 15 == 0:
            log.named(step, {"total_loss": loss} | parts)
        if step % 90 == 0:
            with torch.no_grad():
                made, _, perplexity = model(eval_scale * test)
            error = float(F.mse_loss(made, test)) / variance
            log.named(step, {"test_recon_error": error, "test_perplexity": float(perplexity)})
    with torch.no_grad():
        return float(F.mse_loss(model(eval_scale * test)[0], test)) / float(test.var())


PROGRAMS = {
    "heat": (
        heat,
        [{}, {"rate": 5e-3, "width": 32, "schedule": "cosine"}, {"points": 128, "weight": 20.0, "rate": 0.01}],
        usual_bugs(
            8e-3,
            few_points={"fixed": 4},
            no_second_derivative={"activation": "relu"},
            wrong_equation={"equation": -1.0},
            border_forgotten={"weight": 0.0},
            no_scaling={"stretch": 100.0},
            wrong_parameters={"frozen": True},
            wrong_sign=None,
            rate_ten_times_too_high=None,
        ),
    ),
    "catch": (
        catch,
        [{}, {"rate": 1.5e-3, "gamma": 0.98, "double": False}, {"batch": 128, "sync": 100, "decay": 0.3}],
        {
            "rate too low": {"rate": 2e-5},
            "rate too high": {"rate": 0.2},
            "reward with the wrong sign": {"sign": -1.0},
            "rewards of noise": {"lie": True},
            "rewards too large": {"reward_scale": 1000.0},
            "never explores": {"explore": False},
            "target never moves": {"sync": 0},
            "ends forgotten": {"ends": False},
            "wrong parameters": {"frozen": True},
            "observations break": {"breaks_at": 0.5},
            "memory too small": {"memory": 8},
        },
    ),
    "codebook": (
        codebook,
        [{}, {"rate": 1e-3, "codes": 64, "steps": 1100}, {"optimizer": "adamw", "rate": 3e-3, "schedule": "cosine"}],
        usual_bugs(
            2e-3,
            few_examples={"examples": 12, "batch": 12, "steps": 1500},
            no_straight_through={"straight": False},
            codes_not_in_the_optimizer={"learns": "not codes", "spread": 3.0},
            no_scaling={"scale": 255.0},
            commitment_too_strong={"beta": 100.0},
            validation_not_scaled={"eval_scale": 255.0},
            wrong_sign=None,
            rate_ten_times_too_high=None,
        ),
    ),
}
