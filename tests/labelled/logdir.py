"""Every labelled run as event files: healthy and faulty ones, and the ranks of a job with a fault."""

import warnings

import numpy as np
from labelled import faults, healthy, jobs
from labelled import runs as labelled

from summaries import NonFiniteWarning


def write_all(directory):
    """Write them below a directory; a run's name begins with its number."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NonFiniteWarning)  # of the faults
        _write(directory)
    return directory


def _write(directory):
    makers = [*healthy.HEALTHY, *(maker for _, maker in faults.FAULTS)]
    for number, maker in enumerate(makers):
        rng = np.random.default_rng(number)
        labelled.write(directory / f"{number}_{maker.__name__}", rng, maker(rng, 400, 0.02))
    rng = np.random.default_rng(0)
    for name, run in jobs.job(rng, 100, jobs.rate_of_one(rng, 100, 0.0)[1]).items():
        labelled.write(directory / name, rng, {tag: (one.step, one.value) for tag, one in run.scalars.items()})
