"""The rules on times and learning rates against labelled runs, at twenty seeds."""

import numpy as np
import pytest
from labelled import timelines as labelled

from summaries import Severity
from summaries.auditing.config import Config
from summaries.auditing.engine import audit_run

CONFIG = Config()  # what it works out of itself is kept in it

CASES = [(n, seed) for n in labelled.SIZES for seed in range(20)]


@pytest.mark.parametrize("maker", labelled.HEALTHY, ids=lambda maker: maker.__name__)
def test_a_healthy_run_is_left_alone(maker):
    found = [
        (n, seed, finding.code, finding.message)
        for n, seed in CASES
        for finding in audit_run("run", maker(np.random.default_rng(seed), n), CONFIG).findings
        if finding.severity >= Severity.WARNING
    ]
    assert found == []


@pytest.mark.parametrize(("code", "maker"), labelled.FAULTS, ids=lambda value: getattr(value, "__name__", value))
def test_a_fault_is_found_where_it_begins(code, maker):
    wrong = []
    for n, seed in CASES:
        run, first = maker(np.random.default_rng(seed), n)
        findings = audit_run("run", run, CONFIG).findings
        found = [(finding.code, finding.steps[0]) for finding in findings if finding.severity >= Severity.WARNING]
        if found != [(code, first)]:
            wrong.append((n, seed, found, first))
    assert wrong == []
