"""Training runs with known faults, and healthy ones of many kinds: what the audit's rules are held to.

Every maker takes a random generator, how many points there are and how strong the noise is (its standard deviation over
the level), and gives {tag: (steps, values)}. `as_run` makes a Run of such columns, as a reader would; `write` a file.
"""

import numpy as np

from summaries.collect import Collector, Workspace
from summaries.run import Run
from summaries.series import Series
from summaries.summary_writer import SummaryWriter

START = 1_700_000_000.0
SIZES = [(100, 0.0), (100, 0.05), (400, 0.02), (400, 0.15), (2000, 0.1), (2000, 0.25)]
"""Points and noise. With a hundred points and a quarter of the level as noise, one in ten faults cannot be told."""


def columns(values, step=None):
    values = np.asarray(values, float)
    return (np.arange(len(values)) if step is None else np.asarray(step)), values


def decay(n, start=2.5, end=0.4, share=0.15):
    """An exponential fall whose time constant is this share of the run."""
    return end + (start - end) * np.exp(-np.arange(n) / (share * n))


def noisy(rng, level, noise):
    """Noise in proportion to the level, as a batch's loss has."""
    return level * (1 + noise * rng.standard_normal(len(level)))


def lognormal(rng, level, sigma):
    return level * np.exp(sigma * rng.standard_normal(len(level)))


# Healthy


def plain(rng, n, noise):
    return {"train/loss": columns(noisy(rng, decay(n), noise))}


def fast_convergence(rng, n, noise):
    return {"loss": columns(noisy(rng, decay(n, share=0.01), noise))}


def slow_convergence(rng, n, noise):
    return {"loss": columns(noisy(rng, decay(n, 3.0, 1.0, 0.8), noise))}


def late_plateau(rng, n, noise):
    return {"loss": columns(noisy(rng, np.maximum(2.5 - 3.0 * np.arange(n) / n, 0.8), noise))}


def lognormal_noise(rng, n, noise):
    return {"loss": columns(lognormal(rng, decay(n), 2 * noise))}


def heavy_tails(rng, n, noise):
    return {"loss": columns(decay(n) * (1 + 0.5 * noise * rng.standard_t(4, n)))}


def additive_noise(rng, n, noise):
    return {"loss": columns(decay(n, 2.5, 1.0) + noise * rng.standard_normal(n))}


def to_zero(rng, n, noise):
    """Interpolation: the loss goes to nothing, and single batches stand out of it."""
    level = 2.3 * np.exp(-8 * np.arange(n) / n)
    return {"loss": columns(lognormal(rng, level, 0.1 + 2 * noise))}


def negative_log_likelihood(rng, n, noise):
    level = decay(n, 100.0, -250.0)
    return {"loss": columns(level + 50 * noise * rng.standard_normal(n))}


def large_scale(rng, n, noise):
    return {"loss": columns(1e6 * noisy(rng, decay(n), noise))}


def small_scale(rng, n, noise):
    return {"loss": columns(1e-4 * noisy(rng, decay(n), noise))}


def bfloat16(rng, n, noise):
    values = noisy(rng, decay(n), noise).astype(np.float32)
    return {"loss": columns((values.view(np.uint32) & 0xFFFF0000).view(np.float32))}


