"""GL304: where a divergence begins, and the one in the last points of a run."""

import numpy as np
import pytest
from audits.audited import codes, finding
from labelled import runs as labelled


@pytest.mark.parametrize("n", [200, 5_000, 20_000, 100_000])
@pytest.mark.parametrize("k", [5, 12, 40, 130, 450, 1600, 6000])
def test_a_loss_that_rises_at_the_end_however_long_the_run(n, k):
    if k > n / 4:
        return
    rng = np.random.default_rng(n + k)
    loss = (0.5 + 2 * np.exp(-np.arange(n) / (0.1 * n))) * np.exp(0.02 * rng.standard_normal(n))
    assert codes(loss=loss) == []
    loss[-k:] += 2
    assert codes(loss=loss) == ["GL304"]


@pytest.mark.parametrize("noise", [0.02, 0.1])
@pytest.mark.parametrize("seed", range(5))
def test_a_divergence_begins_where_the_loss_leaves_its_level(seed, noise):
    rng, n = np.random.default_rng(seed), 2000
    at = int(rng.uniform(0.4, 0.8) * n)
    loss = labelled.decay(n)
    loss[at:] = 2.3
    collapse = finding("GL304", loss=labelled.noisy(rng, loss, noise))
    assert abs(collapse.steps[0] - at) <= 2
    loss = labelled.decay(n)
    loss[at:] += 3 * np.arange(n - at) / n
    climb = finding("GL304", loss=labelled.noisy(rng, loss, noise))
    assert abs(climb.steps[0] - at) <= 0.06 * n


def test_a_climb_hides_no_error_in_its_last_points():
    loss = np.where(np.arange(1000) < 200, 2.3 - np.arange(1000) / 250, 1.5 + 0.3 * np.arange(1000) / 1000)
    assert finding("GL304", loss=loss).severity.name == "INFO"
    loss[-8:] = 9.0
    assert finding("GL304", loss=loss).severity.name == "ERROR"
