"""Optimizer: drives a step, from the loss or the gradients to a report.

`apply_gradients` checks its arguments, takes the lock, numbers the step, and passes it as a `Step` to the
transformations, outermost first, and then to the update, which changes the variables. `base` defines the update.
"""

from __future__ import annotations

import contextlib
from functools import partial
from typing import TYPE_CHECKING, Any

from optim.autodiff.gradients import gradients_of_loss
from optim.optimizers.base import Update
from optim.optimizers.gradient_checks import checked_pairs
from optim.optimizers.step import Step
from optim.variable import next_global_step

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from optim.autodiff.backward import AggregationMethod
    from optim.checkpoints.state import CheckpointArray
    from optim.optimizers.wrappers import Transformation
    from optim.rules import Rule
    from optim.telemetry.report import StepReport
    from optim.variable import IndexedSlices, Variable

__all__ = ["Optimizer"]

_UNLOCKED = contextlib.nullcontext()


class Optimizer:
    """Trains Variables, with TF1's interface: an update, with transformations of each step around it.

    `AdamOptimizer` and the others are this class with a specific update, and so is an optimizer that you write: see
    `Update`. `clip_gradients_by_norm` and the other wrappers return an Optimizer of the same update with one more
    transformation around it, so they can be combined in any order. All of these share the slots, the lock and the step
    count, which the update holds.

    Slots belong to Variables, so a copy works only with Variables that were copied together with it, as by
    `copy.deepcopy((optimizer, variables))`.

    Args:
        update: changes the variables.
        transformations: transform each step before the update runs, outermost first.

    Attributes:
        update: the update.
        transformations: the transformations, as a tuple.

    Raises:
        TypeError: `update` is not an Update.

    >>> from optim import Update, Variable, rules, skip_nonfinite_steps
    >>> optimizer = skip_nonfinite_steps(Optimizer(Update(rules.MOMENTUM, 0.25, "Heavy", momentum=0.9)))
    >>> w = Variable([1.0, 1.0], name="w")
    >>> reports = [optimizer.apply_gradients([(np.float32([g, -g]), w)]) for g in (np.nan, 1.0)]
    >>> w.value, optimizer.skipped_steps
    (array([0.75, 1.25], dtype=float32), 1)
    """

    GATE_NONE = 0
    GATE_OP = 1
    GATE_GRAPH = 2

    def __init__(self, update: Update, transformations: Sequence[Transformation] = ()) -> None:
        if not isinstance(update, Update):
            raise TypeError(f"update must be an Update, got {type(update).__name__}: {update!r}")
        self.update = update
        self.transformations: tuple[Transformation, ...] = tuple(transformations)

    @property
    def rule(self) -> Rule:
        """The update's rule."""
        return self.update.rule

    @property
    def skipped_steps(self) -> int:
        """The number of steps that `skip_nonfinite_steps` has skipped, at any level of the wrappers; 0 without it."""
        return sum(transformation.skipped_steps for transformation in self.transformations)

    @property
    def skipped_in_a_row(self) -> int:
        """The number of consecutive skipped steps, up to the last one; 0 without `skip_nonfinite_steps`."""
        return max((transformation.skipped_in_a_row for transformation in self.transformations), default=0)

    def get_name(self) -> str:
        """The optimizer's name."""
        return self.update.name

    def get_slot(self, var: Variable, name: str) -> Variable | None:
        """The slot of this name of a variable, such as Adam's "m".

        Args:
            var: a Variable that the optimizer updates.
            name: the slot's name; `get_slot_names` lists them.

        Returns:
            A Variable of its shape; None if there is none, as before its first gradient.
        """
        return self.update.get_slot(var, name)

    def get_slot_names(self) -> list[str]:
        """The names of all existing slots, sorted."""
        return self.update.get_slot_names()

    def variables(self) -> list[Variable]:
        """The optimizer's whole state, sorted by name: what a checkpoint needs in addition to the model."""
        return self.update.variables()

    def state(self, variables: Sequence[Variable], stored: Collection[str] | None = None) -> Iterator[CheckpointArray]:
        """What a Saver saves or restores in addition to the variables: the state of the update and the wrappers."""
        yield from self.update.state(variables, stored)
        for transformation in reversed(self.transformations):
            yield from transformation.state_of(self.get_name(), variables, stored)

    def minimize(
        self,
        loss: Any,
        global_step: Variable | None = None,
        var_list: Sequence[Variable] | None = None,
        gate_gradients: int = GATE_OP,
        aggregation_method: AggregationMethod | int | None = None,
        colocate_gradients_with_ops: bool = False,
        name: str | None = None,
        grad_loss: Any = None,
        *,
        report: bool = False,
        diagnostics: bool = False,
    ) -> StepReport:
        """Make one step: compute_gradients, then apply_gradients.

        Args:
            loss: as in `compute_gradients`.
            global_step: a Variable that is incremented by one after the updates.
            var_list: the Variables to train; None means the trainable Variables that the loss read.
            gate_gradients: as in `compute_gradients`.
            aggregation_method: as in `compute_gradients`.
            colocate_gradients_with_ops: accepted for compatibility with TF1; unused.
            name: accepted for compatibility with TF1; unused.
            grad_loss: as in `compute_gradients`.
            report: as in `apply_gradients`.
            diagnostics: as in `apply_gradients`.

        Returns:
            A report of the step, with the loss before the update.

        Raises:
            TypeError, ValueError, LookupError: as for `compute_gradients` and `apply_gradients`. Nothing was changed.
            RuntimeError: an array that the loss used was changed meanwhile, or used in another thread; see `gradients`,
                also for what it cannot detect.

        >>> from optim import GradientDescentOptimizer, Variable
        >>> w = Variable([1.0, 2.0], name="w")
        >>> GradientDescentOptimizer(0.25).minimize(lambda: np.sum(w**2)).loss, w.value
        (5.0, array([0.5, 1. ], dtype=float32))
        """
        _check_gate(gate_gradients)
        pairs, value = gradients_of_loss(loss, var_list, grad_loss, aggregation_method)
        return self._apply(pairs, global_step, report=report, diagnostics=diagnostics, loss=value)

    def compute_gradients(
        self,
        loss: Any,
        var_list: Sequence[Variable] | None = None,
        gate_gradients: int = GATE_OP,
        aggregation_method: AggregationMethod | int | None = None,
        colocate_gradients_with_ops: bool = False,
        grad_loss: Any = None,
    ) -> list[tuple[NDArray[Any] | IndexedSlices | None, Variable]]:
        """Compute the pairs (gradient, variable) that apply_gradients takes.

        Args:
            loss: a callable of no arguments that reads Variables and returns the value to minimize; or a value that a
                GradientTape recorded. Several elements are summed.
            var_list: the Variables to differentiate with respect to; None means the trainable Variables that the loss
                read.
            gate_gradients: GATE_NONE lets a variable be updated while gradients of others are still being computed;
                GATE_OP waits for all gradients of an operation; GATE_GRAPH for all. Here gradients are computed one
                after another, and all before the first update, so each of these has GATE_GRAPH's guarantee: the same
                result, bit for bit, from run to run.
            aggregation_method: how the terms of a gradient are added up, see `AggregationMethod`.
            colocate_gradients_with_ops: accepted for compatibility with TF1; unused.
            grad_loss: the weights of the loss's elements, of its shape; None for ones.

        Returns:
            Pairs, as from `gradients`; a gradient is None if the loss does not depend on the variable.

        Raises:
            TypeError: the loss does not return a number, or a variable does not have a floating dtype.
            ValueError: there are no variables, or `gate_gradients` is not one of the three.
            LookupError: an operation of the loss has no gradient.

        >>> from optim import GradientDescentOptimizer, Variable
        >>> w = Variable([1.0, 2.0], name="w")
        >>> GradientDescentOptimizer(0.25).compute_gradients(lambda: np.sum(w**2))
        [(array([2., 4.], dtype=float32), Variable('w', shape=(2,), dtype=float32))]
        """
        _check_gate(gate_gradients)
        return gradients_of_loss(loss, var_list, grad_loss, aggregation_method)[0]

    def apply_gradients(
        self,
        grads_and_vars: Iterable[tuple[Any, Variable]],
        global_step: Variable | None = None,
        name: str | None = None,
        *,
        report: bool = False,
        diagnostics: bool = False,
    ) -> StepReport:
        """Update the variables in place by their gradients.

        Args:
            grads_and_vars: pairs (gradient, Variable). A gradient is an array of its variable's shape and dtype, of
                any library that NumPy can read; or IndexedSlices; or None, which leaves the variable unchanged. A
                gradient that shares memory with variables or slots is copied before the step.
            global_step: a Variable that is incremented by one after the updates.
            name: accepted for compatibility with TF1; unused.
            report: whether to measure gradients, weights, updates and slots of each variable, in the same pass.
            diagnostics: whether to measure these, and what the optimizer's own theory says of the step.

        Returns:
            A report of the step.

        Raises:
            TypeError: a gradient is not an array, a variable is not a Variable, or the global step is not an integer
                Variable. Nothing was changed.
            ValueError: no variable has a gradient; a gradient's shape or dtype is not its variable's, or a slot's no
                longer is; indices are out of range; a variable is given twice; a hyperparameter is out of bounds; the
                global step cannot be incremented. Nothing was changed.
            KeyboardInterrupt, or another exception raised by a signal handler: if it interrupts an update, some
                elements are updated and others are not. The step counts.
        """
        return self._apply(grads_and_vars, global_step, report=report, diagnostics=diagnostics)

    def _apply(
        self,
        grads_and_vars: Iterable[tuple[Any, Variable]],
        global_step: Variable | None,
        *,
        report: bool,
        diagnostics: bool = False,
        loss: float | None = None,
    ) -> StepReport:
        """Implement apply_gradients; `loss` is the loss, if known."""
        gradients, variables = checked_pairs(grads_and_vars)
        update = self.update
        with update.lock.held if update.lock else _UNLOCKED:
            number = update.steps + 1 if global_step is None else next_global_step(global_step)
            step = Step(
                number,
                gradients,
                variables,
                update.hyperparameters(),
                report or diagnostics,
                loss,
                diagnosed=diagnostics,
            )
            try:
                return self._hand_on(self.transformations, step)
            finally:  # an update counts even if it was interrupted or could not be reported
                if step.applied:
                    update.steps += 1
                    for variable in variables:
                        variable.version += 1
                        if variable.constraint is not None:
                            variable.value[...] = variable.constraint(variable.value)
                    if global_step is not None:
                        global_step.value[...] = number

    def _hand_on(self, inside: tuple[Transformation, ...], step: Step) -> StepReport:
        """Pass the step to the outermost of these transformations, or to the update if there are none."""
        if step.skipped:
            report = step.report()
            for transformation in inside:
                transformation.left_out(report)
            return report
        if not inside:
            return self.update.run(step)
        return inside[0].take(step, partial(self._hand_on, inside[1:]))


def _check_gate(gate: int) -> None:
    if gate not in (Optimizer.GATE_NONE, Optimizer.GATE_OP, Optimizer.GATE_GRAPH):
        raise ValueError(f"gate_gradients must be GATE_NONE (0), GATE_OP (1) or GATE_GRAPH (2), got {gate!r}")
