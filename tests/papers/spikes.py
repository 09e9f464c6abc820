"""Adam's spikes on a quadratic: Bai et al. 2025."""

import numpy as np

import optim
from papers.section import Curve, Figure, Section

TEXT = """\
Bai et al. 2025, [arXiv 2506.04805](https://arxiv.org/abs/2506.04805): on ½θ² Adam's loss falls exponentially, while
its second moment cannot follow and falls more slowly, by β₂ a step. The curvature 1/√v̂ that Adam sees rises past
the threshold, and the loss jumps up again by tens of orders of magnitude: no gradient descent with such a rate
would.

β₁ = 0.9, β₂ = 0.99, η = 0.01, θ₀ = 1, ε = 10⁻³⁰⁰ and float64 are settings of ours. Checked against the paper's
abstract: the mechanism, and that a spike comes when the curvature along the gradient exceeds 2/η. How far its
losses fall, we did not find: 1e-60 is what we looked for. With β₁ = 0.9 the first sign, 2/η, comes hundreds of
steps before the spike, and 38/η, where momentum becomes unstable, with it.
"""
RATE, STEPS, BETA2 = 0.01, 3000, 0.99


def sections():
    loss, curvature = trained()
    lowest = int(loss[: np.argmax(curvature > 38 / RATE) + 50].argmin())
    peak = lowest + int(loss[lowest : lowest + 300].argmax())
    predicted = int(np.argmax(curvature > 2 / RATE))
    edge = int(np.argmax(curvature > 38 / RATE))
    rows = [
        ("the loss before the spike", "not found", f"{loss[lowest]:.0e}, step {lowest}", loss[lowest] < 1e-60),
        ("the loss at the spike's top", "spikes", f"{loss[peak]:.0e}, step {peak}", loss[peak] > 1e20 * loss[lowest]),
        (
            "the curvature along the gradient is above 2/η",
            "before the spike",
            f"from step {predicted}",
            predicted < lowest,
        ),
        ("it is above 38/η, where β₁ = 0.9 diverges", "not said", f"from step {edge}", abs(edge - lowest) < 50),
    ]
    x = np.arange(STEPS)
    figure = Figure(
        "spikes", "step", "value", [Curve("loss", x, loss), Curve("η times curvature", x, curvature * RATE)], log_y=True
    )
    yield Section("Adam's spikes", TEXT, rows, [figure])


def trained():
    """The loss and the preconditioned curvature at each step."""
    w = optim.Variable(np.array([1.0]), name="w", dtype=np.float64)
    optimizer = optim.AdamOptimizer(RATE, 0.9, BETA2, 1e-300)
    loss, curvature = [], []
    for step in range(1, STEPS + 1):
        gradient = w.value.copy()
        optimizer.apply_gradients([(gradient, w)])
        loss.append(0.5 * float(gradient[0]) ** 2)
        variance = float(optimizer.get_slot(w, "v").value[0]) / (1 - BETA2**step)
        curvature.append(1 / np.sqrt(variance))
    return np.array(loss), np.array(curvature)
