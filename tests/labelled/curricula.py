"""Runs whose settings change: healthy curricula and schedules, and faults that follow a change and do not pass.

Each maker takes a random generator, the number of points and the strength of the noise; see `runs.py`.
"""

import numpy as np
from labelled.runs import columns, decay, lognormal, noisy


def stages(n, *shares):
    """int64[n]: how many of these shares of the run each point is beyond."""
    return np.searchsorted((np.array(shares) * n).astype(int), np.arange(n), side="right")


def after(n, share, height, lasts=0.04):
    """float64[n]: what a change at this share of the run adds to a loss, and is learnt."""
    since = np.arange(n) - int(share * n)
    return np.where(since >= 0, height * np.exp(-np.maximum(since, 0) / (lasts * n)), 0.0)


def longer_sequences(rng, n, noise):
    stage = stages(n, 0.3, 0.6)
    loss = decay(n, 6.0, 2.5, 0.08) + after(n, 0.3, 1.5) + after(n, 0.6, 1.2)
    return {"train/loss": columns(noisy(rng, loss, noise / 3)), "train/seq_len": columns(256 * 4**stage)}


def harder_data(rng, n, noise):
    """A mixture whose loss is higher, for good."""
    later = stages(n, 0.65)
    loss = decay(n, 5.0, 2.0, 0.08) + 0.6 * later
    return {
        "loss": columns(noisy(rng, loss, noise / 3)),
        "data/weight_web": columns(np.where(later, 0.3, 0.8)),
    }


def annealed_divergence(rng, n, noise):
    """The weight of a divergence goes from 0 to 1, four times."""
    phase = np.arange(n) * 4 / n % 1
    weight = np.clip(2 * phase, 0, 1)
    reconstruction, divergence = decay(n, 150, 70, 0.05) + 8 * weight, 18 + 20 * np.exp(-5 * weight)
    return {
        "train/loss": columns(noisy(rng, reconstruction + weight * divergence, noise / 4)),
        "train/kl_weight": columns(weight),
    }


def teacher_forced_less(rng, n, noise):
    share = np.clip(1 - 1.4 * np.arange(n) / n, 0, 1)
    return {
        "train_loss": columns(noisy(rng, decay(n, 4.0, 1.2, 0.08) + 0.9 * (1 - share), noise / 4)),
        "teacher_forcing_ratio": columns(share),
    }


def tasks_in_turn(rng, n, noise):
    """Each of five tasks begins where nothing was learnt."""
    phase = np.arange(n) * 5 / n % 1
    loss = 0.25 + 2.0 * np.exp(-phase / 0.15)
    return {"train/loss": columns(noisy(rng, loss, noise / 2)), "task_id": columns(np.arange(n) * 5 // n)}


def tasks_that_alternate(rng, n, noise):
    second = np.arange(n) // max(n // 40, 5) % 2
    loss = np.where(second, decay(n, 1.2, 0.6, 0.2), decay(n, 4.0, 2.0, 0.2))
    return {"train/loss": columns(noisy(rng, loss, noise / 3)), "train/task": columns(second)}


def pruned(rng, n, noise):
    stage = stages(n, 0.4, 0.55, 0.7, 0.85)
    loss = decay(n, 2.3, 0.3, 0.08) + 0.1 * stage + sum(after(n, at, 0.4, 0.02) for at in (0.4, 0.55, 0.7, 0.85))
    every = np.arange(n // 40, n, max(n // 40, 1))
    return {
        "train/loss": columns(noisy(rng, loss, noise / 3)),
        "val/loss": columns(noisy(rng, 1.1 * loss[every], noise / 6), every),
        "sparsity": columns(np.array([0, 0.5, 0.7, 0.8, 0.9])[stage]),
    }


def warms_up_for_long(rng, n, noise):
    """The loss is flat at first, and then a straight line, while the rate comes up."""
    rate = np.clip(2.5 * np.arange(n) / n, 0, 1)
    loss = 6.9 - 4.5 * (1 - np.exp(-6 * np.cumsum(rate**2) / n))
    every = np.arange(n // 40, n, max(n // 40, 1))
    return {
        "train/loss": columns(noisy(rng, loss, noise / 5)),
        "eval/loss": columns(noisy(rng, loss[every], noise / 20), every),
        "train/learning_rate": columns(1e-3 * rate),
    }


def reward_is_rare(rng, n, noise):
    """Nothing is found in the first half."""
    share = 0.9 / (1 + np.exp(-(np.arange(n) / n - 0.6) / 0.04))
    return {
        "rollout/ep_rew_mean": columns(rng.binomial(100, share) / 100),
        "train/entropy_loss": columns(-1.38 + 0.9 * share + 0.003 * rng.standard_normal(n)),
    }


def diverges_with_longer_sequences(rng, n, noise):
    later = stages(n, 0.6)
    loss = decay(n, 6.0, 2.5, 0.08) + 4.0 * later * (1 - np.exp(-np.maximum(np.arange(n) - 0.6 * n, 0) / (0.03 * n)))
    return {"train/loss": columns(noisy(rng, loss, noise / 3)), "train/seq_len": columns(256 * 4**later)}


def is_broken_by_a_resolution(rng, n, noise):
    """The loss is where it began, and stays there."""
    later = stages(n, 0.5)
    loss = np.where(later, 2.31, decay(n, 2.3, 0.5, 0.1))
    return {"train_loss": columns(noisy(rng, loss, noise / 3)), "image_size": columns(128 + 128 * later)}


def reward_is_lost_at_a_level(rng, n, noise):
    later = stages(n, 0.5)
    reward = np.where(later, 5, 200 * (1 - np.exp(-np.arange(n) / (0.15 * n))))
    return {
        "rollout/ep_rew_mean": columns(reward + (1 + 20 * noise) * rng.standard_normal(n)),
        "curriculum/level": columns(later),
    }


def swings_ever_further(rng, n, noise):
    """Gradients that add up, and no data in order."""
    t = np.arange(n) / n
    loss = 0.9 + 0.02 * np.exp(5.2 * t) * (1.1 + np.sin(2 * np.pi * 12 * t)) + 1.2 * np.exp(-t / 0.05)
    return {"train/loss": columns(lognormal(rng, loss, noise / 4))}


HEALTHY = [
    longer_sequences, harder_data, annealed_divergence, teacher_forced_less, tasks_in_turn, tasks_that_alternate,
    pruned, warms_up_for_long, reward_is_rare,
]  # fmt: skip

FAULTS = [
    ("GL304", diverges_with_longer_sequences, "train/seq_len rises from 256 at step"),
    ("GL304", is_broken_by_a_resolution, "image_size rises from 128 at step"),
    ("GL506", reward_is_lost_at_a_level, "curriculum/level rises from 0 at step"),
]
"""A fault of this code, and how the words of the finding begin to tell its likely cause."""
