"""Models of data: autoencoders, a GAN, a diffusion, and embeddings of pairs."""

import torch
from sklearn import datasets
from torch import nn
from torch.nn import functional as F  # noqa: N812 - its usual name

from linters.learning import fit, sorted_by, split


def _images(rng, examples=None):
    data = datasets.load_digits()
    x, y = torch.tensor(data.data, dtype=torch.float32) / 16, torch.tensor(data.target)
    return split(rng, x, y, examples=examples)


class _Variational(nn.Module):
    def __init__(self, latents, width=64):
        super().__init__()
        self.encode = nn.Sequential(nn.Linear(64, width), nn.ReLU(), nn.Linear(width, 2 * latents))
        self.decode = nn.Sequential(nn.Linear(latents, width), nn.ReLU(), nn.Linear(width, 64))

    def forward(self, x):
        mean, log_variance = self.encode(x).chunk(2, 1)
        z = mean + torch.randn_like(mean) * (0.5 * log_variance).exp()
        divergence = 0.5 * (mean.square() + log_variance.exp() - 1 - log_variance).sum(1).mean()
        return self.decode(z), divergence


def variational(log, seed, examples=None, beta=1.0, latents=6, **how):
    """A variational autoencoder of digits: the loss and its two parts, means of epochs."""
    rng = torch.Generator().manual_seed(seed)
    (train, labels), (test, _) = _images(rng, examples)
    train = train if how.get("shuffle", True) else sorted_by(labels, train)[0]
    model = _Variational(latents)

    def loss_of(model, x):
        logits, divergence = model(x)
        reconstruction = F.binary_cross_entropy_with_logits(logits, x, reduction="sum") / len(x)
        return reconstruction + beta * divergence, {"reconstruction": reconstruction, "kl": divergence}

    def on_epoch(epoch, step, mean, rate, parts):
        loss, others = loss_of(model, test)
        log.named(epoch, {"train/loss": mean, "train/recon_loss": parts["reconstruction"], "train/kl": parts["kl"]})
        log.named(epoch, {"val/loss": loss, "val/kl": others["kl"]})

    how = {"epochs": 40, "batch": 64, "rate": 2e-3} | how
    fit(model, (train,), loss_of, log, seed=seed, on_epoch=on_epoch, **how)
    return log.last["train/recon_loss"]


def autoencoder(log, seed, examples=None, code=8, scale=1.0, width=64, **how):
    """An autoencoder of digits: a loss at each step, and nothing else but a validation."""
    rng = torch.Generator().manual_seed(seed)
    (train, labels), (test, _) = _images(rng, examples)
    train, test = scale * train, scale * test
    train = train if how.get("shuffle", True) else sorted_by(labels, train)[0]
    model = nn.Sequential(
        nn.Linear(64, width), nn.ReLU(), nn.Linear(width, code), nn.Linear(code, width), nn.ReLU(), nn.Linear(width, 64)
    )

    def loss_of(model, x):
        return F.mse_loss(model(x), x)

    def on_step(step, loss, rate, norm, parts):
        log.named(step, {"loss": loss})

    def on_epoch(epoch, step, mean, rate, parts):
        log.named(step, {"test_loss": float(loss_of(model, test))})

    how = {"epochs": 20, "batch": 64, "rate": 2e-3} | how
    fit(model, (train,), loss_of, log, seed=seed, on_step=on_step, on_epoch=on_epoch, **how)
    return log.last["test_loss"]


