"""Many labelled runs audited side by side, as the audit of a directory of small runs is: in two thirds of the time."""

from functools import partial

import numpy as np
from labelled.runs import SIZES, as_run

from summaries.auditing.discovery import RunFiles
from summaries.auditing.engine import Task

SEEDS = range(20)

_BYTES = 60_000  # as if each file had so many: the runs that lie in memory at a time are about twenty
_STRETCHES = 1  # of the curves, which nobody looks at


def audited(made, config):
    """(What a run is, what is found in it) of each run of {what it is: a function that makes it}."""
    task = Task(config, (), _STRETCHES, read=lambda name, _: (made[name](), ()))
    for report in task.each([RunFiles(what, (), _BYTES) for what in made]):
        assert not report.failures, report.failures
        yield report.name, report.findings


def makings(maker):
    """Runs of a kind, of every size and seed: {what it is: a function that makes it}."""
    return {
        f"{points} points, noise {noise}, seed {seed}": partial(_made, maker, points, noise, seed)
        for points, noise in SIZES
        for seed in _telling(maker, points, noise)
    }


def _made(maker, points, noise, seed):
    rng = np.random.default_rng(seed)
    return as_run(rng, maker(rng, points, noise))


def _telling(maker, points, noise):
    """The seeds that give other values than those before: without noise, many makers have the same ones for all."""
    if noise:
        return SEEDS
    first = {}
    for seed in SEEDS:
        made = maker(np.random.default_rng(seed), points, noise)
        first.setdefault(b"".join(np.asarray(column).tobytes() for pair in made.values() for column in pair), seed)
    return first.values()
