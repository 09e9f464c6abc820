"""More programs that are held out: spirals, wine, signals in noise, and sequences to be reversed."""

import torch
from sklearn import datasets
from torch import nn
from torch.nn import functional as F  # noqa: N812 - its usual name

from linters.learning import fit, sorted_by, split


def _accuracy(logits, y):
    return float((logits.argmax(-1) == y).float().mean())


def _classify(model, x, y):
    logits = model(x)
    return F.cross_entropy(logits.flatten(0, -2), y.flatten()), {"accuracy": _accuracy(logits, y)}


def spirals(log, seed, examples=None, noisy_labels=False, width=32, **how):
    """Three spirals: the loss and the accuracy of each epoch, and the accuracy on what was not seen; no other loss."""
    rng = torch.Generator().manual_seed(seed)
    y = torch.arange(900) % 3
    radius = torch.rand(900, generator=rng)
    angle = 4 * radius + 2.09 * y + 0.2 * torch.randn(900, generator=rng)
    train, (tx, ty) = split(rng, 2 * radius[:, None] * torch.stack([angle.sin(), angle.cos()], 1), y, examples=examples)
    if noisy_labels:
        train[1] = train[1][torch.randperm(len(train[1]), generator=rng)]
    train = train if how.get("shuffle", True) else sorted_by(train[1], *train)
    model = nn.Sequential(nn.Linear(2, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 3))

    def on_epoch(epoch, step, mean, rate, parts):
        log.named(epoch, {"loss": mean, "acc": parts["accuracy"], "test_acc": _accuracy(model(tx), ty), "lr": rate})

    how = {"epochs": 40, "batch": 32, "rate": 5e-3} | how
    fit(model, train, _classify, log, seed=seed, on_epoch=on_epoch, **how)
    return -log.last["test_acc"]


def wine(log, seed, examples=None, noisy_labels=False, scaled=True, **how):
    """Three sorts of wine, told by a linear model: capital letters, as in many course works."""
    rng = torch.Generator().manual_seed(seed)
    data = datasets.load_wine()
    x, y = torch.tensor(data.data, dtype=torch.float32), torch.tensor(data.target)
    x = (x - x.mean(0)) / x.std(0) if scaled else x
    train, (tx, ty) = split(rng, x, y, examples=examples)
    if noisy_labels:
        train[1] = train[1][torch.randperm(len(train[1]), generator=rng)]
    train = train if how.get("shuffle", True) else sorted_by(train[1], *train)
    model = nn.Linear(13, 3)

    def on_epoch(epoch, step, mean, rate, parts):
        loss, others = _classify(model, tx, ty)
        log.named(epoch, {"Train/Loss": mean, "Train/Accuracy": parts["accuracy"]})
        log.named(epoch, {"Test/Loss": float(loss), "Test/Accuracy": others["accuracy"]})

    how = {"epochs": 60, "batch": 16, "rate": 0.01, "optimizer": "plain sgd"} | how
    fit(model, train, _classify, log, seed=seed, on_epoch=on_epoch, **how)
    return log.last["Test/Loss"]


def denoising(log, seed, examples=None, eval_scale=1.0, width=12, **how):
    """Steps in noise, made smooth by a convolution: an MSE every few steps, and a PSNR."""
    rng = torch.Generator().manual_seed(seed)
    clean = torch.randn(500, 1, 8, generator=rng).repeat_interleave(8, 2)
    train, (tx, ty) = split(rng, clean + 0.7 * torch.randn(clean.shape, generator=rng), clean, examples=examples)
    train = train if how.get("shuffle", True) else sorted_by(train[1][:, 0].mean(1), *train)
    model = nn.Sequential(
        nn.Conv1d(1, width, 7, padding=3), nn.ReLU(), nn.Conv1d(width, width, 7, padding=3), nn.ReLU(),
        nn.Conv1d(width, 1, 7, padding=3),
    )  # fmt: skip

    def loss_of(model, x, y):
        return F.mse_loss(model(x), y)

    def on_step(step, loss, rate, norm, parts):
        log.named(step, {"train/mse": loss, "lr": rate})

    def on_epoch(epoch, step, mean, rate, parts):
        loss = float(loss_of(model, eval_scale * tx, ty))
        log.named(step, {"val/mse": loss, "val/psnr": -10 * float(torch.tensor(loss).log10())})

    how = {"epochs": 20, "batch": 20, "rate": 3e-3, "every": 2} | how
    fit(model, train, loss_of, log, seed=seed, on_step=on_step, on_epoch=on_epoch, **how)
    return log.last["val/mse"]


class _Transformer(nn.Module):
    def __init__(self, tokens, length, width=32):
        super().__init__()
        self.token, self.place = nn.Embedding(tokens, width), nn.Parameter(0.1 * torch.randn(length, width))
        layer = nn.TransformerEncoderLayer(width, 4, 64, dropout=0.0, batch_first=True)
        self.body, self.head = nn.TransformerEncoder(layer, 2), nn.Linear(width, tokens)

    def forward(self, x):
        return self.head(self.body(self.token(x) + self.place))


