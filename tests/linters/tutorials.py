"""Three small trainings as in tutorials: a classifier of images, of texts, and a language model of characters."""

import functools
import importlib
import inspect
import math
import pathlib
import re
from collections import Counter

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.nn import functional as F  # noqa: N812 - its usual name

from linters.learning import shuffled, sorted_by, split
from linters.loops import Means, batches_of, common_bugs, train_by_steps


def _coloured(rng, pictures, side=10):
    """Digits in a colour on another one, anywhere in an image."""
    count = len(pictures)
    canvas = torch.zeros(count, side, side)
    down, right = torch.randint(side - 7, (2, count), generator=rng)
    for at in range(count):
        canvas[at, down[at] : down[at] + 8, right[at] : right[at] + 8] = pictures[at]
    ground, ink = torch.rand(2, count, 3, 1, 1, generator=rng)
    ground, ink = 0.4 * ground, 0.5 + 0.5 * ink
    image = ground + canvas[:, None] * (ink - ground)
    return (image + 0.04 * torch.randn(image.shape, generator=rng)).clamp(0, 1)


class _Net(nn.Module):
    """The network of PyTorch's first tutorial, for smaller images."""

    def __init__(self, dropout, softmax):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(3, 6, 3, padding=1), nn.Conv2d(6, 16, 3, padding=1)
        self.fc1, self.fc2, self.fc3 = nn.Linear(64, 64), nn.Linear(64, 32), nn.Linear(32, 10)
        self.pool, self.dropout, self.softmax = nn.MaxPool2d(2, 2), nn.Dropout(dropout), softmax

    def forward(self, x):
        x = self.pool(self.conv1(x).relu())
        x = self.pool(self.conv2(x).relu()).flatten(1)
        x = self.fc3(self.dropout(self.fc2(self.fc1(x).relu()).relu()))
        return x.softmax(1) if self.softmax else x


