"""GL404 and GL405: since when, and how often, steps were clipped."""

import labelled_runs as labelled
import numpy as np
import pytest

from summaries.auditing.config import Config
from summaries.auditing.engine import audit_run


def found(**values):
    """What is found on clipping in a run of these tags' values: (code, message, steps)."""
    columns = {tag.replace("__", "/"): labelled.columns(value) for tag, value in values.items()}
    run = labelled.as_run(np.random.default_rng(0), columns)
    findings = audit_run("run", run, Config(select=("GL404", "GL405"))).findings
    return [(finding.code, finding.message, finding.steps) for finding in findings]


@pytest.mark.parametrize(
    ("first", "missed", "told"),
    [
        (0, [], ("every step was clipped", (0, 99))),
        (30, [], ("every step since step 30 was clipped", (30, 99))),
        (50, [], ("every step since step 50 was clipped", (50, 99))),
        (0, [70], ("99.0% of the steps were clipped", (0, 99))),
        (20, [60, 80], ("97.5% of the steps since step 20 were clipped", (20, 99))),
    ],
)
def test_it_is_told_since_when(first, missed, told):
    clipped = np.arange(100) >= first
    clipped[missed] = False
    assert found(gradients__clipped=clipped) == [("GL404", *told)]


def test_a_step_of_many_is_not_rounded_away():
    clipped = np.ones(100_000)
    clipped[1000] = 0
    assert found(gradients__clipped=clipped) == [("GL404", "99.9% of the steps were clipped", (0, 99_999))]


@pytest.mark.parametrize(("points", "codes"), [(99, []), (100, ["GL404"])])
def test_fewer_may_be_warm_up(points, codes):
    assert [code for code, *_ in found(gradients__clipped=np.ones(points))] == codes


def test_a_policys_ratios_are_clipped_for_another_reason():
    ones = np.ones(100)
    assert [code for code, *_ in found(train__clip_fraction=ones)] == ["GL404"]
    assert found(train__clip_fraction=ones, rollout__ep_rew_mean=ones) == []
    assert [code for code, *_ in found(gradients__clipped=ones, rollout__ep_rew_mean=ones)] == ["GL404"]
