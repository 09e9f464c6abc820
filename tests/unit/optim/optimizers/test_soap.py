"""SOAP: its bases, and what a report says of them."""

import numpy as np
import pytest

import optim


def trained(steps, **arguments):
    random = np.random.default_rng(0)
    w = optim.Variable(random.normal(size=(5, 4)), name="w")
    optimizer = optim.SoapOptimizer(0.01, precondition_frequency=3, **arguments)
    reports = [optimizer.apply_gradients([(random.normal(size=(5, 4)), w)], diagnostics=True) for _ in range(steps)]
    return w, optimizer, reports


def test_the_bases_are_orthogonal():
    w, optimizer, _ = trained(9)
    for side in ("left", "right"):
        basis = optimizer.get_slot(w, f"{side}_basis").value
        np.testing.assert_allclose(basis.T @ basis, np.eye(len(basis)), atol=1e-12)


def test_the_first_step_moves_nothing_and_the_report_has_the_age():
    _, _, reports = trained(9)
    assert reports[0].variables[0].update_norm == 0.0
    assert [report.variables[0].seen["basis_age"] for report in reports[1:]] == [0, 1, 2, 0, 1, 2, 0, 1]
    assert all(report.variables[0].seen["condition"] > 1 for report in reports[1:])


def test_a_long_side_has_no_factor():
    w, optimizer, _ = trained(4, max_precond_dim=4)
    assert optimizer.get_slot(w, "left").shape == (0, 0)
    assert optimizer.get_slot(w, "right").shape == (4, 4)


def test_a_variable_of_three_axes_is_a_matrix():
    random = np.random.default_rng(0)
    cube = optim.Variable(random.normal(size=(3, 2, 2)), name="w")
    flat = optim.Variable(cube.value.reshape(3, 4).copy(), name="w")
    for variable in (cube, flat):
        optimizer, random = optim.SoapOptimizer(0.1), np.random.default_rng(1)
        for _ in range(4):
            optimizer.apply_gradients([(random.normal(size=(3, 4)).reshape(variable.shape), variable)])
    np.testing.assert_array_equal(cube.value.reshape(3, 4), flat.value)


def test_a_vector_is_adams():
    random, w, v = np.random.default_rng(0), *(optim.Variable(np.ones(3, np.float64), name="w") for _ in range(2))
    soap, adam = optim.SoapOptimizer(0.1, 0.9, 0.999, weight_decay=0.0), optim.AdamOptimizer(0.1)
    soap.apply_gradients([(np.zeros(3), w)])
    for g in random.normal(size=(5, 3)):
        soap.apply_gradients([(g, w)])
        adam.apply_gradients([(g, v)])
    np.testing.assert_allclose(w.value, v.value, rtol=1e-9)


def test_a_frequency_is_positive():
    with pytest.raises(ValueError, match="precondition_frequency must be positive, got 0"):
        optim.SoapOptimizer(precondition_frequency=0)


def test_a_factor_that_overflows_is_not_finite_and_no_error():
    w = optim.Variable(np.ones((3, 2)), name="w", dtype=np.float32)
    optimizer = optim.SoapOptimizer(0.1)
    for _ in range(3):
        optimizer.apply_gradients([(np.full((3, 2), 1e30, np.float32), w)])
    assert np.isnan(w.value).all()
