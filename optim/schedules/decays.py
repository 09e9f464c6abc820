"""TF1's decays: learning rates that fall with the step.

Each takes the initial rate, and a step or the Variable that counts steps: see `schedule`. All computations are in
float64; TF1 rounds to float32 on the way, so the two agree to a relative error of about 1e-6.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from optim import checks
from optim.schedules.schedule import decayed

if TYPE_CHECKING:
    from collections.abc import Callable

    from optim.schedules.schedule import Rate, Schedule
    from optim.variable import Variable

__all__ = [
    "cosine_decay",
    "cosine_decay_restarts",
    "exponential_decay",
    "inverse_time_decay",
    "linear_cosine_decay",
    "natural_exp_decay",
    "noisy_linear_cosine_decay",
    "polynomial_decay",
]


def exponential_decay(
    learning_rate: Rate,
    global_step: float | Variable,
    decay_steps: float,
    decay_rate: float,
    staircase: bool = False,
    name: str | None = None,
) -> float | Schedule:
    r"""Multiply the rate by `decay_rate` every `decay_steps` steps.

    .. math:: \eta \cdot r^p, \quad p = step / decay\_steps

    Args:
        learning_rate: η, the initial rate: a number, a Variable, a callable, or another Schedule.
        global_step: a step, or the Variable that counts steps; the same for all schedules.
        decay_steps: the number of steps in which the rate is multiplied by `decay_rate` once; positive.
        decay_rate: r; at least 0.
        staircase: whether p is rounded down, so that the rate falls in discrete steps.
        name: accepted for compatibility with TF1; unused, as in all decays.

    Returns:
        The rate at that step; for a Variable, a Schedule. The same holds for all schedules.

    Raises:
        TypeError: `global_step` is neither a number nor a Variable of one number.
        ValueError: `global_step` is None, or an argument is out of bounds. The same holds for all schedules.

    >>> exponential_decay(0.1, 200_000, 100_000, 0.5)
    0.025
    """
    period = checks.number("decay_steps", decay_steps, checks.positive)
    base = checks.number("decay_rate", decay_rate, checks.at_least_zero)

    def rate(step: float, start: float) -> float:
        return start * _power(base, _periods(step, period, staircase))

    return decayed(exponential_decay, learning_rate, global_step, rate, decay_steps, decay_rate, staircase)


def natural_exp_decay(
    learning_rate: Rate,
    global_step: float | Variable,
    decay_steps: float,
    decay_rate: float,
    staircase: bool = False,
    name: str | None = None,
) -> float | Schedule:
    r"""Multiply the rate by e to the power of -`decay_rate` every `decay_steps` steps.

    .. math:: \eta \cdot e^{-r p}, \quad p = step / decay\_steps

    Args:
        learning_rate: η.
        global_step: a step, or the Variable that counts steps.
        decay_steps: the number of steps in which the exponent falls by `decay_rate`; positive.
        decay_rate: r.
        staircase: whether p is rounded down.
        name: unused.

    >>> round(natural_exp_decay(1.0, 5, 10, 2.0), 6) == round(math.exp(-1), 6)
    True
    """
    period = checks.number("decay_steps", decay_steps, checks.positive)
    r = checks.number("decay_rate", decay_rate, checks.finite)

    def rate(step: float, start: float) -> float:
        return start * _power(math.e, -r * _periods(step, period, staircase))

    return decayed(natural_exp_decay, learning_rate, global_step, rate, decay_steps, decay_rate, staircase)


def inverse_time_decay(
    learning_rate: Rate,
    global_step: float | Variable,
    decay_steps: float,
    decay_rate: float,
    staircase: bool = False,
    name: str | None = None,
) -> float | Schedule:
    r"""Divide the rate by 1, 1 + r, 1 + 2r, …, one term every `decay_steps` steps.

    .. math:: \eta / (1 + r p), \quad p = step / decay\_steps

    Args:
        learning_rate: η.
        global_step: a step, or the Variable that counts steps.
        decay_steps: the number of steps in which the divisor grows by `decay_rate`; positive.
        decay_rate: r; at least 0.
        staircase: whether p is rounded down.
        name: unused.

    >>> inverse_time_decay(1.0, 30, 10, 1.0)
    0.25
    """
    period = checks.number("decay_steps", decay_steps, checks.positive)
    r = checks.number("decay_rate", decay_rate, checks.at_least_zero)

    def rate(step: float, start: float) -> float:
        return start / (1 + r * _periods(step, period, staircase))

    return decayed(inverse_time_decay, learning_rate, global_step, rate, decay_steps, decay_rate, staircase)


def polynomial_decay(
    learning_rate: Rate,
    global_step: float | Variable,
    decay_steps: float,
    end_learning_rate: float = 0.0001,
    power: float = 1.0,
    cycle: bool = False,
    name: str | None = None,
) -> float | Schedule:
    r"""Change from one rate to another in `decay_steps` steps; linearly if `power` is 1.

    .. math:: (\eta - \eta_{end}) (1 - s / D)^{power} + \eta_{end}, \quad s = \min(step, D)

    Args:
        learning_rate: η.
        global_step: a step, or the Variable that counts steps.
        decay_steps: D; positive.
        end_learning_rate: the rate from step D on; a rate above η makes a warm-up.
        power: at least 0.
        cycle: whether D grows to its first multiple at or above the step, so that the rate rises again.
        name: unused.

    >>> polynomial_decay(0.5, 50, 100, end_learning_rate=0.25), polynomial_decay(0.5, 150, 100, 0.25, cycle=True)
    (0.375, 0.3125)
    """
    period = checks.number("decay_steps", decay_steps, checks.positive)
    end = checks.number("end_learning_rate", end_learning_rate, checks.finite)
    exponent = checks.number("power", power, checks.at_least_zero)

    def rate(step: float, start: float) -> float:
        whole = period * max(1, math.ceil(step / period)) if cycle else period
        return (start - end) * _power(1 - min(step, whole) / whole, exponent) + end

    return decayed(polynomial_decay, learning_rate, global_step, rate, decay_steps, end_learning_rate, power, cycle)


def cosine_decay(
    learning_rate: Rate, global_step: float | Variable, decay_steps: float, alpha: float = 0.0, name: str | None = None
) -> float | Schedule:
    r"""Follow half a cosine from the rate down to `alpha` times the rate.

    .. math:: \eta ((1 - \alpha) \tfrac12 (1 + \cos \pi s / D) + \alpha), \quad s = \min(step, D)

    Args:
        learning_rate: η.
        global_step: a step, or the Variable that counts steps.
        decay_steps: D; positive.
        alpha: α, the fraction of η that remains.
        name: unused.

    >>> cosine_decay(1.0, 0, 100), cosine_decay(1.0, 50, 100, alpha=0.5), cosine_decay(1.0, 200, 100)
    (1.0, 0.75, 0.0)

    References: Loshchilov and Hutter 2017, https://arxiv.org/abs/1608.03983
    """
    period = checks.number("decay_steps", decay_steps, checks.positive)
    floor = checks.number("alpha", alpha, checks.finite)

    def rate(step: float, start: float) -> float:
        return start * ((1 - floor) * _half_cosine(min(step, period) / period) + floor)

    return decayed(cosine_decay, learning_rate, global_step, rate, decay_steps, alpha)


def cosine_decay_restarts(
    learning_rate: Rate,
    global_step: float | Variable,
    first_decay_steps: float,
    t_mul: float = 2.0,
    m_mul: float = 1.0,
    alpha: float = 0.0,
    name: str | None = None,
) -> float | Schedule:
    r"""Cosine decay with restarts: SGDR.

    .. math:: \eta ((1 - \alpha) m^i \tfrac12 (1 + \cos \pi f) + \alpha)

    after i restarts, at the fraction f of the current period, which is :math:`t^i` times the first.

    Args:
        learning_rate: η.
        global_step: a step, or the Variable that counts steps.
        first_decay_steps: the first period; positive.
        t_mul: t, the ratio of each period's length to the one before; at least 1.
        m_mul: m, the ratio of each period's initial rate to the one before; at least 0.
        alpha: α, the fraction of η that remains.
        name: unused.

    >>> [cosine_decay_restarts(1.0, step, 10, m_mul=0.5) for step in (0, 5, 10, 20, 30)]
    [1.0, 0.5, 0.5, 0.25, 0.25]

    References: Loshchilov and Hutter 2017, https://arxiv.org/abs/1608.03983
    """
    first = checks.number("first_decay_steps", first_decay_steps, checks.positive)
    growth = checks.number("t_mul", t_mul, checks.at_least_one)
    height = checks.number("m_mul", m_mul, checks.at_least_zero)
    floor = checks.number("alpha", alpha, checks.finite)

    def rate(step: float, start: float) -> float:
        restarts, fraction = _restarts(step / first, growth)
        return start * ((1 - floor) * _power(height, restarts) * _half_cosine(fraction) + floor)

    return decayed(cosine_decay_restarts, learning_rate, global_step, rate, first_decay_steps, t_mul, m_mul, alpha)


def linear_cosine_decay(
    learning_rate: Rate,
    global_step: float | Variable,
    decay_steps: float,
    num_periods: float = 0.5,
    alpha: float = 0.0,
    beta: float = 0.001,
    name: str | None = None,
) -> float | Schedule:
    r"""Follow a line times a cosine.

    .. math:: \eta ((\alpha + 1 - s / D) \tfrac12 (1 + \cos 2 \pi n s / D) + \beta), \quad s = \min(step, D)

    Args:
        learning_rate: η.
        global_step: a step, or the Variable that counts steps.
        decay_steps: D; positive.
        num_periods: n, the number of the cosine's periods.
        alpha: α.
        beta: β.
        name: unused.

    >>> linear_cosine_decay(1.0, 50, 100, beta=0.5)
    0.75

    References: Bello et al. 2017, https://arxiv.org/abs/1709.07417
    """
    rate = _linear_cosine(decay_steps, num_periods, alpha, beta, lambda _: 0.0)
    return decayed(linear_cosine_decay, learning_rate, global_step, rate, decay_steps, num_periods, alpha, beta)


def noisy_linear_cosine_decay(
    learning_rate: Rate,
    global_step: float | Variable,
    decay_steps: float,
    initial_variance: float = 1.0,
    variance_decay: float = 0.55,
    num_periods: float = 0.5,
    alpha: float = 0.0,
    beta: float = 0.001,
    name: str | None = None,
    *,
    seed: int | None = None,
) -> float | Schedule:
    r"""`linear_cosine_decay` with noise on the line; the noise fades.

    .. math:: \eta ((\alpha + 1 - s / D + \epsilon) \tfrac12 (1 + \cos 2 \pi n s / D) + \beta), \quad
        \epsilon \sim N(0, v / (1 + s)^w)

    The noise of a step depends on the seed and the step alone: a step always has the same rate, and a resumed run
    continues as it would have. A rate below 0, which TF1 allows, becomes 0 here, since no optimizer accepts it.

    Args:
        learning_rate: η.
        global_step: a step, or the Variable that counts steps.
        decay_steps: D; positive.
        initial_variance: v; at least 0.
        variance_decay: w.
        num_periods: n, the number of the cosine's periods.
        alpha: α.
        beta: β.
        name: unused.
        seed: the seed of the noise; at least 0. If None, a new one for each call of this function.

    >>> from optim import Variable
    >>> step = Variable(3, trainable=False, name="global_step")
    >>> rates = [noisy_linear_cosine_decay(0.1, step, 100, seed=7) for _ in range(2)]
    >>> rates[0]() == rates[1]() != linear_cosine_decay(0.1, step, 100)()
    True

    References: Bello et al. 2017, https://arxiv.org/abs/1709.07417
    """
    variance = checks.number("initial_variance", initial_variance, checks.at_least_zero)
    fading = checks.number("variance_decay", variance_decay, checks.finite)
    source = np.random.SeedSequence(seed)

    def noise(step: float) -> float:
        deviation = math.sqrt(variance / _power(1 + step, fading))
        of_step = np.random.SeedSequence(source.entropy, spawn_key=(int(step),))
        return deviation * np.random.default_rng(of_step).standard_normal()

    exact = _linear_cosine(decay_steps, num_periods, alpha, beta, noise)

    def rate(step: float, start: float) -> float:
        return max(exact(step, start), 0.0)

    known = source.entropy if seed is None else seed  # so that a copy has the same noise
    arguments = decay_steps, initial_variance, variance_decay, num_periods, alpha, beta, known
    return decayed(noisy_linear_cosine_decay, learning_rate, global_step, rate, *arguments)


def _periods(step: float, period: float, staircase: bool) -> float:
    return math.floor(step / period) if staircase else step / period


def _power(base: float, exponent: float) -> float:
    try:
        return float(base**exponent)
    except OverflowError:
        return math.inf  # an optimizer refuses it with an error


def _half_cosine(fraction: float) -> float:
    """From 1 down to 0."""
    return 0.5 * (1 + math.cos(math.pi * fraction))


def _restarts(periods: float, growth: float) -> tuple[int, float]:
    """The number of finished periods, and the fraction of the current one; `periods` is the time in first periods."""
    if growth == 1:
        return math.floor(periods), periods % 1

    def begin(i: int) -> float:
        return (growth**i - 1) / (growth - 1)

    i = math.floor(math.log1p(periods * (growth - 1)) / math.log(growth))
    while periods >= begin(i + 1):  # the logarithms are rounded, but a restart must be at its exact step
        i += 1
    while periods < begin(i):
        i -= 1
    return i, (periods - begin(i)) / growth**i


def _linear_cosine(
    decay_steps: float, num_periods: float, alpha: float, beta: float, noise: Callable[[float], float]
) -> Callable[[float, float], float]:
    period = checks.number("decay_steps", decay_steps, checks.positive)
    waves = checks.number("num_periods", num_periods, checks.finite)
    lift, floor = checks.number("alpha", alpha, checks.finite), checks.number("beta", beta, checks.finite)

    def rate(step: float, start: float) -> float:
        s = min(step, period)
        line = lift + (1 - s / period) + noise(s)
        return start * (line * _half_cosine(2 * waves * s / period) + floor)

    return rate
