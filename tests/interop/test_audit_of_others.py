"""Event files that other writers made are audited without nonsense: they are sound, and too short to judge."""

from pathlib import Path

import pytest

from summaries import Severity, audit
from summaries.auditing.config import Config
from summaries.auditing.signals.tags import TagTable

GOLDEN = Path(__file__).parents[1] / "golden"
WRITERS = {"tensorboardX", "tf1", "tf2", "torch", "torch_resumed", "torch_tensors"}


@pytest.fixture(scope="module")
def runs():
    return {run.name: run for run in audit(GOLDEN / "events", Config()).runs}


def test_every_writer_s_runs_are_there(runs):
    assert {name.partition("/")[0] for name in runs} == WRITERS


def test_nothing_is_wrong_with_them(runs):
    found = {name: [finding.code for finding in run.findings] for name, run in runs.items() if run.findings}
    assert found == {"torch_resumed": ["GL206"]}


def test_a_restart_of_torch_s_is_understood(runs):
    (finding,) = runs["torch_resumed"].findings
    assert finding.severity is Severity.INFO
    assert finding.steps == (10, 10)
    assert finding.evidence == {"superseded": 11, "marked": 1}


def test_our_own_golden_run_is_sound():
    assert audit(GOLDEN / "every_method", Config()).findings == ()


def test_their_losses_are_known(runs):
    roles = {curve.tag: curve.role for run in runs.values() for curve in run.curves}
    assert {tag: role for tag, role in roles.items() if role == "loss"} == {
        tag: "loss" for tag in roles if TagTable().meaning(tag).role == "loss"
    }
    assert roles["loss"] == "loss"
