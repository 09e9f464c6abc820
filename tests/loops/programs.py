"""Small programs of the kinds that people train: a model, its batches, its loss. The data are digits and texts."""

import warnings
from dataclasses import dataclass, field
from itertools import cycle

import numpy as np
import torch
from helpers import ROOT
from torch import nn
from torch.nn import functional as F  # noqa: N812 - as torch's own examples have it

from optim.integrations.torch import WiringWarning, attach


class Flat(nn.Module):
    """Digits by a perceptron with dropout."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(64, 48), nn.ReLU(), nn.Dropout(0.1), nn.Linear(48, 32), nn.ReLU())
        self.head = nn.Linear(32, 10)

    def forward(self, x):
        return self.head(self.body(x.flatten(1)))


class Conv(nn.Module):
    """Digits by convolutions and batch norm."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(8, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
        )  # fmt: skip
        self.head = nn.Linear(64, 10)

    def forward(self, x):
        return self.head(self.body(x))


class Lstm(nn.Module):
    """The next letter by a recurrent network, its embedding tied to its output."""

    def __init__(self):
        super().__init__()
        self.body = nn.ModuleDict(
            {"letters": nn.Embedding(24, 32), "rnn": nn.LSTM(32, 32, 2, dropout=0.1, batch_first=True)}
        )
        self.head = nn.Linear(32, 24)
        self.head.weight = self.body["letters"].weight

    def forward(self, x):
        return self.head(self.features(x)).transpose(1, 2)

    def features(self, x):
        return self.body["rnn"](self.body["letters"](x))[0]


class Transformer(nn.Module):
    """The next letter by a transformer."""

    def __init__(self):
        super().__init__()
        self.letters, self.places = nn.Embedding(24, 32), nn.Parameter(torch.randn(12, 32) * 0.02)
        layer = nn.TransformerEncoderLayer(32, 4, 64, 0.1, batch_first=True)
        self.body = nn.TransformerEncoder(layer, 2)
        self.head = nn.Linear(32, 24)
        self.register_buffer("mask", nn.Transformer.generate_square_subsequent_mask(12))

    def forward(self, x):
        return self.head(self.features(x)).transpose(1, 2)

    def features(self, x):
        return self.body(self.letters(x) + self.places, mask=self.mask, is_causal=True)


@dataclass
class Program:
    """A model and what it is trained on.

    Attributes:
        model: fresh, from a fixed seed.
        data: batches, over and over.
    """

    model: nn.Module
    data: object
    losses: list = field(default_factory=list)

    def loss(self, model=None):
        """The loss of the next batch."""
        x, y = next(self.data)
        loss = F.cross_entropy((self.model if model is None else model)(x), y)
        self.losses.append(loss.detach())
        return loss

    def parameters(self):
        return self.model.parameters()


def digits(rows=1000):
    """The first handwritten digits: float32[rows, 1, 8, 8], int64[rows]."""
    with np.load(ROOT / "optim/demo/digits.npz") as packed:
        arrays = {packed[name].ndim: packed[name] for name in packed.files}
    x = next(a for n, a in arrays.items() if n > 1)[:rows].reshape(-1, 1, 8, 8)
    return torch.tensor(x, dtype=torch.float32) / float(x.max()), torch.tensor(arrays[1][:rows].astype(np.int64))


def letters(rows=400):
    """Texts that are a walk through the letters: int64[rows, 12], and what comes next."""
    random = torch.Generator().manual_seed(3)
    begin, by = torch.randint(24, (rows, 1), generator=random), torch.randint(1, 4, (rows, 1), generator=random)
    texts = (begin + by * torch.arange(13)) % 24
    return texts[:, :-1], texts[:, 1:]


MODELS = {
    "flat": (Flat, digits),
    "conv": (Conv, digits),
    "lstm": (Lstm, letters),
    "transformer": (Transformer, letters),
}


def program(name, rows=32, seed=0):
    """A fresh program of this name."""
    torch.manual_seed(seed)
    kind, data = MODELS[name]
    x, y = data()
    made = [(x[i : i + rows], y[i : i + rows]) for i in range(0, len(x) - rows + 1, rows)]
    return Program(kind().train(), cycle(made))


class Watched:
    """Attaches to the optimizers of a loop, and collects what is told.

    Attributes:
        told: (code, step, message) of each mistake.
        hooks: of the loop.
    """

    def __init__(self, logdir):
        self.told, self.hooks, self._logdir = [], [], logdir

    def __call__(self, optimizer, model, **options):
        hook = attach(optimizer, f"{self._logdir}/{len(self.hooks)}", model, layout=False, **options)
        self.hooks.append(hook)
        return hook


def told_of(loop, logdir):
    """Run a loop, and say what is told of it: (code, step, message) of each."""
    watch = Watched(logdir)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            loop(watch)
        finally:
            for hook in watch.hooks:
                hook.remove()
    texts = [str(w.message) for w in caught if issubclass(w.category, WiringWarning)]
    return [(text[-6:-1], int(text.split(":")[0].removeprefix("step ")), text) for text in texts]
