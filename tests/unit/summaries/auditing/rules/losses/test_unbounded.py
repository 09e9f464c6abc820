"""GL310: losses below their bound, and without one."""

import numpy as np
import pytest
from audits.audited import codes, finding

N = np.arange(100.0)


def test_a_loss_that_runs_to_minus_infinity_is_an_error():
    found = finding("GL310", loss=0.5 - 10 * N**3)
    assert found.severity.name == "ERROR"
    assert found.message == (
        "loss falls from 0.5 at step 0 to -9.703e+06 at step 99: nothing bounds it, or its sign is wrong"
    )


@pytest.mark.parametrize("tag", ["train/mse_loss", "train_cross_entropy", "val/bce_loss", "train/smooth_l1_loss"])
def test_kinds_that_cannot_be_negative(tag):
    found = finding("GL310", **{tag: 1 - N / 50})
    assert "is negative at 49 of 100 points, which its kind cannot be" in found.message


@pytest.mark.parametrize("loss", [-N, 100 - 400 * (1 - np.exp(-N / 20)), 1 - N / 50, 1e-3 * 0.9**N])
def test_what_may_be_negative(loss):
    assert "GL310" not in codes(train__loss=loss, train__nll=loss)


def test_rounding_is_allowed():
    assert "GL310" not in codes(train__mse_loss=np.where(N < 99, 0.9**N, -1e-9))


def test_what_is_measured_beside_an_objective_is_no_part_of_it():
    n = np.arange(30)
    likelihood, error = 0.2 - 0.07 * n, 0.7 * 0.93**n
    assert "GL310" not in codes(NLL__fit=likelihood, RMSE__fit=error, NLL__holdout=likelihood, RMSE__holdout=error)
