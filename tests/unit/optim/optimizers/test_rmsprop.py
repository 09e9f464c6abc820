"""RMSProp takes the steps of the lecture, plain and centered, with its usual hyperparameters and with others."""

import numpy as np
import pytest
from optimizing.papers import by_the_paper, taken

import optim


def rmsprop(t, g, v, s, a, learning_rate, decay, momentum, epsilon):
    s = decay * s + (1 - decay) * g**2
    a = momentum * a + learning_rate * g / np.sqrt(s + epsilon)
    return v - a, s, a


def centered(t, g, v, s, mean, a, learning_rate, decay, momentum, epsilon):
    """Graves 2013, equations 38 to 41, with epsilon in the root."""
    s, mean = decay * s + (1 - decay) * g**2, decay * mean + (1 - decay) * g
    a = momentum * a + learning_rate * g / np.sqrt(s - mean**2 + epsilon)
    return v - a, s, mean, a


USUAL = {"decay": 0.9, "momentum": 0.0, "epsilon": 1e-10}
OTHER = {"decay": 0.4, "momentum": 0.7, "epsilon": 0.5}


@pytest.mark.parametrize(("step", "slots"), [(rmsprop, (1.0, 0.0)), (centered, (1.0, 0.0, 0.0))])
@pytest.mark.parametrize("values", [USUAL, OTHER], ids=["usual", "other"])
def test_the_lectures_steps(step, slots, values):
    given = {} if values is USUAL else values
    optimizer = optim.RMSPropOptimizer(0.5, centered=step is centered, **given)
    np.testing.assert_allclose(taken(optimizer), by_the_paper(step, *slots, learning_rate=0.5, **values), rtol=1e-9)