def adversarial(log, seed, steps=1200, generator_rate=1e-3, discriminator_rate=1e-3, rounds=1, frozen="", width=32):
    """A GAN of points on a ring: both losses, and what the discriminator thinks, every ten steps."""
    rng = torch.Generator().manual_seed(seed)

    def net(before, after):
        return nn.Sequential(
            nn.Linear(before, width),
            nn.LeakyReLU(0.2),
            nn.Linear(width, width),
            nn.LeakyReLU(0.2),
            nn.Linear(width, after),
        )

    generate, judge = net(4, 2), net(2, 1)
    for_g = torch.optim.Adam(generate.parameters(), generator_rate, betas=(0.5, 0.999))
    for_d = torch.optim.Adam(judge.parameters(), discriminator_rate, betas=(0.5, 0.999))
    guess = F.binary_cross_entropy_with_logits
    far = 0.0
    for step in range(steps):
        for _ in range(rounds):
            angle = torch.rand(64, generator=rng) * 6.28
            real = 2 * torch.stack([angle.cos(), angle.sin()], 1) + 0.2 * torch.randn(64, 2, generator=rng)
            fake = generate(torch.randn(64, 4, generator=rng))
            on_real, on_fake = judge(real), judge(fake.detach())
            loss_d = guess(on_real, torch.ones(64, 1)) + guess(on_fake, torch.zeros(64, 1))
            for_d.zero_grad()
            loss_d.backward()
            if frozen != "d":
                for_d.step()
        loss_g = guess(judge(generate(torch.randn(64, 4, generator=rng))), torch.ones(64, 1))
        for_g.zero_grad()
        loss_g.backward()
        if frozen != "g":
            for_g.step()
        log.tick()
        if step % 10 == 0:
            told = {"Loss/D": loss_d, "Loss/G": loss_g}
            seen = {"D(x)": on_real.sigmoid().mean(), "D(G(z))": on_fake.sigmoid().mean()}
            log.named(step, {name: float(value.detach()) for name, value in (told | seen).items()})
            if step > 0.8 * steps:
                spread = float(fake.detach().std(0).min())
                far += abs(float(fake.detach().norm(dim=1).mean()) - 2) + max(0.7 - spread, 0) * 3
    return far / (0.02 * steps)


def diffusion(log, seed, examples=None, width=64, scale=1.0, **how):
    """A diffusion of points in two moons: the loss of each step, and of a validation."""
    rng = torch.Generator().manual_seed(seed)
    points, moon = datasets.make_moons(1500, noise=0.05, random_state=seed)
    x, moon = scale * torch.tensor(points, dtype=torch.float32), torch.tensor(moon)
    train, (test, _) = split(rng, x, moon, examples=examples)
    train = [train[0]] if how.get("shuffle", True) else [sorted_by(train[1], train[0])[0]]
    model = nn.Sequential(nn.Linear(3, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU(), nn.Linear(width, 2))
    noise = torch.Generator().manual_seed(seed + 1)

    def loss_of(model, x):
        time, epsilon = torch.rand(len(x), 1, generator=noise), torch.randn(x.shape, generator=noise)
        seen = (time * 1.57).cos() * x + (time * 1.57).sin() * epsilon
        return F.mse_loss(model(torch.cat([seen, time], 1)), epsilon)

    def on_step(step, loss, rate, norm, parts):
        log.named(step, {"loss": loss, "grad_norm": norm, "lr": rate})

    def on_epoch(epoch, step, mean, rate, parts):
        log.named(step, {"eval_loss": float(loss_of(model, test.repeat(8, 1)))})

    how = {"epochs": 40, "batch": 64, "rate": 2e-3, "every": 2} | how
    fit(model, train, loss_of, log, seed=seed, on_step=on_step, on_epoch=on_epoch, **how)
    return log.last["eval_loss"]


def siamese(log, seed, examples=None, attract_only=False, noisy_labels=False, **how):
    """Embeddings of digits, near if they are the same: the contrastive loss, distances, and their spread."""
    rng = torch.Generator().manual_seed(seed)
    train, (tx, ty) = _images(rng, examples)
    if noisy_labels:
        train[1] = train[1][torch.randperm(len(train[1]), generator=rng)]
    train = train if how.get("shuffle", True) else sorted_by(train[1], *train)
    model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 8))

    def loss_of(model, x, y):
        embedded = model(x)
        half = len(x) // 2
        a, b, same = embedded[:half], embedded[half : 2 * half], (y[:half] == y[half : 2 * half]).float()
        apart = (a - b).norm(dim=1)
        far = (1 - same) * (2 - apart).clamp(min=0).square()
        loss = (same * apart.square() * 4 + (0 if attract_only else far)).mean()
        near = float((same * apart).sum() / same.sum().clamp(min=1))
        away = float(((1 - same) * apart).sum() / (1 - same).sum().clamp(min=1))
        return loss, {"pos": near, "neg": away, "std": embedded.std(0).mean()}

    def on_epoch(epoch, step, mean, rate, parts):
        loss, others = loss_of(model, tx, ty)
        log.named(epoch, {"loss/train": mean, "loss/val": float(loss), "distance/positive": others["pos"]})
        log.named(epoch, {"distance/negative": others["neg"], "embedding/std": float(others["std"])})

    how = {"epochs": 40, "batch": 128, "rate": 2e-3} | how
    fit(model, train, loss_of, log, seed=seed, on_epoch=on_epoch, **how)
    return log.last["distance/positive"] / max(log.last["distance/negative"], 1e-9)
