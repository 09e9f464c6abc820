"""Decays: TF1's values, their meaning at the corners, and what is refused, word for word."""

import math

import numpy as np
import pytest

import optim
from optim import Variable


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


# The same with nothing given that may be left out: what TF1 takes then.
DEFAULTS = {
    "exponential": (optim.exponential_decay, (10, 0.5), 0.1 * 0.5**1.5),
    "natural_exp": (optim.natural_exp_decay, (10, 0.5), 0.1 * math.exp(-0.75)),
    "inverse_time": (optim.inverse_time_decay, (10, 0.5), 0.1 / 1.75),
    "polynomial": (optim.polynomial_decay, (30,), (0.1 - 0.0001) * 0.5 + 0.0001),
    "polynomial, at its end": (optim.polynomial_decay, (10,), 0.0001),
    "cosine": (optim.cosine_decay, (20,), 0.1 * 0.5 * (1 + math.cos(math.pi * 0.75))),
    "restarts, of twice the length and the same height": (
        optim.cosine_decay_restarts,
        (10,),
        0.1 * 0.5 * (1 + math.cos(math.pi * 0.25)),
    ),
    "linear_cosine": (optim.linear_cosine_decay, (20,), 0.1 * (0.25 * 0.5 * (1 + math.cos(math.pi * 0.75)) + 0.001)),
    "warm-up": (optim.linear_warmup, (20,), 0.1 * 0.75),
}


@pytest.mark.parametrize(("decay", "args", "want"), DEFAULTS.values(), ids=DEFAULTS)
def test_what_may_be_left_out(decay, args, want):
    assert decay(0.1, 15, *args) == pytest.approx(want, rel=1e-12)


def test_noise_fades_as_it_should_where_nothing_is_given():
    """A variance of 1 / (1 + step) ** 0.55, on a line from 1 to 0 times half a cosine."""
    for step in (0, 8):
        line = [optim.noisy_linear_cosine_decay(1.0, step, 1000, beta=5.0, seed=seed) - 5 for seed in range(4000)]
        assert np.std(line) == pytest.approx((1 + step) ** -0.275, rel=0.05)
    exact = optim.noisy_linear_cosine_decay(1.0, 15, 20, 0.0)
    assert exact == optim.linear_cosine_decay(1.0, 15, 20)


@pytest.mark.parametrize(("decay", "args", "kwargs"), DECAYS.values(), ids=DECAYS)
def test_a_schedule_is_the_number_at_every_step(decay, args, kwargs):
    step = counter()
    schedule = decay(0.1, step, *args, **kwargs)
    for number in (0, 1, 9, 10, 11, 25, 1000):
        step.assign(number)
        assert schedule() == schedule.at(number) == float(schedule) == decay(0.1, number, *args, **kwargs)
        assert type(schedule()) is float


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


BAD = {
    "global_step is required for exponential_decay, got None": lambda: optim.exponential_decay(0.1, None, 10, 0.5),
    "decay_steps must be positive and finite, got 0.0": lambda: optim.cosine_decay(0.1, 1, 0),
    "decay_rate must be at least 0 and finite, got -1.0": lambda: optim.exponential_decay(0.1, 1, 10, -1),
    "learning_rate must be finite, got nan": lambda: optim.cosine_decay(math.nan, 1, 10),
    "t_mul must be at least 1 and finite, got 0.5": lambda: optim.cosine_decay_restarts(0.1, 1, 10, 0.5),
    "global_step must be at least 0 and finite, got -1": lambda: optim.cosine_decay(0.1, -1, 10),
    "values must be one more than boundaries, 3, got 2": lambda: optim.piecewise_constant(1, [1, 2], [1.0, 2.0]),
    "boundaries must increase, got [1, 1]": lambda: optim.piecewise_constant(1, [1, 1], [1.0, 2.0, 3.0]),
    "boundaries must increase, got [2, 1]": lambda: optim.piecewise_constant(1, [2, 1], [1.0, 2.0, 3.0]),
    "boundaries must be integers, as x is, got [1.0, 2.0]": lambda: optim.piecewise_constant(
        1, [1.0, 2.0], [1.0, 2.0, 3.0]
    ),
    "schedules must be one more than boundaries, 2, got 1": lambda: optim.join_schedules([0.1], [5], 0),
    "start_factor must be from 0 to 1, got 2.0": lambda: optim.linear_warmup(0.1, 1, 10, 2),
}


@pytest.mark.parametrize(("text", "call"), BAD.items(), ids=BAD)
def test_out_of_bounds(text, call):
    with pytest.raises(ValueError) as raised:  # noqa: PT011 - the whole text is compared
        call()
    assert str(raised.value) == text
