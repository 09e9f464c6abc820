"""Leaves of any library → what is reported of them: measured where they are, and summed over the ranks that share them.

Arrays in the host's memory, whichever library's, are measured by our kernels, which sum in float64; others by their own
library on their device. Ranks exchange one table for each mesh.
"""

from __future__ import annotations

import math
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from optim.kernels.measure import norm_from_squares, root_of_sum
from optim.kernels.stats import (
    ARRAY_WIDTH,
    NONFINITE,
    SLOT_WIDTH,
    SQUARES,
    UPDATE_SQUARES,
    WEIGHT_SQUARES,
    slot_columns,
    stats_width,
)
from optim.telemetry.arriving import Arriving
from optim.telemetry.devices import jax_statistics, torch_statistics
from optim.telemetry.hosts import measure_at_hand, on_host
from optim.telemetry.report import StepReport, VariableReports
from optim.telemetry.shards import flat_groups, local_parts, not_known_here, over_all_ranks
from optim.telemetry.trees import gradients_by_name, leaves_like
from summaries.foreign_arrays import library_of, to_numpy

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from typing import Self

    from numpy.typing import NDArray

    Table = NDArray[np.float64]

__all__ = ["Measured", "Measurement", "NothingToMeasureError", "Observation", "StepLeaves"]

_KINDS = {"weights": "squares", "updates": "squares"}
"""Which statistics are needed of what; all others are slots."""


class NothingToMeasureError(ValueError):
    """There are no gradients, or a scale that has removed them."""


class Measured(NamedTuple):
    """What was measured of a step: of the whole arrays, or of one rank's parts.

    Attributes:
        norm: the global norm; None if it was not needed.
        nonfinite: the number of elements that are not finite; None if the norm is None.
        variables: the measurements of each variable; None if the step is not due.
    """

    norm: float | None
    nonfinite: int | None
    variables: VariableReports | None

    def with_updates(self, squares: Mapping[str, float]) -> Measured:
        """The same, with the norms of the updates: for each variable the sum of the squares of its elements."""
        if self.variables is None:
            return self
        of_each = np.array([squares[name] for name in self.variables.names])
        return self._replace(variables=self.variables.with_squares(UPDATE_SQUARES, of_each))


class Observation(NamedTuple):
    """What `GradientMonitor.measure` returns, and `GradientMonitor.log` takes: a step that is not logged yet.

    Attributes:
        step: the step's number.
        found: what was measured of the whole arrays: on a device, it is on its way.
        own: of this rank's parts, if that is logged.
        clip_norm: the bound on the norm; None without clipping.
        learning_rate: the rate; NaN if it is not known.
        detailed: whether each variable was measured.
        histograms: (kind, name, array) for each, if they are due: they may be made when they are asked for.
        clipping: as in `StepReport`.
        skipped: whether the step changed nothing, as far as is known: its gradients were not measured.
        unseen: how many steps came before it that were not observed, as they were neither due nor clipped.
    """

    step: int
    found: Arriving[Measured]
    own: Measured | None
    clip_norm: float | None
    learning_rate: float
    detailed: bool
    histograms: Iterable[tuple[str, str, NDArray[Any]]]
    clipping: Mapping[str, float] = {}
    skipped: bool = False
    unseen: int = 0

    @property
    def has_arrived(self) -> bool:
        """Whether `measured` returns at once."""
        return self.found.has_arrived

    @property
    def measured(self) -> Measured:
        """What was measured of the whole arrays; waits for it."""
        return self.found.value()

    def kept(self) -> Self:
        """The same, independent of the arrays that were measured."""
        return self._replace(histograms=[(kind, name, array.copy()) for kind, name, array in self.histograms])

    def with_updates(self, squares: Arriving[tuple[Mapping[str, float], Mapping[str, float]]]) -> Self:
        """The same, with the norms of the updates.

        Args:
            squares: for each variable the sum of the squares of its update's elements; and the same of this rank's
                parts.
        """
        own = self.own if self.own is None else self.own.with_updates(squares.value()[1])
        found = self.found.then(lambda measured: measured.with_updates(squares.value()[0]), squares)
        return self._replace(found=found, own=own)

    def report(self, loss: float | None = None) -> StepReport:
        """As the report of a step."""
        norm, nonfinite, variables = self.measured
        clipped = self.clip_norm is not None and norm is not None and norm > self.clip_norm
        reports = () if variables is None else variables
        return StepReport(
            self.step,
            self.learning_rate,
            norm,
            self.clip_norm,
            clipped,
            nonfinite,
            variables=reports,
            loss=loss,
            skipped=self.skipped,
            clipping=self.clipping,
        )


def _of_reports(variables: VariableReports, norm: float | None) -> Measured:
    """What variables that were measured elsewhere tell; `norm` is the global norm if the caller knows it."""
    stats = variables.stats
    if norm is None:
        norm = math.sqrt(stats[:, SQUARES].sum())
    return Measured(norm, int(stats[:, NONFINITE].sum()), variables)


def _squares_of(arrays: Sequence[Any]) -> Table:
    """float64[arrays]: the sum of the squares of the elements of each, which may be of any library."""
    return _statistics(arrays, ["squares"])[0].value()[:, SQUARES]


