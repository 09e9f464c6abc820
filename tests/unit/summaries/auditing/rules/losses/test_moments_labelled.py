"""The rules on losses and norms at the edge of what can be told: what is found, and where it begins."""

from functools import partial

import numpy as np
import pytest
from labelled import losses as labelled
from labelled.runs import as_run
from labelled.side_by_side import SEEDS, audited

from summaries import Severity
from summaries.auditing.config import Config

CONFIG = Config()  # what it works out of itself is kept in it


def generators(sizes=labelled.SIZES):
    """(What it is, points, a generator) of every size and seed."""
    for points in sizes:
        for seed in SEEDS:
            yield f"{points} points, seed {seed}", points, np.random.default_rng([points, seed])


@pytest.mark.parametrize("maker", labelled.HEALTHY, ids=lambda maker: maker.__name__)
def test_a_healthy_run_is_left_alone(maker):
    cases = generators((labelled.FEW, *labelled.SIZES))
    made = {what: lambda points=points, rng=rng: as_run(rng, maker(rng, points)) for what, points, rng in cases}
    found = [
        (what, finding.code, finding.message)
        for what, findings in audited(made, CONFIG)
        for finding in findings
        if finding.severity >= Severity.WARNING
    ]
    assert found == []


@pytest.mark.parametrize(("code", "maker"), labelled.FAULTS, ids=lambda value: getattr(value, "__name__", value))
def test_a_fault_is_found_where_it_begins(code, maker):
    sizes = (labelled.FEW, *labelled.SIZES) if maker in labelled.SEEN_IN_FEW else labelled.SIZES
    begins = {}

    def made(what, points, rng):
        columns, *begins[what] = maker(rng, points)
        return as_run(rng, columns)

    runs = {what: partial(made, what, points, rng) for what, points, rng in generators(sizes)}
    wrong = []
    for what, findings in audited(runs, Config(select=(code,))):
        first, last = begins[what]
        if not any(first <= finding.steps[0] <= last for finding in findings):
            wrong.append((what, [(finding.steps[0], first, last) for finding in findings]))
    assert wrong == []
