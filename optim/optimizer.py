"""Optimizer: from gradients to updated variables and a report.

apply_gradients checks everything and only then changes something. What it found goes, as a `Step`, through the
wrappers, outermost first: each may read the gradients' norm or scale them. The innermost optimizer runs its rule.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from optim import kernels
from optim.report import StepReport
from optim.variable import IndexedSlices, Variable
from optim.variable import global_step as read_global_step

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from optim.rules import Rule

__all__ = ["Optimizer", "Step"]


class Step:
    """One step, on its way from the caller's gradients to the update.

    Attributes:
        number: the step's number, from 1.
        gradients: arrays, each of its variable's shape and dtype.
        variables: what they are the gradients of.
        scale: what the update multiplies the gradients by.
        clip_norm: the bound that `scale` keeps, or None.
        clipped: whether the norm was above a bound.
        measured: whether the report is to have the norm, clipping or not.
    """

    def __init__(self, number: int, gradients: list[NDArray[Any]], variables: list[Variable]) -> None:
        self.number = number
        self.gradients = gradients
        self.variables = variables
        self.scale = 1.0
        self.clip_norm: float | None = None
        self.clipped = False
        self.measured = False
        self._global_norm: float | None = None

    @property
    def global_norm(self) -> float:
        """The gradients' L2 norm, before any scaling; computed when first asked for."""
        if self._global_norm is None:
            self._global_norm = kernels.norm(self.gradients)
        return self._global_norm

    def report(self, learning_rate: float) -> StepReport:
        """What is known of the step."""
        if not self.measured and self._global_norm is None:
            return StepReport(self.number, learning_rate)
        norm = self.global_norm
        # A finite norm has no element that is not.
        nonfinite = 0 if np.isfinite(norm) else kernels.count_nonfinite(self.gradients)
        return StepReport(self.number, learning_rate, norm, self.clip_norm, self.clipped, nonfinite)


class Optimizer:
    """The base of all optimizers, with TF1's interface.

    Args:
        rule: the update of one element.
        learning_rate: a number, a Variable, or a callable of no arguments; read at each step.
        use_locking: accepted for TF1's sake.
        name: the optimizer's name.

    Raises:
        ValueError: the name is empty.
    """

    GATE_NONE = 0
    GATE_OP = 1
    GATE_GRAPH = 2

    def __init__(
        self,
        rule: Rule,
        learning_rate: float | Variable | Callable[[], float],
        use_locking: bool,
        name: str,
    ) -> None:
        if not name:
            raise ValueError(f"name must not be empty, got {name!r}")
        self._rule = rule
        self._learning_rate = learning_rate
        self._use_locking = use_locking
        self._name = name
        self._steps = 0

    def get_name(self) -> str:
        """The optimizer's name."""
        return self._name

    def apply_gradients(
        self,
        grads_and_vars: Iterable[tuple[Any, Variable]],
        global_step: Variable | None = None,
        name: str | None = None,
    ) -> StepReport:
        """Update the variables by their gradients, in place.

        Args:
            grads_and_vars: pairs (gradient, Variable). A gradient is an array of its variable's shape and dtype, of
                any library that gives one to NumPy; or None, and the variable stays as it is.
            global_step: a Variable that rises by one after the updates.
            name: accepted for TF1's sake; unused.

        Returns:
            What the step did.

        Raises:
            TypeError: a gradient is no array, or a variable no Variable. Nothing was changed.
            ValueError: no variable has a gradient; a gradient's shape or dtype is not its variable's; a variable is
                given twice. Nothing was changed.
        """
        gradients, variables = _checked(list(grads_and_vars))
        number = self._steps + 1 if global_step is None else read_global_step(global_step) + 1
        report = self._take(Step(number, gradients, variables))
        self._steps += 1
        if global_step is not None:
            global_step.value[...] = number
        return report

    def _take(self, step: Step) -> StepReport:
        """Update the step's variables; wrappers do their part and hand the step on."""
        rate = self._rate()
        report = step.report(rate)
        hyperparameters = self._hyperparameters(rate)
        for gradient, variable in zip(step.gradients, step.variables, strict=True):
            kernels.apply_rule(self._rule, hyperparameters, variable.value, gradient, scale=step.scale)
        return report

    def _hyperparameters(self, learning_rate: float) -> tuple[float, ...]:
        """What the rule's formula takes behind the slots, at this step."""
        return (learning_rate,)

    def _rate(self) -> float:
        rate = self._learning_rate
        return float(rate() if callable(rate) else rate)


def _checked(pairs: list[tuple[Any, Variable]]) -> tuple[list[NDArray[Any]], list[Variable]]:
    """The gradients that there are, as arrays, and their variables; or an error."""
    if not pairs:
        raise ValueError("no variables provided: grads_and_vars is empty")
    gradients: list[NDArray[Any]] = []
    variables: list[Variable] = []
    for gradient, variable in pairs:
        if not isinstance(variable, Variable):
            raise TypeError(f"variable must be a Variable, got {type(variable).__name__}: {variable!r}")
        if gradient is None:
            continue
        if any(variable is other for other in variables):
            raise ValueError(f"variable {variable.name!r} is given twice")
        gradients.append(_gradient_for(variable, gradient))
        variables.append(variable)
    if not variables:
        names = [variable.name for _, variable in pairs]
        raise ValueError(f"no gradients provided for any variable: {names}")
    return gradients, variables


def _gradient_for(variable: Variable, gradient: Any) -> NDArray[Any]:
    what = f"gradient of {variable.name!r}"
    if isinstance(gradient, IndexedSlices):
        raise TypeError(f"{what}: IndexedSlices are not supported yet, got {gradient!r}")
    if not hasattr(gradient, "dtype") or not hasattr(gradient, "shape"):
        raise TypeError(f"{what} must be an array, IndexedSlices or None, got {type(gradient).__name__}: {gradient!r}")
    array = np.asarray(gradient)
    if array.shape != variable.shape:
        raise ValueError(f"{what} must have the variable's shape {variable.shape}, got {array.shape}")
    if array.dtype != variable.dtype:
        raise ValueError(f"{what} must have the variable's dtype {variable.dtype}, got {array.dtype}")
    return array
