"""A training with a flight recorder that ends as told: `python incident_run.py LOGDIR nan|exception|sigterm`."""

import os
import signal
import sys
import time

import numpy as np

from optim import GradientMonitor
from summaries import SummaryWriter

EVERY = 20
KEPT = 30
STEPS = 120
AT = 90
LAYERS = ("input", "hidden", "output")


def train(logdir, ending):
    """Gradients that shrink slowly; those of one layer are NaN at one step, or the process ends there."""
    rng = np.random.default_rng(0)
    monitor = GradientMonitor(SummaryWriter(logdir), EVERY, keep_last=KEPT)
    weights = {name: rng.standard_normal((8, 8)) for name in LAYERS}
    for step in range(1, STEPS + 1):
        gradients = {name: 0.99**step * rng.standard_normal((8, 8)) for name in LAYERS}
        if ending == "nan" and step == AT:
            gradients["hidden"][3, 3] = np.nan
        # Of a loss that moves, TensorBoard leaves what is lowest out of its chart.
        monitor.observe(step, gradients, weights, clip_norm=5.0, learning_rate=0.1, loss=2.0)
        if ending == "exception" and step == AT:
            raise RuntimeError("no more data")
        if ending == "sigterm" and step == AT:
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(60)


if __name__ == "__main__":
    train(*sys.argv[1:])
