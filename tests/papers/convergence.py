"""Adam that converges to the worst point: Reddi et al. 2018."""

import numpy as np

import optim
from papers.section import Curve, Figure, Section

TEXT = """\
Reddi et al. 2018, [arXiv 1904.09237](https://arxiv.org/abs/1904.09237): gradients are C at every n-th step and
small and negative at the others, so that the mean is positive, and the best point of [-1, 1] is -1. Adam forgets
the large gradient between two of them, and goes to +1; AMSGrad does not forget. Their theorem 1 has n = 3, a
gradient of C > 2 and -1 at the others, β₁ = 0 and β₂ = 1/(1 + C²); their synthetic experiment, n = 101, 1010 and
-10, β₁ = 0.9 and β₂ = 0.99.

C = 3, the rate 0.5/√t and the numbers of steps are ours. The points are projected to [-1, 1] after each step, as
theirs are.

Checked against the paper's abstract: that there is such an example, and that AMSGrad mends it. The numbers of both
examples are from its text as we know it; the search that this page was written with did not show them.
"""
CASES = {
    "theorem 1": {"large": 3.0, "small": -1.0, "period": 3, "betas": (0.0, 0.1), "steps": 6000},
    "synthetic": {"large": 1010.0, "small": -10.0, "period": 101, "betas": (0.9, 0.99), "steps": 30_000},
}
MAKERS = {"Adam": (optim.AdamOptimizer, 1.0), "AMSGrad": (optim.AMSGradOptimizer, -1.0)}


def sections():
    rows, curves = [], []
    for name, case in CASES.items():
        for who, (make, want) in MAKERS.items():
            path = walked(make, **case)
            rows.append((f"{name}: {who} goes to", f"{want:+.0f}", f"{path[-1]:+.3f}", abs(path[-1] - want) < 0.05))
            if name == "synthetic":
                curves.append(Curve(who, np.arange(len(path)), path))
    yield Section("Adam beside AMSGrad", TEXT, rows, [Figure("convergence", "step", "x", curves)])


def walked(make, large, small, period, betas, steps):
    """The point after each step."""
    x = optim.Variable(np.array([0.0]), name="x", dtype=np.float64)
    step = optim.Variable(0, trainable=False, name="global_step")
    optimizer = make(lambda: 0.5 / np.sqrt(float(step.value) + 1), *betas)
    path = np.empty(steps)
    for t in range(1, steps + 1):
        optimizer.apply_gradients([(np.array([large if t % period == 1 else small]), x)], step)
        np.clip(x.value, -1, 1, out=x.value)
        path[t - 1] = x.value[0]
    return path
