"""Building blocks for labelled training runs, healthy and faulty: curve shapes, and columns as runs and files.

The runs that test the audit's rules are in `healthy.py` and `faults.py`; those for losses in detail in `losses.py`,
for times, restarts and rates in `timelines.py`. Every maker takes a random generator, the number of points and the
strength of the noise (its standard deviation over the level), and returns {tag: (steps, values)}. `as_run` makes a Run
of these columns, as a reader would; `write` writes them to a file.
"""

import numpy as np

from summaries.reading.collector import Collector
from summaries.reading.run import Run
from summaries.reading.series import Series
from summaries.writing.summary_writer import SummaryWriter

START = 1_700_000_000.0
SIZES = [(100, 0.0), (100, 0.05), (400, 0.02), (400, 0.15), (2000, 0.1), (2000, 0.25)]
"""Points and noise. With 100 points and noise at a quarter of the level, one fault in ten cannot be detected."""


def columns(values, step=None):
    values = np.asarray(values, float)
    return (np.arange(len(values)) if step is None else np.asarray(step)), values


def decay(n, start=2.5, end=0.4, share=0.15):
    """An exponential fall whose time constant is this fraction of the run."""
    return end + (start - end) * np.exp(-np.arange(n) / (share * n))


def noisy(rng, level, noise):
    """The level with proportional noise, like a batch's loss."""
    return level * (1 + noise * rng.standard_normal(len(level)))


def lognormal(rng, level, sigma):
    return level * np.exp(sigma * rng.standard_normal(len(level)))


def wall_times(rng, steps, secs=1.0):
    """The time at which each step was logged: a step takes about `secs` seconds, sometimes a little longer."""
    per_step = secs * np.exp(0.2 * rng.standard_normal(int(np.max(steps)) + 1))
    return START + np.cumsum(per_step)[steps]


def as_run(rng, run, times=None):
    """A Run with these columns, as if read from one file; `times` are those of the steps, and drawn if not given."""
    made = Run(Collector())
    made.files, made.versions, made.records = ("events.out.tfevents.1",), ("brain.Event:2",), (2,)
    if times is None:
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


def cut(run, share):
    """The columns of a run as they were after this share of its steps."""
    last = share * max(np.max(step) for step, _ in run.values())
    parts = {tag: (step[step <= last], value[step <= last]) for tag, (step, value) in run.items()}
    return {tag: (step, value) for tag, (step, value) in parts.items() if len(step)}
