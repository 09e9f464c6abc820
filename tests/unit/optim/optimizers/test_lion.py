"""Lion takes the steps of its paper, with its usual hyperparameters and with others."""

import numpy as np
import pytest
from optimizing.papers import by_the_paper, taken

import optim


def lion(t, g, v, m, learning_rate, beta1, beta2, weight_decay):
    """Chen et al. 2023, program 1."""
    update = np.sign(beta1 * m + (1 - beta1) * g) + weight_decay * v
    return v - learning_rate * update, beta2 * m + (1 - beta2) * g


USUAL = {"learning_rate": 1e-4, "beta1": 0.9, "beta2": 0.99, "weight_decay": 0.0}
OTHER = {"learning_rate": 0.5, "beta1": 0.3, "beta2": 0.6, "weight_decay": 0.2}


@pytest.mark.parametrize("values", [USUAL, OTHER], ids=["usual", "other"])
def test_the_papers_steps(values):
    optimizer = optim.LionOptimizer(**({} if values is USUAL else values))
    np.testing.assert_allclose(taken(optimizer), by_the_paper(lion, 0.0, **values), rtol=1e-12, atol=1e-15)
