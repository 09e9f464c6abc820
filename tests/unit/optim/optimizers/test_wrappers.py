"""Wrappers do one thing each, and compose in any order."""

import copy
import itertools
import math

import numpy as np
import pytest
from helpers import scalars
from optimizing.clipped import NORM5, applied, clip

import optim
from optim import (
    GradientDescentOptimizer,
    Variable,
    clip_gradients_by_norm,
    clip_gradients_by_percentile,
    clip_gradients_by_value,
    skip_nonfinite_steps,
    with_summaries,
)
from optim.checkpoints.state import CheckpointArray
from optim.optimizers.wrappers import Transformation, wrapped
from summaries import EventFileWriter


@pytest.fixture
def writer(logdir):
    with EventFileWriter(logdir) as writer:
        yield writer


UNREPEATABLE = {"custom_scalars__config__", "train/global_step_per_sec"}


def run(optimizer, writer, count=6):
    """So many steps, the norm of which is 5, 0.5, 5, …; the variable, the reports and what was logged."""
    w = Variable([0.0, 0.0], name="w")
    step = Variable(100, trainable=False, name="global_step")
    reports = [optimizer.apply_gradients([(NORM5 / 10 ** (i % 2), w)], step) for i in range(count)]
    writer.flush()
    logged = [(step, tag, value) for step, tag, value in scalars(writer.path) if tag not in UNREPEATABLE]
    return w.value.tolist(), int(step), reports, logged


ORDERS = {
    "clip, then log": lambda optimizer, writer: with_summaries(clip(1.0)(optimizer), writer, 2),
    "log, then clip": lambda optimizer, writer: clip(1.0)(with_summaries(optimizer, writer, 2)),
    "clip, log, clip": lambda optimizer, writer: clip(100.0)(with_summaries(clip(1.0)(optimizer), writer, 2)),
}


@pytest.mark.parametrize("order", ORDERS.values(), ids=ORDERS)
def test_any_order_gives_the_same(tmp_path, order):
    outcomes = []
    for name, wrap in (("a", ORDERS["clip, then log"]), ("b", order)):
        with EventFileWriter(tmp_path / name) as writer:
            outcomes.append(run(wrap(GradientDescentOptimizer(1.0), writer), writer))
    assert outcomes[0] == outcomes[1]
    assert outcomes[0][1] == 106


def test_two_logs(tmp_path):
    with EventFileWriter(tmp_path / "a") as one, EventFileWriter(tmp_path / "b") as two:
        optimizer = with_summaries(with_summaries(clip(1.0)(GradientDescentOptimizer(1.0)), one, 1), two, 3)
        run(optimizer, one)
    assert {step for step, _, _ in scalars(one.path)} == {0, *range(101, 107)}  # 0 is the layout's
    assert {step for step, _, _ in scalars(two.path)} == {0, 102, 105}


def test_the_outermost_sees_the_gradients_first():
    gradient = [3.0, 4.0]
    got, report = applied(lambda o: clip_gradients_by_value(clip_gradients_by_norm(o, 1.0), -0.3, 3.5), gradient)
    np.testing.assert_allclose(got, np.array([3.0, 3.5]) / np.hypot(3.0, 3.5))
    assert (report.global_norm, report.clipped) == (5.0, True)
    got, report = applied(lambda o: clip_gradients_by_norm(clip_gradients_by_value(o, -0.3, 0.7), 1.0), gradient)
    np.testing.assert_allclose(got, [0.6, 0.7])
    assert (report.global_norm, report.clip_norm) == (5.0, 1.0)
    got, _ = applied(lambda o: clip_gradients_by_value(clip_gradients_by_value(o, -9, 2), 2.5, 9), gradient)
    np.testing.assert_allclose(got, [2.0, 2.0])


@pytest.mark.parametrize("wrap", [clip(1.0), clip(1.0, 2.0)])
def test_the_name_is_the_inner_one_s(wrap):
    assert wrap(GradientDescentOptimizer(1.0, name="mine")).get_name() == "mine"


def test_steps_without_a_global_step_are_counted(w, writer):
    optimizer = clip(1.0)(with_summaries(GradientDescentOptimizer(1.0), writer))
    assert [optimizer.apply_gradients([(NORM5, w)]).step for _ in range(3)] == [1, 2, 3]


def test_a_refused_call_logs_nothing(w, writer):
    optimizer = with_summaries(clip(1.0)(GradientDescentOptimizer(1.0)), writer)
    with pytest.raises(ValueError, match="shape"):
        optimizer.apply_gradients([(np.float32([1.0]), w)])
    writer.flush()
    assert scalars(writer.path) == []
    assert optimizer.apply_gradients([(NORM5, w)]).step == 1


def fails(*arguments, **options):
    raise OSError("no room")


def test_an_update_that_cannot_be_logged_is_counted_all_the_same(w, logdir):
    """Variables and global step go together: who catches the error and goes on has lost no count."""
    writer = EventFileWriter(logdir)
    step = Variable(10, trainable=False, name="global_step")
    optimizer = with_summaries(GradientDescentOptimizer(1.0), writer)
    with pytest.MonkeyPatch.context() as broken:
        broken.setattr(EventFileWriter, "add_summary", fails)
        with pytest.raises(OSError, match="no room"):
            optimizer.apply_gradients([(NORM5, w)], step)
    assert w.value.tolist() == [-3, -4]
    assert int(step) == 11


