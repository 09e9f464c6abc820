"""ExponentialMovingAverage: smoothed weights, which often evaluate better than the latest ones."""

from __future__ import annotations

import weakref
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from optim import checks, rules
from optim.checkpoints.state import CheckpointArray, check_listed
from optim.kernels.plan import Plan
from optim.variable import FLOATING, NATIVE_FLOATING, Variable

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

__all__ = ["ExponentialMovingAverage"]


class ExponentialMovingAverage:
    r"""Keeps shadows of variables, which follow them smoothly.

    .. math:: shadow \leftarrow shadow - (1 - d)(shadow - v), \quad d = \min(decay, (1 + n) / (10 + n))

    where n is `num_updates`; without it d is `decay`. One pass over memory updates a shadow.

    Args:
        decay: the fraction of the shadow that is kept, from 0 to 1; usually close to 1, such as 0.999.
        num_updates: n, which makes the average follow faster in the beginning: a number, a Variable such as the global
            step, or a callable.
        zero_debias: whether the average of a plain array, whose shadow starts at 0, is divided by the total weight of
            its values, :math:`1 - d^t` after t updates.
        name: the suffix of the shadows' names.

    Raises:
        ValueError: `decay` is out of bounds, or the name is empty.

    >>> w = Variable([0.0], name="w")
    >>> ema = ExponentialMovingAverage(0.75)
    >>> ema.apply([w])
    >>> w.assign([4.0])
    >>> ema.apply([w])
    >>> ema.average(w).value, ema.average_name(w)
    (array([1.], dtype=float32), 'w/ExponentialMovingAverage')
    """

    def __init__(
        self,
        decay: float,
        num_updates: float | Variable | Callable[[], float] | None = None,
        zero_debias: bool = False,
        name: str = "ExponentialMovingAverage",
    ) -> None:
        if not name:
            raise ValueError(f"name must not be empty, got {name!r}")
        self.name = name
        self._decay = checks.number("decay", decay, checks.up_to_one)
        self._num_updates = num_updates
        self._zero_debias = zero_debias
        self._shadows: dict[Variable, Variable] = {}
        self._of_arrays: dict[int, _ArrayShadow] = {}  # by the array's id, during its lifetime
        self._plans: dict[np.dtype[Any], tuple[Plan, list[NDArray[Any]]]] = {}
        self._updates = 0
        self._decay_in_force()  # checks num_updates

    def apply(self, var_list: Iterable[Variable | NDArray[Any]]) -> None:
        """Update the shadows; call it once after each step.

        Args:
            var_list: the Variables and arrays to average. A Variable's shadow starts at its value. A NumPy array's
                starts at 0; an array is identified by its id, so pass the same array with new contents each time.

        Raises:
            TypeError: an item is neither, or is not float16, bfloat16, float32 or float64. Nothing was changed.
            ValueError: an item is given twice, or its shape or dtype has changed. Nothing was changed.
        """
        items = list(var_list)
        for item in items:
            self._check(item)
        if len({id(item) for item in items}) < len(items):
            raise ValueError("var_list must contain each variable once, got one twice")
        decay = self._decay_in_force()
        by_dtype: dict[np.dtype[Any], list[Variable]] = {}
        for item in items:
            if isinstance(item, Variable):
                by_dtype.setdefault(item.dtype, []).append(item)
            else:
                self._of_array(item).follow(item, decay)
        for dtype, variables in by_dtype.items():
            shadows = [self._shadow(variable).value for variable in variables]
            self._plan(dtype, shadows).run([variable.value for variable in variables], [decay])
        self._updates += 1

    def average(self, var: Variable | NDArray[Any]) -> Variable | None:
        """The shadow of a variable or an array.

        Args:
            var: what was given to `apply`.

        Returns:
            A Variable of its shape and dtype, which `apply` updates; None if `apply` has not seen it.
        """
        if isinstance(var, Variable):
            return self._shadows.get(var)
        of_array = self._of_arrays.get(id(var))
        return None if of_array is None else of_array.shadow

    def average_name(self, var: Variable) -> str:
        """The name of the variable's shadow, whether it exists or not.

        Args:
            var: a Variable.
        """
        return f"{var.name}/{self.name}"

    def variables_to_restore(self, moving_avg_variables: Iterable[Variable] | None = None) -> dict[str, Variable]:
        """Name → Variable, for a Saver that loads the averages into the variables themselves.

        Args:
            moving_avg_variables: the variables; by default, all with a shadow. Variables that are trainable or have a
                shadow will get their shadow's value; others, such as the global step, their own.

        Raises:
            ValueError: two of them have the same name.

        >>> w, step = Variable([0.0], name="w"), Variable(0, trainable=False, name="step")
        >>> list(ExponentialMovingAverage(0.9).variables_to_restore([w, step]))
        ['w/ExponentialMovingAverage', 'step']
        """
        variables = list(self._shadows if moving_avg_variables is None else moving_avg_variables)
        averaged = {variable for variable in variables if variable.trainable or variable in self._shadows}
        named = {self.average_name(v) if v in averaged else v.name: v for v in variables}
        if len(named) < len(set(variables)):
            raise ValueError(f"variables must have different names, got {sorted(v.name for v in variables)}")
        return named

    def state(self, variables: Sequence[Variable], stored: Collection[str] | None = None) -> Iterator[CheckpointArray]:
        """The entries that a Saver saves or restores: the variables' shadows, and the number of updates."""
        check_listed(f"the moving average {self.name!r}", self._shadows, variables)
        names = {variable: self.average_name(variable) for variable in variables}
        kept = [v for v, name in names.items() if (v in self._shadows if stored is None else name in stored)]
        yield CheckpointArray.of_count(f"{self.name}/updates", self._updates, partial(self._begin_again, kept))
        for variable in kept:
            shadow = self._shadows.get(variable, variable)  # a new shadow has its variable's shape and dtype
            yield CheckpointArray(names[variable], shadow.value, partial(self._restore, variable))

    def _begin_again(self, kept: Collection[Variable], updates: int) -> None:
        wanted = set(kept)
        self._updates = updates
        self._shadows = {variable: shadow for variable, shadow in self._shadows.items() if variable in wanted}

    def _restore(self, variable: Variable, value: NDArray[Any]) -> None:
        self._shadow(variable).assign(value)

    def _decay_in_force(self) -> float:
        if self._num_updates is None:
            return self._decay
        n = checks.number("num_updates", self._num_updates, checks.at_least_zero)
        return min(self._decay, (1 + n) / (10 + n))

    def _check(self, item: Any) -> None:
        if not isinstance(item, Variable | np.ndarray):
            raise TypeError(f"var_list must hold Variables and NumPy arrays, got {type(item).__name__}: {item!r}")
        if item.dtype not in NATIVE_FLOATING and item.dtype.name not in FLOATING:
            raise TypeError(f"{_called(item)} must be of {', '.join(FLOATING)}, got {item.dtype}")
        shadow = self.average(item)
        if shadow is not None and (shadow.shape, shadow.dtype) != (item.shape, item.dtype):
            before = f"{_called(item)} was {shadow.dtype} of shape {shadow.shape} before"
            raise ValueError(f"{before}, got {item.dtype} of shape {item.shape}")

    def _shadow(self, variable: Variable) -> Variable:
        if variable not in self._shadows:
            start = np.array(variable.value, order="C")
            self._shadows[variable] = Variable.wrap(start, trainable=False, name=self.average_name(variable))
        return self._shadows[variable]

    def _of_array(self, array: NDArray[Any]) -> _ArrayShadow:
        key = id(array)
        if key not in self._of_arrays:
            self._of_arrays[key] = _ArrayShadow(array, self.name, self._zero_debias)
            weakref.finalize(array, self._of_arrays.pop, key, None).atexit = False
        return self._of_arrays[key]

    def _plan(self, dtype: np.dtype[Any], shadows: list[NDArray[Any]]) -> Plan:
        """The plan for these shadows; the last plan is reused if they are the same."""
        plan, arrays = self._plans.get(dtype, (None, []))
        if plan is None or list(map(id, arrays)) != list(map(id, shadows)):
            plan = Plan(rules.MOVING_AVERAGE, [(shadow,) for shadow in shadows])
            self._plans[dtype] = plan, shadows
        return plan


def _called(item: Variable | NDArray[Any]) -> str:
    return repr(item.name) if isinstance(item, Variable) else "the array"


class _ArrayShadow:
    """The shadow of a plain array."""

    def __init__(self, array: NDArray[Any], name: str, debiased: bool) -> None:
        self.shadow = Variable.wrap(np.zeros(array.shape, array.dtype), trainable=False, name=name)
        self._updates = 0
        self._debiased = debiased
        targets = [self.shadow.value, np.zeros(array.shape, array.dtype)] if debiased else [self.shadow.value]
        self._plan = Plan(rules.MOVING_AVERAGE_DEBIASED if debiased else rules.MOVING_AVERAGE, [targets])

    def follow(self, array: NDArray[Any], decay: float) -> None:
        """Update the shadow."""
        self._updates += 1
        self._plan.run([array], [decay, 1 - decay**self._updates] if self._debiased else [decay])
