"""Labelled losses, validations and norms that are barely detectable: small falls, correlated noise, rare jumps.

Every maker takes a random generator and the number of points. A healthy one returns {tag: (steps, values)}; a faulty
one also the two steps between which its fault begins.
"""

import numpy as np
from labelled.healthy import wandering
from labelled.runs import columns, decay, lognormal, noisy

SIZES = (200, 500, 2000)
FEW = 50


def smoothed(values, memory):
    """A running average with bias correction, like Adam's moments."""
    rest, average, out = 1 - 1 / memory, 0.0, []
    for i, value in enumerate(values.tolist()):
        average = rest * average + (1 - rest) * value
        out.append(average / (1 - rest ** (i + 1)))
    return np.array(out)


def train(n):
    return decay(n, 2.0, 0.05, 0.15)


# Healthy


def goes_on_by_five_percent(rng, n):
    """Continued pre-training: the loss falls, but only just visibly."""
    return {"train/loss": columns(noisy(rng, 1.9 * (1 - 0.05 * np.arange(n) / n), 0.04))}


def fine_tuned_by_ten_percent(rng, n):
    """Half of the fall is in the first tenth."""
    t = np.arange(n) / n
    level = 1.1 * (0.9 + 0.05 * np.exp(-30 * t) + 0.05 * (1 - t))
    return {"loss": columns(lognormal(rng, level, rng.choice([0.05, 0.1, 0.2])))}


def hard_examples(rng, n):
    """A nearly perfect classifier: one batch in thirty has a hard example."""
    loss = 2.3 * np.exp(-15 * np.arange(n) / n) + 1e-3 * lognormal(rng, np.ones(n), 0.5)
    return {"train/loss": columns(loss + (rng.random(n) < 0.03) * 10 ** rng.uniform(-2, -1, n))}


