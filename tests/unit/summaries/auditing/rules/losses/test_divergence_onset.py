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


def test_first_points_near_zero_are_no_level():
    """A fine-tuning that is nearly done when it begins: in logarithms, a first point that is low by chance is far."""
    loss = np.abs(0.4 + 0.1 * np.random.default_rng(26).standard_normal(120))
    assert "GL304" not in codes(train__loss=loss)


def test_a_few_points_near_zero_are_no_best_level():
    """Three low points of many are chance, however little the last tenth scatters."""
    loss = np.clip(0.4 + 0.1 * np.random.default_rng(0).standard_normal(300), 0.2, 0.6)
    loss[130:145:2], loss[-30:] = 0.08, 0.38 + 0.01 * np.sin(np.arange(30))
    assert "GL304" not in codes(train__loss=loss)