WRAPPERS = {
    "norm": lambda o: clip_gradients_by_norm(o, 1.0),
    "value": lambda o: clip_gradients_by_value(o, -1.0, 1.0),
    "percentile": clip_gradients_by_percentile,
    "skip": optim.skip_nonfinite_steps,
}


@pytest.mark.parametrize("wrap", WRAPPERS.values(), ids=WRAPPERS)
def test_a_wrapper_is_an_optimizer(wrap):
    inner = optim.AdamOptimizer(name="mine")
    optimizer = wrap(inner)
    w = Variable([1.0], name="w")
    assert isinstance(optimizer, optim.Optimizer)
    report = optimizer.apply_gradients([(np.float32([1.0]), w)], report=True)
    assert optimizer.get_name() == "mine"
    assert optimizer.get_slot(w, "m") is inner.get_slot(w, "m")
    assert optimizer.get_slot_names() == ["m", "v"]
    assert optimizer.variables() == inner.variables()
    assert [row.name for row in report.variables] == ["w"]


@pytest.mark.parametrize("order", list(itertools.permutations([*WRAPPERS, "log"], 3)), ids=" of ".join)
def test_counts_are_read_through_any_stack(w, writer, order):
    wrappers = WRAPPERS | {"log": lambda o: with_summaries(o, writer)}
    optimizer = GradientDescentOptimizer(1.0)
    for name in reversed(order):
        optimizer = wrappers[name](optimizer)
    for gradient in (NORM5, NORM5 * math.nan, NORM5 * math.inf):
        optimizer.apply_gradients([(gradient, w)])
    skips = 2 if "skip" in order else 0
    assert (optimizer.skipped_steps, optimizer.skipped_in_a_row) == (skips, skips)
    assert optimizer.update.steps == 3 - skips


def test_there_is_one_count_whichever_wrapper_is_called(w):
    inner = GradientDescentOptimizer(1.0)
    middle = skip_nonfinite_steps(inner)
    outer = clip_gradients_by_norm(middle, 1.0)
    numbers = [optimizer.apply_gradients([(NORM5, w)]).step for optimizer in (inner, outer, middle, inner)]
    assert numbers == [1, 2, 3, 4]
    outer.apply_gradients([(NORM5 * math.nan, w)])
    assert [optimizer.skipped_steps for optimizer in (inner, middle, outer)] == [0, 1, 1]
    assert outer.rule is inner.rule


def test_a_copy_of_a_stack_shares_nothing(w, writer):
    optimizer = clip_gradients_by_percentile(skip_nonfinite_steps(optim.AdamOptimizer()))
    optimizer.apply_gradients([(NORM5, w)])
    twin, twin_w = copy.deepcopy((optimizer, w))
    twin.apply_gradients([(NORM5 * math.nan, twin_w)])
    assert (optimizer.skipped_steps, twin.skipped_steps) == (0, 1)
    assert optimizer.update is not twin.update


class Noted(Transformation):
    """Someone's own: notes each step, and skips those whose loss is too large."""

    def __init__(self, most):
        self.most = most
        self.seen = []

    def take(self, step, onward):
        step.skipped = step.loss is not None and step.loss > self.most
        report = onward(step)
        self.seen.append((report.step, report.skipped))
        return report

    def left_out(self, report):
        self.seen.append((report.step, "left out"))

    def state(self, name):
        yield CheckpointArray.of_count(f"{name}/seen", len(self.seen), lambda count: self.seen.extend([None] * count))


def test_a_transformation_of_ones_own(w):
    w.assign([1.0, 1.0])
    optimizer = wrapped(wrapped(GradientDescentOptimizer(0.5), Noted, 5.0), Noted, most=10.0)
    outer, inner = optimizer.transformations
    for scale in (1.0, 3.0, 9.0):
        optimizer.minimize(lambda scale=scale: np.sum(scale * (w - 1.0) ** 2 + scale))
    assert outer.seen == [(1, False), (2, True), (2, True)]
    assert inner.seen == [(1, False), (2, True), (2, "left out")]
    names = {"GradientDescent/steps": 1, "GradientDescent/seen": 3}
    assert {entry.name: int(entry.value) for entry in optimizer.state([w])} == names


def test_what_is_not_an_optimizer_cannot_be_wrapped():
    with pytest.raises(TypeError) as raised:
        wrapped(0.5, Noted, "never looked at")
    assert str(raised.value) == "optimizer must be an Optimizer, got float: 0.5"


def test_logging_twice_to_one_writer_is_refused_through_any_stack(writer):
    optimizer = clip(1.0)(with_summaries(GradientDescentOptimizer(1.0), writer))
    with pytest.raises(ValueError) as raised:  # noqa: PT011 - the whole text is compared
        with_summaries(optimizer, writer)
    assert str(raised.value) == f"this optimizer already logs to {writer.path}: use another writer"