class Measurement:
    """Measures the leaves of a step.

    Args:
        gradients: name → array of any library; not empty.
        others: "weights", "updates" and slots → arrays in the same order.
        slots: the slots' names, in the order in which they are in `others`.
        flat: see `shards.local_parts`.
        scale: what the gradients have been multiplied by.
        left_out: names of variables whose norms are not known here; only `of_rank` has them.
        detailed: whether to measure each variable; otherwise only the norm, and what is not finite.
    """

    def __init__(
        self,
        gradients: Mapping[str, Any],
        others: Mapping[str, Sequence[Any]],
        slots: Sequence[str],
        flat: Sequence[Any],
        scale: float,
        left_out: Collection[str],
        *,
        detailed: bool,
    ) -> None:
        self._names, self._others, self._slots = list(gradients), list(others), slots
        self._scale, self._detailed = scale, detailed
        every = list(range(len(self._names)))
        self._kept = [i for i in every if self._names[i] not in left_out] if left_out else every
        leaves = [*chain(gradients.values(), *others.values())]
        self._parts, self._shards = local_parts(leaves, flat)
        self._kinds = ["gradient" if detailed else "norm", *(_KINDS.get(what, "slot") for what in others)]
        self._local: tuple[Arriving[Table], list[int]] | None = None

    def measured(self, norm: float | None) -> Arriving[Measured]:
        """Measure whole arrays; every rank that holds a part of one has to call this.

        Args:
            norm: the global norm if the caller knows it.
        """
        table, sizes = self._of_parts()
        if self._shards:
            whole = over_all_ranks(np.column_stack([table.value(), sizes]), self._shards, largest=bool(self._slots))
            table, sizes = Arriving.of(whole), whole[:, -1].astype(int).tolist()
        found = table.then(lambda rows: self._known(self._assembled(rows, sizes, self._kept), norm))
        if found.has_arrived:
            found.value()  # now, while the arrays are what they were: some may be read again
        return found

    def _known(self, whole: Measured, norm: float | None) -> Measured:
        """Without what was not asked for, and with what the caller knows."""
        variables = whole.variables if self._detailed else None
        return Measured(whole.norm if norm is None else norm, whole.nonfinite, variables)

    def of_rank(self) -> Measured:
        """What was measured of the parts that this rank holds."""
        table, sizes = self._of_parts()
        held = [i for i, size in enumerate(sizes[: len(self._names)]) if size]  # a rank's part may be empty
        return self._assembled(table.value(), sizes, held)

    def _of_parts(self) -> tuple[Arriving[Table], list[int]]:
        """float64[leaves, ARRAY_WIDTH]: statistics of this rank's parts, measured once; and their sizes."""
        if self._local is None:
            self._local = _statistics(self._parts, self._kinds)
        return self._local

    def _assembled(self, table: Table, sizes: Sequence[int], kept: list[int]) -> Measured:
        """What a table of all leaves tells of the variables that are kept."""
        count = len(self._names)
        blocks = dict(zip(("gradients", *self._others), table.reshape(-1, count, table.shape[1]), strict=True))
        if len(kept) < count:
            blocks = {what: block[kept] for what, block in blocks.items()}
        gradients = blocks["gradients"]
        stats = np.empty((len(kept), stats_width(len(self._slots))))
        stats[:, :ARRAY_WIDTH] = gradients[:, :ARRAY_WIDTH]
        for column, what in ((WEIGHT_SQUARES, "weights"), (UPDATE_SQUARES, "updates")):
            stats[:, column] = blocks[what][:, SQUARES] if what in blocks else math.nan
        for k, block in enumerate([*blocks.values()][len(blocks) - len(self._slots) :]):
            stats[:, slot_columns(k)] = block[:, :SLOT_WIDTH]
        norm = self._norm(gradients[:, SQUARES].tolist(), kept)
        if self._scale != 1.0:
            norm /= self._scale
            stats[:, SQUARES] /= self._scale**2
        names, sizes = self._names, sizes[:count]
        if len(kept) < count:
            names, sizes = [names[i] for i in kept], [sizes[i] for i in kept]
        has_weights, has_updates = "weights" in blocks, "updates" in blocks
        nonfinite = 0 if math.isfinite(norm) else int(stats[:, NONFINITE].sum())
        return Measured(
            norm,
            nonfinite,
            VariableReports(names, sizes, self._slots, stats, has_weights=has_weights, has_updates=has_updates),
        )

    def _norm(self, squares: list[float], kept: list[int]) -> float:
        """The global norm; gradients in the host's memory are read again if float64 is too narrow for their squares."""
        root = root_of_sum(squares)
        if root is not None:
            return root
        hosts = [host for i in kept if (host := on_host(self._parts[i])) is not None]
        if self._shards or len(hosts) < len(kept):
            return math.sqrt(sum(squares))
        return norm_from_squares(squares, hosts)


def _statistics(parts: Sequence[Any], kinds: Sequence[str]) -> tuple[Arriving[Table], list[int]]:
    """What is measured of arrays of any library, as many of each kind.

    Returns:
        float64[parts, ARRAY_WIDTH], where of a kind's columns that are not needed some are 0; and the numbers of
        elements.
    """
    table = np.zeros((len(parts), ARRAY_WIDTH))
    sizes, elsewhere = measure_at_hand(parts, kinds, table)
    devices: dict[Any, list[int]] = {}
    for i in elsewhere:
        devices.setdefault(parts[i].device if library_of(type(parts[i])) == "torch" else "jax", []).append(i)
    arriving = []
    for device, there in devices.items():  # one transfer from each
        arrays = [parts[i] for i in there]
        of_each = [kinds[i * len(kinds) // len(parts)] for i in there]
        found = Arriving.of(jax_statistics(arrays)) if device == "jax" else torch_statistics(arrays, of_each)
        arriving.append((there, found))

    def filled() -> Table:
        for there, found in arriving:
            table[there] = found.value()
        return table

    return Arriving([found for _, found in arriving], filled), sizes


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
                reports = reports.with_squares(column, _squares_of(arrays))
        return _of_reports(reports, self._norm)

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
