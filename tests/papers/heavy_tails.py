"""Heavy-tailed classes: Kunstner et al. 2024."""

import numpy as np

import optim
from optim import Rule, Update
from papers.section import Curve, Figure, Section

TEXT = """\
Kunstner et al. 2024, [arXiv 2402.19449](https://arxiv.org/abs/2402.19449): softmax regression whose classes have
shares π ∝ 1/k. In continuous time the loss of class k falls as 1/(π t) by gradient descent, so rare classes are
late; by sign descent as exp(-ct), with one c for all classes. Theirs is a theorem; and experiments on language
models, which are not repeated here.

100 classes, each with one example, a unit vector of its own, as in their simplest setting; weights from 0. Gradient
descent takes 20,000 steps of 5, sign descent 400 of 0.02. The slope is fitted to log loss over log(π t), over all
classes and steps with π t > 100; c to the last half of sign descent.

Checked against a summary of the paper: both rates, Θ(1/(π t)) and Θ(exp(-ct)) with c independent of π.
"""
CLASSES = 100


def sections():
    shares = 1 / np.arange(1, CLASSES + 1)
    shares /= shares.sum()
    steps, losses = trained(optim.GradientDescentOptimizer(5.0), shares, 20_000, 100)
    time = shares * (5.0 * steps[:, None])
    late = time > 100
    slope = np.polyfit(np.log(time[late]), np.log(losses[late]), 1)[0]
    signs = optim.Optimizer(Update(Rule(_signs, (), "Bernstein et al. 2018"), 0.02, "Sign"))
    sign_steps, of_signs = trained(signs, shares, 400, 4)
    half = len(sign_steps) // 2
    rates = -np.polyfit(0.02 * sign_steps[half:], np.log(of_signs[half:]), 1)[0]
    apart = float(rates.max() / rates.min()) - 1
    rows = [
        (
            "slope of log loss over log(π t), gradient descent",
            "-1",
            f"{slope:.3f}",
            abs(slope + 1) < 0.05,
        ),
        ("largest rate of a class over the least, sign descent", "1", f"{1 + apart:.3f}", apart < 0.01),
        ("its rate c", "a constant", f"{rates.mean():.3f}", np.ptp(rates) < 0.01 * rates.mean()),
    ]
    shown = (0, 9, 99)
    figures = [
        Figure(
            "heavy-tails-descent", "steps", "loss",
            [Curve(f"class {k + 1}", steps, losses[:, k]) for k in shown], log_x=True, log_y=True,
        ),
        Figure(
            "heavy-tails-signs", "steps", "loss",
            [Curve(f"class {k + 1}", sign_steps, of_signs[:, k]) for k in shown], log_y=True,
        ),
    ]  # fmt: skip
    yield Section("Heavy-tailed classes", TEXT, rows, figures)


def _signs(g, v, learning_rate):
    return (v - learning_rate * np.sign(g),)


def trained(optimizer, shares, steps, every):
    """(steps, losses): the loss of each class after every so many steps."""
    w = optim.Variable(np.zeros((CLASSES, CLASSES)), name="w", dtype=np.float64)  # a row for each example
    taken, losses = [], []
    for step in range(1, steps + 1):
        scores = w.value - w.value.max(axis=1, keepdims=True)
        odds = np.exp(scores)
        odds /= odds.sum(axis=1, keepdims=True)
        odds[np.diag_indices(CLASSES)] -= 1
        optimizer.apply_gradients([(shares[:, None] * odds, w)])
        if step % every == 0:
            others = np.exp(w.value - np.diag(w.value)[:, None]).sum(axis=1) - 1
            taken.append(step)
            losses.append(np.log1p(others))
    return np.array(taken), np.array(losses)
