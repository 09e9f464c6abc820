"""Learning rates that follow the step: the Schedule, warm-up, and sequences of rates.

Every function here and in `decays` takes a step and returns the rate at that step; or it takes the Variable that counts
steps and returns a Schedule, which an optimizer evaluates at each step. Functions that take a rate also take a
Schedule, so they compose:

    linear_warmup(cosine_decay(0.1, step, 10_000), step, 500)
"""

from __future__ import annotations

from functools import partial
from inspect import signature
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from optim import checks
from optim.variable import Variable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Rate = float | Variable | Callable[[], float]  # a Schedule is such a callable

__all__ = ["Schedule", "decayed", "join_schedules", "linear_warmup", "piecewise_constant"]


class Schedule:
    """A rate that follows a Variable: called without arguments, as optimizers do, it returns the current rate.

    The functions of this module and of `decays` create Schedules.

    Args:
        text: its repr.
        global_step: the Variable that counts steps.
        at: step → rate.
        bound: what a step can be.
        made: makes another one, as a copy and a pickle do; None if only this one can be.

    >>> from optim import exponential_decay
    >>> step = Variable(0, trainable=False, name="global_step")
    >>> rate = exponential_decay(0.5, step, 10, 0.5, staircase=True)
    >>> step.assign(25)
    >>> rate(), rate.at(30)
    (0.125, 0.0625)
    >>> rate
    exponential_decay(0.5, 'global_step', decay_steps=10, decay_rate=0.5, staircase=True)
    """

    def __init__(
        self,
        text: str,
        global_step: Variable,
        at: Callable[[float], float],
        bound: checks.Bound = checks.at_least_zero,
        made: partial[float | Schedule] | None = None,
    ) -> None:
        self._text, self._bound, self._made = text, bound, made
        self._global_step = global_step
        self._at = at

    def __reduce__(self) -> str | tuple[Any, ...]:
        if self._made is None:
            return object.__reduce_ex__(self, 2)
        return _called, (self._made.func, self._made.args, self._made.keywords)  # a copy copies these, not a function

    def at(self, step: float) -> float:
        """The rate at any step, for example to plot it before training.

        Args:
            step: the step, at least 0; it may be a fraction. That of `piecewise_constant` may be negative, too.
        """
        return self._at(_checked_step(step, self._bound))

    def __call__(self) -> float:
        """The rate at the Variable's current step."""
        return self.at(self._global_step.value.item())

    def __float__(self) -> float:
        return self()

    def __repr__(self) -> str:
        return self._text


def linear_warmup(
    learning_rate: Rate, global_step: float | Variable, warmup_steps: float, start_factor: float = 0.0
) -> float | Schedule:
    r"""A rate that rises linearly to the given rate, and equals it from `warmup_steps` on.

    .. math:: \eta(step) \cdot (f + (1 - f) \min(step / warmup\_steps, 1))

    Args:
        learning_rate: η: a number, a Variable, a callable, or a Schedule, which advances during the warm-up.
        global_step: a step, or the Variable that counts steps.
        warmup_steps: positive.
        start_factor: f, the fraction of the rate at step 0, from 0 to 1.

    Returns:
        The rate at that step; for a Variable, a Schedule.

    Raises:
        TypeError: `global_step` is neither a number nor a Variable of one number.
        ValueError: an argument is out of bounds.

    >>> [linear_warmup(0.4, step, 4) for step in (0, 1, 2, 4, 100)]
    [0.0, 0.1, 0.2, 0.4, 0.4]

    References: Goyal et al. 2017, https://arxiv.org/abs/1706.02677
    """
    length = checks.number("warmup_steps", warmup_steps, checks.positive)
    first = checks.number("start_factor", start_factor, checks.up_to_one)

    def rate(step: float, full: float) -> float:
        return full * (first + (1 - first) * min(step / length, 1.0))

    return decayed(linear_warmup, learning_rate, global_step, rate, warmup_steps, start_factor)


def piecewise_constant(
    x: float | Variable, boundaries: Sequence[float], values: Sequence[Rate], name: str | None = None
) -> float | Schedule:
    """The first value up to and including the first boundary, the second up to and including the second, and so on.

    Args:
        x: a number, which may be negative, or the Variable that counts steps; TF1's name for it.
        boundaries: the last step of each value but the last; increasing; integers if x is one.
        values: rates; one more than boundaries.
        name: accepted for compatibility with TF1; unused.

    Raises:
        ValueError: the number of values is wrong, the boundaries do not increase, or they are fractional and x is not.

    >>> [piecewise_constant(step, [10, 20], [1.0, 0.5, 0.1]) for step in (0, 10, 11, 20, 21)]
    [1.0, 1.0, 0.5, 0.5, 0.1]
    """
    limits, rates = _increasing(boundaries), [_rate_at(value) for value in values]
    if len(rates) != len(limits) + 1:
        raise ValueError(f"values must be one more than boundaries, {len(limits) + 1}, got {len(rates)}")
    if np.asarray(x).dtype.kind in "iu" and np.asarray(boundaries).dtype.kind == "f" and len(limits):
        raise ValueError(f"boundaries must be integers, as x is, got {list(boundaries)}")

    def at(step: float) -> float:
        return rates[sum(limit < step for limit in limits)](step)

    given = {"boundaries": list(boundaries), "values": list(values)}
    return _evaluated(piecewise_constant, x, at, bound=checks.finite, **given)


