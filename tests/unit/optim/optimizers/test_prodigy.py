"""Prodigy: d grows from its first value, and finds the rate."""

import numpy as np
import pytest

import optim


def test_it_needs_no_rate():
    target = np.random.default_rng(0).normal(size=10)
    for size in (1e-2, 1.0, 1e3):
        w = optim.Variable(np.zeros(10), name="w", dtype=np.float64)
        optimizer = optim.ProdigyOptimizer()
        for _ in range(300):
            optimizer.apply_gradients([(w.value - size * target, w)])
        assert np.abs(w.value / size - target).max() < 0.1
        assert 0.1 < optimizer.d / size < 10


def test_a_growth_rate_bounds_d():
    w = optim.Variable([0.0], name="w")
    optimizer = optim.ProdigyOptimizer(growth_rate=1.5, d0=1e-3)
    found = []
    for _ in range(20):
        optimizer.apply_gradients([(w.value - 3, w)])
        found.append(optimizer.d)
    ratios = np.array(found[2:]) / np.array(found[1:-1])
    assert ratios.max() <= 1.5 + 1e-12


def test_a_gradient_of_zero_changes_nothing():
    w = optim.Variable([2.0], name="w")
    optimizer = optim.ProdigyOptimizer()
    optimizer.apply_gradients([(np.float32([0.0]), w)])
    assert (w.value[0], optimizer.d) == (2.0, pytest.approx(1e-6))
