"""LARS as TF1's contrib module has it, LAMB as its paper."""

import numpy as np
import pytest
from optimizing.papers import by_the_paper, taken

import optim

norm = np.linalg.norm


def lars(t, g, v, a, rate, momentum, decay, eeta, epsilon):
    ratio = eeta * norm(v) / (norm(g) + decay * norm(v) + epsilon) if norm(v) and norm(g) else 1.0
    a = momentum * a + g
    return v - rate * ratio * a, a


def lamb(t, g, v, m, s, rate, beta1, beta2, epsilon, decay):
    """You et al. 2020, algorithm 2."""
    m, s = beta1 * m + (1 - beta1) * g, beta2 * s + (1 - beta2) * g**2
    u = m / (1 - beta1**t) / (np.sqrt(s / (1 - beta2**t)) + epsilon) + decay * v
    return v - rate * norm(v) / norm(u) * u, m, s


@pytest.mark.usefixtures("each_engine")
def test_lars_steps():
    got = taken(optim.LARSOptimizer(0.5, 0.8, 0.1, 0.2, 1e-3))
    want = by_the_paper(lars, 0.0, rate=0.5, momentum=0.8, decay=0.1, eeta=0.2, epsilon=1e-3)
    np.testing.assert_allclose(got, want, rtol=1e-12)


@pytest.mark.usefixtures("each_engine")
def test_lambs_steps():
    got = taken(optim.LambOptimizer(0.1, 0.8, 0.9, 1e-3, 0.2))
    want = by_the_paper(lamb, 0.0, 0.0, rate=0.1, beta1=0.8, beta2=0.9, epsilon=1e-3, decay=0.2)
    np.testing.assert_allclose(got, want, rtol=1e-12)


def test_lars_skips_variables_by_their_names():
    w, bias = (optim.Variable([3.0, 4.0], name=name) for name in ("w", "layer/bias"))
    optimizer = optim.LARSOptimizer(1.0, skip_list=["bias"])
    g = np.float32([0.6, 0.8])
    report = optimizer.apply_gradients([(g, w), (g, bias)], diagnostics=True)
    assert bias.value.tolist() == pytest.approx([2.4, 3.2])
    assert w.value.tolist() == pytest.approx([3.0 - 0.6 * 0.005, 4.0 - 0.8 * 0.005], rel=1e-5)
    assert report.variables[0].seen == {"trust_ratio": pytest.approx(0.001 * 5 / (1 + 0.0001 * 5))}
    assert report.variables[1].seen == {}


def test_a_trust_ratio_without_a_norm_is_one():
    w = optim.Variable([0.0, 0.0], name="w")
    optim.LARSOptimizer(0.5).apply_gradients([(np.float32([1.0, 2.0]), w)])
    assert w.value.tolist() == [-0.5, -1.0]


def test_a_sparse_gradient_has_plain_momentum():
    w, plain = (optim.Variable(np.ones((3, 2)), name="w") for _ in range(2))
    gradient = optim.IndexedSlices(np.ones((1, 2)), [1])
    for optimizer, variable in ((optim.LARSOptimizer(0.5), w), (optim.MomentumOptimizer(0.5, 0.9), plain)):
        for _ in range(2):
            optimizer.apply_gradients([(gradient, variable)])
    assert (w.value == plain.value).all()
    assert w.value[0].tolist() == [1.0, 1.0]
