"""What steps leave in the event file: which tags, at which steps, with which values."""

import numpy as np
import pytest
from helpers import scalars

from optim import GradientDescentOptimizer, Variable, clip_gradients_by_norm, with_summaries
from optim.report import StepReport
from optim.telemetry import Telemetry
from summaries import EventFileWriter, summary_iterator


@pytest.fixture
def writer(logdir):
    with EventFileWriter(logdir) as writer:
        yield writer


def logged(writer):
    writer.flush()
    return scalars(writer.path)


ALONE = {"train/learning_rate": 0.5, "gradients/global_norm": 5.0, "gradients/nonfinite": 0.0}
CLIPPED = ALONE | {
    "gradients/clipped_global_norm": 1.0,
    "gradients/clip_norm": 1.0,
    "gradients/clipped": 1.0,
    "gradients/clipped_fraction": 1.0,
}
WITHIN = CLIPPED | {
    "gradients/clipped_global_norm": 5.0,
    "gradients/clip_norm": 6.0,
    "gradients/clipped": 0.0,
    "gradients/clipped_fraction": 0.0,
}


@pytest.mark.parametrize(("bound", "expected"), [(None, ALONE), (1.0, CLIPPED), (6.0, WITHIN)])
def test_tags_and_values(writer, bound, expected):
    optimizer = GradientDescentOptimizer(0.5)
    if bound is not None:
        optimizer = clip_gradients_by_norm(optimizer, bound)
    with_summaries(optimizer, writer).apply_gradients([(np.float32([3, 4]), Variable([0.0, 0.0]))])
    assert logged(writer) == [(1, tag, value) for tag, value in expected.items()]


def test_one_event_a_step(writer):
    optimizer = with_summaries(clip_gradients_by_norm(GradientDescentOptimizer(0.5), 1.0), writer)
    for _ in range(3):
        optimizer.apply_gradients([(np.float32([3, 4]), Variable([0.0, 0.0]))])
    writer.flush()
    assert [len(event.summary.value) for event in summary_iterator(writer.path)] == [0, 7, 7, 7]


def test_elements_that_are_not_finite_are_counted(writer):
    optimizer = with_summaries(GradientDescentOptimizer(0.5), writer)
    optimizer.apply_gradients([(np.float32([np.nan, np.inf, 1]), Variable([0.0, 0.0, 0.0]))])
    values = {tag: value for _, tag, value in logged(writer)}
    assert values["gradients/nonfinite"] == 2
    assert np.isnan(values["gradients/global_norm"])


# Of the steps from 1 to 20, those that 3 divides are clipped: (step, share of clipped steps since the last write).
FRACTIONS = {
    1: [(step, float(step % 3 == 0)) for step in range(1, 21)],
    7: [(7, 2 / 7), (14, 2 / 7)],
    100: [],
}


@pytest.mark.parametrize(("every_n_steps", "expected"), FRACTIONS.items())
def test_clipped_fraction(writer, every_n_steps, expected):
    w = Variable([0.0, 0.0])
    optimizer = with_summaries(clip_gradients_by_norm(GradientDescentOptimizer(0.5), 1.0), writer, every_n_steps)
    for step in range(1, 21):
        optimizer.apply_gradients([(np.float32([3, 4]) * (step % 3 == 0), w)])
    got = [(step, value) for step, tag, value in logged(writer) if tag == "gradients/clipped_fraction"]
    assert got == [(step, float(np.float32(share))) for step, share in expected]
    assert {step for step, _, _ in logged(writer)} == {step for step, _ in expected}


def test_clipped_fraction_every_100_steps(writer):
    telemetry = Telemetry(writer, 100)
    for step in range(1, 251):
        telemetry.observe(StepReport(step, 0.5, 2.0, 1.0, clipped=step % 4 == 0, nonfinite=0))
    got = [(step, value) for step, tag, value in logged(writer) if tag == "gradients/clipped_fraction"]
    assert got == [(100, 0.25), (200, 0.25)]


def test_due_steps_are_the_global_ones(writer):
    """A run that goes on at step 95 writes at step 100."""
    step = Variable(95, trainable=False, name="global_step")
    optimizer = with_summaries(GradientDescentOptimizer(0.5), writer, 10)
    for _ in range(20):
        optimizer.apply_gradients([(np.float32([3, 4]), Variable([0.0, 0.0]))], step)
    assert {step for step, _, _ in logged(writer)} == {100, 110}


def test_steps_that_are_not_written_cost_no_norm(writer, monkeypatch):
    norms = []
    monkeypatch.setattr("optim.kernels.norm", lambda arrays: norms.append(arrays) or 1.0)
    optimizer = with_summaries(GradientDescentOptimizer(0.5), writer, 10)
    reports = [optimizer.apply_gradients([(np.float32([3, 4]), Variable([0.0, 0.0]))]) for _ in range(20)]
    assert len(norms) == 2
    assert [report.step for report in reports if report.global_norm is not None] == [10, 20]


@pytest.mark.parametrize("every_n_steps", [0, -1])
def test_every_n_steps_must_be_positive(writer, every_n_steps):
    with pytest.raises(ValueError, match=rf"^every_n_steps must be positive, got {every_n_steps}$"):
        with_summaries(GradientDescentOptimizer(0.5), writer, every_n_steps)
