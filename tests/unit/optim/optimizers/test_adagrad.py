"""Adagrad and Adadelta take the steps of their papers, with their usual hyperparameters and with others."""

import numpy as np
import pytest
from optimizing.papers import by_the_paper, taken

import optim


def adagrad(t, g, v, a, learning_rate):
    a = a + g**2
    return v - learning_rate * g / np.sqrt(a), a


def adadelta(t, g, v, a, d, learning_rate, rho, epsilon):
    """Zeiler 2012, algorithm 1, and a rate."""
    a = rho * a + (1 - rho) * g**2
    update = np.sqrt(d + epsilon) / np.sqrt(a + epsilon) * g
    return v - learning_rate * update, a, rho * d + (1 - rho) * update**2


@pytest.mark.parametrize(("given", "start"), [({}, 0.1), ({"initial_accumulator_value": 2.0}, 2.0)], ids=str)
def test_adagrad(given, start):
    want = by_the_paper(adagrad, start, learning_rate=0.5)
    np.testing.assert_allclose(taken(optim.AdagradOptimizer(0.5, **given)), want, rtol=1e-12)


USUAL = {"learning_rate": 0.001, "rho": 0.95, "epsilon": 1e-8}
OTHER = {"learning_rate": 2.0, "rho": 0.5, "epsilon": 0.1}


@pytest.mark.parametrize("values", [USUAL, OTHER], ids=["usual", "other"])
def test_adadelta(values):
    optimizer = optim.AdadeltaOptimizer(**({} if values is USUAL else values))
    np.testing.assert_allclose(taken(optimizer), by_the_paper(adadelta, 0.0, 0.0, **values), rtol=1e-12)
