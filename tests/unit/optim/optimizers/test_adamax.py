"""AdaMax takes the steps of its paper; sparse gradients touch only their rows, as in TF1's contrib module."""

import numpy as np
from optimizing.papers import by_the_paper, taken

import optim


def adamax(t, g, v, m, u, rate, beta1, beta2, epsilon):
    """Kingma and Ba 2015, algorithm 2; with the ε of TF1."""
    m, u = beta1 * m + (1 - beta1) * g, np.maximum(beta2 * u, np.abs(g))
    return v - rate / (1 - beta1**t) * m / (u + epsilon), m, u


def test_the_papers_steps():
    got = taken(optim.AdaMaxOptimizer(0.1, 0.8, 0.9, 1e-3))
    np.testing.assert_allclose(
        got, by_the_paper(adamax, 0.0, 0.0, rate=0.1, beta1=0.8, beta2=0.9, epsilon=1e-3), rtol=1e-12
    )


def test_sparse_gradients_touch_their_rows():
    w = optim.Variable(np.ones((3, 2)), name="w")
    optimizer = optim.AdaMaxOptimizer(0.1)
    optimizer.apply_gradients([(np.ones((3, 2)), w)])
    before = w.value.copy()
    optimizer.apply_gradients([(optim.IndexedSlices(np.ones((2, 2)), [1, 1]), w)])
    assert (w.value != before).any(axis=1).tolist() == [False, True, False]
    assert optimizer.get_slot(w, "v").value[:, 0].tolist() == [1.0, 2.0, 1.0]  # rows of one index are summed
