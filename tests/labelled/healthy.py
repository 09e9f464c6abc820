"""Healthy runs of many kinds, in which the audit must find nothing: see `runs.py`."""

import numpy as np
from labelled import curricula
from labelled.diagnostics import diagnosed, resumed_prodigy
from labelled.runs import columns, decay, lognormal, noisy


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
    """Interpolation: the loss goes to zero, and single batches stand out."""
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
    """A small but visible improvement."""
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
    """SGDR: the rate goes back up four times, and so does the loss, a little."""
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
    """The training loss keeps falling; the validation loss stays level."""
    k = max(n // 20, 8)
    return {
        "loss": columns(noisy(rng, decay(n, 2.5, 0.05, 0.3), noise)),
        "val_loss": columns(noisy(rng, decay(k, 2.5, 0.8, 0.1), noise / 4), np.arange(k) * (n // k)),
    }


def norms(rng, n, noise):
    """High at first, heavy-tailed, falling; clipped at 1 in some steps."""
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
    """Almost zero in the first steps, as with a zero-initialized head; then slowly up."""
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
    """The loss scale is being tuned: now and then it overflows."""
    norm = lognormal(rng, np.ones(n), 0.3)
    norm[rng.integers(n // 2, size=max(1, n // 200))] = np.inf
    return {
        "lm loss": columns(noisy(rng, decay(n), noise)),
        "grad-norm": columns(norm),
        "loss-scale": columns(np.full(n, 65536.0)),
    }


def wandering(rng, n, rho):
    """Noise of standard deviation 1; neighbours have correlation rho."""
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
    """The validation loss never improves; a moving average of it is logged."""
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
    """Warm restarts without a logged rate that shows them."""
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
    """The loss scale starts too high: the first steps overflow, one in the middle, and the last one."""
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
    """Everything that optim's telemetry writes for five variables trained by Adam."""
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
    """A bias that is practically zero: its updates are a third of it, and a hundredth of its kernel."""
    run = telemetry(rng, n, noise)
    weight = lognormal(rng, np.full(n, 0.03), 0.3)
    run["weights/norm/layer1/bias"] = columns(weight)
    run["updates/norm/layer1/bias"] = columns(0.3 * weight)
    run["updates/ratio/layer1/bias"] = columns(lognormal(rng, np.full(n, 0.3), noise))
    return run


def experts(rng, n, noise):
    """Some experts are chosen in one of ten steps, and have no gradient in the others."""
    run = telemetry(rng, n, noise)
    for name in VARIABLES[1:4]:
        norm = run[f"gradients/norm/{name}"][1]
        rests = (np.arange(n) + rng.integers(10)) % 10 > 0
        run[f"gradients/norm/{name}"] = columns(np.where(rests, 0, norm))
        run[f"gradients/zero_fraction/{name}"] = columns(rests)
    return run


def all_done(rng, n, noise):
    """A hinge loss: from some step on, no example has a gradient."""
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
    norms, norm_warms_up, norm_falls_with_loss, half_precision, telemetry, *curricula.HEALTHY,
    diagnosed, resumed_prodigy,
]  # fmt: skip
