"""RAdam takes the steps of its paper, where torch's differ from it in no more than the least length of the average."""

import numpy as np
import pytest
from optimizing.papers import by_the_paper, taken

import optim


def radam(t, g, v, m, s, rate, beta1, beta2, epsilon):
    """Liu et al. 2020, algorithm 2; ε as in torch."""
    m, s = beta1 * m + (1 - beta1) * g, beta2 * s + (1 - beta2) * g**2
    most = 2 / (1 - beta2) - 1
    length = most - 2 * t * beta2**t / (1 - beta2**t)
    corrected = m / (1 - beta1**t)
    if length > 5:
        r = np.sqrt((length - 4) * (length - 2) * most / ((most - 4) * (most - 2) * length))
        return v - rate * r * corrected * np.sqrt(1 - beta2**t) / (np.sqrt(s) + epsilon), m, s
    return v - rate * corrected, m, s


@pytest.mark.parametrize("beta2", [0.8, 0.9, 0.999])
def test_the_papers_steps(beta2):
    got = taken(optim.RAdamOptimizer(0.1, 0.7, beta2, 1e-3))
    np.testing.assert_allclose(
        got, by_the_paper(radam, 0.0, 0.0, rate=0.1, beta1=0.7, beta2=beta2, epsilon=1e-3), rtol=1e-11
    )