def classifier(log, seed, epochs=7, batch=8, examples=None, dropout=0.0, noisy_labels=False, shuffle=True,
               normalised=True, test_normalised=True, softmax=False, breaks_at=None, **how):  # fmt: skip
    """PyTorch's "training a classifier": the running loss every 50 batches, accuracy at the end of an epoch."""
    rng = torch.Generator().manual_seed(seed)
    held = load_digits()
    pictures, labels = torch.tensor(held.images / 16).float(), torch.tensor(held.target)
    (x, y), (tx, ty) = split(rng, pictures, labels, examples=examples)
    turns = 2 if examples is None else 1
    x, y, tx = _coloured(rng, x.repeat(turns, 1, 1)), y.repeat(turns), _coloured(rng, tx)
    x = (x - 0.5) / 0.5 if normalised else x * 255
    tx = (tx - 0.5) / 0.5 if normalised and test_normalised else tx * 255
    if noisy_labels:
        y = shuffled(rng, y)
    if not shuffle:
        x, y = sorted_by(y, x, y)
    model, running = _Net(dropout, softmax), Means()
    each = math.ceil(len(x) / batch)
    steps = epochs * each

    def loss_of(model, x, y):
        return F.cross_entropy(model(x), y), {}

    def on_step(step, loss, rate, norm, parts):
        running.put(loss=loss)
        within = (step - 1) % each + 1
        if within % 50 == 0:
            log.named(step - 1, {"training loss": running.taken()["loss"]})
        if step % each == 0:
            log.named(step // each, {"accuracy": float((model(tx).argmax(1) == ty).float().mean())})
            running.rows = []

    how = {"rate": 0.01, "optimizer": "sgd"} | how
    loader = batches_of((x, y), batch, seed, steps=steps, shuffle=shuffle, breaks_at=breaks_at,
                        fails=lambda x, y: (torch.zeros_like(x), y))  # fmt: skip
    train_by_steps(model, loader, loss_of, log, steps=steps, on_step=on_step, **how)
    return 1 - log.last["accuracy"]


@functools.cache
def _snippets(length=7, most=1000):
    """Pieces of four packages, of 7 words each without the package's own name; and of which package each is."""
    texts, sorts = [], []
    for sort, name in enumerate(("asyncio", "email", "unittest", "multiprocessing")):
        folder = pathlib.Path(importlib.import_module(name).__file__).parent
        text = " ".join(path.read_text("utf-8", "replace") for path in sorted(folder.glob("*.py")))
        words = [word for word in re.findall("[a-z]{2,}", text.lower()) if word != name]
        pieces = [words[at : at + length] for at in range(0, len(words) - length, length)]
        pieces = pieces[:: max(1, len(pieces) // most)][:most]
        texts += pieces
        sorts += [sort] * len(pieces)
    return texts, torch.tensor(sorts)


class _Bag(nn.Module):
    """An embedding, dropout, an average, dropout, and a dense layer."""

    def __init__(self, words, width, dropout, softmax):
        super().__init__()
        self.embedding, self.dropout = nn.Embedding(words, width), nn.Dropout(dropout)
        nn.init.uniform_(self.embedding.weight, -0.05, 0.05)
        self.dense, self.softmax = nn.Linear(width, 4), softmax

    def forward(self, x):
        x = self.dense(self.dropout(self.dropout(self.embedding(x)).mean(1)))
        return x.softmax(1) if self.softmax else x


def topics(log, seed, epochs=10, batch=32, examples=None, width=16, dropout=0.4, noisy_labels=False, shuffle=True,
           other_words=False, softmax=False, only_dense=False, breaks_at=None, **how):  # fmt: skip
    """Keras' text classification, of four packages: loss and accuracy of both parts at the end of each epoch."""
    rng = torch.Generator().manual_seed(seed)
    texts, sorts = _snippets()
    (train, y), (test, ty) = split(rng, torch.arange(len(texts)), sorts, examples=examples)
    common = Counter(word for at in train.tolist() for word in texts[at]).most_common(3000)
    number = {word: at + 1 for at, (word, _) in enumerate(common)}
    x, tx = (torch.tensor([[number.get(word, 0) for word in texts[at]] for at in part.tolist()])
             for part in (train, test))  # fmt: skip
    if other_words:  # the vocabulary was made again for the validation texts
        tx = torch.randperm(3001, generator=rng)[tx]
    if noisy_labels:
        y = shuffled(rng, y)
    if not shuffle:
        x, y = sorted_by(y, x, y)
    model, means = _Bag(3001, width, dropout, softmax), Means()
    each = math.ceil(len(x) / batch)
    steps = epochs * each

    def loss_of(model, x, y):
        logits = model(x)
        return F.cross_entropy(logits, y), {"accuracy": (logits.argmax(1) == y).float().mean()}

    def on_step(step, loss, rate, norm, parts):
        means.put(loss=loss, **parts)
        if step % each == 0:
            held, told = loss_of(model, tx, ty)
            log.named(step // each - 1, {f"epoch_{name}": value for name, value in means.taken().items()})
            log.named(step // each - 1, {"epoch_val_loss": held, "epoch_val_accuracy": told["accuracy"]})

    how = {"rate": 5e-3} | how
    learnt = list(model.dense.parameters()) if only_dense else None
    loader = batches_of((x, y), batch, seed, steps=steps, shuffle=shuffle, breaks_at=breaks_at,
                        fails=lambda x, y: (torch.zeros_like(x), y))  # fmt: skip
    train_by_steps(model, loader, loss_of, log, steps=steps, on_step=on_step, learnt=learnt, **how)
    return 1 - log.last["epoch_val_accuracy"]


class _Block(nn.Module):
    def __init__(self, width, heads, dropout, causal):
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.c_attn, self.c_proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
        self.dropout, self.heads, self.causal = nn.Dropout(dropout), heads, causal

    def forward(self, x):
        rows, length, width = x.shape
        parts = self.c_attn(self.ln_1(x)).view(rows, length, 3, self.heads, width // self.heads)
        q, k, v = parts.permute(2, 0, 3, 1, 4)
        seen = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        x = x + self.dropout(self.c_proj(seen.transpose(1, 2).reshape(rows, length, width)))
        return x + self.dropout(self.mlp(self.ln_2(x)))


class _Model(nn.Module):
    """A small GPT, whose head shares the weights of the embedding."""

    def __init__(self, letters, block, width, layers, dropout, causal):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(letters, width), nn.Embedding(block, width)
        self.blocks = nn.Sequential(*(_Block(width, 4, dropout, causal) for _ in range(layers)))
        self.dropout, self.ln_f = nn.Dropout(dropout), nn.LayerNorm(width)
        for name, parameter in self.named_parameters():
            if parameter.dim() > 1:
                nn.init.normal_(parameter, 0, 0.05)
            elif name.endswith("bias"):
                nn.init.zeros_(parameter)

    def forward(self, x):
        x = self.dropout(self.wte(x) + self.wpe.weight[: x.shape[1]])
        return self.ln_f(self.blocks(x)) @ self.wte.weight.T


@functools.cache
def _characters():
    """The source of three modules as numbers of characters; each fifth piece of 1000 is for validation."""
    text = "".join(inspect.getsource(importlib.import_module(name)) for name in ("argparse", "optparse", "difflib"))
    letters = sorted(set(text))
    pieces = torch.tensor([letters.index(letter) for letter in text[: len(text) // 1000 * 1000]]).view(-1, 1000)
    held = torch.arange(len(pieces)) % 5 == 4
    return pieces[~held].flatten(), pieces[held].flatten(), len(letters)


def chars(log, seed, iters=500, batch=16, block=32, width=48, layers=2, dropout=0.0, characters=None, causal=True,
          shift=1, renumbered=False, breaks_at=None, **how):  # fmt: skip
    """nanoGPT on the characters of source code: both losses and the rate every 20 iterations."""
    rng = torch.Generator().manual_seed(seed)
    train, test, letters = _characters()
    train = train[:characters]
    test = torch.randperm(letters, generator=rng)[test] if renumbered else test
    model = _Model(letters, block, width, layers, dropout, causal)

    def drawn(text, rng, rows=batch, shift=shift):
        at = torch.randint(len(text) - block - 1, (rows,), generator=rng)[:, None] + torch.arange(block)
        return text[at], text[at + shift]

    def loader():
        kept = None
        for step in range(iters):
            if breaks_at is None or step < breaks_at * iters or kept is None:
                kept = drawn(train, rng)
            yield kept

    def loss_of(model, x, y):
        return F.cross_entropy(model(x).flatten(0, 1), y.flatten()), {}

    def on_step(step, loss, rate, norm, parts):
        if step % 20 == 0:
            means = [sum(float(loss_of(model, *drawn(text, rng, 24))[0]) for _ in range(3)) / 3
                     for text in (train, test)]  # fmt: skip
            log.named(step, {"iter": step, "train/loss": means[0], "val/loss": means[1], "lr": rate})

    how = {"rate": 4e-3, "optimizer": "adamw", "schedule": "warm-up and cosine", "clip": 1.0} | how
    train_by_steps(model, loader(), loss_of, log, steps=iters, on_step=on_step, **how)
    with torch.no_grad():  # the character after a whole block, which no one could have looked at
        x, y = drawn(test, torch.Generator().manual_seed(0), 1500, 1)
        return float(F.cross_entropy(model(x)[:, -1], y[:, -1]))


PROGRAMS = {
    "classifier": (classifier, [{}, {"optimizer": "adam", "rate": 2e-3, "batch": 10},
                                {"rate": 0.05, "batch": 16, "schedule": "cosine", "epochs": 9}], common_bugs(
        0.01, few_examples={"examples": 80, "epochs": 120}, data_in_order={"shuffle": False},
        test_not_normalised={"test_normalised": False}, softmax_twice={"softmax": True},
        labels_shuffled={"noisy_labels": True}, data_not_normalised={"normalised": False}, wrong_sign=None,
        rate_halved_each_batch=None, rate_ten_times_too_high=None, no_zero_grad=None)),
    "topics": (topics, [{}, {"rate": 3e-3, "epochs": 14}, {"rate": 0.01, "batch": 80, "epochs": 7}],
               common_bugs(
        5e-3, few_examples={"examples": 48, "epochs": 200}, other_words_in_validation={"other_words": True},
        softmax_twice={"softmax": True}, dropout_far_too_high={"dropout": 0.97}, loader_breaks={"breaks_at": 0.15},
        only_the_dense_layer={"only_dense": True}, labels_shuffled={"noisy_labels": True},
        data_in_order={"shuffle": False}, rate_ten_times_too_high=None, rate_halved_each_batch=None,
        dead_schedule=None)),
    "chars": (chars, [{}, {"rate": 3e-3, "batch": 20, "dropout": 0.05},
                      {"rate": 3e-3, "width": 56, "iters": 450}], common_bugs(
        4e-3, few_characters={"characters": 1200}, looks_ahead={"causal": False}, target_is_the_input={"shift": 0},
        renumbered_in_validation={"renumbered": True}, dropout_far_too_high={"dropout": 0.9},
        rate_ten_times_too_high=None, wrong_sign=None, rate_halved_each_batch=None)),
}  # fmt: skip
"""Name → the program, its healthy settings, and its bugs."""
