"""The rules on losses and norms at the edge of what can be told: what is found, and where it begins."""

import numpy as np
import pytest
from labelled import losses as labelled
from labelled.runs import as_run

from summaries import Severity
from summaries.auditing.config import Config
from summaries.auditing.engine import audit_run

CONFIG = Config()  # what it works out of itself is kept in it

SEEDS = range(20)


def generators(sizes=labelled.SIZES):
    """(What it is, points, a generator) of every size and seed."""
    for points in sizes:
        for seed in SEEDS:
            yield f"{points} points, seed {seed}", points, np.random.default_rng([points, seed])


@pytest.mark.parametrize("maker", labelled.HEALTHY, ids=lambda maker: maker.__name__)
def test_a_healthy_run_is_left_alone(maker):
    found = [
        (what, finding.code, finding.message)
        for what, points, rng in generators((labelled.FEW, *labelled.SIZES))
        for finding in audit_run("run", as_run(rng, maker(rng, points)), CONFIG).findings
        if finding.severity >= Severity.WARNING
    ]
    assert found == []


@pytest.mark.parametrize(("code", "maker"), labelled.FAULTS, ids=lambda value: getattr(value, "__name__", value))
def test_a_fault_is_found_where_it_begins(code, maker):
    wrong = []
    sizes = (labelled.FEW, *labelled.SIZES) if maker in labelled.SEEN_IN_FEW else labelled.SIZES
    for what, points, rng in generators(sizes):
        run, first, last = maker(rng, points)
        found = audit_run("run", as_run(rng, run), Config(select=(code,))).findings
        if not any(first <= finding.steps[0] <= last for finding in found):
            wrong.append((what, [(finding.steps[0], first, last) for finding in found]))
    assert wrong == []
