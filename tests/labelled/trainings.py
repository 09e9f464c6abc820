"""Small networks that are really trained, in NumPy: classifiers of noisy clusters, by Adam or SGD, as users log them.

A training returns {tag: (steps, values)} like the makers in `healthy.py`. Its curves have what formulas lack: a warm-up
whose norms climb, a first phase in which all steps are clipped, losses that stand before they fall, slight overfits.
"""

from itertools import pairwise

import numpy as np
from labelled.runs import columns

CLASSES, INPUTS = 10, 20


def _data(rng, examples, spread):
    """Clusters, one a class, which overlap."""
    centres = rng.standard_normal((CLASSES, INPUTS))
    label = rng.integers(CLASSES, size=examples)
    return centres[label] + spread * rng.standard_normal((examples, INPUTS)), label


def _layers(rng, widths, gain):
    return [gain * rng.standard_normal(shape) / np.sqrt(shape[0]) for shape in pairwise(widths)]


def _loss(layers, x, label):
    """The cross-entropy, the accuracy, and the gradients, of a network with ReLUs."""
    activations = [x]
    for weight in layers[:-1]:
        activations.append(np.maximum(activations[-1] @ weight, 0))
    logits = activations[-1] @ layers[-1]
    logits -= logits.max(axis=1, keepdims=True)
    probability = np.exp(logits)
    probability /= probability.sum(axis=1, keepdims=True)
    at = np.arange(len(label)), label
    loss, accuracy = -np.log(probability[at] + 1e-12).mean(), (logits.argmax(axis=1) == label).mean()
    back = probability
    back[at] -= 1
    back /= len(label)
    gradients = []
    for weight, inputs in zip(layers[::-1], activations[::-1], strict=True):
        gradients.append(inputs.T @ back)
        back = (back @ weight.T) * (inputs > 0)
    return loss, accuracy, gradients[::-1]


def train(rng, steps, *, rate=1e-3, adam=True, depth=2, width=32, gain=1.4, clip=None, warm_up=0, spread=1.5,
          examples=2000, batch=32, every=20, decay=1.0, ascends=False, accumulates=False, random=False):  # fmt: skip
    """Train, and return what was logged: at each step loss, norm and rate; every so often a validation.

    The last four are bugs: a rate that shrinks by a factor at each step, the wrong sign, gradients that are never set
    to zero, and labels that mean nothing.
    """
    inputs, labels = _data(rng, 2 * examples, spread)
    if random:
        labels = rng.integers(CLASSES, size=len(labels))
    total = None
    layers = _layers(rng, [INPUTS, *[width] * (depth - 1), CLASSES], gain)
    layers[-1] *= 0.1  # so that it begins by guessing
    moments = [(np.zeros_like(weight), np.zeros_like(weight)) for weight in layers]
    logged = {"train/loss": [], "train/grad_norm": [], "train/lr": [], "train/accuracy": []}
    evaluated = {"val/loss": [], "val/accuracy": []}
    for step in range(steps):
        at = rng.integers(examples, size=batch)
        loss, accuracy, gradients = _loss(layers, inputs[at], labels[at])
        norm = np.sqrt(sum((gradient**2).sum() for gradient in gradients))
        now = rate * decay**step * (min((step + 1) / warm_up, 1) if warm_up else 1)
        if accumulates:
            gradients = total = [
                before + new for before, new in zip(total or [0] * len(layers), gradients, strict=True)
            ]
        for tag, value in zip(logged, (loss, norm, now, accuracy), strict=True):
            logged[tag].append(value)
        scale = min(1.0, clip / norm) if clip else 1.0
        for i, gradient in enumerate(gradients):
            moments[i], update = _update(moments[i], scale * gradient, step + 1, adam=adam)
            layers[i] = layers[i] - (-now if ascends else now) * update
        if step % every == every - 1:
            for tag, value in zip(evaluated, _loss(layers, inputs[examples:], labels[examples:])[:2], strict=True):
                evaluated[tag].append(value)
    run = {tag: columns(values) for tag, values in logged.items()}
    run |= {tag: columns(values, every * np.arange(1, len(values) + 1) - 1) for tag, values in evaluated.items()}
    if clip:
        norms = run["train/grad_norm"][1]
        run |= {"gradients/clip_norm": columns(np.full(steps, clip)), "gradients/clipped": columns(norms > clip)}
    return run


def _update(moments, gradient, step, *, adam):
    """The moments after a step, and the update: Adam's (Kingma & Ba 2015), or that of momentum."""
    if not adam:
        velocity = 0.9 * moments[0] + gradient
        return (velocity, moments[1]), velocity
    first, second = 0.9 * moments[0] + 0.1 * gradient, 0.999 * moments[1] + 0.001 * gradient**2
    return (first, second), first / (1 - 0.9**step) / (np.sqrt(second / (1 - 0.999**step)) + 1e-8)


HEALTHY = {
    "adam": {},
    "adam, deep, small at first": {"depth": 4, "gain": 0.5},
    "adam, clipped": {"clip": 1.0, "depth": 3},
    "adam, warm-up": {"warm_up": 100, "depth": 3, "rate": 3e-3},
    "sgd": {"adam": False, "rate": 0.03},
    "sgd, deep, small at first": {"adam": False, "rate": 0.02, "depth": 3, "gain": 0.7},
    "sgd, clipped": {"adam": False, "rate": 0.05, "clip": 0.5},
    "hard": {"spread": 4.0, "rate": 2e-3},
}
"""Trainings that go as they should: name → arguments of `train`."""

FAULTY = {
    "a rate 1000 times too low": ("GL303", {"rate": 1e-6}),
    "sgd, a rate 1000 times too low": ("GL313", {"adam": False, "rate": 3e-5}),
    "a rate that dies": ("GL507", {"decay": 0.93, "rate": 3e-3}),
    "a rate far too high": ("GL301", {"adam": False, "rate": 30.0}),
    "adam, a rate far too high": ("GL303", {"rate": 1.0}),
    "clipped to nothing": ("GL404", {"adam": False, "rate": 0.03, "clip": 1e-3}),
    "the wrong sign": ("GL304", {"ascends": True}),
    "sgd, the wrong sign": ("GL304", {"ascends": True, "adam": False, "rate": 0.03}),
    "gradients never set to zero": ("GL304", {"accumulates": True, "adam": False, "rate": 0.03}),
    "few examples": ("GL305", {"examples": 100, "rate": 3e-3, "width": 64, "spread": 2.5}),
    "labels that mean nothing": ("GL309", {"random": True, "examples": 5000}),
}
"""Trainings with a bug: name → the code that must find it, and arguments of `train`."""
