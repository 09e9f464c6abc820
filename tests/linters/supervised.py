"""Classifiers, regressions and a language model."""

import inspect
import itertools
import textwrap
from argparse import ArgumentParser

import torch
from sklearn import datasets
from torch import nn
from torch.nn import functional as F  # noqa: N812 - its usual name

from linters.learning import fit, sorted_by, split, zeroed


def _mlp(*widths, end=None):
    layers = []
    for before, after in itertools.pairwise(widths):
        layers += [nn.Linear(before, after), nn.ReLU()]
    return nn.Sequential(*layers[:-1], *([end] if end else []))


def _cross_entropy(model, x, y):
    logits = model(x)
    return F.cross_entropy(logits, y), {"accuracy": (logits.argmax(1) == y).float().mean()}


def _score(model, x, y):
    logits = model(x)
    return float(F.cross_entropy(logits, y)), float((logits.argmax(1) == y).float().mean())


def _digits(rng, examples=None, noisy_labels=False, in_order=False):
    data = datasets.load_digits()
    x, y = torch.tensor(data.data, dtype=torch.float32) / 16, torch.tensor(data.target)
    train, test = split(rng, x, y, examples=examples)
    if noisy_labels:
        train[1] = train[1][torch.randperm(len(train[1]), generator=rng)]
    return (sorted_by(train[1], *train) if in_order else train), test


