"""Observation: what was measured of a step's gradients, and is not logged yet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from optim.telemetry.report import StepReport

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Self

    from numpy.typing import NDArray

    from optim.telemetry.measuring import OfVariables
    from optim.telemetry.report import VariableReports

__all__ = ["Observation"]


class Observation(NamedTuple):
    """What `GradientMonitor.measure` returns, and `GradientMonitor.log` takes.

    Attributes:
        step: the step's number.
        norm: the global norm; None if it was not needed.
        nonfinite: the number of elements that are not finite; None if the norm is None.
        variables: the measurements of each variable; None if the step is not due.
        own: what was measured of this rank's parts, if that is logged.
        clip_norm: the bound on the norm; None without clipping.
        learning_rate: the rate; NaN if it is not known.
        detailed: whether each variable was measured.
        histograms: (kind, name, array) for each, if they are due: they may be made when they are asked for.
    """

    step: int
    norm: float | None
    nonfinite: int | None
    variables: VariableReports | None
    own: OfVariables | None
    clip_norm: float | None
    learning_rate: float
    detailed: bool
    histograms: Iterable[tuple[str, str, NDArray[Any]]]

    def kept(self) -> Self:
        """The same, independent of the arrays that were measured."""
        return self._replace(histograms=[(kind, name, array.copy()) for kind, name, array in self.histograms])

    def report(self, loss: float | None = None) -> StepReport:
        """As the report of a step."""
        return StepReport(
            self.step,
            self.learning_rate,
            self.norm,
            self.clip_norm,
            clipped=self.clip_norm is not None and self.norm is not None and self.norm > self.clip_norm,
            nonfinite=self.nonfinite,
            variables=() if self.variables is None else self.variables,
            loss=loss,
        )

    def report_of_rank(self) -> StepReport | None:
        """The report of this rank's parts, if they were measured."""
        if self.own is None:
            return None
        norm, nonfinite, variables = self.own
        return StepReport(self.step, self.learning_rate, norm, nonfinite=nonfinite, variables=variables)
