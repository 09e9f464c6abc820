"""An optimizer beside its paper: both take the same steps, in float64, and the tests compare where they went."""

import numpy as np

import optim

START = np.array([1.0, -2.0, 0.5, 0.0])
GRADIENTS = np.random.default_rng(0).normal(size=(6, 4)) * [1.0, 10.0, 0.01, 1.0]


def taken(optimizer):
    """float64[steps, 4]: the variable after each step."""
    w = optim.Variable(START, name="w", dtype=np.float64)
    path = []
    for gradient in GRADIENTS:
        optimizer.apply_gradients([(gradient, w)])
        path.append(w.value.copy())
    return np.array(path)


def by_the_paper(step, *slots, **hyperparameters):
    """The same, by step(t, g, v, *slots, **hyperparameters) → (v, *slots), t from 1; each slot is a start value."""
    v = START.copy()
    slots = [np.full(4, slot) for slot in slots]
    path = []
    for t, gradient in enumerate(GRADIENTS, 1):
        v, *slots = step(t, gradient, v, *slots, **hyperparameters)
        path.append(v)
    return np.array(path)
