"""What training runs with known faults, and healthy ones, are made of: shapes of curves, and runs and files of columns.

What the audit's rules are held to is in `labelled_healthy` and `labelled_faults`; of losses in detail in
`labelled_losses`, of times, restarts and rates in `labelled_timelines`. Every maker there takes a random generator, how
many points there are and how strong the noise is (its standard deviation over the level), and gives {tag: (steps,
values)}. `as_run` makes a Run of such columns, as a reader would; `write` a file.
"""

import numpy as np

from summaries.reading.collector import Collector
from summaries.reading.rows import Workspace
from summaries.reading.run import Run
from summaries.reading.series import Series
from summaries.writing.summary_writer import SummaryWriter

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
