"""Schedules: their steps, composition, and what an optimizer and telemetry make of them."""

import copy
import math
import pickle

import numpy as np
import pytest

import optim
from optim import Variable
from summaries import SummaryWriter, read_run


def counter(start=0):
    return Variable(start, trainable=False, name="global_step")


@pytest.mark.parametrize("step", [np.int32(15), np.array(15), np.array([15]), 15.0], ids=repr)
def test_steps_of_any_kind(step):
    assert optim.exponential_decay(0.1, step, 10, 0.5) == pytest.approx(0.1 * 0.5**1.5)


def test_composition():
    step = counter()
    rate = optim.linear_warmup(optim.cosine_decay(0.8, step, 100), step, 10)
    assert [rate.at(n) for n in (0, 5, 50, 100)] == pytest.approx(
        [0, 0.4 * 0.5 * (1 + math.cos(math.pi * 0.05)), 0.4, 0]
    )
    chained = optim.join_schedules([0.1, optim.exponential_decay(1.0, step, 10, 0.5), Variable(3.0)], [5, 25], step)
    assert [chained.at(n) for n in (0, 4, 5, 15, 24, 25, 99)] == pytest.approx([0.1, 0.1, 1.0, 0.5, 0.5**1.9, 3.0, 3.0])
    assert optim.join_schedules([chained, 7.0], [1], 0) == 0.1
    assert optim.piecewise_constant(step, [10], [chained, 0.0]).at(5) == 1.0


def test_a_base_rate_may_change():
    base, step = Variable(0.5), counter(10)
    by_variable = optim.exponential_decay(base, step, 10, 0.5)
    by_callable = optim.exponential_decay(lambda: 4.0, step, 10, 0.5)
    base.assign(1.0)
    assert (by_variable(), by_callable()) == (0.5, 2.0)


def test_repr_is_how_it_was_made():
    step = counter()
    assert repr(optim.linear_warmup(optim.cosine_decay(0.8, step, 100), step, 10)) == (
        "linear_warmup(cosine_decay(0.8, 'global_step', decay_steps=100, alpha=0.0), 'global_step', "
        "warmup_steps=10, start_factor=0.0)"
    )
    assert repr(optim.piecewise_constant(step, [1], [1.0, 0.5])) == (
        "piecewise_constant('global_step', boundaries=[1], values=[1.0, 0.5])"
    )


def test_an_optimizer_evaluates_it_at_each_step_and_telemetry_logs_what_was_in_force(logdir):
    step, w = counter(), Variable([0.0], name="w")
    rate = optim.exponential_decay(1.0, step, 2, 0.5, staircase=True)
    with SummaryWriter(logdir) as writer:
        optimizer = optim.with_summaries(optim.GradientDescentOptimizer(rate), writer)
        for _ in range(6):
            optimizer.apply_gradients([(np.float32([1.0]), w)], step)
    logged = read_run(logdir).scalars["train/learning_rate"]
    assert logged.step.tolist() == [1, 2, 3, 4, 5, 6]
    assert logged.value.tolist() == [1.0, 1.0, 0.5, 0.5, 0.25, 0.25]
    assert w.value.tolist() == [-3.5]


NO_STEPS = {
    "global_step must be a number or a Variable, got str: 'x'": "x",
    "global_step must be one number, got a Variable of shape (2,)": Variable([1, 2]),
}


@pytest.mark.parametrize(("text", "step"), NO_STEPS.items(), ids=NO_STEPS)
def test_what_is_no_step(text, step):
    with pytest.raises(TypeError) as raised:
        optim.cosine_decay(0.1, step, 10)
    assert str(raised.value) == text


def test_piecewise_constant_of_a_negative_number():
    """As TensorFlow's: its x need not be a step."""
    x = optim.Variable(-999, trainable=False, name="x")
    rate = optim.piecewise_constant(x, [-10, 100], [1.0, 0.1, 0.01])
    assert (rate(), rate.at(-10), rate.at(-9)) == (1.0, 1.0, 0.1)
    assert optim.piecewise_constant(-0.5, [-1.0, 0.0], [1.0, 0.1, 0.01]) == 0.1


EACH = {
    "exponential_decay": lambda step: optim.exponential_decay(0.5, step, 10, 0.5, staircase=True),
    "linear_warmup": lambda step: optim.linear_warmup(optim.cosine_decay(0.4, step, 100), step, 4),
    "piecewise_constant": lambda step: optim.piecewise_constant(step, [10, 20], [1.0, 0.5, 0.1]),
    "join_schedules": lambda step: optim.join_schedules([0.1, optim.cosine_decay(0.4, step, 9)], [10], step),
    "noisy_linear_cosine_decay": lambda step: optim.noisy_linear_cosine_decay(0.1, step, 100),
}


@pytest.mark.parametrize("make", EACH.values(), ids=EACH)
@pytest.mark.parametrize("copied", [copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])  # noqa: S301
def test_an_optimizer_with_a_schedule_is_copied_and_pickled(make, copied):
    step, w = counter(3), Variable(np.ones(2), name="w")
    optimizer = optim.GradientDescentOptimizer(make(step))
    optimizer.apply_gradients([(np.ones(2), w)], global_step=step)
    other, other_step, other_w = copied((optimizer, step, w))
    for _ in range(15):
        optimizer.apply_gradients([(np.ones(2), w)], global_step=step)
    for _ in range(15):
        other.apply_gradients([(np.ones(2), other_w)], global_step=other_step)
    assert other_step.value == step.value
    assert other_w.value.tolist() == w.value.tolist()
    assert repr(copied(make(step))).startswith(repr(make(step)).partition("seed")[0])
