"""Populations of runs with known truth, as event files: sweeps over rates and batch sizes, with several seeds."""

import numpy as np
from labelled import runs as labelled

from summaries import SummaryWriter

RATES = (0.0001, 0.001, 0.01)
BATCHES = (32, 128)
SEEDS = range(4)


def sweep(directory, seed, *, effect=0.2, noise=0.02, odd=None, diverged=(), tag="val/loss"):
    """Write a sweep in which the rate matters, and the size of batches does not; returns the directory.

    Args:
        seed: of the noise.
        effect: what a small rate adds to the loss; a large one adds twice as much.
        noise: standard deviation of the loss over the seeds.
        odd: the name of a run that ends at 1.5.
        diverged: names of runs that end in NaN.
    """
    rng = np.random.default_rng(seed)
    for rate in RATES:
        for batch in BATCHES:
            for number in SEEDS:
                name = f"lr={rate:g}_bs={batch}/seed={number}"
                end = 0.5 + effect * ((rate < RATES[1]) + 2 * (rate > RATES[1])) + noise * rng.standard_normal()
                loss = labelled.noisy(rng, labelled.decay(40, 2.0, 1.5 if name == odd else end, 0.1), 0.001)
                if name in diverged:
                    loss[25:] = np.nan
                with SummaryWriter(directory / name) as writer:
                    for step, value in enumerate(loss):
                        writer.add_scalar(tag, value, step, walltime=1e9 + step)
    return directory
