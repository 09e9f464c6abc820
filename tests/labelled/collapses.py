"""Runs that hardly learn, whose losses have no bound, or of which a part or a rate collapses: see `faults.py`."""

import numpy as np
from labelled.runs import columns, decay, lognormal, noisy


def begins_to_learn(rng, n, noise):
    """A rate a hundred times too low: a straight line, from guessing among ten."""
    level = 2.303 - 0.15 * np.arange(n) / n
    epochs = np.maximum(level[:: max(n // 25, 1)], 0)
    accuracy = np.full(len(epochs), 0.1) + 0.01 * rng.random(len(epochs))
    at = np.arange(len(epochs)) * max(n // 25, 1)
    return {
        "train/loss_epoch": columns(noisy(rng, epochs, noise / 100), at),
        "val/accuracy": columns(accuracy, at),
        "lr": columns(np.full(len(epochs), 1e-6), at),
    }


def runs_to_minus_infinity(rng, n, noise):
    return {"train/loss": columns(noisy(rng, 0.5 - 1e7 * (np.arange(n) / n) ** 2, noise / 10))}


def negative_cross_entropy(rng, n, noise):
    return {"train/cross_entropy": columns(noisy(rng, 1.5 - 3 * np.arange(n) / n, noise / 10))}


def accuracy_collapses(rng, n, noise):
    k = max(n // 10, 24)
    accuracy = np.where(np.arange(k) < 0.6 * k, 0.97, 0.003) + 0.002 * rng.random(k)
    return {
        "train/loss": columns(noisy(rng, decay(n), noise)),
        "val/accuracy": columns(accuracy, np.arange(k) * n // k),
    }


def all_count_as_positive(rng, n, noise):
    k = max(n // 10, 10)
    still = {"val/recall": np.ones(k), "val/precision": np.full(k, 0.14)}
    falls = {"train/loss": columns(noisy(rng, decay(n), noise))}
    return falls | {tag: columns(value, np.arange(k) * n // k) for tag, value in still.items()}


def softmax_of_a_softmax(rng, n, noise):
    right = np.clip(0.96 - 0.8 * np.exp(-8 * np.arange(n) / n) + noise / 4 * rng.standard_normal(n), 0.0, 1.0)
    return {"train/loss": columns(np.log(np.e + 9) - right), "train/accuracy": columns(right)}


def tested_on_other_data(rng, n, noise):
    k = max(n // 10, 10)
    return {
        "train/loss": columns(noisy(rng, decay(n), noise)),
        "val/mae": columns(noisy(rng, decay(k, 0.5, 0.1), noise / 4), np.arange(k) * n // k),
        "test/mae": columns([0.6], [n - 1]),
    }


def validation_stands_still(rng, n, noise):
    k = max(n // 10, 10)
    validation = decay(k, 2.5, 0.5)
    validation[int(0.5 * k) :] = validation[int(0.5 * k)]
    return {
        "train/loss": columns(noisy(rng, decay(n), 0.01 + noise)),
        "eval/loss": columns(validation, np.arange(k) * (n // k)),
    }


def posterior_collapses(rng, n, noise):
    kl = lognormal(rng, 8 * np.exp(-np.arange(n) / (0.03 * n)) + 1e-4, noise)
    return {"train/loss": columns(noisy(rng, decay(n, 200, 90), noise)), "train/kl": columns(kl)}


def discriminator_wins(rng, n, noise):
    loss = lognormal(rng, 0.69 * np.exp(-np.arange(n) / (0.04 * n)) + 1e-4, noise)
    return {"loss_D": columns(loss), "loss_G": columns(noisy(rng, 0.7 + 8 * np.arange(n) / n, noise))}


def rate_dies(rng, n, noise):
    loss = np.maximum(decay(n, 2.5, 1.9, 0.05), decay(n, 2.5, 1.9, 0.05)[n // 8])
    return {"train/loss": columns(noisy(rng, loss, noise)), "lr": columns(1e-2 * np.exp(-np.arange(n) / (0.02 * n)))}


def straight_line(rng, n, noise):
    """A rate a hundred times too low, of a loss that is no cross-entropy."""
    k = max(n // 10, 10)
    level = 44 - 3 * np.arange(n) / n
    return {
        "train/loss": columns(noisy(rng, level, noise / 10)),
        "val/loss": columns(level[:: n // k], np.arange(len(level[:: n // k])) * (n // k)),
    }


def unshuffled(rng, n, noise):
    """Data that lie sorted by class: each epoch is a wave."""
    wave = 1 + 0.5 * np.sin(2 * np.pi * 14 * np.arange(n) / n)
    return {"train/loss": columns(noisy(rng, wave * decay(n), min(noise, 0.1)))}


def relapses(rng, n, noise):
    """What was learnt is undone in part, and the validation shows it, too."""
    k = max(n // 10, 12)
    level = decay(n) + 0.3 * (np.arange(n) > 0.6 * n)
    at = np.arange(k) * n // k
    return {
        "train/loss": columns(noisy(rng, level, noise)),
        "val/loss": columns(noisy(rng, level[at], noise / 5), at),
    }