def digits(log, seed, examples=None, noisy_labels=False, eval_breaks=None, stale=None, width=16, **how):
    """A small CNN on handwritten digits: each step, and a validation each epoch."""
    rng = torch.Generator().manual_seed(seed)
    train, (tx, ty) = _digits(rng, examples, noisy_labels, not how.get("shuffle", True))
    shape = nn.Unflatten(1, (1, 8, 8))
    model = nn.Sequential(
        shape, nn.Conv2d(1, width, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(width, 2 * width, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(32 * width, 10),
    )  # fmt: skip
    kept = {}

    def on_step(step, loss, rate, norm, parts):
        log.add(step, train__loss=loss, train__lr=rate)

    def on_epoch(epoch, step, mean, rate, parts):
        x = torch.randn_like(tx) if eval_breaks is not None and epoch >= eval_breaks else tx
        loss, accuracy = _score(model, x, ty)
        if stale is not None and epoch >= stale:
            loss, accuracy = kept.setdefault("value", (loss, accuracy))
        log.add(step, val__loss=loss, val__acc=accuracy)

    how = {"epochs": 15, "batch": 64, "rate": 1e-3} | how
    fit(model, train, _cross_entropy, log, seed=seed, on_step=on_step, on_epoch=on_epoch, **how)
    return log.last["val/loss"]


def tabular(log, seed, examples=None, noisy_labels=False, scale=1.0, zeros=False, width=32, **how):
    """A perceptron on measurements of tumours: means of epochs, as PyTorch's tutorials log them."""
    rng = torch.Generator().manual_seed(seed)
    data = datasets.load_breast_cancer()
    x, y = torch.tensor(data.data, dtype=torch.float32), torch.tensor(data.target)
    x = scale * (x - x.mean(0)) / x.std(0) if scale else x
    train, (tx, ty) = split(rng, x, y, examples=examples)
    if noisy_labels:
        train[1] = train[1][torch.randperm(len(train[1]), generator=rng)]
    if not how.get("shuffle", True):
        train = sorted_by(train[1], *train)
    model = _mlp(30, width, width, 2)
    model = zeroed(model) if zeros else model

    def on_epoch(epoch, step, mean, rate, parts):
        loss, accuracy = _score(model, tx, ty)
        log.named(epoch, {"Loss/train": mean, "Loss/val": loss, "Accuracy/val": accuracy})

    how = {"epochs": 20, "batch": 32, "rate": 3e-3, "optimizer": "sgd"} | how
    fit(model, train, _cross_entropy, log, seed=seed, on_epoch=on_epoch, **how)
    return log.last["Loss/val"]


def diabetes(log, seed, examples=None, scale=1.0, width=32, noisy_labels=False, **how):
    """A regression of a disease's progress: Keras' names."""
    rng = torch.Generator().manual_seed(seed)
    data = datasets.load_diabetes()
    x, y = torch.tensor(data.data, dtype=torch.float32), torch.tensor(data.target, dtype=torch.float32)[:, None]
    x, y = scale * x / x.std(0), (y - y.mean()) / y.std()
    train, (tx, ty) = split(rng, x, y, examples=examples)
    if noisy_labels:
        train[1] = train[1][torch.randperm(len(train[1]), generator=rng)]
    if not how.get("shuffle", True):
        train = sorted_by(train[1][:, 0], *train)
    model = _mlp(10, width, 1)

    def loss_of(model, x, y):
        return F.mse_loss(model(x), y)

    def on_epoch(epoch, step, mean, rate, parts):
        loss = float(loss_of(model, tx, ty))
        log.named(epoch, {"loss": mean, "val_loss": loss, "val_r2": 1 - loss / float(ty.var()), "learning_rate": rate})

    how = {"epochs": 50, "batch": 32, "rate": 3e-3, "optimizer": "plain sgd"} | how
    fit(model, train, loss_of, log, seed=seed, on_epoch=on_epoch, **how)
    return log.last["val_loss"]


class _Recurrent(nn.Module):
    def __init__(self, tokens, width):
        super().__init__()
        self.embedding = nn.Embedding(tokens, width)
        self.gru = nn.GRU(width, width, batch_first=True)
        self.head = nn.Linear(width, tokens)

    def forward(self, x):
        return self.head(self.gru(self.embedding(x))[0])


def language(log, seed, examples=None, noisy_labels=False, width=48, breaks=None, **how):
    """A language model of characters, of the sources that Python brings: a loss every ten steps, and a schedule."""
    text = inspect.getsource(textwrap) + inspect.getsource(ArgumentParser)
    letters = sorted(set(text))
    data = torch.tensor([letters.index(letter) for letter in text[:24_000]])
    rows = data[: len(data) // 33 * 33].view(-1, 33)
    rng = torch.Generator().manual_seed(seed)
    (train,), (test,) = split(rng, rows, examples=examples)
    x, y = train[:, :-1], train[:, 1:]
    if noisy_labels:
        y = y[torch.randperm(len(y), generator=rng)]
    model = _Recurrent(len(letters), width)

    def loss_of(model, x, y):
        return F.cross_entropy(model(x).flatten(0, 1), y.flatten())

    def on_step(step, loss, rate, norm, parts):
        log.add(step, train__loss=loss, train__lr=rate, train__grad_norm=norm)

    def on_epoch(epoch, step, mean, rate, parts):
        log.add(step, val__loss=float(loss_of(model, test[:, :-1], test[:, 1:])))

    how = {"epochs": 12, "batch": 16, "rate": 5e-3, "clip": 1.0, "schedule": "warm-up and cosine", "every": 2} | how
    fit(model, (x, y), loss_of, log, seed=seed, on_step=on_step, on_epoch=on_epoch, **how)
    return log.last["val/loss"]


def forecast(log, seed, examples=None, scale=1.0, width=24, eval_scale=1.0, **how):
    """An LSTM that continues waves, as Lightning logs it."""
    rng = torch.Generator().manual_seed(seed)
    phase, period = torch.rand(600, 1, generator=rng) * 6.28, 8 + 12 * torch.rand(600, 1, generator=rng)
    time = torch.arange(33)[None]
    waves = torch.sin(phase + 6.28 * time / period) + 0.1 * torch.randn(600, 33, generator=rng)
    train, (tx, ty) = split(rng, scale * waves[:, :-1, None], waves[:, -1:], examples=examples)
    if not how.get("shuffle", True):
        train = sorted_by(train[1][:, 0], *train)
    model = nn.ModuleDict({"lstm": nn.LSTM(1, width, batch_first=True), "head": nn.Linear(width, 1)})

    def predicted(x):
        return model["head"](model["lstm"](x)[0][:, -1])

    def loss_of(model, x, y):
        return F.mse_loss(predicted(x), y)

    def on_step(step, loss, rate, norm, parts):
        log.named(step, {"train_loss_step": loss, "epoch": step * how["batch"] // len(train[0]), "lr-Adam": rate})

    def on_epoch(epoch, step, mean, rate, parts):
        log.named(step - 1, {"train_loss_epoch": mean, "val_loss": float(loss_of(model, eval_scale * tx, ty))})

    how = {"epochs": 30, "batch": 32, "rate": 5e-3, "every": 5} | how
    fit(model, train, loss_of, log, seed=seed, on_step=on_step, on_epoch=on_epoch, **how)
    return log.last["val_loss"]


def finetune(log, seed, examples=None, noisy_labels=False, **how):
    """A network that knows five digits is tuned on all ten: the names of transformers' Trainer."""
    rng = torch.Generator().manual_seed(seed)
    train, (tx, ty) = _digits(rng, None, noisy_labels)
    known = train[1] < 5
    model = _mlp(64, 48, 48, 10)
    first = {"seed": seed, "epochs": 8, "batch": 32, "rate": 2e-3}
    fit(model, [column[known] for column in train], _cross_entropy, log, **first)
    train = [column[:examples] for column in train]
    train = train if how.get("shuffle", True) else sorted_by(train[1], *train)

    def on_step(step, loss, rate, norm, parts):
        epoch = step * how["batch"] / len(train[0])
        log.named(step, {"train/loss": loss, "train/learning_rate": rate, "train/grad_norm": norm})
        log.named(step, {"train/epoch": epoch})

    def on_epoch(epoch, step, mean, rate, parts):
        loss, accuracy = _score(model, tx, ty)
        log.named(step, {"eval/loss": loss, "eval/accuracy": accuracy})

    how = {"epochs": 8, "batch": 16, "rate": 5e-4, "schedule": "linear", "clip": 1.0, "every": 5,
           "optimizer": "adamw"} | how  # fmt: skip
    fit(model, train, _cross_entropy, log, seed=seed, on_step=on_step, on_epoch=on_epoch, **how)
    return log.last["eval/loss"]


def recommender(log, seed, examples=None, rank=8, decay=1e-3, **how):
    """A factorization of ratings: the RMSE of epochs."""
    rng = torch.Generator().manual_seed(seed)
    users, items = torch.randn(120, 4, generator=rng), torch.randn(80, 4, generator=rng)
    at = torch.stack([torch.randint(120, (6000,), generator=rng), torch.randint(80, (6000,), generator=rng)], 1)
    rating = (users[at[:, 0]] * items[at[:, 1]]).sum(1) + 0.5 * torch.randn(6000, generator=rng)
    train, (tx, ty) = split(rng, at, rating, examples=examples)
    if not how.get("shuffle", True):
        train = sorted_by(train[1], *train)
    model = nn.ModuleDict({"user": nn.Embedding(120, rank), "item": nn.Embedding(80, rank)})
    for parameter in model.parameters():
        nn.init.normal_(parameter, 0, 0.3, generator=rng)

    def loss_of(model, x, y):
        error = ((model["user"](x[:, 0]) * model["item"](x[:, 1])).sum(1) - y).square().mean()
        return error + decay * sum(part.weight.square().sum(1).mean() for part in model.values()), {"mse": error}

    def on_epoch(epoch, step, mean, rate, parts):
        loss = float(loss_of(model, tx, ty)[1]["mse"])
        log.named(
            epoch, {"train_loss": mean, "val_loss": loss, "train_rmse": parts["mse"] ** 0.5, "val_rmse": loss**0.5}
        )

    how = {"epochs": 30, "batch": 128, "rate": 1e-2} | how
    fit(model, train, loss_of, log, seed=seed, on_epoch=on_epoch, **how)
    return log.last["val_loss"]


def sentiment(log, seed, examples=None, noisy_labels=False, zeros=False, dropout=0.2, eval_breaks=None, **how):
    """Bags of words in two classes: each step's loss and accuracy, and a validation each epoch."""
    rng = torch.Generator().manual_seed(seed)
    mood = torch.randn(400, generator=rng)
    words = torch.randint(400, (2400, 20), generator=rng)
    y = (mood[words].mean(1) + 0.05 * torch.randn(2400, generator=rng) > 0).long()
    train, (tx, ty) = split(rng, words, y, examples=examples)
    if noisy_labels:
        train[1] = train[1][torch.randperm(len(train[1]), generator=rng)]
    train = train if how.get("shuffle", True) else sorted_by(train[1], *train)
    model = nn.Sequential(nn.EmbeddingBag(400, 32), nn.Dropout(dropout), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 2))
    model = zeroed(model) if zeros else model

    def on_step(step, loss, rate, norm, parts):
        log.named(step, {"training/loss": loss, "training/accuracy": parts["accuracy"]})

    def on_epoch(epoch, step, mean, rate, parts):
        x = torch.zeros_like(tx) if eval_breaks is not None and epoch >= eval_breaks else tx
        loss, accuracy = _score(model, x, ty)
        log.named(step, {"validation/loss": loss, "validation/accuracy": accuracy, "alpha": rate})

    how = {"epochs": 14, "batch": 50, "rate": 2e-3} | how
    fit(model, train, _cross_entropy, log, seed=seed, on_step=on_step, on_epoch=on_epoch, **how)
    return log.last["validation/loss"]


def segmentation(log, seed, examples=None, width=12, sign=1.0, eval_breaks=None, **how):
    """Discs in noise, outlined by a small network: binary cross-entropy and Dice."""
    rng = torch.Generator().manual_seed(seed)
    centre, radius = torch.rand(400, 2, generator=rng) * 16, 2 + 3 * torch.rand(400, generator=rng)
    grid = torch.stack(torch.meshgrid(torch.arange(16), torch.arange(16), indexing="ij"), -1)
    mask = ((grid[None] - centre[:, None, None]).square().sum(-1).sqrt() < radius[:, None, None]).float()[:, None]
    image = mask + 0.7 * torch.randn(mask.shape, generator=rng)
    train, (tx, ty) = split(rng, image, mask, examples=examples)
    model = nn.Sequential(
        nn.Conv2d(1, width, 3, padding=1), nn.ReLU(), nn.Conv2d(width, width, 3, padding=1), nn.ReLU(),
        nn.Conv2d(width, 1, 1),
    )  # fmt: skip

    def loss_of(model, x, y):
        return F.binary_cross_entropy_with_logits(model(x), y)

    def on_epoch(epoch, step, mean, rate, parts):
        logits = model(torch.zeros_like(tx) if eval_breaks is not None and epoch >= eval_breaks else tx)
        chosen = (logits > 0).float()
        dice = float(2 * (chosen * ty).sum() / (chosen.sum() + ty.sum()))
        loss = float(F.binary_cross_entropy_with_logits(logits, ty))
        log.named(epoch + 1, {"train/loss": mean, "val/loss": loss, "val/dice": dice, "lr": rate})

    how = {"epochs": 20, "batch": 20, "rate": 3e-3} | how
    fit(model, train, loss_of, log, seed=seed, on_epoch=on_epoch, sign=sign, **how)
    return log.last["val/loss"]
