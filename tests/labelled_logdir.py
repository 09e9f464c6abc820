"""Every labelled run as event files: healthy and faulty ones, and the ranks of a job with a fault."""

import warnings

import labelled_faults
import labelled_healthy
import labelled_jobs
import labelled_runs
import numpy as np

from summaries import NonFiniteWarning


def write(directory):
    """Write them below a directory; a run's name begins with its number."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NonFiniteWarning)  # of the faults
        _write(directory)
    return directory


def _write(directory):
    makers = [*labelled_healthy.HEALTHY, *(maker for _, maker in labelled_faults.FAULTS)]
    for number, maker in enumerate(makers):
        rng = np.random.default_rng(number)
        labelled_runs.write(directory / f"{number}_{maker.__name__}", rng, maker(rng, 400, 0.02))
    rng = np.random.default_rng(0)
    for name, run in labelled_jobs.job(rng, 100, labelled_jobs.rate_of_one(rng, 100, 0.0)[1]).items():
        labelled_runs.write(directory / name, rng, {tag: (one.step, one.value) for tag, one in run.scalars.items()})