def epochs_only(rng, n, noise):
    n = max(n // 20, 5)
    return {
        "epoch_loss": columns(noisy(rng, decay(n), noise / 4)),
        "epoch_val_loss": columns(noisy(rng, decay(n, 2.6, 0.6), noise / 4)),
    }


def short(rng, n, noise):
    n = int(rng.integers(1, 20))
    return {
        "loss": columns(noisy(rng, np.full(n, 2.3), noise)),
        "train/grad_norm": columns(lognormal(rng, np.ones(n), 1)),
    }


def fine_tuning(rng, n, noise):
    """A small improvement, that can be seen."""
    return {"loss": columns(noisy(rng, decay(n, 0.9, 0.7, 0.4), noise / 4))}


def converged(rng, n, noise):
    """It starts where another run ended."""
    return {"loss": columns(noisy(rng, np.full(n, 0.02), noise))}


def resumed_flat(rng, n, noise):
    return {"loss": columns(noisy(rng, np.full(n, 1.7), noise), 50_000 + np.arange(n) * 10)}


def step_decay(rng, n, noise):
    third = np.arange(n) * 3 // n
    loss = np.array([1.0, 0.6, 0.5])[third] + 1.5 * np.exp(-np.arange(n) / (0.05 * n))
    return {"loss": columns(noisy(rng, loss, noise)), "train/learning_rate": columns(0.1 ** (1 + third))}


def cosine(rng, n, noise):
    t = np.arange(n) / n
    rate = 1e-3 * np.minimum(np.arange(n) / (0.05 * n), 0.5 * (1 + np.cos(np.pi * t)))
    return {"loss": columns(noisy(rng, decay(n), noise)), "lr": columns(rate)}


def linear_to_zero(rng, n, noise):
    t = np.arange(1, n + 1) / n
    rate = 5e-5 * np.minimum(t / 0.1, (1 - t) / 0.9)
    return {"train/loss": columns(noisy(rng, decay(n), noise)), "train/learning_rate": columns(rate)}


def warm_restarts(rng, n, noise):
    """SGDR: the rate goes back up four times, and the loss with it a little."""
    phase = (np.arange(n) * 4 / n) % 1
    loss = decay(n) + 0.25 * np.exp(-phase / 0.1) * (np.arange(n) * 4 >= n)
    return {
        "loss": columns(noisy(rng, loss, noise)),
        "learning_rate": columns(1e-2 * 0.5 * (1 + np.cos(np.pi * phase))),
    }


def one_cycle(rng, n, noise):
    t = np.arange(n) / n
    rate = np.where(t < 0.3, 0.04 + (1 - 0.04) * t / 0.3, np.cos(np.pi / 2 * (t - 0.3) / 0.7) ** 2 + 1e-4)
    return {"loss": columns(noisy(rng, decay(n), noise)), "lr-AdamW/pg1": columns(rate)}


def plateau_rate(rng, n, noise):
    rate = 1e-2 * 0.5 ** (np.arange(n) * 7 // n)
    return {"loss": columns(noisy(rng, decay(n), noise)), "lr": columns(rate)}


def gan(rng, n, noise):
    turn = np.sin(np.arange(n) * 2 * np.pi / (n / rng.uniform(3, 12)))
    return {
        "loss_G": columns(noisy(rng, 1.2 + 0.4 * turn, noise)),
        "loss_D": columns(noisy(rng, 0.7 - 0.2 * turn, noise)),
        "loss": columns(noisy(rng, 1.9 + 0.3 * turn, noise / 4)),
    }


def reinforcement(rng, n, noise):
    reward = np.cumsum(rng.standard_normal(n) + 0.3)
    return {
        "rollout/ep_rew_mean": columns(reward),
        "train/policy_loss": columns(0.02 * rng.standard_normal(n)),
        "train/value_loss": columns(lognormal(rng, np.full(n, 10.0), 1.0)),
        "train/loss": columns(3 * rng.standard_normal(n)),
    }


def validation_follows(rng, n, noise):
    k = max(n // 10, 8)
    validation = noisy(rng, decay(k, 2.5, 0.5), noise / 4)
    return {
        "train/loss": columns(noisy(rng, decay(n), noise)),
        "eval/loss": columns(validation, np.arange(k) * (n // k)),
    }


def validation_plateaus(rng, n, noise):
    """The training loss goes on falling; the validation loss stays where it is."""
    k = max(n // 20, 8)
    return {
        "loss": columns(noisy(rng, decay(n, 2.5, 0.05, 0.3), noise)),
        "val_loss": columns(noisy(rng, decay(k, 2.5, 0.8, 0.1), noise / 4), np.arange(k) * (n // k)),
    }


def norms(rng, n, noise):
    """High at first, heavy-tailed, falling; clipped at 1 in some of the steps."""
    norm = lognormal(rng, 0.4 + 5 * np.exp(-np.arange(n) / (0.03 * n)), 0.3 + noise)
    clipped = norm > 1
    return {
        "train/loss": columns(noisy(rng, decay(n), noise)),
        "gradients/global_norm": columns(norm),
        "gradients/clipped_global_norm": columns(np.minimum(norm, 1)),
        "gradients/clip_norm": columns(np.ones(n)),
        "gradients/clipped": columns(clipped),
        "gradients/clipped_fraction": columns(np.cumsum(clipped) / np.arange(1, n + 1)),
        "gradients/nonfinite": columns(np.zeros(n)),
    }


def norm_warms_up(rng, n, noise):
    """From next to nothing in the first steps, as after a zero-initialized head; then slowly up."""
    t = np.arange(n)
    level = (1 - 0.98 * np.exp(-t / (0.01 * n))) * (1 + 2 * t / n)
    return {
        "loss": columns(noisy(rng, decay(n), noise)),
        "train/grad_norm": columns(lognormal(rng, level, 0.1 + noise)),
    }


def norm_falls_with_loss(rng, n, noise):
    level = 2.0 * np.exp(-6 * np.arange(n) / n)
    return {
        "loss": columns(lognormal(rng, level, 0.1 + noise)),
        "optim/total_grad_norm": columns(lognormal(rng, level, 0.5 + noise)),
    }


def half_precision(rng, n, noise):
    """The scale of the loss is tried out: now and then it overflows."""
    norm = lognormal(rng, np.ones(n), 0.3)
    norm[rng.integers(n // 2, size=max(1, n // 200))] = np.inf
    return {
        "lm loss": columns(noisy(rng, decay(n), noise)),
        "grad-norm": columns(norm),
        "loss-scale": columns(np.full(n, 65536.0)),
    }


def wandering(rng, n, rho):
    """Noise of standard deviation 1 whose neighbours are correlated by rho."""
    noise = rng.standard_normal(n) * np.sqrt(1 - rho**2)
    for i in range(1, n):
        noise[i] += rho * noise[i - 1]
    return noise


def validation_wanders(rng, n, noise):
    """A plateau whose noise is correlated from one validation to the next."""
    k = max(n // 10, 10)
    validation = decay(k, 2.5, 0.8, 0.05) * (1 + 0.03 * wandering(rng, k, 0.9))
    return {
        "loss": columns(noisy(rng, decay(n, 2.5, 0.05, 0.3), noise)),
        "val_loss": columns(validation, np.arange(k) * (n // k)),
    }


def validation_is_flat_and_smoothed(rng, n, noise):
    """It never learns; what is logged is a moving average."""
    k = max(n // 10, 10)
    average = np.convolve(rng.standard_normal(k + 19), np.full(20, 1 / 20), "valid")
    return {
        "loss": columns(noisy(rng, decay(n, 2.5, 0.05, 0.3), noise)),
        "val_loss": columns(0.8 * (1 + 0.1 * average), np.arange(k) * (n // k)),
    }


def smoothed(rng, n, noise):
    """A moving average of the loss: it wanders on its plateau."""
    average = np.convolve(rng.standard_normal(n + 29), np.full(30, 1 / 30), "valid")
    return {"loss": columns(decay(n) * (1 + noise * average))}


def unlogged_restarts(rng, n, noise):
    """Warm restarts, and no rate that tells of them."""
    phase = (np.arange(n) * 4 / n) % 1
    return {"loss": columns(noisy(rng, decay(n) + 0.25 * np.exp(-phase / 0.1) * (np.arange(n) * 4 >= n), noise))}


def value_learning(rng, n, noise):
    """The loss of a value function rises with the rewards."""
    t = np.arange(n) / n
    return {
        "rollout/ep_rew_mean": columns(200 * t + rng.standard_normal(n)),
        "train/loss": columns(lognormal(rng, 0.05 + 3 * t**2, 0.5 + noise)),
    }


def adversaries(rng, n, noise):
    """The discriminator wins: the generator's loss rises, and the sum with it."""
    t = np.arange(n) / n
    return {
        "loss/generator": columns(noisy(rng, 0.7 + 2 * t, noise)),
        "loss/discriminator": columns(noisy(rng, 1.3 - t, noise)),
        "train/total_loss": columns(noisy(rng, 2 + t, noise)),
    }


def scale_is_found(rng, n, noise):
    """The loss's scale starts too high: the first steps overflow, one later on, and the last so far."""
    norm = lognormal(rng, np.ones(n), 0.3)
    first = int(rng.integers(1, 17))
    norm[:first], norm[n // 2], norm[-1] = np.inf, np.nan, np.inf
    scale = 65536.0 * 2.0 ** -np.minimum(np.arange(n), first)
    return {
        "train/loss": columns(noisy(rng, decay(n), noise)),
        "train/grad_norm": columns(norm),
        "train/loss_scale": columns(scale),
    }


def frozen_group(rng, n, noise):
    """One group of parameters is frozen throughout, one until it is unfrozen."""
    rate = cosine(rng, n, noise)["lr"][1]
    return {
        "loss": columns(noisy(rng, decay(n), noise)),
        "lr/group0": columns(rate),
        "lr/group1": columns(np.zeros(n)),
        "lr/group2": columns(np.where(np.arange(n) < 0.4 * n, 0, 0.1 * rate)),
    }


VARIABLES = ("embedding", "layer1/kernel", "layer1/bias", "layer2/kernel", "layer2/bias")


def telemetry(rng, n, noise):
    """Everything that optim's telemetry writes of five variables trained by Adam."""
    t = np.arange(n)
    rate = 1e-3 * np.minimum((t + 1) / (0.05 * n), 0.5 * (1 + np.cos(np.pi * t / n)))
    run = {"train/loss": columns(noisy(rng, decay(n), noise)), "train/learning_rate": columns(rate)}
    total = np.zeros(n)
    for i, name in enumerate(VARIABLES):
        scale = 10.0 ** -rng.uniform(0, 1.5)
        norm = lognormal(rng, scale * (0.3 + np.exp(-t / (0.1 * n))), 0.2 + noise)
        total += norm**2
        weight = (0.0 if "bias" in name else 5.0) + 2 * (1 - np.exp(-3 * (t + 1) / n))
        update = rate * 10 * lognormal(rng, np.ones(n), noise)
        run[f"gradients/norm/{name}"] = columns(norm)
        run[f"gradients/zero_fraction/{name}"] = columns(np.full(n, 0.1 * i) if i else np.full(n, 0.98))
        run[f"weights/norm/{name}"] = columns(weight)
        run[f"updates/norm/{name}"] = columns(update)
        run[f"updates/ratio/{name}"] = columns(update / weight)
        for slot, value in (("m", norm * 0.3), ("v", norm**2 * 0.01)):
            sign = rng.standard_normal(n) if slot == "m" else 1
            run[f"slots/{slot}/mean/{name}"] = columns(1e-3 * value * sign)
            run[f"slots/{slot}/norm/{name}"] = columns(value)
            run[f"slots/{slot}/max/{name}"] = columns(0.1 * value)
    run["gradients/global_norm"] = columns(np.sqrt(total))
    return run


def biases_about_zero(rng, n, noise):
    """What a bias would be is as good as zero: its updates are a third of it, and a hundredth of its kernel."""
    run = telemetry(rng, n, noise)
    weight = lognormal(rng, np.full(n, 0.03), 0.3)
    run["weights/norm/layer1/bias"] = columns(weight)
    run["updates/norm/layer1/bias"] = columns(0.3 * weight)
    run["updates/ratio/layer1/bias"] = columns(lognormal(rng, np.full(n, 0.3), noise))
    return run


def experts(rng, n, noise):
    """Some are chosen in one of ten steps, and have no gradient in the others."""
    run = telemetry(rng, n, noise)
    for name in VARIABLES[1:4]:
        norm = run[f"gradients/norm/{name}"][1]
        rests = (np.arange(n) + rng.integers(10)) % 10 > 0
        run[f"gradients/norm/{name}"] = columns(np.where(rests, 0, norm))
        run[f"gradients/zero_fraction/{name}"] = columns(rests)
    return run


def all_done(rng, n, noise):
    """A hinge loss: from some step on no example has a gradient any more."""
    run = telemetry(rng, n, noise)
    for name in VARIABLES:
        run[f"gradients/norm/{name}"][1][int(0.7 * n) :] = 0
        run[f"gradients/zero_fraction/{name}"][1][int(0.7 * n) :] = 1
    run["gradients/global_norm"][1][int(0.7 * n) :] = 0
    return run


HEALTHY = [
    biases_about_zero, experts, all_done,
    plain, fast_convergence, slow_convergence, late_plateau, lognormal_noise, heavy_tails, additive_noise, to_zero,
    negative_log_likelihood, large_scale, small_scale, bfloat16, epochs_only, short, fine_tuning, converged,
    resumed_flat, step_decay, cosine,
    linear_to_zero, warm_restarts, one_cycle, plateau_rate, gan, reinforcement, validation_follows,
    validation_plateaus, validation_wanders, validation_is_flat_and_smoothed, smoothed, unlogged_restarts,
    value_learning, adversaries, scale_is_found, frozen_group,
    norms, norm_warms_up, norm_falls_with_loss, half_precision, telemetry,
]  # fmt: skip


# Faults of values; each is found by the code that names it


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
    """One batch."""
    loss, at = noisy(rng, decay(n), noise), int(rng.uniform(0.3, 0.9) * n)
    loss[at] = decay(n)[at] * (5 + 15 * noise)
    return {"train/loss": columns(loss)}


def spike_with_tail(rng, n, noise):
    """It takes a while to come back."""
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
    """Exponential growth, from somewhere in the run on."""
    at = int(rng.uniform(0.4, 0.8) * n)
    loss = decay(n)
    loss[at:] *= np.exp(np.arange(n - at) * rng.uniform(3, 12) / (n - at))
    return {"train/loss": columns(noisy(rng, loss, noise))}


def collapses(rng, n, noise):
    """At once back to guessing."""
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
    """Over the last half, and with no point beyond."""
    norm = np.exp(3 * np.clip(2 * np.arange(n) / n - 1, 0, 1)) * np.where(np.arange(n) < n // 2, 0.9, 1.0)
    return {"train/grad_norm": columns(lognormal(rng, norm, 0.05 + noise / 2))}


def norm_jumps_often(rng, n, noise):
    """A hundredfold in one of a hundred steps, from a third of the run on; before, it settles."""
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
    """A unit whose input is negative for good, from half of the run on."""
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
    """Far too high throughout, but for the end, where the schedule has come down."""
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


FAULTS = [
    ("GL301", nan_at_the_end), ("GL301", one_infinite_loss), ("GL301", validation_nan),
    ("GL302", spike), ("GL302", spike_with_tail), ("GL302", spikes),
    ("GL303", flat), ("GL303", flat_negative), ("GL303", rises_a_little),
    ("GL304", runs_away), ("GL304", collapses), ("GL304", climbs_back), ("GL304", never_learns_and_grows),
    ("GL305", overfits),
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
    ("GL504", rate_zero), ("GL504", rate_drops_to_zero), ("GL504", rate_negative), ("GL504", rate_nan),
    ("GL504", rate_jumps), ("GL504", rate_jumps_in_cosine), ("GL504", rate_glitch),
]  # fmt: skip


# Columns into runs and files


def wall_times(rng, steps, secs=1.0):
    """When each step was logged: a step takes about `secs` seconds, now and then a little longer."""
    per_step = secs * np.exp(0.2 * rng.standard_normal(int(np.max(steps)) + 1))
    return START + np.cumsum(per_step)[steps]


def as_run(rng, run):
    """A Run with these columns, as it would be read from one file."""
    made = Run(Collector(Workspace(), fast=False))
    made.files, made.versions, made.records = ("events.out.tfevents.1",), ("brain.Event:2",), (2,)
    longest = max((step for step, _ in run.values()), key=np.max)
    times = wall_times(rng, np.arange(int(np.max(longest)) + 1))
    with np.errstate(over="ignore"):
        made.scalars = {
            tag: Series(tag, np.asarray(step, np.int64), times[step], np.float32(value).astype(float))
            for tag, (step, value) in run.items()
        }
    made.tags = tuple(run)
    made.file_starts = lambda _: [0]
    return made


def write(directory, rng, run):
    """An event file with these columns, step after step."""
    points = [(int(s), tag, float(v)) for tag, (step, value) in run.items() for s, v in zip(step, value, strict=True)]
    times = wall_times(rng, np.arange(max(step for step, _, _ in points) + 1))
    with SummaryWriter(directory) as writer:
        for step, tag, value in sorted(points, key=lambda point: point[0]):
            writer.add_scalar(tag, value, step, walltime=times[step])
