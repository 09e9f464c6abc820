"""StepReport: what one step did, as data."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from optim.kernels.stats import (
    LARGEST,
    NONFINITE,
    SLOT_WIDTH,
    SLOTS,
    SQUARES,
    SUM,
    UPDATE_SQUARES,
    WEIGHT_SQUARES,
    ZEROS,
)
from summaries.words import counted, listed, quoted

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["SlotReport", "StepReport", "VariableReport", "VariableReports"]

# The first rows of VariableReports.values; those of the slots begin at SLOTS, as their columns of stats do.
_GRADIENT_NORM, _WEIGHT_NORM, _UPDATE_NORM, _ZERO_FRACTION, _UPDATE_RATIO = range(SLOTS)
_NORMS = slice(_GRADIENT_NORM, _UPDATE_NORM + 1)
_SQUARES = slice(SQUARES, UPDATE_SQUARES + 1)  # and WEIGHT_SQUARES between


@dataclass(frozen=True, slots=True)
class SlotReport:
    """One slot of one variable, after the step.

    Attributes:
        mean: the mean of its elements.
        norm: their L2 norm.
        max: the largest element; NaN if one of them is.
    """

    mean: float
    norm: float
    max: float


@dataclass(frozen=True, slots=True)
class VariableReport:
    """What a step did to one variable. An IndexedSlices gradient counts as the whole array that it represents.

    Its norms are roots of sums of squares in float64: infinite from 1e154 on, and 0 below 1e-162; StepReport's global
    norm is right even there.

    Attributes:
        name: the variable's name.
        size: its number of elements.
        gradient_norm: L2 norm of the gradient before clipping.
        gradient_zeros: the number of its elements that were 0.
        gradient_nonfinite: the number of its elements that were NaN or infinite.
        weight_norm: L2 norm of the weights after the step.
        update_norm: L2 norm of the change that the step made to them.
        slots: slot name → report.
        seen: what the optimizer's theory says, by name, if that was requested.
    """

    name: str
    size: int
    gradient_norm: float
    gradient_zeros: int
    gradient_nonfinite: int
    weight_norm: float
    update_norm: float
    slots: dict[str, SlotReport]
    seen: dict[str, float] = field(default_factory=dict)

    @property
    def gradient_zero_fraction(self) -> float:
        """The fraction of the gradient's elements that were 0."""
        return self.gradient_zeros / self.size if self.size else 0.0

    @property
    def update_ratio(self) -> float:
        """The update's norm over the weights' norm; NaN if the weights are 0."""
        return self.update_norm / self.weight_norm if self.weight_norm else math.nan


