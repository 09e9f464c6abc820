"""Healthy runs at any moment: `PYTHONPATH=tests python -m labelled.cuts` audits all of them at twenty cuts, all sizes.

Whatever a run that goes well shows while it is going on, an audit then must not say more than a note.
"""

import sys

import numpy as np
from labelled import healthy, trainings
from labelled.runs import SIZES, as_run, cut

from summaries import Severity
from summaries.auditing.config import Config
from summaries.auditing.engine import audit_run

CONFIG = Config()  # what it works out of itself is kept in it

CUTS = 20
STEPS = 400


def made(seed):
    """Every healthy run of this seed, of every size: (what it is, its columns)."""
    for maker in healthy.HEALTHY:
        for points, noise in SIZES:
            yield f"{maker.__name__}, {points} points, noise {noise}", maker(np.random.default_rng(seed), points, noise)
    for name, how in trainings.HEALTHY.items():
        yield name, trainings.train(np.random.default_rng(seed), STEPS, **how)


def accused(columns, shares):
    """What is said above a note of a run that is cut after these shares of its steps."""
    for share in shares:
        part = cut(columns, share)
        if part:
            report = audit_run("run", as_run(np.random.default_rng(0), part), CONFIG)
            yield from ((share, one.code, one.message) for one in report.findings if one.severity >= Severity.WARNING)


def main(seeds):
    """Print what is said of any of them; the exit status is 1 if anything is."""
    shares, wrong, runs = np.arange(1, CUTS + 1) / CUTS, 0, 0
    for seed in range(seeds):
        for what, columns in made(seed):
            runs += 1
            for share, code, message in accused(columns, shares):
                wrong += 1
                print(f"{what}, seed {seed}, cut at {share:.2f}: {code} {message}")
    print(f"{wrong} accusations in {runs * CUTS} cuts of {runs} healthy runs")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1))
