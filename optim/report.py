"""StepReport: what one step did, as values."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from optim.codegen import GRADIENT_STATS, SLOT_STATS

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["SlotReport", "StepReport", "VariableReport"]


@dataclass(frozen=True, slots=True)
class SlotReport:
    """One slot of one variable, after the step.

    Attributes:
        mean: of its elements.
        norm: their L2 norm.
        max: the largest; NaN where one is.
    """

    mean: float
    norm: float
    max: float


@dataclass(frozen=True, slots=True)
class VariableReport:
    """What a step did to one variable; of an IndexedSlices gradient, to the rows that it names.

    Its norms are roots of sums of squares in float64: infinite from 1e154 on, and 0 below 1e-162, where StepReport's
    global norm is still right.

    Attributes:
        name: the variable's name.
        size: how many elements were looked at.
        gradient_norm: L2 norm of the gradient before clipping.
        gradient_zeros: how many of its elements were 0.
        gradient_nonfinite: how many were NaN or infinite.
        weight_norm: L2 norm of the weights after the step.
        update_norm: L2 norm of what the step added to them.
        slots: by slot name.
    """

    name: str
    size: int
    gradient_norm: float
    gradient_zeros: int
    gradient_nonfinite: int
    weight_norm: float
    update_norm: float
    slots: dict[str, SlotReport]

    @property
    def gradient_zero_fraction(self) -> float:
        """The share of the gradient's elements that were 0."""
        return self.gradient_zeros / self.size if self.size else 0.0

    @property
    def update_ratio(self) -> float:
        """The update's norm over the weights' norm; NaN where the weights are 0."""
        return self.update_norm / self.weight_norm if self.weight_norm else math.nan

    @classmethod
    def from_stats(cls, name: str, size: int, slots: Sequence[str], stats: Sequence[float]) -> VariableReport:
        """From a row of a kernel's stats, whose columns `codegen` names."""
        gradient, weights, update = (math.sqrt(squares) for squares in stats[:3])
        zeros, nonfinite = int(stats[3]), int(stats[4])
        reports = {}
        for k, slot in enumerate(slots):
            column = GRADIENT_STATS + SLOT_STATS * k
            reports[slot] = _slot_report(size, *stats[column : column + SLOT_STATS])
        return cls(name, size, gradient, zeros, nonfinite, weights, update, reports)


def _slot_report(size: int, total: float, squares: float, most: float) -> SlotReport:
    if not size:
        return SlotReport(0.0, 0.0, 0.0)
    return SlotReport(total / size, math.sqrt(squares), math.nan if math.isnan(squares) else most)


@dataclass(frozen=True, slots=True)
class StepReport:
    """What one call of apply_gradients did.

    Attributes:
        step: the step's number: the global step after the update, or how often this optimizer was called.
        learning_rate: the rate in force.
        global_norm: the L2 norm of all gradients before clipping; None where nobody asked for it.
        clip_norm: the bound on the norm; None where there is no clipping.
        clipped: whether the norm was above the bound.
        nonfinite: how many elements of the gradients were NaN or infinite; None where the norm is.
        skipped: whether the step was left out, and changed nothing: see `skip_nonfinite_steps`.
        variables: what was done to each variable, in the order given, where that was asked for.
        loss: what the loss was before the update, where minimize computed it; None where the caller brought gradients.
    """

    step: int
    learning_rate: float
    global_norm: float | None = None
    clip_norm: float | None = None
    clipped: bool = False
    nonfinite: int | None = None
    skipped: bool = False
    variables: tuple[VariableReport, ...] = field(default=(), repr=False)
    loss: float | None = None

    @property
    def clipped_global_norm(self) -> float | None:
        """The global norm after clipping by norm; NaN where the norm was not finite, as the gradients then are.

        What `clip_gradients_by_value` takes away is not counted: it clips as the update reads, when the norm is known.
        """
        if self.clip_norm is not None and self.global_norm is not None and not math.isfinite(self.global_norm):
            return math.nan
        return self.clip_norm if self.clipped else self.global_norm
