"""Ftrl takes the steps of its paper, with its usual hyperparameters and with others."""

import numpy as np
import pytest
from optimizing.papers import by_the_paper, taken

import optim


def ftrl(t, g, v, n, z, learning_rate, power, l1, l2, shrinkage):
    """McMahan et al. 2013, algorithm 1, with beta 0 and, of the weights themselves, an L2 penalty on the gradient."""
    sigma = ((n + g**2) ** power - n**power) / learning_rate
    z = z + g + 2 * shrinkage * v - sigma * v
    n = n + g**2
    kept = (np.sign(z) * l1 - z) / (n**power / learning_rate + 2 * l2)
    return np.where(np.abs(z) > l1, kept, 0.0), n, z


USUAL = {"power": 0.5, "l1": 0.0, "l2": 0.0, "shrinkage": 0.0}
CASES = {
    "usual": ({}, 0.1, {}),
    "a start": ({"initial_accumulator_value": 3.0}, 3.0, {}),
    "a power": ({"learning_rate_power": -0.3}, 0.1, {"power": 0.3}),
    "L1": ({"l1_regularization_strength": 0.7}, 0.1, {"l1": 0.7}),
    "L2": ({"l2_regularization_strength": 0.7}, 0.1, {"l2": 0.7}),
    "shrinkage": ({"l2_shrinkage_regularization_strength": 0.2}, 0.1, {"shrinkage": 0.2}),
    "a power and all": (
        {
            "learning_rate_power": -0.8,
            "l1_regularization_strength": 0.3,
            "l2_regularization_strength": 0.2,
            "l2_shrinkage_regularization_strength": 0.1,
        },
        0.1,
        {"power": 0.8, "l1": 0.3, "l2": 0.2, "shrinkage": 0.1},
    ),
}


@pytest.mark.parametrize(("given", "start", "values"), CASES.values(), ids=CASES)
def test_the_papers_steps(given, start, values):
    want = by_the_paper(ftrl, start, 0.0, learning_rate=0.5, **{**USUAL, **values})
    np.testing.assert_allclose(taken(optim.FtrlOptimizer(0.5, **given)), want, rtol=1e-9, atol=1e-12)


def test_l1_makes_weights_that_are_exactly_0():
    path = taken(optim.FtrlOptimizer(0.5, l1_regularization_strength=0.7))
    assert (path == 0).any()
    assert (path != 0).any()