def last_batches_are_small(rng, n):
    """Each epoch's last batch has few examples: its loss is far above the level, or far below it."""
    loss = noisy(rng, decay(n, 2.3, 0.5), 0.02)
    loss[9 :: n // 10] *= np.resize([2.5, 0.4], len(loss[9 :: n // 10]))
    return {"train/loss": columns(loss)}


def norm_spikes_when_clipped(rng, n):
    """As in a recurrent network with clipped gradients."""
    norm = recurrent_norm(rng, n)[0]["train/grad_norm"][1]
    return {"train/grad_norm": columns(norm), "gradients/clip_norm": columns(np.ones(n))}


def validation_with_three_rises(rng, n):
    """Six epochs; the last three rise a little each time."""
    validation = np.array([1.2, 0.9, 0.7, 0.72, 0.73, 0.75]) * (1 + 0.01 * rng.standard_normal(6))
    return {"train/loss": columns(noisy(rng, train(n), 0.05)), "eval/loss": columns(validation, evaluated(n, 6))}


def overflows_lower_the_scale(rng, n):
    """The loss of an overflowing step is NaN, and the step is skipped."""
    loss, scale = noisy(rng, decay(n), 0.05), np.full(n, 65536.0)
    at = np.sort(rng.choice(np.arange(2, n - 2, 4), 2, replace=False))
    loss[at] = np.nan
    scale[at[0] :] /= 2
    scale[at[1] + rng.integers(2) :] /= 2
    return {"train/loss": columns(loss), "train/loss_scale": columns(scale)}


def jumps_and_comes_back(rng, n):
    """Harder data after a fifth of the run: most of the jump is recovered by the end."""
    t = np.arange(n) / n
    loss = 1 + np.exp(-t * 20) + np.where(t > 0.2, 0.5 - 0.4 * (t - 0.2) / 0.8, 0.0)
    return {"loss": columns(noisy(rng, loss, 0.02))}


HEALTHY = [
    goes_on_by_five_percent, fine_tuned_by_ten_percent, hard_examples, last_batches_are_small,
    norm_spikes_when_clipped, validation_with_three_rises, overflows_lower_the_scale, jumps_and_comes_back,
]  # fmt: skip


# Faults


def nan_while_the_scale_stays(rng, n):
    run = overflows_lower_the_scale(rng, n)
    run["train/loss_scale"] = columns(np.full(n, 65536.0))
    at = int(np.flatnonzero(np.isnan(run["train/loss"][1]))[0])
    return run, at, at


def flat_and_correlated(rng, n):
    """With a memory of four points."""
    return {"train/loss": columns(2.3 * (1 + 0.01 * wandering(rng, n, 0.8)))}, 0, 0


def flat_and_smoothed(rng, n):
    return {"train/loss": columns(smoothed(2.3 * (1 + 0.05 * rng.standard_normal(n)), 5))}, 0, 0


def learns_biases_only(rng, n):
    """In the first hundredth, by 6 %."""
    level = 2.3 * (1 + 0.06 * np.exp(-np.arange(n) / (0.01 * n)))
    return {"loss": columns(noisy(rng, level, 0.01))}, 0, 0


def cost_is_flat(rng, n):
    return {"train/cost": columns(noisy(rng, np.full(n, 2.3), 0.01))}, 0, 0


def creeps_up_by_a_tenth(rng, n):
    return {"loss": columns(noisy(rng, 2.3 * (1 + 0.1 * np.arange(n) / n), 0.02))}, 0, 0


def spike_in_noise(rng, n):
    """Three points at 8 to 14 times a noise of 15 %."""
    at = int(rng.uniform(0.3, 0.8) * n)
    loss = noisy(rng, decay(n, 2.3, 0.8, 0.1), 0.15)
    loss[at : at + 3] += 0.15 * decay(n, 2.3, 0.8, 0.1)[at] * np.array([14.0, 11.0, 8.0])
    return {"loss": columns(loss)}, at - 2, at + 2


def spike_of_a_few_points(rng, n):
    at = int(rng.uniform(0.2, 0.8) * n)
    loss = decay(n, 2.3, 0.5, 0.1)
    loss[at:] += 1.2 * np.exp(-np.arange(n - at) / 2.5)
    return {"loss": columns(noisy(rng, loss, 0.03))}, at - 2, at + 2


def spike_in_a_fall(rng, n):
    """Half of the initial loss, on top of a loss that falls fast, evenly, or as 1 / t."""
    t, at = np.arange(n) / n, int(rng.uniform(0.3, 0.9) * n)
    shapes = [2 * np.exp(-5 * t) + 0.5, 2 - 1.5 * t, 2 / (1 + 10 * t) + 0.2]
    loss = noisy(rng, shapes[rng.integers(3)], 0.01)
    loss[at] += 1.0
    return {"loss": columns(loss)}, at, at


def spike_of_a_validation(rng, n):
    validation = noisy(rng, decay(40, 2.5, 0.5), 0.02)
    validation[27] *= 5
    at = np.arange(40) * (n // 40)
    return {"train/loss": columns(noisy(rng, train(n), 0.05)), "val/loss": columns(validation, at)}, at[27], at[27]


def explodes(rng, n):
    """By ten orders of magnitude, evenly in the logarithm."""
    at = int(rng.choice([0.3, 0.6, 0.9]) * n)
    loss = noisy(rng, decay(n), 0.03)
    loss[at:] *= 10 ** (10 * np.arange(n - at) / (n - at))
    return {"loss": columns(loss)}, at - 0.02 * n, at + 0.4 * (n - at) + 2


def jumps_early_and_stays(rng, n):
    """After a fifth of the run; it then falls a little, but not back to its old level."""
    at = n // 5
    loss = decay(n, 2.3, 0.6, 0.15)
    loss[at:] = loss[at] + 0.6 + 0.4 * np.exp(-np.arange(n - at) / (0.1 * n))
    return {"loss": columns(noisy(rng, loss, 0.03))}, at - 0.1 * n, at + 0.1 * n


def doubles_in_noise(rng, n):
    """Noise of 15 %."""
    t = np.arange(n) / n
    loss = decay(n, 2.3, 0.8, 0.1) * (1 + np.clip((t - 0.6) / 0.15, 0, 1.2))
    return {"loss": columns(noisy(rng, loss, 0.15))}, 0.45 * n, 0.8 * n


def creeps_up(rng, n):
    """By 17 %."""
    t = np.arange(n) / n
    loss = (1.5 + 0.8 * np.exp(-30 * t)) * (1 + 0.17 * np.clip((t - 0.2) / 0.8, 0, 1))
    return {"loss": columns(noisy(rng, loss, 0.01))}, 0.1 * n, 0.9 * n


def blows_up_at_once(rng, n):
    """By 18 orders of magnitude within ten steps; there it stays, with noise."""
    level = 9.0 * 10 ** np.minimum(1.8 * np.arange(n), 18)
    return {"train/loss": columns(lognormal(rng, level, 0.5))}, 0, 10


def jumps_at_once(rng, n):
    """At the third point."""
    return {"loss": columns(noisy(rng, np.where(np.arange(n) < 2, 2.3, 10.0), 0.05))}, 0, 3


def evaluated(n, count):
    return ((np.arange(count) + 1) * (n // count) - 1).astype(int)


def overfits_from_the_first_on(rng, n):
    """Few examples: the first validation is the best."""
    k = int(rng.choice([10, 25]))
    validation = 0.8 * (1 + 1.5 * (1 - np.exp(-3 * np.arange(k) / k))) * (1 + 0.01 * rng.standard_normal(k))
    run = {"train/loss": columns(noisy(rng, train(n), 0.05)), "val/loss": columns(validation, evaluated(n, k))}
    return run, 0, 0.3 * n


def overfits_a_little(rng, n):
    """By 15 %, of thirty validations."""
    t = np.arange(30) / 30
    validation = 0.7 + 1.4 * np.exp(-t * 12) + 0.7 * 0.15 * np.clip((t - 0.4) / 0.55, 0, 1)
    validation *= 1 + 0.004 * rng.standard_normal(30)
    run = {"train/loss": columns(noisy(rng, train(n), 0.05)), "val/loss": columns(validation, evaluated(n, 30))}
    return run, 0.2 * n, 0.7 * n


def overfits_in_six_epochs(rng, n):
    validation = np.array([1.0, 0.8, 0.7, 0.8, 0.91, 1.05]) * (1 + 0.005 * rng.standard_normal(6))
    run = {"train/loss": columns(noisy(rng, train(n), 0.05)), "eval/loss": columns(validation, evaluated(n, 6))}
    return run, 0.3 * n, 0.6 * n


def overfitted(rng, n, rise):
    """Twenty-five validations that rise from two fifths of the run on; `rise` maps the time since then, 0 to 1."""
    t = np.arange(25) / 25
    level = 0.6 * (1 + rise(np.clip((t - 0.4) / 0.6, 0, 1))) + 1.6 * np.exp(-t * 15)
    validation = columns(noisy(rng, level, 0.01), evaluated(n, 25))
    return {"train/loss": columns(noisy(rng, train(n), 0.05)), "val/loss": validation}, 0.1 * n, 0.9 * n


def overfits_exponentially(rng, n):
    return overfitted(rng, n, lambda t: np.expm1(4 * t) / np.expm1(4))


def overfits_to_a_plateau(rng, n):
    return overfitted(rng, n, lambda t: np.minimum(t / 0.4, 1.0))


def overfits_as_a_parabola(rng, n):
    return overfitted(rng, n, np.square)


def validation_explodes(rng, n):
    return overfitted(rng, n, lambda t: np.expm1(5 * t) * 0.3)


def training_has_ended_its_fall(rng, n):
    run, first, last = overfitted(rng, n, np.asarray)
    run["train/loss"] = columns(noisy(rng, decay(n, 2.0, 0.3, 0.03), 0.1))
    return run, first, last


def recurrent_norm(rng, n):
    """From two fifths on, one step in eight has 30 to 300 times the usual norm."""
    hit = (rng.random(n) < 0.125) & (np.arange(n) > 0.4 * n)
    norm = lognormal(rng, np.where(hit, 10 ** rng.uniform(1.5, 2.5, n), 1.0), 0.25)
    return {"train/grad_norm": columns(norm)}, 0.4 * n, n


def one_norm_of_a_hundred(rng, n):
    at = int(rng.uniform(0.2, 0.95) * n)
    norm = lognormal(rng, np.ones(n), 0.35)
    norm[at] *= 150
    return {"train/grad_norm": columns(norm)}, at, at


def clips_by_percent(rng, n):
    """As logged by fairseq and metaseq."""
    run = {
        "gnorm": columns(lognormal(rng, np.full(n, 3.0), 0.2)),
        "clip": columns(np.where(rng.random(n) < 0.98, 100, 0)),
    }
    return run, 0, n


FAULTS = [
    ("GL301", nan_while_the_scale_stays),
    ("GL302", spike_in_noise), ("GL302", spike_of_a_few_points),
    ("GL302", spike_in_a_fall), ("GL302", spike_of_a_validation),
    ("GL303", flat_and_correlated), ("GL303", flat_and_smoothed), ("GL303", learns_biases_only),
    ("GL303", cost_is_flat), ("GL303", creeps_up_by_a_tenth),
    ("GL304", explodes), ("GL304", jumps_early_and_stays), ("GL304", doubles_in_noise), ("GL304", creeps_up),
    ("GL304", blows_up_at_once), ("GL304", jumps_at_once),
    ("GL305", overfits_from_the_first_on), ("GL305", overfits_a_little), ("GL305", overfits_in_six_epochs),
    ("GL305", overfits_exponentially), ("GL305", overfits_to_a_plateau), ("GL305", overfits_as_a_parabola),
    ("GL305", validation_explodes), ("GL305", training_has_ended_its_fall),
    ("GL402", recurrent_norm), ("GL402", one_norm_of_a_hundred),
    ("GL404", clips_by_percent),
]  # fmt: skip

SEEN_IN_FEW = {
    spike_in_a_fall, spike_of_a_validation, cost_is_flat, creeps_up_by_a_tenth, blows_up_at_once, jumps_at_once,
    overfits_exponentially, overfits_to_a_plateau, overfits_as_a_parabola, validation_explodes,
    training_has_ended_its_fall,
}  # fmt: skip
"""Faults that are also found in `FEW` points."""
