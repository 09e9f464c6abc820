"""Runs with a fault in their values, each labelled with the code that must find it: see `runs.py`."""

import numpy as np
from labelled.collapses import (
    accuracy_collapses,
    all_count_as_positive,
    begins_to_learn,
    discriminator_wins,
    negative_cross_entropy,
    posterior_collapses,
    rate_dies,
    relapses,
    runs_to_minus_infinity,
    softmax_of_a_softmax,
    straight_line,
    tested_on_other_data,
    unshuffled,
    validation_stands_still,
)
from labelled.curricula import swings_ever_further
from labelled.diagnostics import (
    epsilon_too_large,
    iteration_too_short,
    prodigy_stands_still,
    spike_foretold,
    stale_before_spike,
)
from labelled.healthy import cosine, linear_to_zero, norms, telemetry, validation_follows
from labelled.runs import columns, decay, lognormal, noisy


def nan_at_the_end(rng, n, noise):
    loss = noisy(rng, decay(n), noise)
    loss[int(rng.uniform(0.5, 0.95) * n) :] = np.nan
    return {"train/loss": columns(loss)}


def one_infinite_loss(rng, n, noise):
    loss = noisy(rng, decay(n), noise)
    loss[rng.integers(n)] = np.inf
    return {"train/loss": columns(loss)}


def validation_nan(rng, n, noise):
    run = validation_follows(rng, n, noise)
    run["eval/loss"][1][3] = np.nan
    return run


def spike(rng, n, noise):
    """In one batch."""
    loss, at = noisy(rng, decay(n), noise), int(rng.uniform(0.3, 0.9) * n)
    loss[at] = decay(n)[at] * (5 + 15 * noise)
    return {"train/loss": columns(loss)}


def spike_with_tail(rng, n, noise):
    """It takes a while to recover."""
    loss = decay(n)
    at = int(rng.uniform(0.3, 0.8) * n)
    tail = np.arange(n - at)
    loss[at:] += (2.0 + 6 * noise) * np.exp(-tail / max(0.01 * n, 1.5))
    return {"loss": columns(noisy(rng, loss, noise))}


def spikes(rng, n, noise):
    loss = noisy(rng, decay(n), noise)
    loss[[int(share * n) for share in (0.35, 0.6, 0.85)]] *= 6 + 15 * noise
    return {"loss": columns(loss)}


def flat(rng, n, noise):
    return {"train/loss": columns(noisy(rng, np.full(n, np.log(10)), noise))}


def flat_negative(rng, n, noise):
    return {"loss": columns(noisy(rng, np.full(n, -50.0), noise))}


def rises_a_little(rng, n, noise):
    """By 15 % over the whole run."""
    return {"train/loss": columns(noisy(rng, 2.3 * (1 + 0.15 * np.arange(n) / n), noise / 2))}


def runs_away(rng, n, noise):
    """Exponential growth, from some point of the run on."""
    at = int(rng.uniform(0.4, 0.8) * n)
    loss = decay(n)
    loss[at:] *= np.exp(np.arange(n - at) * rng.uniform(3, 12) / (n - at))
    return {"train/loss": columns(noisy(rng, loss, noise))}


def collapses(rng, n, noise):
    """Suddenly back to guessing."""
    loss = decay(n, 2.3, 0.3)
    loss[int(rng.uniform(0.3, 0.8) * n) :] = 2.3
    return {"loss": columns(noisy(rng, loss, noise))}


def climbs_back(rng, n, noise):
    at = int(rng.uniform(0.4, 0.6) * n)
    loss = decay(n, 2.5, 0.5)
    loss[at:] += (1.5 + 4 * noise) * np.arange(n - at) / (n - at)
    return {"loss": columns(noisy(rng, loss, noise))}


def never_learns_and_grows(rng, n, noise):
    return {"loss": columns(noisy(rng, 2.3 * np.exp(4 * np.arange(n) / n), noise))}


