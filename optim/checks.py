"""Checks of hyperparameters: types and ranges."""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "HYPERPARAMETERS",
    "Bound",
    "at_least_one",
    "at_least_zero",
    "below_one",
    "constant",
    "finite",
    "integer",
    "number",
    "positive",
    "positive_integer",
    "positive_or_infinite",
    "up_to_one",
]


class Bound:
    """A range that a number must be in, and its description in errors.

    >>> positive("clip_norm", 1)
    1.0
    """

    def __init__(self, text: str, holds: Callable[[float], bool]) -> None:
        self._text = text
        self._holds = holds

    def __call__(self, name: str, value: float) -> float:
        """The value, as a float.

        Raises:
            ValueError: the value is out of range.
        """
        if not self._holds(value):
            raise ValueError(f"{name} must be {self._text}, got {value}")
        return float(value)


positive_or_infinite: Bound = Bound("positive", lambda x: x > 0)
positive: Bound = Bound("positive and finite", lambda x: 0 < x < math.inf)
finite: Bound = Bound("finite", math.isfinite)
at_least_one: Bound = Bound("at least 1 and finite", lambda x: 1 <= x < math.inf)
at_least_zero: Bound = Bound("at least 0 and finite", lambda x: 0 <= x < math.inf)
below_one: Bound = Bound("at least 0 and below 1", lambda x: 0 <= x < 1)
up_to_one: Bound = Bound("from 0 to 1", lambda x: 0 <= x <= 1)
not_above_zero: Bound = Bound("at most 0 and finite", lambda x: -math.inf < x <= 0)

# By the names of the optimizers' arguments. A learning rate of 0 is allowed, since many schedules end there.
HYPERPARAMETERS = {
    "learning_rate": at_least_zero,
    "momentum": at_least_zero,
    "epsilon": at_least_zero,
    "beta1": below_one,
    "beta2": below_one,
    "rho": up_to_one,
    "decay": up_to_one,
    "weight_decay": at_least_zero,
    "l1_regularization_strength": at_least_zero,
    "l2_regularization_strength": at_least_zero,
    "l2_shrinkage_regularization_strength": at_least_zero,
    "learning_rate_power": not_above_zero,
}


def integer(name: str, value: Any) -> int:
    """The value, as an int.

    Raises:
        TypeError: the value is not an integer.
    """
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, got {value!r}") from None


def positive_integer(name: str, value: Any) -> int:
    """The value, as an int.

    Raises:
        TypeError: the value is not an integer.
        ValueError: it is not positive.
    """
    if integer(name, value) < 1:
        raise ValueError(f"{name} must be positive, got {value}")
    return int(value)


def number(name: str, value: Any, bound: Bound) -> float:
    """The current value of a hyperparameter: a number, a Variable, or a callable without arguments that returns one.

    Raises:
        TypeError: the value is not a number.
        ValueError: the value is out of bounds.
    """
    now = value() if callable(value) else value
    return bound(name, _float(name, now, ", a Variable or a callable that returns one"))


def constant(name: str, value: Any, bound: Bound) -> float:
    """The value of a constant number, as a float.

    Raises:
        TypeError: the value is not a number.
        ValueError: the value is out of bounds.
    """
    return bound(name, _float(name, value))


def _float(name: str, value: Any, or_what: str = "") -> float:
    try:
        if isinstance(value, str | bytes):
            raise TypeError  # noqa: TRY301 - float would convert them
        return float(value)
    except OverflowError:  # an integer beyond the range of floats
        return math.inf if value > 0 else -math.inf
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be a number{or_what}, got {type(value).__name__}: {value!r}") from None
