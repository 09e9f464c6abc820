"""Update: a rule applied to Variables, with its slots and hyperparameters."""

from __future__ import annotations

import math
import operator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from optim import checks
from optim.checkpoints.state import CheckpointArray, check_listed
from optim.kernels.measure import norm_from_squares
from optim.kernels.plain import compute_dtype
from optim.kernels.stats import SQUARES, stats_width
from optim.kernels.threads import ProcessLock
from optim.optimizers import sparse
from optim.optimizers.diagnostics import Sample
from optim.optimizers.targets import Targets, check_slots
from optim.telemetry.report import StepReport, VariableReports
from optim.variable import IndexedSlices, Variable

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from numpy.typing import NDArray

    from optim.optimizers.step import Step
    from optim.rules import Rule

    Hyperparameter = float | Variable | Callable[[], float]

__all__ = ["Update"]

_MOST_TARGETS = 16  # bounds the memory of an optimizer that gets different variables at every step


class Update:
    """A rule applied to Variables, with its slots and hyperparameters. An `Optimizer` drives it.

    To write an optimizer, write its formula as a `Rule`. If the formula takes the hyperparameters unchanged and under
    the same names, that is all, as below. Otherwise override some of these hooks, as examples/own_optimizer.py does:

    - `formula_numbers`: the numbers that the formula takes, such as a rate corrected by the step count.
    - `check`: reject a step before anything has changed.
    - `prepare`: set up what the step needs, after all checks.
    - `finish`: called after the updates.
    - `bound`: the range of a hyperparameter.
    - `diagnose`: what the optimizer's theory says of a step.
    - `start`: the initial value of a slot.
    - `other_variables`, `state`, `keep_only`: state other than the slots, and how it is saved.

    In hooks, `values` are the hyperparameters in force at this step, by name. `dtypes` are the dtypes that the step
    computes in: float32 for variables of float16 and bfloat16, else the variables' own.

    Args:
        rule: the update of one element.
        learning_rate: a number, a Variable, or a callable of no arguments, which is read at each step; at least 0.
        name: the optimizer's name.
        use_locking: whether several threads may call apply_gradients at once.
        initial: the slots' initial values by slot name; by default 0.
        labels: by slot name, the suffixes of the names of the slots' Variables, after their variable's name; for None,
            and by default, the optimizer's name.
        hyperparameters: the other hyperparameters, by name; within `bound`. Each may be a Variable or a callable.

    Attributes:
        rule: the rule.
        rule_of_rows: the rule for sparse gradients.
        slots: the names of all slots: the rule's, and after them those that only an override uses.
        name: the optimizer's name.
        steps: the number of steps made; during a step, the number before it.
        lock: held during a step; None without `use_locking`.

    Raises:
        ValueError: the name is empty, or a number is out of bounds.
        TypeError: a hyperparameter is not a number, a Variable or a callable.

    >>> from optim import Optimizer, Rule
    >>> def signs(g, v, a, learning_rate, momentum):
    ...     a = momentum * a + (1 - momentum) * g
    ...     return v - learning_rate * np.sign(a), a
    >>> rule = Rule(signs, ("momentum",), "Bernstein et al. 2018, https://arxiv.org/abs/1802.04434", moves_at_rest=True)
    >>> optimizer = Optimizer(Update(rule, 0.5, "Signum", momentum=0.9))
    >>> w = Variable([1.0, 1.0], name="w")
    >>> report = optimizer.apply_gradients([(np.float32([1e-3, -1e3]), w)])
    >>> w.value, optimizer.get_slot(w, "momentum")
    (array([0.5, 1.5], dtype=float32), Variable('w/Signum', shape=(2,), dtype=float32))
    """

    def __init__(
        self,
        rule: Rule,
        learning_rate: Hyperparameter,
        name: str,
        use_locking: bool = False,
        *,
        initial: Mapping[str, float] | None = None,
        labels: Mapping[str, str | None] | None = None,
        **hyperparameters: Hyperparameter,
    ) -> None:
        if not name:
            raise ValueError(f"name must not be empty, got {name!r}")
        self.rule = rule
        self.slots: tuple[str, ...] = rule.slots
        self.rule_of_rows = rule
        self.name = name
        self.steps: int = 0
        self.lock: ProcessLock | None = ProcessLock() if use_locking else None
        self._constants: dict[str, float] = {}
        self._changing: dict[str, Hyperparameter] = {}
        for key, value in {"learning_rate": learning_rate, **hyperparameters}.items():
            checked = math.nan if callable(value) else checks.number(key, value, self.bound(key))
            if isinstance(value, int | float):
                self._constants[key] = checked
            else:
                self._changing[key] = value
        self._initial = dict(initial or {})
        self._labels = dict(labels or {})
        self._slots: dict[str, dict[Variable, Variable]] = {}
        self._slotted: set[Variable] = set()
        self._targets: dict[tuple[Variable, ...], Targets] = {}

    # Hooks.

    def bound(self, name: str) -> checks.Bound:
        """The range of a hyperparameter.

        Args:
            name: its name; if it is unknown, any finite number is allowed by default.
        """
        return checks.HYPERPARAMETERS.get(name, checks.finite)

    def check(self, values: Mapping[str, float], dtypes: AbstractSet[np.dtype[Any]]) -> None:
        """Reject a step with an exception, before anything has changed.

        Args:
            values: hyperparameter → its value at this step.
            dtypes: the dtypes in which the step's variables are computed.
        """

    def prepare(self, values: Mapping[str, float], dtypes: AbstractSet[np.dtype[Any]]) -> None:
        """Set up what the step needs; called before the updates, after all checks.

        Args:
            values: hyperparameter → its value at this step.
            dtypes: the dtypes in which the step's variables are computed.
        """

    def formula_numbers(self, values: Mapping[str, float], dtype: np.dtype[Any]) -> tuple[float, ...]:
        """The numbers that the formula takes after the slots, for variables that are computed in `dtype`.

        By default, each comes from `values` by the formula's name for it. An override adds those that `values` lacks,
        and calls this.

        Raises:
            LookupError: `values` lacks one.
        """
        try:
            return tuple([values[name] for name in self.rule.hyperparameters])
        except KeyError as error:
            raise LookupError(
                f"the formula of {self.name!r} takes {error}, which must be a hyperparameter or come from"
                f" formula_numbers; got {', '.join(values)}"
            ) from None

    def start(self, variable: Variable, slot: str) -> NDArray[Any]:
        """A new array with the initial value of a variable's slot.

        Args:
            variable: the Variable.
            slot: the slot's name.
        """
        return np.full_like(variable.value, self._initial.get(slot, 0.0), subok=False)

    def diagnose(self, step: Step, sample: Callable[[], Sample]) -> None:
        """Note in `step.seen` what the optimizer's theory says of each variable, after its update.

        Args:
            step: the step.
            sample: makes a sample of the gradients and the slots.
        """

    def finish(self, values: Mapping[str, float]) -> None:
        """Finish the step after the updates; also called after an interrupted step, which counts.

        Args:
            values: hyperparameter → its value at this step.
        """

    def other_variables(self) -> list[Variable]:
        """The update's state other than its slots."""
        return []

    def state(self, variables: Sequence[Variable], stored: Collection[str] | None = None) -> Iterator[CheckpointArray]:
        """What a Saver saves or restores: the step count, and the slots. An override yields these first.

        Args:
            variables: as for `Stateful.state`.
            stored: as for `Stateful.state`.
        """
        check_listed(f"the optimizer {self.name!r}", self._slotted, variables)
        slots = self._slots_in(variables, stored)
        yield CheckpointArray.of_count(f"{self.name}/steps", self.steps, partial(self._restart, list(slots)))
        for variable, names in slots.items():
            for k, name in enumerate(names):
                slot = self.get_slot(variable, self.slots[k])
                value = self.start(variable, self.slots[k]) if slot is None else slot.value
                yield CheckpointArray(name, value, partial(self._restore_slot, variable, k))

    def keep_only(self, variables: Collection[Variable]) -> None:
        """Forget all state of other variables. A restore begins with this.

        Args:
            variables: those whose state is kept.
        """
        for variable in self._slotted.difference(variables):
            self._slotted.remove(variable)
            for slot in self.slots:
                del self._slots[slot][variable]
        self._slots = {slot: of_variables for slot, of_variables in self._slots.items() if of_variables}
        self._targets.clear()

    # For hooks and optimizers to call.

    def slotted(self, variables: Sequence[Variable], stored: Collection[str] | None = None) -> list[Variable]:
        """The variables that have slots.

        Args:
            variables: those to choose from.
            stored: the names of a checkpoint's arrays, among which slots are looked for; None looks here.
        """
        return list(self._slots_in(variables, stored))

    def hyperparameters(self) -> dict[str, float]:
        """The hyperparameters in force now, by name.

        Raises:
            TypeError, ValueError: a Variable's or a callable's value is not a number within `bound`.
        """
        values = self._constants.copy()
        for name, value in self._changing.items():
            values[name] = checks.number(name, value, self.bound(name))
        return values

    def get_slot(self, variable: Variable, name: str) -> Variable | None:
        """A variable's slot; None if there is none.

        Args:
            variable: the Variable.
            name: the slot's name.
        """
        return self._slots.get(name, {}).get(variable)

    def get_slot_names(self) -> list[str]:
        """The names of all existing slots, sorted."""
        return sorted(self._slots)

    def variables(self) -> list[Variable]:
        """Slots and `other_variables`, sorted by name."""
        slots = [slot for of_name in self._slots.values() for slot in of_name.values()]
        return sorted([*self.other_variables(), *slots], key=lambda variable: variable.name)

    def run(self, step: Step) -> StepReport:
        """Update the step's variables, and return a report.

        Raises:
            ValueError: `check` rejected the step, or a slot no longer fits its variable. Nothing was changed.
        """
        if step.measured and not step.detailed:
            _ = step.global_norm
        if not step.variables:  # a transformation has left them all out
            step.applied = True
            return step.report()
        values = step.hyperparameters
        by_dtype = step.arrays.by_dtype()
        computed_in = [compute_dtype(dtype) for dtype in by_dtype]
        dtypes = set(computed_in)
        with np.errstate(all="ignore"):  # overflow and underflow show in the values
            self.check(values, dtypes)
            targets = self._targets_of(step.variables)
            step.gradients = targets.apart(step.gradients)
            self.prepare(values, dtypes)
            numbers = [self.formula_numbers(values, dtype) for dtype in computed_in]
            try:
                stats = self._move(step, targets, zip(by_dtype.values(), numbers, strict=True))
                if step.diagnosed:
                    self.diagnose(step, lambda: Sample(step, targets.arrays, self.rule.slots))
            finally:  # an interrupted step has changed some of the arrays: it counts
                step.applied = True
                self.finish(values)
        return self._report(step, targets, stats)

    def _move(
        self, step: Step, targets: Targets, groups: Iterable[tuple[list[int], tuple[float, ...]]]
    ) -> NDArray[Any] | None:
        """Run the rule.

        Args:
            step: the step.
            targets: the arrays that it changes.
            groups: for each dtype, the indices of its gradients, and the formula's numbers for them.

        Returns:
            float64[variables, width]: the measurements, as defined in `stats`; None if the step is not detailed.
        """
        gradients, detailed = step.gradients, step.detailed
        stats = np.empty((len(gradients), stats_width(len(self.rule.slots)))) if detailed else None
        for chosen, numbers in groups:
            slices = {i: gradient for i in chosen if isinstance(gradient := gradients[i], IndexedSlices)}
            for i, gradient in slices.items():
                row = None if stats is None else stats[i]
                sparse.update_rows(self.rule_of_rows, gradient, targets.arrays[i], numbers, step.clip, row)
            dense = [i for i in chosen if i not in slices] if slices else chosen
            if len(dense) == len(gradients):  # as it usually is
                return targets.plan(dense).run(step.arrays, numbers, step.clip, report=detailed)
            if dense:
                arrays = [step.arrays[i] for i in dense]
                measured = targets.plan(dense).run(arrays, numbers, step.clip, report=detailed)
                if stats is not None:
                    stats[dense] = measured
        return stats

    def _report(self, step: Step, targets: Targets, stats: NDArray[Any] | None) -> StepReport:
        if stats is None:
            return step.report()
        if step.known_norm is None and all(map(operator.is_, step.arrays, step.gradients)):
            # The update has measured the norm. (In a norm, sparse rows of the same index count apart.)
            step.known_norm = norm_from_squares(stats[:, SQUARES].tolist(), step.arrays)
        names = [variable.name for variable in step.variables]
        return step.report(VariableReports(names, targets.sizes, self.rule.slots, stats, seen=step.seen))

    def _targets_of(self, variables: Sequence[Variable]) -> Targets:
        """The Targets of a step over these variables, cached from an earlier step; missing slots are created.

        Raises:
            ValueError: a slot no longer fits its variable. Nothing was changed.
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
        """The variable and its slots, which are created if they do not exist yet."""
        if variable not in self._slotted:
            for k, slot in enumerate(self.slots):
                made = Variable.wrap(
                    self.start(variable, slot), trainable=False, name=f"{variable.name}/{self._label(k)}"
                )
                self._slots.setdefault(slot, {}).setdefault(variable, made)  # another thread may be creating it too
            self._slotted.add(variable)
        return (variable, *(self._slots[slot][variable] for slot in self.rule.slots))

    def _label(self, k: int) -> str:
        """The suffix of the names of the k-th slot's Variables; unique for each slot, as in TF1."""
        wanted = [self._labels.get(slot) or self.name for slot in self.slots[: k + 1]]
        before = wanted[:k].count(wanted[k])
        return wanted[k] + (f"_{before}" if before else "")

    def _slots_in(self, variables: Sequence[Variable], stored: Collection[str] | None) -> dict[Variable, list[str]]:
        """The variables that have slots, in `stored`, or here if it is None, with their slots' names."""
        slots: dict[Variable, list[str]] = {}
        for variable in variables:
            names = [f"{variable.name}/{self._label(k)}" for k in range(len(self.slots))]
            if variable in self._slotted if stored is None else not set(names).isdisjoint(stored):
                slots[variable] = names
        return slots

    def _restart(self, kept: Collection[Variable], steps: int) -> None:
        self.keep_only(kept)
        self.steps = steps

    def _restore_slot(self, variable: Variable, k: int, value: NDArray[Any]) -> None:
        self._holders(variable)
        self._slots[self.slots[k]][variable].assign(value)
