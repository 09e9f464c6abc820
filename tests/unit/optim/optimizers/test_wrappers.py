"""Wrappers do one thing each, and compose in any order."""

import math

import numpy as np
import pytest
from helpers import scalars

from optim import GradientDescentOptimizer, Variable, clip_gradients_by_norm, with_summaries
from summaries import EventFileWriter


@pytest.fixture
def writer(logdir):
    with EventFileWriter(logdir) as writer:
        yield writer


@pytest.fixture
def w():
    return Variable([0.0, 0.0], name="w")


NORM5 = np.float32([3.0, 4.0])


def clip(*bounds):
    """Wraps in a clipping of each bound, the last one outermost."""

    def wrap(optimizer):
        for bound in bounds:
            optimizer = clip_gradients_by_norm(optimizer, bound)
        return optimizer

    return wrap


CLIPPED = [
    ((10.0,), [-3.0, -4.0], 10.0, False, 5.0),
    ((5.0,), [-3.0, -4.0], 5.0, False, 5.0),
    ((1.0,), [-0.6, -0.8], 1.0, True, 1.0),
    ((1.0, 10.0), [-0.6, -0.8], 1.0, True, 1.0),
    ((10.0, 1.0), [-0.6, -0.8], 1.0, True, 1.0),
    ((2.0, 1.0, 4.0), [-0.6, -0.8], 1.0, True, 1.0),
]


@pytest.mark.parametrize(("bounds", "updated", "bound", "clipped", "norm_after"), CLIPPED)
def test_clipping(w, bounds, updated, bound, clipped, norm_after):
    report = clip(*bounds)(GradientDescentOptimizer(1.0)).apply_gradients([(NORM5, w)])
    np.testing.assert_allclose(w.value, updated, rtol=1e-6)
    assert (report.global_norm, report.clip_norm, report.clipped) == (5.0, bound, clipped)
    assert report.clipped_global_norm == norm_after
    assert report.nonfinite == 0
    assert NORM5.tolist() == [3, 4]


def test_within_the_bound_the_update_is_the_same_bit_for_bit():
    gradient = np.random.default_rng(0).standard_normal(1000)
    plain, clipped = Variable(np.zeros(1000)), Variable(np.zeros(1000))
    GradientDescentOptimizer(0.1).apply_gradients([(gradient, plain)])
    clip(1e6)(GradientDescentOptimizer(0.1)).apply_gradients([(gradient, clipped)])
    np.testing.assert_array_equal(plain, clipped)


@pytest.mark.parametrize(("bad", "norm"), [(math.nan, math.nan), (math.inf, math.inf), (-math.inf, math.inf)])
def test_without_a_finite_norm(w, bad, norm):
    """Every element becomes NaN, as in TF1, and the report says so."""
    report = clip(1.0)(GradientDescentOptimizer(1.0)).apply_gradients([(np.float32([bad, 1.0]), w)])
    assert np.isnan(w.value).all()
    assert report.global_norm == pytest.approx(norm, nan_ok=True)
    assert report.nonfinite == 1
    assert math.isnan(report.clipped_global_norm)


def test_half_precision_does_not_vanish():
    w = Variable(np.zeros(10_000, np.float16))
    clip(1.0)(GradientDescentOptimizer(1.0)).apply_gradients([(np.full(10_000, 6e4, np.float16), w)])
    np.testing.assert_allclose(w.value, -0.01, rtol=1e-2)


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


@pytest.mark.parametrize("wrap", [clip(1.0), clip(1.0, 2.0)])
def test_the_name_is_the_inner_one_s(wrap):
    assert wrap(GradientDescentOptimizer(1.0, name="mine")).get_name() == "mine"


def test_steps_without_a_global_step_are_counted(w, writer):
    optimizer = clip(1.0)(with_summaries(GradientDescentOptimizer(1.0), writer))
    assert [optimizer.apply_gradients([(NORM5, w)]).step for _ in range(3)] == [1, 2, 3]


@pytest.mark.parametrize("bound", [0, -1.0, math.nan])
def test_the_bound_must_be_positive(bound):
    with pytest.raises(ValueError, match=rf"^clip_norm must be positive, got {float(bound)}$"):
        clip_gradients_by_norm(GradientDescentOptimizer(1.0), bound)


def test_a_refused_call_logs_nothing(w, writer):
    optimizer = with_summaries(clip(1.0)(GradientDescentOptimizer(1.0)), writer)
    with pytest.raises(ValueError, match="shape"):
        optimizer.apply_gradients([(np.float32([1.0]), w)])
    writer.flush()
    assert scalars(writer.path) == []
    assert optimizer.apply_gradients([(NORM5, w)]).step == 1


def test_an_update_that_cannot_be_logged_is_counted_all_the_same(w, logdir):
    """Variables and global step go together: who catches the error and goes on has lost no count."""
    writer = EventFileWriter(logdir)
    writer.close()
    step = Variable(10, trainable=False, name="global_step")
    optimizer = with_summaries(GradientDescentOptimizer(1.0), writer)
    with pytest.raises(ValueError, match="is closed"):
        optimizer.apply_gradients([(NORM5, w)], step)
    updated = w.value.tolist() != [0, 0]
    assert int(step) == 10 + updated
