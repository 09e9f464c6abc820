"""Gradient descent, with momentum and with Nesterov's, takes the steps of the papers."""

import numpy as np
import pytest
from optimizing.papers import by_the_paper, taken

import optim


def descent(t, g, v, learning_rate):
    return (v - learning_rate * g,)


def momentum(t, g, v, a, learning_rate, momentum):
    """Polyak's heavy ball, with the rate outside of the momentum."""
    a = momentum * a + g
    return v - learning_rate * a, a


def nesterov(t, g, v, a, learning_rate, momentum):
    """Sutskever et al. 2013, of the variable as it is seen: already moved by its momentum."""
    before, a = a, momentum * a + g
    return v + momentum * learning_rate * before - (1 + momentum) * learning_rate * a, a


@pytest.mark.parametrize("rate", [0.5, 1e-3])
def test_gradient_descent(rate):
    want = by_the_paper(descent, learning_rate=rate)
    np.testing.assert_allclose(taken(optim.GradientDescentOptimizer(rate)), want, rtol=1e-12)


@pytest.mark.parametrize(("use_nesterov", "step"), [(False, momentum), (True, nesterov)])
@pytest.mark.parametrize("share", [0.0, 0.5, 0.9])
def test_momentum(use_nesterov, step, share):
    want = by_the_paper(step, 0.0, learning_rate=0.5, momentum=share)
    optimizer = optim.MomentumOptimizer(0.5, share, use_nesterov=use_nesterov)
    np.testing.assert_allclose(taken(optimizer), want, rtol=1e-10, atol=1e-12)
