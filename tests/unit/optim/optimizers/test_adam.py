"""Adam, NAdam and AdamW take the steps of their papers, with their usual hyperparameters and with others."""

import numpy as np
import pytest
from optimizing.papers import by_the_paper, taken

import optim

USUAL = {"learning_rate": 0.001, "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8}
OTHER = {"learning_rate": 0.5, "beta1": 0.6, "beta2": 0.7, "epsilon": 0.1}


def adam(t, g, v, m, s, learning_rate, beta1, beta2, epsilon):
    """Kingma and Ba 2015, algorithm 1 with the end of section 2: epsilon beside the root that is not corrected."""
    m, s = beta1 * m + (1 - beta1) * g, beta2 * s + (1 - beta2) * g**2
    alpha = learning_rate * np.sqrt(1 - beta2**t) / (1 - beta1**t)
    return v - alpha * m / (np.sqrt(s) + epsilon), m, s


def nadam(t, g, v, m, s, learning_rate, beta1, beta2, epsilon):
    m, s = beta1 * m + (1 - beta1) * g, beta2 * s + (1 - beta2) * g**2
    alpha = learning_rate * np.sqrt(1 - beta2**t) / (1 - beta1**t)
    return v - alpha * (beta1 * m + (1 - beta1) * g) / (np.sqrt(s) + epsilon), m, s


def adamw(t, g, v, m, s, learning_rate, beta1, beta2, epsilon, weight_decay):
    """Loshchilov and Hutter 2019, algorithm 2, with a schedule of 1."""
    m, s = beta1 * m + (1 - beta1) * g, beta2 * s + (1 - beta2) * g**2
    m_hat, s_hat = m / (1 - beta1**t), s / (1 - beta2**t)
    return v - learning_rate * (m_hat / (np.sqrt(s_hat) + epsilon) + weight_decay * v), m, s


CASES = {
    "Adam": (optim.AdamOptimizer, adam, {}),
    "NAdam": (optim.NAdamOptimizer, nadam, {}),
    "AdamW": (optim.AdamWOptimizer, adamw, {"weight_decay": 0.01}),
    "AdamW, much decay": (
        lambda **values: optim.AdamWOptimizer(**values, weight_decay=0.3),
        adamw,
        {"weight_decay": 0.3},
    ),
}


@pytest.mark.parametrize(("make", "step", "more"), CASES.values(), ids=CASES)
@pytest.mark.parametrize("values", [USUAL, OTHER], ids=["usual", "other"])
def test_the_papers_steps(make, step, more, values):
    given = {} if values is USUAL else values
    np.testing.assert_allclose(taken(make(**given)), by_the_paper(step, 0.0, 0.0, **values, **more), rtol=1e-9)
