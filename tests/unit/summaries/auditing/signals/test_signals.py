"""A signal: which of a tag's points a rule sees after restarts, and which of repeated steps."""

import math

import numpy as np
import pytest
from labelled import runs as labelled

from summaries import Event, Summary, audit
from summaries.auditing.config import Config
from summaries.auditing.engine import audit_run
from summaries.auditing.signals.signals import Signal, Signals
from summaries.auditing.signals.tags import Meaning, TagTable
from summaries.reading.series import Series
from summaries.wire.records import frame

TOP = 2**63 - 1


def signal(steps, values=None, restarts=()):
    step = np.array(steps, np.int64)
    value = np.arange(float(len(step))) if values is None else np.array(values, np.float64)
    return Signal(Series("loss", step, np.arange(float(len(step))), value, restarts), Meaning("loss"), [0])


# (steps, (points before, step) of each session start, which points the latest are, which stand)
CASES = {
    "rising": ([1, 2, 3], [], [0, 1, 2], [0, 1, 2]),
    "a repeated step": ([1, 2, 2, 3], [], [0, 2, 3], [0, 1, 2, 3]),
    "a repeated step, and going back": ([1, 4, 2, 2, 3], [], [0, 3, 4], [0, 2, 3, 4]),
    "back to the same step": ([1, 2, 3, 2], [], [0, 3], [0, 1, 3]),
    "a repeated step, and a session start": ([1, 1, 5, 6, 5], [(4, 5)], [1, 4], [0, 1, 4]),
    "a session start above": ([1, 2, 3], [(2, 3)], [0, 1, 2], [0, 1, 2]),
    "a session start at the step before it": ([1, 2, 3], [(2, 2)], [0, 2], [0, 2]),
    "the last at the highest step": ([1, 0, TOP], [], [1, 2], [1, 2]),
    "the highest step twice": ([1, 0, TOP, TOP], [], [1, 3], [1, 2, 3]),
    "one step again and again": ([5, 5, 5], [], [2], [0, 1, 2]),
    "falling": ([3, 2, 1], [], [2], [2]),
    "no points": ([], [], [], []),
}


@pytest.mark.parametrize(("steps", "restarts", "latest", "standing"), CASES.values(), ids=CASES)
def test_what_stands(steps, restarts, latest, standing):
    one = signal(steps, restarts=restarts)
    assert one.latest.value.tolist() == latest
    assert one.standing.value.tolist() == standing
    assert one.finite.value.tolist() == standing
    assert one.standing.step.tolist() == [steps[i] for i in standing]
    assert one.standing.wall_time.tolist() == standing


@pytest.mark.parametrize("steps", [[1, 2, 2, 3], [4, 1, 2, 2, 3]], ids=["in order", "after going back"])
def test_not_a_number_at_a_repeated_step_is_seen(steps):
    values = [0.5] * len(steps)
    values[-3] = math.nan  # the first of the two at step 2
    one = signal(steps, values)
    assert np.isnan(one.standing.value).sum() == 1
    assert len(one.finite) == len(one.standing) - 1
    assert not np.isnan(one.latest.value).any()


def test_the_audit_finds_it(tmp_path):
    """Two processes that log the same steps: the one whose loss is no number is not hidden by the other."""
    steps = [9, *range(8), 8, 8, 9]
    values = [0.5] * len(steps)
    values[-3] = math.nan
    events = [
        Event(step=step, wall_time=1e9 + i, summary=Summary(value=[Summary.Value(tag="loss", simple_value=value)]))
        for i, (step, value) in enumerate(zip(steps, values, strict=True))
    ]
    (tmp_path / "a.tfevents").write_bytes(b"".join(frame(event.SerializeToString()) for event in events))
    (finding,) = (finding for finding in audit(tmp_path).findings if finding.code == "GL301")
    assert finding.steps == (8, 8)


def signals(*tags, name="run"):
    columns = {tag: labelled.columns(np.ones(2 + i)) for i, tag in enumerate(tags)}
    return Signals(name, labelled.as_run(np.random.default_rng(0), columns), TagTable(tags=tags))


MOVING = {
    ("train/loss",): False,
    ("train/loss", "rollout/ep_rew_mean"): True,
    ("loss_D",): True,
    ("D", "G"): False,  # not losses
    ("critic-value",): True,
    ("discriminator.loss",): True,
    ("rewarding/loss",): False,
}


@pytest.mark.parametrize(("tags", "moving"), MOVING.items(), ids=str)
def test_whether_losses_are_measured_against_what_moves(tags, moving):
    assert signals(*tags).moving_target is moving


def test_roles():
    run = signals("train/loss", "lr", "gradients/norm/a", "gradients/norm/b", "grad_norm/a", "x")
    assert [one.tag for one in run.of("learning_rate", "loss")] == ["lr", "train/loss"]
    assert run.of("global_norm") == []
    assert {name: one.tag for name, one in run.for_variable("gradient_norm").items()} == {
        "a": "gradients/norm/a",
        "b": "gradients/norm/b",
    }
    assert list(run.all) == ["train/loss", "lr", "gradients/norm/a", "gradients/norm/b", "grad_norm/a", "x"]
    assert run.longest.tag == "x"
    assert signals("val/a", name="a/validation").run.tags == ("val/a",)


def test_rules_look_at_no_tag_that_a_configuration_calls_other():
    rng = np.random.default_rng(0)
    loss = labelled.decay(200)
    loss[150] = math.nan
    entropy = np.repeat([1.0, 0.0], [60, 140])
    values = {"train/quux_loss": loss, "train/entropy": entropy, "rollout/ep_rew_mean": np.arange(200.0)}
    run = labelled.as_run(rng, {tag: labelled.columns(column) for tag, column in values.items()})
    codes = {finding.code for finding in audit_run("run", run, Config()).findings}
    assert codes == {"GL301", "GL506"}
    for role in ("", "other"):
        report = audit_run("run", run, Config(tags=((role, ".*"),)))
        assert report.findings == ()
        assert [(curve.tag, curve.role) for curve in report.curves] == [(tag, "") for tag in values]
