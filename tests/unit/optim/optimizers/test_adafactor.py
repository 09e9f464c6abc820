"""Adafactor: what it keeps of a matrix, and the rank-one error that a report has."""

import numpy as np
import pytest

import optim


def test_what_is_kept():
    optimizer = optim.AdafactorOptimizer()
    shapes = {"matrix": (3, 4), "cube": (2, 3, 4), "vector": (5,), "number": ()}
    variables = {name: optim.Variable(np.ones(shape), name=name) for name, shape in shapes.items()}
    optimizer.apply_gradients([(np.ones(shapes[name]), v) for name, v in variables.items()])
    kept = {
        name: [optimizer.get_slot(v, slot).shape for slot in ("row_var", "col_var", "variance")]
        for name, v in variables.items()
    }
    assert kept == {
        "matrix": [(3, 1), (1, 4), (0,)],
        "cube": [(2, 3, 1), (2, 1, 4), (0,)],
        "vector": [(0,), (0,), (5,)],
        "number": [(0,), (0,), ()],
    }


def error(g):
    w = optim.Variable(np.ones(g.shape), name="w")
    report = optim.AdafactorOptimizer().apply_gradients([(g, w)], diagnostics=True)
    return report.variables[0].seen["rank_one_error"]


def test_the_rank_one_error():
    random = np.random.default_rng(0)
    assert error(np.outer(random.normal(size=6), random.normal(size=4))) == pytest.approx(0.0, abs=1e-7)
    g = random.normal(size=(6, 4))
    square = g**2
    outer = square.sum(1, keepdims=True) * square.sum(0) / square.sum()
    assert error(g) == pytest.approx(np.linalg.norm(square - outer) / np.linalg.norm(square))
