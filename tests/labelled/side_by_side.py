"""Many labelled runs audited side by side, as the audit of a directory of small runs is: in two thirds of the time.

`PYTHONPATH=tests python -m labelled.side_by_side` audits each kind of run in `healthy.py` and `faults.py` at all seeds
of all sizes. Tests take each seed at every second size. That is fifty to sixty runs of a kind: a rule that is wrong in
one of twenty is wrong in one of them, in 93 of 100 cases or more. Twice as many take twice as long, and would show
little more.
"""

import sys
from functools import partial

import numpy as np
from labelled import faults, healthy
from labelled.runs import SIZES, as_run

from summaries import Severity
from summaries.auditing.config import Config
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


def seeds_at(points, noise):
    """The seeds that tests take at this size: the even or the odd ones, in turns, so each at every second size."""
    return SEEDS[SIZES.index((points, noise)) % 2 :: 2]


def makings(maker, seeds=seeds_at):
    """Runs of a kind, of every size: {what it is: a function that makes it}; `seeds` gives those of a size."""
    return {
        f"{points} points, noise {noise}, seed {seed}": partial(_made, maker, points, noise, seed)
        for points, noise in SIZES
        for seed in _telling(maker, points, noise, seeds(points, noise))
    }


def accused(maker, config, seeds=seeds_at):
    """What is said above a note of healthy runs of a kind: (what the run is, the code, the message) of each."""
    return [
        (what, finding.code, finding.message)
        for what, findings in audited(makings(maker, seeds), config)
        for finding in findings
        if finding.severity >= Severity.WARNING
    ]


def missed(code, maker, seeds=seeds_at):
    """The runs of a kind in which the rule of its fault finds nothing."""
    config = Config(select=(code,))
    return [what for what, findings in audited(makings(maker, seeds), config) if not findings]


def _made(maker, points, noise, seed):
    rng = np.random.default_rng(seed)
    return as_run(rng, maker(rng, points, noise))


def _telling(maker, points, noise, seeds):
    """The seeds that give other values than those before: without noise, many makers have the same ones for all."""
    if noise:
        return seeds
    first = {}
    for seed in seeds:
        made = maker(np.random.default_rng(seed), points, noise)
        first.setdefault(b"".join(np.asarray(column).tobytes() for pair in made.values() for column in pair), seed)
    return first.values()


def main():
    """Print what is said of healthy runs, and which faults are missed; the exit status is 1 if there is any."""

    def every(points, noise):
        return SEEDS

    config = Config()
    wrong = [(maker.__name__, *one) for maker in healthy.HEALTHY for one in accused(maker, config, every)]
    wrong += [(maker.__name__, code, what) for code, maker in faults.FAULTS for what in missed(code, maker, every)]
    print(*wrong, f"{len(wrong)} runs are judged wrongly", sep="\n")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
