"""Jobs of several ranks, healthy and faulty: makers of {rank's name: run} for the rules that compare ranks."""

import numpy as np
from labelled import runs as labelled

RANKS = 8


def job(rng, n, columns_of, ranks=RANKS, secs=None):
    """The runs of a job: `columns_of(k)` gives {tag: values} of rank k, `secs` the time of a step on each rank."""
    times = labelled.START + np.cumsum(np.exp(0.2 * rng.standard_normal(n)))
    made = {}
    for rank in range(ranks):
        columns = {tag: labelled.columns(values) for tag, values in columns_of(rank).items()}
        own = labelled.START + (times - labelled.START) * (secs or {}).get(rank, 1.0)
        made[f"job/rank={rank}"] = run = labelled.as_run(rng, columns, own)
        for series in run.scalars.values():
            series.wall_time[:] += 0.3 * rank + 0.01 * rng.random(len(series.step))  # no two clocks are the same
    return made


def cosine(n):
    return 1e-3 * (1 + np.cos(np.pi * np.arange(n) / n)) / 2 + 1e-5


def reduced(rng, n, noise):
    """Everything that is logged is reduced over the ranks; the last digits of norms differ."""
    loss, norm = labelled.noisy(rng, labelled.decay(n), noise), labelled.lognormal(rng, labelled.decay(n), 0.3)
    return lambda _: {
        "train/loss": loss,
        "train/learning_rate": cosine(n),
        "train/grad_norm": norm * (1 + 1e-6 * rng.standard_normal(n)),
    }


def own_batches(rng, n, noise):
    """The loss and the norm before they are reduced: each rank has its own batches, and shards that differ a little."""
    shards = np.exp(0.01 * rng.standard_normal(RANKS))
    return lambda rank: {
        "train/loss": labelled.noisy(rng, shards[rank] * labelled.decay(n), noise),
        "train/learning_rate": cosine(n),
        "train/grad_norm": labelled.lognormal(rng, shards[rank] * labelled.decay(n), 0.3),
    }


def stages(rng, n, noise):
    """Pipeline parallel: each rank has other layers, only the last one has a loss."""
    scales = np.exp(0.7 * rng.standard_normal(RANKS))
    loss = labelled.noisy(rng, labelled.decay(n), noise)

    def columns(rank):
        norms = labelled.lognormal(rng, scales[rank] * labelled.decay(n), 0.3)
        own = {"train/learning_rate": cosine(n), "train/grad_norm": norms}
        return own | ({"train/loss": loss} if rank == RANKS - 1 else {})

    return columns


def nan_everywhere(rng, n, noise):
    """The gradients were reduced: one NaN is on all ranks at once."""
    made = reduced(rng, n, noise)

    def columns(rank):
        found = made(rank)
        return {
            tag: np.where(np.arange(n) > n // 2, np.nan, values) for tag, values in found.items() if "lr" not in tag
        }

    return columns


HEALTHY = [reduced, own_batches, stages, nan_everywhere]


def odd(rng):
    return int(rng.integers(RANKS))


def rate_of_one(rng, n, noise):
    made, one = reduced(rng, n, noise), odd(rng)
    return one, lambda rank: made(rank) | ({"train/learning_rate": 2 * cosine(n)} if rank == one else {})


def loss_of_one(rng, n, noise):
    """One rank loses the others half way, and trains alone."""
    made, one = reduced(rng, n, noise), odd(rng)
    alone = labelled.noisy(rng, labelled.decay(n), max(noise, 0.02))

    def columns(rank):
        found = made(rank)
        return found | (
            {"train/loss": np.where(np.arange(n) < n // 2, found["train/loss"], alone)} if rank == one else {}
        )

    return one, columns


def all_part(rng, n, noise):
    """From the middle on, every rank trains alone."""
    made = reduced(rng, n, noise)

    def columns(rank):
        loss = made(rank)["train/loss"]
        return {"train/loss": np.where(np.arange(n) < n // 2, loss, loss * (1 + 0.02 * rng.standard_normal(n)))}

    return 0, columns


def norm_off(power):
    def norm_of_one(rng, n, noise):
        made, one = own_batches(rng, n, noise), odd(rng)

        def columns(rank):
            found = made(rank)
            return found | {"train/grad_norm": found["train/grad_norm"] * (RANKS**power if rank == one else 1)}

        return one, columns

    norm_of_one.__name__ = f"norm_off_by_k_to_the_{power}"
    return norm_of_one


def nan_on_one_first(rng, n, noise):
    made, one = own_batches(rng, n, noise), odd(rng)

    def columns(rank):
        loss = made(rank)["train/loss"]
        return {"train/loss": np.where(np.arange(n) >= n // 2 + (rank != one), np.nan, loss)}

    return one, columns


def worse_data(rng, n, noise):
    made, one = own_batches(rng, n, noise), odd(rng)

    def columns(rank):
        found = made(rank)
        return found | {"train/loss": found["train/loss"] * (1.5 + noise if rank == one else 1)}

    return one, columns


FAULTS = [
    ("GL611", rate_of_one), ("GL611", loss_of_one), ("GL611", all_part),
    ("GL612", norm_off(0.5)), ("GL612", norm_off(1)), ("GL612", norm_off(-0.5)),
    ("GL614", nan_on_one_first), ("GL615", worse_data),
]  # fmt: skip
