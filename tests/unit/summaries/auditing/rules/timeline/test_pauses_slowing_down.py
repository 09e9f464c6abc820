"""GL207: what is said of runs that slow down, and of those that do not."""

import numpy as np
import pytest
from labelled import runs as labelled

from summaries.auditing.config import Config
from summaries.auditing.engine import audit_run

SEEDS = range(20)


def timed(seed, secs):
    """A run whose steps take so many seconds, and a fifth more or less."""
    rng = np.random.default_rng(seed)
    n = len(secs)
    run = labelled.as_run(rng, {"train/loss": labelled.columns(labelled.decay(n))})
    run.scalars["train/loss"].wall_time[:] = 1e9 + np.cumsum(secs * np.exp(0.2 * rng.standard_normal(n)))
    return audit_run("run", run, Config(select=("GL207",))).findings


@pytest.mark.parametrize("n", [300, 3000])
def test_a_drift_is_found(n):
    found = [timed(seed, np.linspace(1.0, 3.0, n)) for seed in SEEDS]
    assert [len(findings) for findings in found] == [1] * len(SEEDS)
    assert found[0][0].message.startswith("a step takes 1.")
    assert found[0][0].message.endswith(" s in the end; it became slower all along")


@pytest.mark.parametrize("n", [300, 3000])
def test_noise_steps_and_pauses_are_no_drift(n):
    slower = np.where(np.arange(n) < n // 2, 1.0, 2.0)  # at once: a change, no drift
    pauses = np.where(np.arange(n) % 97 == 96, 30.0, 1.0)
    for seed in SEEDS:
        assert [timed(seed, secs) for secs in (np.ones(n), slower, pauses)] == [(), (), ()]


def test_few_points_have_no_drift():
    assert timed(0, np.linspace(1.0, 3.0, 100)) == ()


def test_a_pace_that_changes_once_is_no_drift_wherever_the_stretches_lie():
    n = np.arange(1000)
    for change in range(450, 650, 20):
        assert timed(0, np.where(n < change, 0.012, 0.026) * (1 + 2e-4 * n)) == ()
