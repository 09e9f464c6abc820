"""Optimizer: from gradients to updated variables and a report.

apply_gradients checks everything and only then changes something. What it found goes, as a `Step`, through the
wrappers, outermost first: each may read the gradients' norm, or say how they are to be clipped. The innermost
optimizer runs its rule.
"""

from __future__ import annotations

import contextlib
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from optim import checks
from optim.autodiff.gradients import gradients_of_loss
from optim.checkpoints.state import Entry, check_listed
from optim.kernels.measure import norm_from_squares
from optim.kernels.plain import compute_dtype
from optim.kernels.stats import SQUARES, stats_width
from optim.kernels.threads import ProcessLock
from optim.optimizers import sparse
from optim.optimizers.gradient_checks import checked_pairs
from optim.optimizers.step import Step
from optim.optimizers.targets import Targets, check_slots
from optim.telemetry.report import StepReport, VariableReports
from optim.variable import IndexedSlices, Variable, next_global_step

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from optim.autodiff.backward import AggregationMethod
    from optim.rules import Rule

    Hyperparameter = float | Variable | Callable[[], float]

__all__ = ["Optimizer", "Step"]

_MOST_TARGETS = 16  # of an optimizer that is given ever other variables
_UNLOCKED = contextlib.nullcontext()


class Optimizer:
    """The base of all optimizers, with TF1's interface.

    A concrete optimizer names its rule, and gives the numbers that the rule's formula takes under the formula's names
    for them. Each may be a Variable or a callable, and is then read at each step.

    Slots belong to Variables, so a copy goes on only with Variables that were copied together with it, as by
    `copy.deepcopy((optimizer, variables))`.

    Args:
        rule: the update of one element.
        learning_rate: a number, a Variable, or a callable of no arguments; read at each step; at least 0.
        use_locking: whether several threads may call apply_gradients at once.
        name: the optimizer's name.
        initial: what slots start at that do not start at 0, by name.
        hyperparameters: the others; of the bounds that `checks` has for their names.

    Raises:
        ValueError: the name is empty, or a number out of its bounds.
    """

    GATE_NONE = 0
    GATE_OP = 1
    GATE_GRAPH = 2

    def __init__(
        self,
        rule: Rule,
        learning_rate: Hyperparameter,
        use_locking: bool,
        name: str,
        *,
        initial: Mapping[str, float] | None = None,
        **hyperparameters: Hyperparameter,
    ) -> None:
        if not name:
            raise ValueError(f"name must not be empty, got {name!r}")
        self.rule = rule
        self._name = name
        self._steps = 0
        self._hyper = {"learning_rate": learning_rate, **hyperparameters}
        for key, value in self._hyper.items():
            if not callable(value):
                checked = checks.number(key, value, self._bound(key))
                if isinstance(value, int | float):  # and so not to be read, and checked, at each step
                    self._hyper[key] = checked
        self._initial = dict(initial or {})
        self._slots: dict[str, dict[Variable, Variable]] = {}
        self._slotted: set[Variable] = set()
        self._targets: dict[tuple[Variable, ...], Targets] = {}
        self._lock = ProcessLock() if use_locking else None

    def get_name(self) -> str:
        """The optimizer's name."""
        return self._name

    def get_slot(self, var: Variable, name: str) -> Variable | None:
        """The slot of that name that belongs to `var`; None where there is none, as before its first gradient."""
        return self._slots.get(name, {}).get(var)

    def get_slot_names(self) -> list[str]:
        """The names of all slots that there are, sorted."""
        return sorted(self._slots)

    def variables(self) -> list[Variable]:
        """All that the optimizer remembers, sorted by name: what a checkpoint has to keep beside the model."""
        slots = [slot for of_name in self._slots.values() for slot in of_name.values()]
        return sorted([*self._other_variables(), *slots], key=lambda variable: variable.name)

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
    ) -> StepReport:
        """One step: compute_gradients, and then apply_gradients.

        Args:
            loss: as in `compute_gradients`.
            global_step: a Variable that rises by one after the updates.
            var_list: what to train; None means the trainable Variables that the loss read.
            gate_gradients: as in `compute_gradients`.
            aggregation_method: as in `compute_gradients`.
            colocate_gradients_with_ops: accepted for TF1's sake; unused.
            name: accepted for TF1's sake; unused.
            grad_loss: as in `compute_gradients`.
            report: as in `apply_gradients`.

        Returns:
            What the step did; with the loss, as it was before the update.

        Raises:
            TypeError, ValueError, LookupError: as for `compute_gradients` and `apply_gradients`. Nothing was changed.
            RuntimeError: what the loss used was changed meanwhile, or used in another thread; `gradients` says more,
                and what of this it cannot see.

        >>> from optim import GradientDescentOptimizer
        >>> w = Variable([1.0, 2.0], name="w")
        >>> GradientDescentOptimizer(0.25).minimize(lambda: np.sum(w**2)).loss, w.value
        (5.0, array([0.5, 1. ], dtype=float32))
        """
        _check_gate(gate_gradients)
        pairs, value = gradients_of_loss(loss, var_list, grad_loss, aggregation_method)
        return self._apply(pairs, global_step, report=report, loss=value)

    def compute_gradients(
        self,
        loss: Any,
        var_list: Sequence[Variable] | None = None,
        gate_gradients: int = GATE_OP,
        aggregation_method: AggregationMethod | int | None = None,
        colocate_gradients_with_ops: bool = False,
        grad_loss: Any = None,
    ) -> list[tuple[NDArray[Any] | IndexedSlices | None, Variable]]:
        """The pairs (gradient, variable) that apply_gradients takes.

        Args:
            loss: a callable of no arguments that reads Variables and returns what is to be made small; or a value that
                a GradientTape recorded. Of several elements, the sum.
            var_list: what to differentiate by; None means the trainable Variables that the loss read.
            gate_gradients: GATE_NONE lets a variable be updated while gradients of others are still being computed;
                GATE_OP waits for all gradients of an operation; GATE_GRAPH for all. Here gradients are computed one
                after another, and all before the first update, so that each keeps GATE_GRAPH's promise: the same
                result, bit for bit, from run to run.
            aggregation_method: how the terms of a gradient are added up, see `AggregationMethod`.
            colocate_gradients_with_ops: accepted for TF1's sake; unused.
            grad_loss: the weights of the loss's elements, of its shape; None for ones.

        Returns:
            As `gradients` has them; the gradient is None where the loss does not depend on the variable.

        Raises:
            TypeError: the loss gives no number, or a variable is not of floating dtype.
            ValueError: there are no variables, or `gate_gradients` is none of the three.
            LookupError: an operation of the loss has no gradient.

        >>> from optim import GradientDescentOptimizer
        >>> w = Variable([1.0, 2.0], name="w")
        >>> GradientDescentOptimizer(0.25).compute_gradients(lambda: np.sum(w**2))
        [(array([2., 4.], dtype=float32), Variable('w', shape=(2,), dtype=float32))]
        """
        _check_gate(gate_gradients)
        return gradients_of_loss(loss, var_list, grad_loss, aggregation_method)[0]

    def state(self, variables: Sequence[Variable], stored: Collection[str] | None = None) -> Iterator[Entry]:
        """What a Saver saves or restores beside the variables: slots, counts, and what subclasses add."""
        check_listed(f"the optimizer {self._name!r}", self._slotted, variables)
        slots = dict(self._slots_in(variables, stored))
        yield Entry.of_count(f"{self._name}/steps", self._steps, partial(self._begin_again, slots))
        for variable, names in slots.items():
            for k, name in enumerate(names):
                known = variable in self._slotted
                value = self._holders(variable)[k + 1].value if known else variable.value
                yield Entry(name, value, partial(self._restore_slot, variable, k))

    def _slots_in(
        self, variables: Sequence[Variable], stored: Collection[str] | None
    ) -> Iterator[tuple[Variable, list[str]]]:
        """The variables that have slots here, or in what is stored; and the slots' names."""
        for variable in dict.fromkeys(variables):
            names = [f"{variable.name}/{self._label(k)}" for k in range(len(self.rule.slots))]
            if variable in self._slotted if stored is None else not set(names).isdisjoint(stored):
                yield variable, names

    def _begin_again(self, kept: Collection[Variable], steps: int) -> None:
        """Have made so many steps, and no slots but those of the variables to keep."""
        self._steps = steps
        for variable in self._slotted.difference(kept):
            self._slotted.remove(variable)
            for slot in self.rule.slots:
                del self._slots[slot][variable]
        self._slots = {slot: of_variables for slot, of_variables in self._slots.items() if of_variables}
        self._targets.clear()

    def _restore_slot(self, variable: Variable, k: int, value: NDArray[Any]) -> None:
        self._holders(variable)[k + 1].assign(value)

    def apply_gradients(
        self,
        grads_and_vars: Iterable[tuple[Any, Variable]],
        global_step: Variable | None = None,
        name: str | None = None,
        *,
        report: bool = False,
    ) -> StepReport:
        """Update the variables by their gradients, in place.

        Args:
            grads_and_vars: pairs (gradient, Variable). A gradient is an array of its variable's shape and dtype, of
                any library that gives one to NumPy; or IndexedSlices; or None, and the variable stays as it is. One
                that shares memory with variables or slots is copied first: it counts as it was before the step.
            global_step: a Variable that rises by one after the updates.
            name: accepted for TF1's sake; unused.
            report: whether to measure gradients, weights, updates and slots of each variable, in the same pass.

        Returns:
            What the step did.

        Raises:
            TypeError: a gradient is no array, a variable no Variable, or the global step no integer one. Nothing was
                changed.
            ValueError: no variable has a gradient; a gradient's shape or dtype is not its variable's, or a slot's no
                longer; its indices are out of range; a variable is given twice; a hyperparameter is out of bounds; the
                global step cannot rise. Nothing was changed.
            KeyboardInterrupt, or what else a signal's handler raises: in the midst of an update, it leaves some
                elements updated and others not. The step counts.
        """
        return self._apply(grads_and_vars, global_step, report=report)

    def _apply(
        self,
        grads_and_vars: Iterable[tuple[Any, Variable]],
        global_step: Variable | None,
        *,
        report: bool,
        loss: float | None = None,
    ) -> StepReport:
        """apply_gradients, by a caller who may know the loss."""
        gradients, variables = checked_pairs(grads_and_vars)
        with self._lock.held if self._lock else _UNLOCKED:
            number = self._steps + 1 if global_step is None else next_global_step(global_step)
            step = Step(number, gradients, variables)
            step.detailed = report
            step.loss = loss
            try:
                return self._take(step)
            finally:  # an update that could not be reported was made all the same
                if step.applied:
                    self._steps += 1
                    for variable in variables:
                        variable.version += 1
                    if global_step is not None:
                        global_step.value[...] = number

    def _take(self, step: Step) -> StepReport:
        """Update the step's variables; wrappers do their part and hand the step on."""
        values = {
            key: value if type(value) is float else checks.number(key, value, self._bound(key))
            for key, value in self._hyper.items()
        }
        if step.measured and not step.detailed:
            _ = step.global_norm
        dtypes = {compute_dtype(dtype) for dtype in {gradient.dtype for gradient in step.gradients}}
        with np.errstate(all="ignore"):  # a number that is too large or too small says so by its value
            self._check(dtypes, values)
            targets = self._targets_of(step.variables)
            step.gradients = targets.apart(step.gradients)
            self._begin(dtypes, values)
            try:
                stats = self._update(step, values, targets)
            finally:  # a step that was interrupted has changed the arrays, or some: it counts
                step.applied = True
                self._finish(values)
        return self._report(step, values["learning_rate"], stats)

    def _leave_out(self, report: StepReport) -> None:
        """A wrapper outside did not hand a step on."""

    def _update(self, step: Step, values: dict[str, float], targets: Targets) -> NDArray[Any] | None:
        """float64[variables, width]: the report, in the columns of `stats`; None where nobody asked for it."""
        stats = np.empty((len(step.variables), stats_width(len(self.rule.slots)))) if step.detailed else None
        dense: dict[np.dtype[Any], list[int]] = {}
        for i, gradient in enumerate(step.gradients):
            if isinstance(gradient, IndexedSlices):
                hyper = self._formula_numbers(values, compute_dtype(gradient.dtype))
                row = None if stats is None else stats[i]
                sparse.update_rows(self.rule, gradient, targets.arrays[i], hyper, step.clip, row)
            else:
                dense.setdefault(gradient.dtype, []).append(i)
        for dtype, chosen in dense.items():
            plan = targets.plan(chosen)
            hyper = self._formula_numbers(values, compute_dtype(dtype))
            measured = plan.run([step.gradients[i] for i in chosen], hyper, step.clip, report=step.detailed)  # type: ignore[misc]
            if stats is not None:
                stats[chosen] = measured
        return stats

    def _targets_of(self, variables: Sequence[Variable]) -> Targets:
        """What a step over these variables changes, as an earlier one left it; slots are made where there are none.

        Raises:
            ValueError: a slot does not fit its variable any more. Nothing was changed.
        """
        key = tuple(variables)
        targets = self._targets.get(key)
        if targets is None or not targets.are_current():
            for variable in self._slotted.intersection(variables):
                check_slots(variable, {slot: self._slots[slot][variable] for slot in self.rule.slots})
            if len(self._targets) >= _MOST_TARGETS:
                self._targets.clear()
            targets = self._targets[key] = Targets(self.rule, [self._holders(variable) for variable in variables])
        return targets

    def _holders(self, variable: Variable) -> tuple[Variable, ...]:
        """The variable and its slots, which are made where they are not there yet."""
        if variable not in self._slotted:
            for k, slot in enumerate(self.rule.slots):
                start = np.full_like(variable.value, self._initial.get(slot, 0.0), subok=False)
                made = Variable.wrap(start, trainable=False, name=f"{variable.name}/{self._label(k)}")
                self._slots.setdefault(slot, {}).setdefault(variable, made)  # another thread may be making it too
            self._slotted.add(variable)
        return (variable, *(self._slots[slot][variable] for slot in self.rule.slots))

    def _label(self, k: int) -> str:
        """What the k-th slot's variables are called behind their variable's name; as in TF1, each name once."""
        wanted = [self._slot_label(slot) or self._name for slot in self.rule.slots[: k + 1]]
        before = wanted[:k].count(wanted[k])
        return wanted[k] + (f"_{before}" if before else "")

    def _slot_label(self, slot: str) -> str | None:
        """The same, where the slot has a name of its own."""
        return None

    def _formula_numbers(self, values: Mapping[str, float], dtype: np.dtype[Any]) -> tuple[float, ...]:
        """What the rule's formula takes behind the slots, at this step, for variables that are computed in `dtype`."""
        return tuple(values[name] for name in self.rule.hyperparameters)

    def _check(self, dtypes: set[np.dtype[Any]], values: Mapping[str, float]) -> None:
        """What more there is to refuse, before anything changes; `dtypes` are those that are computed in."""

    def _begin(self, dtypes: set[np.dtype[Any]], values: Mapping[str, float]) -> None:
        """What there is to make before the updates."""

    def _finish(self, values: Mapping[str, float]) -> None:
        """What there is to do after the updates."""

    def _other_variables(self) -> list[Variable]:
        """What is remembered and is no slot."""
        return []

    def _rate(self) -> float:
        """The learning rate now."""
        return checks.number("learning_rate", self._hyper["learning_rate"], self._bound("learning_rate"))

    def _bound(self, name: str) -> checks.Bound:
        return checks.HYPERPARAMETERS[name]

    def _report(self, step: Step, rate: float, stats: NDArray[Any] | None) -> StepReport:
        if stats is None:
            return step.report(rate)
        if not (step.knows_norm or any(isinstance(gradient, IndexedSlices) for gradient in step.gradients)):
            # The norm comes out of the update. Rows of the same index, though, count each for itself in the norm.
            step.know_norm(norm_from_squares(stats[:, SQUARES].tolist(), step.arrays))
        names = [variable.name for variable in step.variables]
        sizes = [variable.value.size for variable in step.variables]
        return step.report(rate, VariableReports(names, sizes, self.rule.slots, stats))


def _check_gate(gate: int) -> None:
    if gate not in (Optimizer.GATE_NONE, Optimizer.GATE_OP, Optimizer.GATE_GRAPH):
        raise ValueError(f"gate_gradients must be GATE_NONE (0), GATE_OP (1) or GATE_GRAPH (2), got {gate!r}")
