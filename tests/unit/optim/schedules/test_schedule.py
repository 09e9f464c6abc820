"""Decays: TF1's values, their meaning at the corners, composition, and what an optimizer and telemetry make of them."""

import math

import numpy as np
import pytest

import optim
from optim import Variable
from summaries import SummaryWriter, read_run


def counter(start=0):
    return Variable(start, trainable=False, name="global_step")


DECAYS = {
    "exponential": (optim.exponential_decay, (10, 0.5), {}),
    "exponential, staircase": (optim.exponential_decay, (10, 0.5), {"staircase": True}),
    "natural_exp": (optim.natural_exp_decay, (10, 0.5), {}),
    "inverse_time": (optim.inverse_time_decay, (10, 0.5), {"staircase": True}),
    "polynomial": (optim.polynomial_decay, (10,), {"power": 2.0}),
    "polynomial, cycle": (optim.polynomial_decay, (10, 0.01), {"cycle": True}),
    "cosine": (optim.cosine_decay, (10, 0.1), {}),
    "restarts": (optim.cosine_decay_restarts, (10,), {"t_mul": 1.5, "m_mul": 0.9}),
    "linear_cosine": (optim.linear_cosine_decay, (10, 2.0, 0.1, 0.2), {}),
    "noisy": (optim.noisy_linear_cosine_decay, (10,), {"seed": 3}),
    "warm-up": (optim.linear_warmup, (10,), {"start_factor": 0.1}),
}

# By hand, from the papers' formulas: step 15 of a rate of 0.1 that decays over 10 steps.
AT_15 = {
    "exponential": 0.1 * 0.5**1.5,
    "exponential, staircase": 0.05,
    "natural_exp": 0.1 * math.exp(-0.75),
    "inverse_time": 0.1 / 1.5,
    "polynomial": 0.0001,
    "polynomial, cycle": 0.09 * 0.25 + 0.01,
    "cosine": 0.01,
    "restarts": 0.1 * 0.9 * 0.5 * (1 + math.cos(math.pi / 3)),
    "linear_cosine": 0.1 * (0.1 * 1.0 + 0.2),
    "noisy": 0.1 * 0.001,
    "warm-up": 0.1,
}


@pytest.mark.parametrize("name", DECAYS)
def test_by_hand(name):
    decay, args, kwargs = DECAYS[name]
    assert decay(0.1, 15, *args, **kwargs) == pytest.approx(AT_15[name], rel=1e-12)


@pytest.mark.parametrize(("decay", "args", "kwargs"), DECAYS.values(), ids=DECAYS)
def test_a_schedule_is_the_number_at_every_step(decay, args, kwargs):
    step = counter()
    schedule = decay(0.1, step, *args, **kwargs)
    for number in (0, 1, 9, 10, 11, 25, 1000):
        step.assign(number)
        assert schedule() == schedule.at(number) == float(schedule) == decay(0.1, number, *args, **kwargs)
        assert type(schedule()) is float


@pytest.mark.parametrize("step", [np.int32(15), np.array(15), np.array([15]), 15.0], ids=repr)
def test_steps_of_any_kind(step):
    assert optim.exponential_decay(0.1, step, 10, 0.5) == pytest.approx(AT_15["exponential"])


def test_restarts_are_at_their_steps_exactly():
    for growth in (1.0, 1.1, 1.5, 2.0, 3.0):
        begin, length = 0.0, 7.0
        for i in range(12):
            at = [optim.cosine_decay_restarts(1.0, begin + share * length, 7, growth, 0.5) for share in (0, 0.5)]
            if begin == int(begin):
                assert at == pytest.approx([0.5**i, 0.5 ** (i + 1)], rel=1e-9)
            begin, length = begin + length, length * growth


def test_a_growing_rate_may_overflow_and_the_optimizer_says_so():
    assert optim.exponential_decay(0.1, 10**9, 1, 2.0) == math.inf
    w, step = Variable([1.0], name="w"), counter(10**9)
    with pytest.raises(ValueError, match=r"^learning_rate must be at least 0 and finite, got inf$"):
        optim.GradientDescentOptimizer(optim.exponential_decay(0.1, step, 1, 2.0)).apply_gradients(
            [(np.float32([1.0]), w)], step
        )


def test_noise_is_the_seeds_and_the_steps():
    def rates(seed):
        return [optim.noisy_linear_cosine_decay(1.0, step, 100, seed=seed) for step in range(50)]

    assert rates(1) == rates(1) != rates(2)
    assert rates(None) != rates(None)
    assert min(rates(1)) >= 0
    quiet = [optim.noisy_linear_cosine_decay(1.0, step, 100, 0.0) for step in range(50)]
    assert quiet == [optim.linear_cosine_decay(1.0, step, 100) for step in range(50)]


def test_noise_has_the_variance_that_it_should():
    line = [optim.noisy_linear_cosine_decay(1.0, 0, 100, 0.04, seed=seed) for seed in range(2000)]
    assert np.std(line) == pytest.approx(0.2, rel=0.05)
    assert np.mean(line) == pytest.approx(1.001, abs=0.02)


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


BAD = {
    "global_step is required for exponential_decay, got None": lambda: optim.exponential_decay(0.1, None, 10, 0.5),
    "decay_steps must be positive and finite, got 0.0": lambda: optim.cosine_decay(0.1, 1, 0),
    "decay_rate must be at least 0 and finite, got -1.0": lambda: optim.exponential_decay(0.1, 1, 10, -1),
    "learning_rate must be finite, got nan": lambda: optim.cosine_decay(math.nan, 1, 10),
    "t_mul must be at least 1 and finite, got 0.5": lambda: optim.cosine_decay_restarts(0.1, 1, 10, 0.5),
    "global_step must be at least 0 and finite, got -1": lambda: optim.cosine_decay(0.1, -1, 10),
    "values must be one more than boundaries, 3, got 2": lambda: optim.piecewise_constant(1, [1, 2], [1.0, 2.0]),
    "boundaries must increase, got [2, 1]": lambda: optim.piecewise_constant(1, [2, 1], [1.0, 2.0, 3.0]),
    "schedules must be one more than boundaries, 2, got 1": lambda: optim.join_schedules([0.1], [5], 0),
    "start_factor must be from 0 to 1, got 2.0": lambda: optim.linear_warmup(0.1, 1, 10, 2),
}


@pytest.mark.parametrize(("text", "call"), BAD.items(), ids=BAD)
def test_out_of_bounds(text, call):
    with pytest.raises(ValueError) as raised:  # noqa: PT011 - the whole text is compared
        call()
    assert str(raised.value) == text


NO_STEPS = {
    "global_step must be a number or a Variable, got str: 'x'": "x",
    "global_step must be one number, got a Variable of shape (2,)": Variable([1, 2]),
}


@pytest.mark.parametrize(("text", "step"), NO_STEPS.items(), ids=NO_STEPS)
def test_what_is_no_step(text, step):
    with pytest.raises(TypeError) as raised:
        optim.cosine_decay(0.1, step, 10)
    assert str(raised.value) == text