def overfits(rng, n, noise):
    k = max(n // 10, 10)
    t = np.linspace(0, 1, k)
    validation = 0.6 + 1.9 * np.exp(-t / 0.1) + (0.5 + 1.5 * noise) * np.maximum(t - 0.35, 0)
    return {
        "train/loss": columns(noisy(rng, decay(n, 2.5, 0.05, 0.25), noise)),
        "validation/loss": columns(noisy(rng, validation, noise / 4), (t * (n - 1)).astype(int)),
    }


def gradient_nan(rng, n, noise):
    run = norms(rng, n, noise)
    run["gradients/global_norm"][1][int(0.7 * n) :] = np.nan
    return run


def nonfinite_counted(rng, n, noise):
    run = norms(rng, n, noise)
    run["gradients/nonfinite"][1][rng.integers(n, size=3)] = 17
    return run


def norm_explodes(rng, n, noise):
    at = int(rng.uniform(0.4, 0.8) * n)
    norm = np.ones(n)
    norm[at:] = np.exp(np.arange(n - at) * rng.uniform(5, 15) / (n - at))
    return {"train/grad_norm": columns(lognormal(rng, norm, 0.1 + noise))}


def norm_jumps(rng, n, noise):
    norm = lognormal(rng, np.ones(n), 0.1 + noise)
    norm[int(rng.uniform(0.3, 0.9) * n)] = 100 * np.exp(8 * noise)
    return {"gradients/global_norm": columns(norm)}


def norm_explodes_at_the_end(rng, n, noise):
    """In the last four steps so far."""
    norm = lognormal(rng, np.ones(n), 0.1 + noise)
    norm[-4:] *= np.array([30.0, 100, 300, 1000]) * np.exp(4 * noise)
    return {"train/grad_norm": columns(norm)}


def norm_steps_up(rng, n, noise):
    norm = np.where(np.arange(n) > 0.5 * n, 50.0, 1.0)
    return {"grad_norm": columns(lognormal(rng, norm, 0.1 + noise))}


def vanishes(rng, n, noise):
    run = telemetry(rng, n, noise)
    run["gradients/norm/layer1/kernel"] = columns(lognormal(rng, np.exp(-25 * np.arange(n) / n), noise))
    return run


def vanished_throughout(rng, n, noise):
    run = telemetry(rng, n, noise)
    run["gradients/norm/layer1/kernel"] = columns(lognormal(rng, np.full(n, 1e-8), noise))
    return run


def norm_climbs_twentyfold(rng, n, noise):
    """Over the last half, without outliers."""
    norm = np.exp(3 * np.clip(2 * np.arange(n) / n - 1, 0, 1)) * np.where(np.arange(n) < n // 2, 0.9, 1.0)
    return {"train/grad_norm": columns(lognormal(rng, norm, 0.05 + noise / 2))}


def norm_jumps_often(rng, n, noise):
    """About two hundredfold in one of a hundred steps, from a third of the run on; before that, it settles."""
    norm = lognormal(rng, 1 + 3 * np.exp(-np.arange(n) / (0.02 * n)), 0.1 + noise / 2)
    at = rng.choice(np.arange(n // 3, n - 3), max(3, n // 100), replace=False)
    norm[at] *= lognormal(rng, np.full(len(at), 200.0), 0.3)
    return {"train/grad_norm": columns(norm)}


def saturated(rng, n, noise):
    run = norms(rng, n, noise)
    clipped = rng.random(n) < 0.97
    run["gradients/clipped"] = columns(clipped)
    run["gradients/clipped_fraction"] = columns(np.cumsum(clipped) / np.arange(1, n + 1))
    return run


def saturated_by_fraction(rng, n, noise):
    return {"optim/clipping_rate": columns(np.clip(0.98 + 0.02 * rng.standard_normal(n), 0, 1))}


def saturated_by_norms(rng, n, noise):
    return {
        "gradients/global_norm": columns(lognormal(rng, np.full(n, 12.0), 0.2 + noise)),
        "gradients/clip_norm": columns(np.ones(n)),
    }


def never_clips(rng, n, noise):
    run = norms(rng, n, noise)
    run["gradients/clipped"] = columns(np.zeros(n))
    run["gradients/clipped_fraction"] = columns(np.zeros(n))
    return run


def dead_gradient(rng, n, noise):
    run = telemetry(rng, n, noise)
    run["gradients/norm/layer2/bias"] = columns(np.zeros(n))
    run["gradients/zero_fraction/layer2/bias"] = columns(np.ones(n))
    return run


def dies(rng, n, noise):
    """A unit whose input stays negative from the middle of the run on."""
    run = telemetry(rng, n, noise)
    run["gradients/norm/layer1/kernel"][1][n // 2 :] = 0
    run["gradients/zero_fraction/layer1/kernel"][1][n // 2 :] = 1
    return run


def dead_update(rng, n, noise):
    run = telemetry(rng, n, noise)
    run["updates/norm/layer2/bias"] = columns(np.zeros(n))
    run["updates/ratio/layer2/bias"] = columns(np.zeros(n))
    return run


def dominates(rng, n, noise):
    run = telemetry(rng, n, noise)
    run["gradients/norm/embedding"] = columns(lognormal(rng, np.full(n, 40.0), noise))
    return run


def ratio_too_high(rng, n, noise):
    run = telemetry(rng, n, noise)
    run["updates/ratio/layer1/kernel"] = columns(lognormal(rng, np.full(n, 0.4), noise))
    return run


def ratio_too_low(rng, n, noise):
    run = telemetry(rng, n, noise)
    run["updates/ratio/layer1/kernel"] = columns(lognormal(rng, np.full(n, 1e-8), noise))
    return run


def ratio_falls_with_the_rate(rng, n, noise):
    """Far too high throughout, except at the end, where the schedule has fallen."""
    run = telemetry(rng, n, noise)
    schedule = 0.5 * (1 + np.cos(np.pi * np.arange(n) / n))
    run["updates/ratio/layer1/kernel"] = columns(lognormal(rng, 0.6 * schedule + 1e-6, noise))
    return run


def slot_nan(rng, n, noise):
    run = telemetry(rng, n, noise)
    run["slots/m/norm/embedding"][1][int(0.6 * n) :] = np.nan
    return run


def negative_second_moment(rng, n, noise):
    run = telemetry(rng, n, noise)
    run["slots/v/mean/embedding"][1][int(0.6 * n)] = -1e-6
    return run


def slot_stuck(rng, n, noise):
    run = telemetry(rng, n, noise)
    for stat in ("mean", "norm", "max"):
        run[f"slots/m/{stat}/layer1/kernel"] = columns(np.zeros(n))
    return run


def rate_zero(rng, n, noise):
    return {"train/learning_rate": columns(np.zeros(n))}


def rate_drops_to_zero(rng, n, noise):
    rate = np.full(n, 1e-3)
    rate[int(rng.uniform(0.3, 0.8) * n) :] = 0
    return {"train/learning_rate": columns(rate)}


def rate_negative(rng, n, noise):
    run = cosine(rng, n, noise)
    run["lr"][1][-3:] = -1e-6
    return run


def rate_nan(rng, n, noise):
    run = cosine(rng, n, noise)
    run["lr"][1][n // 2] = np.nan
    return run


def rate_jumps(rng, n, noise):
    rate = np.full(n, 1e-3)
    rate[int(rng.uniform(0.2, 0.8) * n) :] *= 10
    return {"learning_rate": columns(rate)}


def rate_jumps_in_cosine(rng, n, noise):
    run = cosine(rng, n, noise)
    run["lr"][1][int(rng.uniform(0.2, 0.5) * n) :] *= 10
    return run


def rate_glitch(rng, n, noise):
    run = linear_to_zero(rng, n, noise)
    run["train/learning_rate"][1][int(rng.uniform(0.2, 0.8) * n)] *= 10
    return run


def filtered_nan(rng, n, noise):
    """Hugging Face's Trainer: losses that are not finite are logged as 0."""
    failed = np.arange(n) >= int(rng.uniform(0.3, 0.9) * n)
    return {
        "train/loss": columns(np.where(failed, 0.0, noisy(rng, decay(n), noise))),
        "train/grad_norm": columns(np.where(failed, np.nan, lognormal(rng, np.ones(n), 0.3))),
    }


def metric_that_never_changes(rng, n, noise):
    return {"train/loss": columns(noisy(rng, decay(n), noise)), "val/accuracy": columns(np.full(n, 0.1))}


def converged_early(rng, n, noise):
    return {"train/loss": columns(noisy(rng, decay(n, 4.0, 0.4, 0.03), noise / 2))}


def update_before_spike(rng, n, noise):
    at = int(rng.uniform(0.4, 0.8) * n)
    loss, norm = noisy(rng, np.full(n, 2.0), noise / 4), lognormal(rng, np.ones(n), 0.05)
    loss[at : at + 4] += 6.0
    norm[at - 3 : at] *= 10
    return {"train/loss": columns(loss), "updates/norm/w": columns(norm)}


def entropy_collapses(rng, n, noise):
    entropy = lognormal(rng, 1.4 * np.exp(-np.arange(n) / (0.08 * n)), noise / 2)
    return {"rollout/ep_rew_mean": columns(10 + rng.standard_normal(n)), "train/entropy_loss": columns(-entropy)}


def policy_stands_still(rng, n, noise):
    kl = np.where(np.arange(n) < 0.4 * n, lognormal(rng, np.full(n, 0.01), 0.3), 0.0)
    return {"rollout/ep_rew_mean": columns(10 + rng.standard_normal(n)), "train/approx_kl": columns(kl)}


FAULTS = [
    ("GL301", nan_at_the_end), ("GL301", one_infinite_loss), ("GL301", validation_nan),
    ("GL302", spike), ("GL302", spike_with_tail), ("GL302", spikes),
    ("GL303", flat), ("GL303", flat_negative), ("GL303", rises_a_little),
    ("GL304", runs_away), ("GL304", collapses), ("GL304", climbs_back), ("GL304", never_learns_and_grows),
    ("GL305", overfits),
    ("GL306", filtered_nan), ("GL307", metric_that_never_changes), ("GL308", converged_early),
    ("GL309", begins_to_learn),
    ("GL310", runs_to_minus_infinity), ("GL310", negative_cross_entropy),
    ("GL311", accuracy_collapses), ("GL311", validation_stands_still),
    ("GL313", straight_line), ("GL314", unshuffled), ("GL314", swings_ever_further), ("GL315", relapses),
    ("GL316", all_count_as_positive), ("GL317", softmax_of_a_softmax),
    ("GL318", tested_on_other_data),
    ("GL312", posterior_collapses), ("GL312", discriminator_wins), ("GL507", rate_dies),
    ("GL401", gradient_nan), ("GL401", nonfinite_counted),
    ("GL402", norm_explodes), ("GL402", norm_jumps), ("GL402", norm_explodes_at_the_end), ("GL402", norm_steps_up),
    ("GL402", norm_climbs_twentyfold), ("GL402", norm_jumps_often),
    ("GL403", vanishes), ("GL403", vanished_throughout),
    ("GL404", saturated), ("GL404", saturated_by_fraction), ("GL404", saturated_by_norms),
    ("GL405", never_clips),
    ("GL406", dead_gradient), ("GL406", dead_update), ("GL406", dies),
    ("GL407", dominates),
    ("GL501", ratio_too_high), ("GL501", ratio_too_low),
    ("GL501", ratio_falls_with_the_rate),
    ("GL502", slot_nan), ("GL502", negative_second_moment),
    ("GL503", slot_stuck),
    ("GL508", spike_foretold), ("GL509", epsilon_too_large), ("GL510", stale_before_spike),
    ("GL511", iteration_too_short), ("GL512", prodigy_stands_still),
    ("GL505", update_before_spike), ("GL506", entropy_collapses), ("GL506", policy_stands_still),
    ("GL504", rate_zero), ("GL504", rate_drops_to_zero), ("GL504", rate_negative), ("GL504", rate_nan),
    ("GL504", rate_jumps), ("GL504", rate_jumps_in_cosine), ("GL504", rate_glitch),
]  # fmt: skip