class VariableReports(Sequence[VariableReport]):
    """What a step did to its variables: columns, from which each VariableReport is made on request.

    Args:
        names: the variables' names.
        sizes: the number of elements of each.
        slots: the slots' names.
        stats: float64[variables, width]: a rule's columns of `kernels.stats`.
        has_weights: whether the stats have the weights' norms.
        has_updates: whether they have the updates'.
        seen: what the optimizer's theory says: name → float64[variables], NaN for those of which it says nothing.

    Attributes:
        names: the variables' names.
        slots: the slots' names.
        stats: as given.
        seen: as given.
        measured: for each of the first five rows of `values`, whether it was measured.
        update: the number of the update at which they were measured, where whoever measures counts them; 0 before the
            first one; None otherwise. A number that GradientMonitor has seen is of an earlier step.
        rejected: if they are of an earlier step because this step was skipped, since its gradients were not finite:
            the number of these elements, at the least.

    >>> reports = VariableReports(["w"], [4], [], np.array([[25.0, 100.0, 1.0, 2.0, 0.0]]))
    >>> reports[0].gradient_norm, reports[0].gradient_zero_fraction, reports[0].update_ratio
    (5.0, 0.5, 0.1)
    """

    def __init__(
        self,
        names: Sequence[str],
        sizes: Sequence[int] | NDArray[np.int64],
        slots: Sequence[str],
        stats: NDArray[np.float64],
        *,
        has_weights: bool = True,
        has_updates: bool = True,
        seen: Mapping[str, NDArray[np.float64]] | None = None,
    ) -> None:
        self.names: tuple[str, ...] = tuple(names)
        self.slots: tuple[str, ...] = tuple(slots)
        self.measured: tuple[bool, bool, bool, bool, bool] = (
            True,
            has_weights,
            has_updates,
            True,
            has_weights and has_updates,
        )
        self._sizes = sizes
        self.stats = stats
        self.seen: dict[str, NDArray[np.float64]] = dict(seen or {})
        self.update: int | None = None
        self.rejected = 0

    def with_squares(self, column: int, squares: NDArray[np.float64]) -> VariableReports:
        """The same, with the norms of the weights or of the updates.

        Args:
            column: of the stats: WEIGHT_SQUARES or UPDATE_SQUARES.
            squares: float64[variables]: for each, the sum of the squares of its elements.
        """
        made = copy.copy(self)
        made.__dict__.pop("values", None)
        made.stats = self.stats.copy()
        made.stats[:, column] = squares
        weights, updates = self.measured[1] or column == WEIGHT_SQUARES, self.measured[2] or column == UPDATE_SQUARES
        made.measured = (True, weights, updates, True, weights and updates)
        return made

    @cached_property
    def values(self) -> NDArray[np.float64]:
        """float64[5 + 3 * slots + seen, variables]: the values that telemetry logs.

        Rows: the norms of gradient, weights and update, the fraction of the gradient that is 0, the update's norm over
        the weights', which is NaN if they are 0; then mean, norm and largest element of each slot; then `seen`.
        """
        if self.seen:
            return np.vstack([self._of_stats(), *self.seen.values()])
        return self._of_stats()

    def _of_stats(self) -> NDArray[np.float64]:
        """The values that follow from the stats."""
        stats, sizes = self.stats.T, np.asarray(self._sizes)
        values = np.empty(stats.shape)
        mean, norm, most = (values[SLOTS + k :: SLOT_WIDTH] for k in range(SLOT_WIDTH))
        with np.errstate(all="ignore"):  # a diverging run says so by its values
            np.sqrt(stats[_SQUARES], out=values[_NORMS])
            np.divide(stats[ZEROS], sizes, out=values[_ZERO_FRACTION])
            np.divide(values[_UPDATE_NORM], values[_WEIGHT_NORM], out=values[_UPDATE_RATIO])
            if self.slots:
                np.divide(stats[SLOTS + SUM :: SLOT_WIDTH], sizes, out=mean)
                np.sqrt(stats[SLOTS + SQUARES :: SLOT_WIDTH], out=norm)
                most[...] = stats[SLOTS + LARGEST :: SLOT_WIDTH]
            usual = math.isfinite(values.sum())
        if not usual:
            if self.measured[_UPDATE_RATIO]:
                values[_UPDATE_RATIO][values[_WEIGHT_NORM] == 0.0] = math.nan
            if self.slots:
                most[np.isnan(norm)] = math.nan
            if 0 in self._sizes:
                values[_ZERO_FRACTION, sizes == 0] = mean[:, sizes == 0] = most[:, sizes == 0] = 0.0
        return values

    @overload
    def __getitem__(self, index: int) -> VariableReport: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[VariableReport, ...]: ...

    def __getitem__(self, index: int | slice) -> VariableReport | tuple[VariableReport, ...]:
        if isinstance(index, slice):
            return tuple(self[i] for i in range(*index.indices(len(self))))
        gradient, weights, update, _, _, *rest = self.values[:, index].tolist()
        slots, seen = rest[: SLOT_WIDTH * len(self.slots)], rest[SLOT_WIDTH * len(self.slots) :]
        zeros, nonfinite = (int(self.stats[index, column]) for column in (ZEROS, NONFINITE))
        of_slots = {slot: SlotReport(*slots[SLOT_WIDTH * k :][:SLOT_WIDTH]) for k, slot in enumerate(self.slots)}
        return VariableReport(
            self.names[index], int(self._sizes[index]), gradient, zeros, nonfinite, weights, update, of_slots,
            {name: value for name, value in zip(self.seen, seen, strict=True) if not math.isnan(value)},
        )  # fmt: skip

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        names = f": {listed(list(map(quoted, self.names)))}" if self.names else ""
        return f"VariableReports({counted(len(self), 'variable')}{names})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    __hash__: Any = None


@dataclass(frozen=True, slots=True)
class StepReport:
    """What one call of apply_gradients did.

    Attributes:
        step: the step's number: the global step after the update, or the number of this optimizer's calls.
        learning_rate: the rate used.
        global_norm: the L2 norm of all gradients before clipping; None if it was not needed.
        clip_norm: the bound on the norm; None without clipping.
        clipped: whether the norm was above the bound.
        nonfinite: the number of gradient elements that were NaN or infinite, 1 if only their norm tells of any; None if
            the norm is None.
        skipped: whether the step was skipped, and changed nothing: see `skip_nonfinite_steps`.
        variables: what was done to each variable, in the order given, if that was requested.
        loss: the loss before the update, if minimize computed it; None if the caller provided the gradients.
        clipping: what an adaptive clipping saw, by name, such as the norm's "z".
    """

    step: int
    learning_rate: float
    global_norm: float | None = None
    clip_norm: float | None = None
    clipped: bool = False
    nonfinite: int | None = None
    skipped: bool = False
    variables: Sequence[VariableReport] = field(default=(), repr=False)
    loss: float | None = None
    clipping: Mapping[str, float] = field(default_factory=dict)

    def _repr_html_(self) -> str:
        from optim.telemetry.display import step_html  # noqa: PLC0415 - for notebooks only

        return step_html(self)

    @property
    def clipped_global_norm(self) -> float | None:
        """The global norm after clipping by norm; NaN if the norm was not finite, since the gradients are NaN then.

        Clipping by `clip_gradients_by_value` is not included: it happens in the update, after the norm is measured.
        """
        if self.clip_norm is not None and self.global_norm is not None and not math.isfinite(self.global_norm):
            return math.nan
        return self.clip_norm if self.clipped else self.global_norm