def join_schedules(
    schedules: Sequence[Rate], boundaries: Sequence[float], global_step: float | Variable
) -> float | Schedule:
    """One schedule after another: each begins at its own step 0 where the previous one ends.

    Args:
        schedules: Schedules and constant rates.
        boundaries: the steps at which the second, the third, … begins; one fewer than schedules.
        global_step: a step, or the Variable that counts steps.

    Returns:
        The rate at that step; for a Variable, a Schedule.

    Raises:
        TypeError: `global_step` is neither a number nor a Variable of one number.
        ValueError: the number of schedules is wrong, or the boundaries do not increase.

    >>> from optim import cosine_decay, polynomial_decay
    >>> step = Variable(0, trainable=False, name="global_step")
    >>> warmup = polynomial_decay(0.0, step, 10, end_learning_rate=0.4)
    >>> rate = join_schedules([warmup, cosine_decay(0.4, step, 100)], [10], step)
    >>> [round(rate.at(step), 6) for step in (0, 5, 10, 60, 110)]
    [0.0, 0.2, 0.4, 0.2, 0.0]
    """
    starts, rates = [0.0, *_increasing(boundaries)], [_rate_at(schedule) for schedule in schedules]
    if len(rates) != len(starts):
        raise ValueError(f"schedules must be one more than boundaries, {len(starts)}, got {len(rates)}")

    def at(step: float) -> float:
        i = max(0, sum(start <= step for start in starts) - 1)
        return rates[i](step - starts[i])

    return _evaluated(join_schedules, global_step, at, list(schedules), boundaries=list(boundaries))


def decayed(
    function: Callable[..., float | Schedule],
    learning_rate: Rate,
    global_step: float | Variable | None,
    rate: Callable[[float, float], float],
    *arguments: Any,
) -> float | Schedule:
    """A schedule that modifies another schedule or a number.

    Args:
        function: the public function.
        learning_rate: the rate to modify: its first argument.
        global_step: a step, or the Variable that counts steps: its second.
        rate: (step, learning rate at that step) → rate.
        arguments: its others, in order, without `name`.
    """
    start = _rate_at(learning_rate)
    names = [name for name in list(signature(function).parameters)[2:] if name != "name"]
    shown = dict(zip(names, arguments, strict=True))
    return _evaluated(function, global_step, lambda step: rate(step, start(step)), learning_rate, **shown)


def _evaluated(
    function: Callable[..., float | Schedule],
    global_step: float | Variable | None,
    at: Callable[[float], float],
    *rates: Any,
    bound: checks.Bound = checks.at_least_zero,
    **arguments: Any,
) -> float | Schedule:
    """The value of `at` at this step, or its Schedule for this Variable; the others are the function's arguments."""
    name = function.__name__
    if global_step is None:
        raise ValueError(f"global_step is required for {name}, got None")
    if not isinstance(global_step, Variable):
        return at(_checked_step(global_step, bound))
    if global_step.value.size != 1:
        raise TypeError(f"global_step must be one number, got a Variable of shape {global_step.shape}")
    shown = [*map(repr, rates), repr(global_step.name), *(f"{key}={value!r}" for key, value in arguments.items())]
    step = "global_step" if "global_step" in signature(function).parameters else "x"
    made = partial(function, *rates, **{step: global_step}, **arguments)
    return Schedule(f"{name}({', '.join(shown)})", global_step, at, bound, made)


def _called(function: Callable[..., object], arguments: tuple[Any, ...], keywords: dict[str, Any]) -> object:
    return function(*arguments, **keywords)


def _rate_at(rate: Rate) -> Callable[[float], float]:
    """Step → rate: a Schedule's own function; for anything else its current value, whatever the step."""
    if isinstance(rate, Schedule):
        return rate.at
    if not callable(rate) and not isinstance(rate, Variable):
        number = checks.number("learning_rate", rate, checks.finite)
        return lambda _: number
    return lambda _: checks.number("learning_rate", rate, checks.finite)


def _increasing(boundaries: Sequence[float]) -> list[float]:
    """The boundaries as numbers.

    Raises:
        ValueError: they do not increase.
    """
    numbers = [checks.number("boundaries", boundary, checks.finite) for boundary in boundaries]
    if any(above <= below for below, above in pairwise(numbers)):
        raise ValueError(f"boundaries must increase, got {list(boundaries)}")
    return numbers


def _checked_step(step: Any, bound: checks.Bound) -> float:
    try:
        return bound("global_step", step.item() if hasattr(step, "item") else step)
    except TypeError:
        raise TypeError(f"global_step must be a number or a Variable, got {type(step).__name__}: {step!r}") from None
