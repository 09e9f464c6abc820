"""The rules on times and learning rates against labelled runs, at twenty seeds."""

from functools import partial

import numpy as np
import pytest
from labelled import timelines as labelled
from labelled.side_by_side import SEEDS, audited

from summaries import Severity
from summaries.auditing.config import Config

CONFIG = Config()  # what it works out of itself is kept in it

CASES = [(n, seed) for n in labelled.SIZES for seed in SEEDS]


@pytest.mark.parametrize("maker", labelled.HEALTHY, ids=lambda maker: maker.__name__)
def test_a_healthy_run_is_left_alone(maker):
    made = {f"{n} points, seed {seed}": partial(maker, np.random.default_rng(seed), n) for n, seed in CASES}
    found = [
        (what, finding.code, finding.message)
        for what, findings in audited(made, CONFIG)
        for finding in findings
        if finding.severity >= Severity.WARNING
    ]
    assert found == []


@pytest.mark.parametrize(("code", "maker"), labelled.FAULTS, ids=lambda value: getattr(value, "__name__", value))
def test_a_fault_is_found_where_it_begins(code, maker):
    begins = {}

    def made(what, n, seed):
        run, begins[what] = maker(np.random.default_rng(seed), n)
        return run

    cases = {f"{n} points, seed {seed}": (n, seed) for n, seed in CASES}
    wrong = []
    for what, findings in audited({what: partial(made, what, *case) for what, case in cases.items()}, CONFIG):
        found = [(finding.code, finding.steps[0]) for finding in findings if finding.severity >= Severity.WARNING]
        if found != [(code, begins[what])]:
            wrong.append((what, found, begins[what]))
    assert wrong == []
