"""GL402: a norm that explodes, for how long and since when."""

import numpy as np
import pytest
from audited import codes, finding


@pytest.mark.parametrize("n", [2_000, 20_000, 100_000])
@pytest.mark.parametrize("k", [10, 50, 100, 200, 300])
@pytest.mark.parametrize("end", [False, True])
def test_a_norm_that_explodes_for_a_while_however_long_the_run(n, k, end):
    rng = np.random.default_rng(n + k)
    norm = np.exp(0.3 * rng.standard_normal(n))
    at = n - k if end else int(rng.uniform(0.2, 0.8) * n)
    assert codes(gradients__global_norm=norm) == []
    norm[at : at + k] *= 50
    assert codes(gradients__global_norm=norm) == ["GL402"]


@pytest.mark.parametrize("n", [50, 200, 2000])
@pytest.mark.parametrize("growth", [3, 5, 20])
def test_a_climb_begins_where_the_norm_is_ten_times_what_it_was(n, growth):
    norm = np.exp(growth * np.maximum(0, 2 * np.arange(n) / n - 1))
    noise = np.exp(0.05 * np.random.default_rng(n).standard_normal(n))
    tenfold = n / 2 + n / 2 * np.log(10) / growth
    assert abs(finding("GL402", grad_norm=norm * noise).steps[0] - tenfold) <= 0.04 * n


def test_one_bad_batch_is_a_warning_if_the_loss_is_back():
    rng = np.random.default_rng(1)
    norm, loss = np.exp(0.3 * rng.standard_normal((2, 400)))
    loss *= 0.1 + np.exp(-np.arange(400) / 20)
    norm[200], loss[200] = 2e5, 5e4
    assert finding("GL402", loss=loss, grad_norm=norm).severity.name == "WARNING"
    loss[201:] = 3
    assert finding("GL402", loss=loss, grad_norm=norm).severity.name == "ERROR"
