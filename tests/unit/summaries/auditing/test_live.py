"""A live audit finds what the audit of the same run's files finds."""

import math

import numpy as np
import pytest
from labelled import faults, healthy

from summaries import SummaryWriter, audit
from summaries.auditing.config import Config
from summaries.auditing.live import LiveAudit

pytestmark = pytest.mark.filterwarnings("ignore::summaries.NonFiniteWarning")


def said(findings):
    return [(f.code, f.severity, f.tag, f.steps, f.message, f.count) for f in findings]


@pytest.mark.parametrize("maker", [healthy.telemetry, faults.nan_at_the_end, faults.norm_explodes, faults.spike])
def test_as_in_files(maker, tmp_path):
    columns = maker(np.random.default_rng(1), 400, 0.05)
    points = sorted(
        (int(s), tag, v) for tag, (step, value) in columns.items() for s, v in zip(step, value, strict=True)
    )
    live = LiveAudit()
    with live.watching(SummaryWriter(tmp_path)) as writer:
        for step, tag, value in points:
            writer.add_scalar(tag, value, step, walltime=1e9 + step)
    assert said(live.findings) == said(audit(tmp_path, Config()).findings)


def test_early_stopping():
    live = LiveAudit()
    stopped = None
    for step in range(1000):
        live.observe(step, {"loss": 0.99**step if step < 500 else (step - 500) / 50})
        if step % 50 == 49 and live.failed:
            stopped = step
            break
    assert stopped is not None
    assert 500 < stopped < 700
    assert "GL304" in {finding.code for finding in live.findings}


def test_what_is_new_is_given_once():
    live = LiveAudit(run="mine")
    for step in range(100):
        live.observe(step, {"gradients/nonfinite": 0.0, "train/loss": 0.95**step})
    assert live.new() == ()
    live.observe(100, {"gradients/nonfinite": 2.0})
    (found,) = live.new()
    assert (found.code, found.run) == ("GL401", "mine")
    assert live.new() == ()
    live.observe(101, {"train/loss": math.nan})
    assert "GL301" in {finding.code for finding in live.new()}


def test_the_configuration_says_what_fails():
    live = LiveAudit({"fail-on": "warning", "select": ["GL303"]})
    for step in range(200):
        live.observe(step, {"train/loss": 2.3 + 0.01 * (step % 3)})
    assert live.failed
    strict = LiveAudit({"select": ["GL303"]})
    for step in range(100):
        strict.observe(step, {"train/loss": 2.3 + 0.01 * (step % 3)})
    assert not strict.failed
    assert len(strict.findings) == 1


def test_values_are_numbers():
    live = LiveAudit()
    live.observe(0, {"a": np.float64(1.5), "b": np.array([2.0])[0], "c": 1e300}, wall_time=5.0)
    with pytest.raises((TypeError, ValueError)):
        live.observe(0, {"a": "text"})
    assert live.findings == ()


def test_a_wrapped_writer_is_a_writer(tmp_path):
    live = LiveAudit()
    with live.watching(SummaryWriter(tmp_path)) as writer:
        writer.add_text("note", "text", 0)
        writer.add_scalar("no/step", 1.0)
        writer.flush()
        assert writer.get_logdir() == str(tmp_path)
