"""AdEMAMix takes the steps of its paper, and warms up so that the half-life of its slow momentum grows linearly."""

import math

import numpy as np
import pytest
from optimizing.papers import by_the_paper, taken

import optim

VALUES = {"rate": 0.1, "beta1": 0.7, "beta2": 0.9, "beta3": 0.99, "alpha": 4.0, "epsilon": 1e-3, "decay": 0.2}


def ademamix(t, g, v, m, slow, s, rate, beta1, beta2, beta3, alpha, epsilon, decay, warmup=0):
    """Pagliardini et al. 2025, algorithm 1 and its schedulers."""
    if warmup:
        alpha = min(t * alpha / warmup, alpha)
        first, last = math.log(beta1), math.log(beta3)
        beta3 = min(math.exp(first * last / ((1 - t / warmup) * last + t / warmup * first)), beta3)
    m, slow, s = beta1 * m + (1 - beta1) * g, beta3 * slow + (1 - beta3) * g, beta2 * s + (1 - beta2) * g**2
    step = (m / (1 - beta1**t) + alpha * slow) / (np.sqrt(s / (1 - beta2**t)) + epsilon)
    return v - rate * (step + decay * v), m, slow, s


@pytest.mark.parametrize("warmup", [0, 4, 100])
def test_the_papers_steps(warmup):
    got = taken(optim.AdEMAMixOptimizer(*VALUES.values(), warmup_steps=warmup))
    np.testing.assert_allclose(got, by_the_paper(ademamix, 0.0, 0.0, 0.0, **VALUES, warmup=warmup), rtol=1e-11)
