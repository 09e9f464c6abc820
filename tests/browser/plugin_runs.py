"""Runs for the page in TensorBoard, and a library that has read them."""

import time

import numpy as np

from summaries import SummaryWriter
from summaries.auditing.config import Config
from summaries.integrations.tensorboard.library import Library
from summaries.integrations.tensorboard.places import Place

LAYERS = tuple(f"encoder/{block}/{part}" for block in range(6) for part in ("attention", "mlp"))
STEPS = 400
SPIKE = (200, 210)
TIMEOUT = 300  # seconds
_started = []


def log_run(directory, seed=0, *, diverges=False, steps=STEPS, layers=LAYERS):
    """A run whose loss falls, or diverges, with the norm of the gradient of each layer; one layer has a spike."""
    rng = np.random.default_rng(seed)
    with SummaryWriter(directory) as writer:
        log_steps(writer, rng, range(steps), diverges=diverges, layers=layers)


def log_steps(writer, rng, steps, *, diverges=False, layers=LAYERS):
    """Log these steps of such a run."""
    for step in steps:
        loss = 0.2 + 2 * np.exp(-step / 80) if not diverges or step < 150 else 0.6 + (step - 150) / 20
        norms = np.exp(0.1 * rng.standard_normal(len(layers)) - np.arange(len(layers)) / 6)
        norms[3:4] *= 50 if SPIKE[0] <= step < SPIKE[1] else 1
        now = 1.79e9 + step
        writer.add_scalar("train/loss", loss * (1 + 0.01 * rng.standard_normal()), step, now)
        writer.add_scalar("gradients/global_norm", float(np.sqrt(np.sum(norms**2))), step, now)
        for layer, norm in zip(layers, norms.tolist(), strict=True):
            writer.add_scalar(f"gradients/norm/{layer}", norm, step, now)
            writer.add_scalar(f"updates/ratio/{layer}", norm / 1000, step, now)


def library_of(*paths, most_bytes=1 << 30, config=None, poll_secs=0.05):
    """A library that has read all runs of these paths, or of these places."""
    places = [path if isinstance(path, Place) else Place(str(path)) for path in paths]
    library = Library(places, config or Config(), most_bytes, poll_secs=poll_secs)
    library.start()
    _started.append(library)
    assert soon(lambda: not library.is_reading and library.version > 0)
    return library


def end_libraries():
    """Close all libraries so far."""
    while _started:
        _started.pop().close()


def soon(condition, timeout=TIMEOUT):
    """Whether the condition holds before long."""
    deadline = time.monotonic() + timeout
    while not (holds := condition()) and time.monotonic() < deadline:
        time.sleep(0.01)
    return holds