def reversing(log, seed, examples=None, noisy_labels=False, **how):
    """A transformer that writes letters backwards: warm-up, norm, and an evaluation at each epoch."""
    rng = torch.Generator().manual_seed(seed)
    x = torch.randint(12, (1200, 8), generator=rng)
    train, (tx, ty) = split(rng, x, x.flip(1), examples=examples)
    if noisy_labels:
        train[1] = train[1][torch.randperm(len(train[1]), generator=rng)]
    train = train if how.get("shuffle", True) else sorted_by(train[0][:, 0], *train)
    model = _Transformer(12, 8)

    def on_step(step, loss, rate, norm, parts):
        log.named(step, {"train_loss": loss, "learning_rate": rate, "grad_norm": norm})

    def on_epoch(epoch, step, mean, rate, parts):
        loss, others = _classify(model, tx, ty)
        log.named(step, {"eval_loss": float(loss), "eval_accuracy": others["accuracy"]})

    how = {"epochs": 15, "batch": 30, "rate": 2e-3, "clip": 1.0, "schedule": "warm-up and cosine", "every": 2} | how
    fit(model, train, _classify, log, seed=seed, on_step=on_step, on_epoch=on_epoch, **how)
    return log.last["eval_loss"]


def counting(log, seed, examples=None, scale=1.0, **how):
    """A recurrent network that counts the ones among zeros: an MAE of epochs."""
    rng = torch.Generator().manual_seed(seed)
    x = (torch.rand(800, 12, 1, generator=rng) > 0.5).float()
    train, (tx, ty) = split(rng, x, scale * x.sum(1), examples=examples)
    train = train if how.get("shuffle", True) else sorted_by(train[1][:, 0], *train)
    model = nn.ModuleDict({"body": nn.GRU(1, 16, batch_first=True), "head": nn.Linear(16, 1)})

    def loss_of(model, x, y):
        return F.l1_loss(model["head"](model["body"](x)[0][:, -1]), y)

    def on_epoch(epoch, step, mean, rate, parts):
        log.named(epoch, {"mae/train": mean, "mae/valid": float(loss_of(model, tx, ty)), "lr": rate})

    how = {"epochs": 30, "batch": 40, "rate": 1e-2} | how
    fit(model, train, loss_of, log, seed=seed, on_epoch=on_epoch, **how)
    return log.last["mae/valid"]


def parity(log, seed, examples=None, noisy_labels=False, eval_breaks=None, **how):
    """Even and odd digits: Keras' names, and both losses at each epoch."""
    rng = torch.Generator().manual_seed(seed)
    data = datasets.load_digits()
    x, y = torch.tensor(data.data, dtype=torch.float32) / 16, torch.tensor(data.target) % 2
    train, (tx, ty) = split(rng, x, y, examples=examples)
    if noisy_labels:
        train[1] = train[1][torch.randperm(len(train[1]), generator=rng)]
    train = train if how.get("shuffle", True) else sorted_by(train[1], *train)
    model = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 2))

    def on_epoch(epoch, step, mean, rate, parts):
        loss, others = _classify(model, tx.flip(1) if eval_breaks is not None and epoch >= eval_breaks else tx, ty)
        log.named(epoch, {"epoch_loss": mean, "epoch_accuracy": parts["accuracy"]})
        log.named(epoch, {"epoch_val_loss": float(loss), "epoch_val_accuracy": others["accuracy"]})

    how = {"epochs": 18, "batch": 64, "rate": 2e-3} | how
    fit(model, train, _classify, log, seed=seed, on_epoch=on_epoch, **how)
    return log.last["epoch_val_loss"]


def inpainting(log, seed, examples=None, scale=1.0, **how):
    """The lower half of a digit from the upper one: a binary cross-entropy at each step, and an evaluation."""
    rng = torch.Generator().manual_seed(seed)
    x = torch.tensor(datasets.load_digits().data, dtype=torch.float32) / 16
    train, (tx, ty) = split(rng, scale * x[:, :32], x[:, 32:], examples=examples)
    train = train if how.get("shuffle", True) else sorted_by(train[1].sum(1), *train)
    model = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 32))

    def loss_of(model, x, y):
        return F.binary_cross_entropy_with_logits(model(x), y)

    def on_step(step, loss, rate, norm, parts):
        log.named(step, {"train/loss": loss, "train/grad_norm": norm, "train/lr": rate})

    def on_epoch(epoch, step, mean, rate, parts):
        log.named(step, {"test/loss": float(loss_of(model, tx, ty))})

    how = {"epochs": 14, "batch": 32, "rate": 2e-3, "every": 3} | how
    fit(model, train, loss_of, log, seed=seed, on_step=on_step, on_epoch=on_epoch, **how)
    return log.last["test/loss"]


def bandit(log, seed, updates=200, rate=1e-2, bonus=0.0, sign=1.0, lie=False):
    """A contextual bandit with four arms, by REINFORCE: the return of each batch, the entropy, and the loss."""
    rng = torch.Generator().manual_seed(seed)
    best = torch.randn(6, 4, generator=rng)
    policy = nn.Sequential(nn.Linear(6, 32), nn.Tanh(), nn.Linear(32, 4))
    optimizer, base = torch.optim.Adam(policy.parameters(), rate), 0.0
    for update in range(updates):
        state = torch.randn(64, 6, generator=rng)
        log_p = F.log_softmax(policy(state), 1)
        action = torch.multinomial(log_p.exp().detach(), 1, generator=rng)[:, 0]
        reward = (action == (state @ best).argmax(1)).float()
        told = torch.randn(64, generator=rng) if lie else sign * reward
        entropy = -(log_p.exp() * log_p).sum(1).mean()
        loss = -(log_p.gather(1, action[:, None])[:, 0] * (told - base)).mean() - bonus * entropy
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        base = 0.9 * base + 0.1 * float(told.mean())
        log.tick()
        log.named(update, {"return": float(reward.mean()), "entropy": float(entropy.detach())})
        log.named(update, {"policy_loss": float(loss.detach())})
    return -sum(value for _, _, tag, value in log.points[-60:] if tag == "return") / 20
