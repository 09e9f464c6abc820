"""Spikes told at once: the audit's thresholds, few false alarms, none for what falls, wanders or repeats."""

import numpy as np
import pytest

from optim.telemetry import spikes
from optim.telemetry.spikes import SpikeDetector
from summaries.auditing.rules.gradients.norms import RULES as OF_GRADIENTS
from summaries.auditing.rules.losses.moments import RULES as OF_LOSSES


def flagged(values, **options):
    detector = SpikeDetector(**options)
    return [i for i, value in enumerate(values) if detector.is_spike(value)]


def losses(seed=0, n=2000, noise=0.05):
    rng = np.random.default_rng(seed)
    return (0.5 + 2 * np.exp(-np.arange(n) / 300)) * (1 + noise * rng.standard_normal(n))


def test_the_thresholds_are_the_audits():
    of_loss, of_norm = OF_LOSSES["GL302"].thresholds, OF_GRADIENTS["GL402"].thresholds
    assert (of_loss["sigmas"].default, of_loss["min_rise"].default) == (spikes.SIGMAS, spikes.LEAST_RISE)
    assert (of_norm["sigmas"].default, of_norm["factor"].default) == (spikes.SIGMAS, spikes.FACTOR)
    assert spikes.LEAST_POINTS == of_loss["min_points"].default == of_norm["min_points"].default


@pytest.mark.parametrize("seed", range(20))
def test_a_spike_of_the_loss(seed):
    values = losses(seed)
    values[1500:1503] *= 3
    assert flagged(values) == [1500, 1501, 1502]


@pytest.mark.parametrize("seed", range(20))
def test_a_spike_of_the_norm(seed):
    values = np.exp(0.3 * np.random.default_rng(seed).standard_normal(1000))
    values[700] *= 300
    assert flagged(values, logarithmic=True) == [700]


@pytest.mark.parametrize("logarithmic", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_healthy_values_are_not(seed, logarithmic):
    rng = np.random.default_rng(seed)
    assert flagged(losses(seed), logarithmic=logarithmic) == []
    assert flagged(np.exp(0.5 * rng.standard_normal(3000)), logarithmic=logarithmic) == []


def test_heavy_tails_give_few_alarms():
    """20 runs of 3,000 values with Student's t of 4 degrees of freedom."""
    runs = [1 + 0.1 * np.abs(np.random.default_rng(seed).standard_t(4, 3000)) for seed in range(20)]
    assert sum(len(flagged(values)) for values in runs) <= 12


def test_few_values_have_no_level():
    assert flagged([1.0, 1.1] * 14 + [50.0]) == []
    assert flagged([1.0, 1.1] * 15 + [50.0]) == [30]


def test_constant_zero_and_missing_values():
    assert flagged([2.0] * 40 + [2.1, 2.3]) == [41]
    assert flagged([0.0] * 40 + [1.0], logarithmic=True) == []
    assert flagged([1.0] * 40 + [float("nan"), float("inf"), 1.0]) == []
