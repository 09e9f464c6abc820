"""The rules against labelled runs: every fault is found, and healthy runs are left alone, at twenty seeds."""

import numpy as np
import pytest
from labelled import faults, healthy, trainings
from labelled import runs as labelled
from labelled.side_by_side import accused, missed

from summaries import Severity, audit
from summaries.auditing.config import Config
from summaries.auditing.engine import audit_run, signals_of
from summaries.auditing.rules import RULES
from summaries.auditing.signals.tags import ROLES

CONFIG = Config()  # what it works out of itself is kept in it


@pytest.mark.parametrize("maker", healthy.HEALTHY, ids=lambda maker: maker.__name__)
def test_a_healthy_run_is_left_alone(maker):
    assert accused(maker, CONFIG) == []


@pytest.mark.parametrize(("code", "maker"), faults.FAULTS, ids=lambda value: getattr(value, "__name__", value))
def test_a_fault_is_found(code, maker):
    assert missed(code, maker) == []


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", trainings.FAULTY)
def test_a_bug_in_a_real_training_is_found(name):
    code, how = trainings.FAULTY[name]
    columns = trainings.train(np.random.default_rng(1), 400, **how)
    findings = audit_run("run", labelled.as_run(np.random.default_rng(1), columns), CONFIG).findings
    severities = {finding.code: finding.severity for finding in findings}
    assert severities[code] >= (Severity.INFO if "sgd, a rate" in name else Severity.WARNING)


def test_a_rule_finds_nothing_in_a_run_that_lacks_what_it_needs():
    """The audit does not ask it then."""
    assert {name for rule in RULES.values() for name in rule.needs} <= ROLES | {"baseline", "ranks", "faults", "wiring"}
    found = []
    for maker in [*healthy.HEALTHY, *(maker for _, maker in faults.FAULTS)]:
        rng = np.random.default_rng(0)
        signals = signals_of("run", labelled.as_run(rng, maker(rng, 400, 0.05)), CONFIG)
        lacking = [rule for rule in RULES.values() if rule.needs and rule.needs.isdisjoint(signals.present)]
        with np.errstate(all="ignore"):
            found += [(maker.__name__, rule.code) for rule in lacking if list(rule.check(signals, rule.limits()))]
    assert found == []


def test_every_rule_of_values_has_a_labelled_fault():
    of_histograms = {"GL408"}  # whose faults are files: see test_histograms
    assert {code for code, _ in faults.FAULTS} == {code for code in RULES if code[2] in "345"} - of_histograms


@pytest.mark.filterwarnings("ignore::summaries.NonFiniteWarning")
@pytest.mark.parametrize("maker", [healthy.telemetry, faults.nan_at_the_end, faults.norm_explodes])
def test_a_run_read_from_a_file_is_judged_alike(maker, tmp_path):
    rng = np.random.default_rng(1)
    columns = maker(rng, 400, 0.05)
    labelled.write(tmp_path, np.random.default_rng(2), columns)
    read = audit(tmp_path, CONFIG).findings
    made = audit_run(".", labelled.as_run(np.random.default_rng(2), columns), CONFIG).findings
    assert [(f.code, f.tag, f.steps, f.message, f.count) for f in read] == [
        (f.code, f.tag, f.steps, f.message, f.count) for f in made
    ]
