"""A small network learns handwritten digits: something worth looking at, in a fifth of a second. NumPy only."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

DIGITS = Path(__file__).parents[2] / "optim" / "demo" / "digits.npz"
TRAIN = 1400  # digits to learn from; the other 397 are to test on
BATCH = 100


@dataclass(frozen=True)
class Settings:
    """What the runs of the sweep differ in."""

    learning_rate: float
    momentum: float
    nesterov: bool
    hidden: int = 16
    activation: str = "tanh"


class Network:
    """64 pixels → tanh → softmax over ten digits."""

    def __init__(self, settings):
        self.settings = settings
        self.rng = np.random.default_rng(7)
        with np.load(DIGITS, allow_pickle=False) as file:
            self.pixels, self.labels = file["images"].reshape(-1, 64) / 16.0, file["labels"]
        shapes = {"hidden/weights": (64, settings.hidden), "output/weights": (settings.hidden, 10)}
        self.weights = {name: self.rng.normal(0, shape[0] ** -0.5, shape) for name, shape in shapes.items()}
        self.velocity = {name: np.zeros_like(weight) for name, weight in self.weights.items()}
        self.gradients = {}

    def activations(self, pixels, weights=None):
        return np.tanh(pixels @ (weights or self.weights)["hidden/weights"])

    def probabilities(self, pixels, weights=None):
        scores = self.activations(pixels, weights) @ (weights or self.weights)["output/weights"]
        exponentials = np.exp(scores - scores.max(axis=1, keepdims=True))
        return exponentials / exponentials.sum(axis=1, keepdims=True)

    def losses(self, rows, weights=None):
        """The cross-entropy of each digit."""
        found = self.probabilities(self.pixels[rows], weights)
        return -np.log(found[np.arange(len(found)), self.labels[rows]] + 1e-12)

    def accuracy(self, rows):
        return float(np.mean(self.probabilities(self.pixels[rows]).argmax(axis=1) == self.labels[rows]))

    def epoch(self):
        """One pass over what is there to learn from."""
        order = self.rng.permutation(TRAIN)
        for start in range(0, TRAIN, BATCH):
            self._update(order[start : start + BATCH])

    def _update(self, rows):
        pixels = self.pixels[rows]
        hidden = self.activations(pixels)
        error = (self.probabilities(pixels) - np.eye(10)[self.labels[rows]]) / len(rows)
        back = (error @ self.weights["output/weights"].T) * (1 - hidden**2)
        self.gradients = {"hidden/weights": pixels.T @ back, "output/weights": hidden.T @ error}
        for name, gradient in self.gradients.items():
            rate, momentum = self.settings.learning_rate, self.settings.momentum
            velocity = self.velocity[name] = momentum * self.velocity[name] - rate * gradient
            self.weights[name] += momentum * velocity - rate * gradient if self.settings.nesterov else velocity
