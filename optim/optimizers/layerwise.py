"""LayerwiseUpdate: an update that looks at a variable as a whole, its norm or its matrix, before the elements move."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from optim.kernels.measure import measure
from optim.kernels.plain import compute_dtype
from optim.kernels.plan import Plan
from optim.kernels.scale_and_bounds import AS_IT_IS
from optim.kernels.stats import OF_GRADIENT, SLOTS, SQUARES, ZEROS, stats_width
from optim.optimizers.base import Update
from optim.optimizers.sparse import update_rows
from optim.variable import IndexedSlices

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from optim.kernels.scale_and_bounds import Clip
    from optim.optimizers.base import Hyperparameter
    from optim.optimizers.step import Step
    from optim.optimizers.targets import Targets
    from optim.rules import Rule
    from optim.variable import Variable

__all__ = ["Layer", "LayerwiseUpdate", "Move", "run_rule"]


class Layer(NamedTuple):
    """One variable in a step; one number is an array of one element.

    Attributes:
        variable: the Variable, whose name and shape an optimizer may ask for.
        gradient: clipped, of the variable's shape, in the dtype of the arithmetic; not to be modified.
        value: the variable's array.
        slots: the array of each slot; those that are not the rule's are changed in place.
        measures: whether a pass over the gradient should measure it: the report has nothing else to go by.
    """

    variable: Variable
    gradient: NDArray[Any]
    value: NDArray[Any]
    slots: Mapping[str, NDArray[Any]]
    measures: bool = False


class Move(NamedTuple):
    """How a layer moves.

    Attributes:
        gradient: what the rule takes as the gradient.
        numbers: the hyperparameters that differ from the step's, by name.
        seen: what the optimizer's theory says of the layer, by name; it goes into the report.
        measured: the columns of `stats` of a rule's run over the layer's gradient, if there was one with a report.
    """

    gradient: NDArray[Any]
    numbers: Mapping[str, float] = {}
    seen: Mapping[str, float] = {}
    measured: NDArray[np.float64] | None = None


class LayerwiseUpdate(Update):
    """An update that computes each variable's direction from the whole gradient; a rule then moves the elements.

    A sparse gradient counts as the whole array that it represents, unless `moves_rows`.

    Args:
        rule: the update of one element, which takes the direction as its gradient.
        learning_rate: as for `Update`.
        name: as for `Update`.
        use_locking: as for `Update`.
        kept: the names of slots other than the rule's: of any shape, as `start` makes them, in the dtype of the
            arithmetic.
        initial: as for `Update`.
        hyperparameters: as for `Update`.

    Attributes:
        moves_rows: whether a sparse gradient is left to the rule alone, which moves the rows that it names.
    """

    moves_rows = False

    def __init__(
        self,
        rule: Rule,
        learning_rate: Hyperparameter,
        name: str,
        use_locking: bool = False,
        *,
        kept: tuple[str, ...] = (),
        initial: Mapping[str, float] | None = None,
        **hyperparameters: Hyperparameter,
    ) -> None:
        super().__init__(rule, learning_rate, name, use_locking, initial=initial, labels=None, **hyperparameters)
        self.slots: tuple[str, ...] = (*rule.slots, *kept)

    def start(self, variable: Variable, slot: str) -> NDArray[Any]:
        """A new slot: the rule's are as the variable; others have its shape, in the dtype of the arithmetic."""
        if slot in self.rule.slots:
            return super().start(variable, slot)
        return np.full(variable.shape, self._initial.get(slot, 0.0), compute_dtype(variable.dtype))

    def move(self, layer: Layer, values: Mapping[str, float], *, diagnosed: bool) -> Move:
        """How this layer moves.

        Args:
            layer: the variable, its gradient and slots.
            values: hyperparameter → its value at this step.
            diagnosed: whether `seen` is wanted.
        """
        raise NotImplementedError  # each optimizer has its own

    def look(self, layers: list[Layer], values: Mapping[str, float]) -> None:
        """Called before the first layer moves.

        Args:
            layers: all of the step.
            values: hyperparameter → its value at this step.
        """

    def _move(
        self, step: Step, targets: Targets, groups: Iterable[tuple[list[int], tuple[float, ...]]]
    ) -> NDArray[Any] | None:
        values = step.hyperparameters
        stats = np.zeros((len(step.variables), stats_width(len(self.rule.slots)))) if step.detailed else None
        rows = {i: g for i, g in enumerate(step.gradients) if self.moves_rows and isinstance(g, IndexedSlices)}
        layers = {i: self._layer(step, i, targets) for i in range(len(step.variables)) if i not in rows}
        self.look(list(layers.values()), values)
        unmeasured = [
            i
            for i, layer in layers.items()
            if not self._move_layer(step, i, layer, targets, None if stats is None else stats[i])
        ]
        if stats is not None and unmeasured:  # all at once: a call for each costs half as much again
            given = [
                layer.gradient if layer.measures else _whole(step.gradients[i], layer.value.shape, AS_IT_IS)
                for i, layer in ((i, layers[i]) for i in unmeasured)
            ]
            stats[np.ix_(unmeasured, OF_GRADIENT)] = measure(given, are_gradients=True)[:, OF_GRADIENT]
        for i, gradient in rows.items():
            numbers = self.formula_numbers(values, compute_dtype(targets.arrays[i][0].dtype))
            row = None if stats is None else stats[i]
            update_rows(self.rule_of_rows, gradient, targets.arrays[i], numbers, step.clip, row)
        return stats

    def _layer(self, step: Step, i: int, targets: Targets) -> Layer:
        variable, value = step.variables[i], targets.arrays[i][0]
        slots = {slot: np.atleast_1d(self._slots[slot][variable].value) for slot in self.slots}
        gradient = _whole(step.gradients[i], value.shape, step.clip)
        measures = step.detailed and step.clip == AS_IT_IS
        return Layer(variable, np.atleast_1d(gradient), np.atleast_1d(value), slots, measures)

    def _move_layer(self, step: Step, i: int, layer: Layer, targets: Targets, row: NDArray[Any] | None) -> bool:
        """Move a layer; whether the row has all that is reported."""
        if not layer.value.size:
            return True
        move = self.move(layer, step.hyperparameters, diagnosed=step.diagnosed)
        numbers = self.formula_numbers({**step.hyperparameters, **move.numbers}, compute_dtype(layer.value.dtype))
        if step.diagnosed:
            step.see(i, move.seen)
        gradient = move.gradient.reshape(targets.arrays[i][0].shape)
        measured = targets.plan((i,)).run([gradient], numbers, report=row is not None)
        if row is None or measured is None:
            return True
        row[:] = measured[0]
        if move.measured is not None:
            of_gradient = move.measured[0]  # not by a list of columns, which takes as long as all else
            row[SQUARES], row[ZEROS:SLOTS] = of_gradient[SQUARES], of_gradient[ZEROS:SLOTS]
        return layer.measures and (move.measured is not None or move.gradient is layer.gradient)


def _whole(gradient: NDArray[Any] | IndexedSlices, shape: tuple[int, ...], clip: Clip) -> NDArray[Any]:
    """The clipped gradient as an array, in the dtype of the arithmetic."""
    values = gradient.values if isinstance(gradient, IndexedSlices) else gradient
    wide = values.astype(compute_dtype(values.dtype), copy=False)
    if clip != AS_IT_IS:
        wide = clip.applied(wide)
    if isinstance(gradient, IndexedSlices):
        whole = np.zeros(shape, wide.dtype)
        np.add.at(whole, gradient.indices, wide)
        return whole
    return wide


def run_rule(
    rule: Rule,
    gradient: NDArray[Any],
    arrays: Sequence[NDArray[Any]],
    numbers: Sequence[float],
    *,
    report: bool = False,
) -> NDArray[np.float64] | None:
    """Run an elementwise rule over arrays, in place, on the engine.

    Args:
        rule: the formula.
        gradient: what it takes as the gradient.
        arrays: what it takes as the variable and the slots.
        numbers: its hyperparameters.
        report: whether to measure.

    Returns:
        As `Plan.run`.
    """
    return Plan(rule, [arrays]).run([gradient], numbers, report=report)
