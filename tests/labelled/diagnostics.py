"""Runs with what an optimizer's own theory says: a healthy one, and such with faults."""

import numpy as np
from labelled.runs import columns, decay, lognormal, noisy


def diagnosed(rng, n, noise):
    """What Adam, Muon and Prodigy log of a training in which all is well; rare high values mean nothing."""
    t = np.arange(n)
    stale = lognormal(rng, np.ones(n), 0.1 + noise / 2)
    stale[rng.integers(n, size=1 + n // 200)] = 2.6
    return {
        "train/loss": columns(noisy(rng, decay(n), noise)),
        "optimizer/forecast_rise": columns(lognormal(rng, np.full(n, 1e-2), 1.0)),
        "optimizer/epsilon_share/w": columns(np.clip(0.02 + 0.1 * noise * rng.standard_normal(n), 0, 1)),
        "optimizer/epsilon_share/late": columns(np.where(t < 0.4 * n, 1.0, 0.1)),
        "optimizer/gradient_rms/w": columns(stale),
        "optimizer/orthogonality_residual/w": columns(lognormal(rng, np.full(n, 0.3), 0.2)),
        "optimizer/distance/w": columns(1e-6 * np.minimum(2.0 ** (t // 2), 1e4)),
    }


def resumed_prodigy(rng, n, noise):
    """Its distance had grown before."""
    return diagnosed(rng, n, noise) | {"optimizer/distance/w": columns(np.full(n, 3e-3))}


def spike_foretold(rng, n, noise):
    run, at = diagnosed(rng, n, noise), int(rng.uniform(0.3, 0.9) * n)
    run["optimizer/forecast_rise"][1][at : at + 8] = np.geomspace(1, 100, 8)
    return run


def epsilon_too_large(rng, n, noise):
    share = np.clip(0.95 + 0.02 * noise * rng.standard_normal(n), 0, 1)
    return diagnosed(rng, n, noise) | {"optimizer/epsilon_share/embedding": columns(share)}


def stale_before_spike(rng, n, noise):
    run, at = diagnosed(rng, n, noise), int(rng.uniform(0.4, 0.8) * n)
    run["train/loss"][1][at : at + 4] += 6.0
    run["optimizer/gradient_rms/w"][1][at - 3 : at] = 5.0
    return run


def iteration_too_short(rng, n, noise):
    residual = lognormal(rng, np.full(n, 0.85), 0.05)
    return diagnosed(rng, n, noise) | {"optimizer/orthogonality_residual/w": columns(residual)}


def prodigy_stands_still(rng, n, noise):
    return diagnosed(rng, n, noise) | {"optimizer/distance/w": columns(np.full(n, 1e-6))}
