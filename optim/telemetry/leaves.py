"""The arrays of a step, and what is measured of them: gradients, and what is given beside them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from optim.kernels.stats import UPDATE_SQUARES, WEIGHT_SQUARES
from optim.telemetry.arriving import Arriving
from optim.telemetry.measuring import Measured, Measurement, NothingToMeasureError, of_reports, squares_of
from optim.telemetry.report import VariableReports
from optim.telemetry.shards import flat_groups, not_known_here
from optim.telemetry.trees import gradients_by_name, leaves_like
from summaries.foreign_arrays import to_numpy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

__all__ = ["StepLeaves"]


class StepLeaves:
    """A step's gradients, and the weights if they are given or found with them."""

    def __init__(self, gradients: Any, weights: Any, norm: float | None, scale: float) -> None:
        self._norm, self._scale = norm, scale
        self._reports = gradients if isinstance(gradients, VariableReports) else None
        self._tree = gradients if hasattr(gradients, "modules") else None
        self._gradients, self._parameters = gradients_by_name({} if self._reports is not None else gradients)
        self._weights = self._parameters if weights is None and self._parameters else weights
        self._measurement: Measurement | None = None
        if not self._gradients and self._reports is None and norm is None:
            raise NothingToMeasureError(
                "gradients must contain at least one array, got none; if the framework keeps them to itself, as "
                "DeepSpeed does, pass global_norm="
            )

    def measured(self, updates: Any, slots: Mapping[str, Any], *, detailed: bool) -> Arriving[Measured]:
        """Their measurements; of each variable if detailed."""
        if self._reports is not None:
            return Arriving.of(self._beside_reports(self._reports, updates, slots, detailed=detailed))
        if not self._gradients:
            return Arriving.of(Measured(self._norm, int(not math.isfinite(self._norm or 0.0)), None))
        unknown = not_known_here(self._tree, self._parameters)
        if unknown and self._norm is None:
            name, what = next(iter(unknown.items()))
            raise ValueError(f"the norm of {name!r} is not known on this rank, which holds {what} pass global_norm=")
        others: dict[str, Any] = {}
        if detailed:
            trees = {"weights": self._weights, "updates": updates, **{f"slot {slot!r}": slots[slot] for slot in slots}}
            others = {what: self._like(tree, what) for what, tree in trees.items() if tree is not None}
        flat = flat_groups(self._tree, self._parameters)
        self._measurement = Measurement(
            self._gradients, others, list(slots), flat, self._scale, unknown, detailed=detailed
        )  # fmt: skip
        return self._measurement.measured(self._norm)

    def _beside_reports(
        self, reports: VariableReports, updates: Any, slots: Mapping[str, Any], *, detailed: bool
    ) -> Measured:
        """Gradients that were measured elsewhere, with what is given beside them."""
        if slots:
            raise ValueError(f"slots need the gradients themselves, got reports on them, and {', '.join(slots)}")
        for what, tree, column in (("weights", self._weights, WEIGHT_SQUARES), ("updates", updates, UPDATE_SQUARES)):
            if detailed and tree is not None:
                arrays = leaves_like(tree, what, dict.fromkeys(reports.names))
                reports = reports.with_squares(column, squares_of(arrays))
        return of_reports(reports, self._norm)

    def of_rank(self) -> Measured | None:
        """What `measured` has found of the parts that this rank holds, if it has looked at arrays."""
        return None if self._measurement is None else self._measurement.of_rank()

    def whole(self, shown: Callable[[str], bool]) -> Iterator[tuple[str, str, NDArray[Any]]]:
        """(kind, name, array) for each histogram."""
        weights = [] if self._weights is None else self._like(self._weights, "weights")
        flat = flat_groups(self._tree, self._parameters)
        for kind, leaves in (("gradients", list(self._gradients.values())), ("weights", weights)):
            for i, (name, leaf) in enumerate(zip(self._gradients, leaves, strict=False)):
                if not shown(name):
                    continue
                if flat and flat[i] is not None:
                    raise ValueError(f"no histogram of {name!r} is possible: FSDP holds it in flat parts")
                array = to_numpy(leaf.full_tensor() if hasattr(leaf, "full_tensor") else leaf, name, widened=True)
                if array is not None:
                    yield kind, name, array / self._scale if kind == "gradients" and self._scale != 1.0 else array

    def _like(self, tree: Any, what: str) -> Sequence[Any]:
        """The tree's arrays, in the order of the gradients; those of parameters are as their gradients are."""
        return list(tree.values()) if tree is self._parameters else leaves_like(tree, what, self._gradients)
