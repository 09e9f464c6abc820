"""Step: one step, between the caller's gradients and the update."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from optim.clip import clip_scale
from optim.kernels import measure
from optim.kernels.engine import Arrays
from optim.kernels.scale_and_bounds import AS_IT_IS
from optim.telemetry.report import StepReport
from optim.variable import IndexedSlices

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from optim.kernels.scale_and_bounds import Clip
    from optim.telemetry.report import VariableReport
    from optim.variable import Variable

__all__ = ["Step"]


@dataclass(eq=False)
class Step:
    """One step, between the caller's gradients and the update.

    Attributes:
        number: the step's number, from 1.
        gradients: arrays of their variables' shapes and dtypes, or IndexedSlices.
        variables: their variables.
        hyperparameters: the hyperparameters in force, by name; "learning_rate" is one of them.
        detailed: whether the report includes each variable, too.
        loss: the loss before the update, if known.
        clip: the clipping that the update applies to the gradients first.
        clip_norm: the bound on the norm, or None.
        clipped: whether the norm was above a bound.
        measured: whether the report includes the norm, even without clipping.
        skipped: whether the step changes nothing.
        applied: whether the variables have been updated.
        known_norm: the global norm if it has been computed; an update that measures it sets it.
        known_nonfinite: what `nonfinite` was before the gradients were changed; None if they were not.
        diagnosed: whether the report includes `seen`.
        seen: what the optimizer's theory says of each variable: name → float64[variables], NaN where it says nothing.
        clipping: what an adaptive clipping saw, by name.
    """

    number: int
    gradients: Sequence[NDArray[Any] | IndexedSlices]
    variables: list[Variable]
    hyperparameters: Mapping[str, float]
    detailed: bool = False
    loss: float | None = None
    clip: Clip = AS_IT_IS
    clip_norm: float | None = None
    clipped: bool = False
    measured: bool = False
    skipped: bool = False
    applied: bool = False
    known_norm: float | None = None
    known_nonfinite: int | None = None
    diagnosed: bool = False
    seen: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    clipping: dict[str, float] = field(default_factory=dict)
    _arrays: tuple[Sequence[NDArray[Any] | IndexedSlices], Arrays] | None = None  # of which gradients, and they

    @property
    def arrays(self) -> Arrays:
        """The gradients' elements, before clipping."""
        if self._arrays is None or self._arrays[0] is not self.gradients:
            arrays = [g.values if isinstance(g, IndexedSlices) else g for g in self.gradients]
            self._arrays = self.gradients, Arrays(arrays)
        return self._arrays[1]

    @property
    def global_norm(self) -> float:
        """The gradients' L2 norm, before any clipping; computed on first access."""
        if self.known_norm is None:
            self.known_norm = measure.norm(self.arrays)
        return self.known_norm

    @property
    def norm_so_far(self) -> float:
        """The L2 norm of the gradients after `clip`."""
        if self.clip.only_scales:
            return self.global_norm * self.clip.scale
        return math.hypot(*(measure.norm([self.clip.applied(array)]) for array in self.arrays))

    @property
    def nonfinite(self) -> int:
        """The number of elements of the gradients that are NaN or infinite; before any clipping."""
        return measure.count_nonfinite(self.arrays) if self.known_nonfinite is None else self.known_nonfinite

    @property
    def nonfinite_variables(self) -> list[Variable]:
        """The variables whose gradients have NaN or infinite elements."""
        pairs = zip(self.arrays, self.variables, strict=True)
        return [variable for array, variable in pairs if measure.count_nonfinite([array])]

    def see(self, i: int, values: Mapping[str, float]) -> None:
        """Note what the optimizer's theory says of the i-th variable."""
        for name, value in values.items():
            if name not in self.seen:
                self.seen[name] = np.full(len(self.variables), math.nan)
            self.seen[name][i] = value

    def keep_norm_within(self, bound: float) -> None:
        """Clip the gradients, after `clip` so far, by their global norm.

        Args:
            bound: the largest norm allowed; positive. Gradients whose norm is not finite become NaN.
        """
        norm = self.norm_so_far
        self.measured = True
        self.clip = self.clip.scaled(clip_scale(norm, bound))
        self.clip_norm = bound if self.clip_norm is None else min(self.clip_norm, bound)
        self.clipped |= norm > bound

    def report(self, variables: Sequence[VariableReport] = ()) -> StepReport:
        """Report what is known about the step.

        Args:
            variables: a report of each variable.
        """
        rate = self.hyperparameters["learning_rate"]
        if not self.measured and not self.detailed and self.known_norm is None:
            return StepReport(self.number, rate, skipped=self.skipped, variables=variables, loss=self.loss)
        norm = self.global_norm
        # If the norm is finite, so are all elements.
        nonfinite = 0 if math.isfinite(norm) else self.nonfinite
        return StepReport(
            self.number, rate, norm, self.clip_norm, self.clipped, nonfinite, self.skipped, variables, self.loss,
            self.clipping,
        )  # fmt: skip
