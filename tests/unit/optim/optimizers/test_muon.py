"""Muon: only matrices, orthogonal updates, and what a report says of them."""

import re

import numpy as np
import pytest

import optim


def test_a_variable_that_is_no_matrix_is_refused():
    w = optim.Variable([1.0, 2.0, 3.0], name="b")
    wanted = "variable 'b' must be a matrix for Muon, got shape (3,): train it with another optimizer, such as AdamW"
    with pytest.raises(ValueError, match=re.escape(wanted)):
        optim.MuonOptimizer().apply_gradients([(np.ones(3, np.float32), w)])
    assert w.value.tolist() == [1.0, 2.0, 3.0]


@pytest.mark.parametrize("shape", [(40, 20), (20, 40), (8, 8)])
def test_the_residual_is_that_of_the_update(shape):
    w = optim.Variable(np.zeros(shape), name="w")
    g = np.random.default_rng(0).normal(size=shape)
    report = optim.MuonOptimizer(1.0, adjust_lr_fn=None).apply_gradients([(g, w)], diagnostics=True)
    update = -w.value / np.sqrt(max(1, shape[0] / shape[1]))
    short = update if shape[0] <= shape[1] else update.T
    want = np.linalg.norm(short @ short.T - np.eye(len(short))) / np.sqrt(len(short))
    seen = report.variables[0].seen
    assert seen["orthogonality_residual"] == pytest.approx(want, rel=0.25 if min(shape) > 16 else 1e-9)
    assert seen["momentum_cosine"] == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"adjust_lr_fn": "other"}, "adjust_lr_fn must be one of original, match_rms_adamw or None, got 'other'"),
        ({"ns_coefficients": (1.0, 2.0)}, "ns_coefficients must be three numbers, got 2"),
        ({"ns_steps": 0}, "ns_steps must be positive, got 0"),
        ({"eps": 0.0}, "eps must be positive and finite, got 0.0"),
    ],
)
def test_what_is_refused(arguments, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        optim.MuonOptimizer(**arguments)
