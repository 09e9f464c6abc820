"""Adaptive methods that do not generalize: Wilson et al. 2017."""

import numpy as np

import optim
from papers.section import Section

TEXT = """\
Wilson et al. 2017, [arXiv 1705.08292](https://arxiv.org/abs/1705.08292): least squares on a separable problem of
many more features than examples. The first feature is the label; the next two are 1; of five features of the
example's own, one is 1 if the label is +1, and all five if it is -1. All methods fit the training set. Gradient
descent finds the solution of least norm, which is right on every new example. From 0, adaptive methods give all
features weights of one size, and so say +1 to every new example: half of them are wrong, nearly, if the labels are
nearly balanced.

200 examples, of which 102 have the label +1; all in one batch, 3,000 steps, rates of ours. RMSProp's slot begins at
1, as TF1's does; the paper's, at 0. New examples have features of their own, whose weights are 0.

Checked against the paper's abstract: zero test error, and errors arbitrarily close to half. The features are from
its text as we know it; the search did not show them.
"""
EXAMPLES, POSITIVE, STEPS = 200, 102, 3000


def sections():
    x, y = problem()
    top = np.linalg.norm(x, 2) ** 2 / EXAMPLES
    methods = {
        "gradient descent": (optim.GradientDescentOptimizer(0.6 / top), "0"),
        "momentum": (optim.MomentumOptimizer(0.1 / top, 0.9), "0"),
        "AdaGrad": (optim.AdagradOptimizer(0.1, 1e-12), "near 1/2"),
        "Adam": (optim.AdamOptimizer(0.001, epsilon=1e-12), "near 1/2"),
        "RMSProp": (optim.RMSPropOptimizer(0.001, epsilon=1e-12), "near 1/2"),
    }
    rows = []
    for name, (optimizer, want) in methods.items():
        w = optim.Variable(np.zeros(x.shape[1]), name="w", dtype=np.float64)
        for _ in range(STEPS):
            optimizer.apply_gradients([(x.T @ (x @ w.value - y) / EXAMPLES, w)])
        trained = np.mean(y * (x @ w.value) <= 0)
        error = np.mean(y * (y * w.value[0] + w.value[1] + w.value[2]) <= 0)  # new examples of the same labels
        right = trained == 0 and (error == 0 if want == "0" else error > 0.45)
        rows.append((f"test error of {name}; training error {trained:.0%}", want, f"{error:.2f}", right))
    yield Section("What adaptive methods find", TEXT, rows)


def problem():
    """The features, and the labels."""
    y = np.where(np.arange(EXAMPLES) < POSITIVE, 1.0, -1.0)
    x = np.zeros((EXAMPLES, 3 + 5 * EXAMPLES))
    x[:, 0], x[:, 1:3] = y, 1.0
    for i, label in enumerate(y):
        x[i, 3 + 5 * i : 3 + 5 * i + (1 if label > 0 else 5)] = 1.0
    return x, y
