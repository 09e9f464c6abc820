"""Leaves of any library → what is reported of them: measured where they are, and summed over the ranks that share them.

Arrays in the host's memory, whichever library's, are measured by our kernels, which sum in float64; others by their own
library on their device. Ranks exchange one table for each mesh.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from optim.arrays import as_array, library_of
from optim.kernels.measure import measure, norm_from_squares, sums_of_squares
from optim.kernels.stats import (
    ARRAY_WIDTH,
    NONFINITE,
    OF_GRADIENT,
    SLOT_WIDTH,
    SQUARES,
    UPDATE_SQUARES,
    WEIGHT_SQUARES,
    slot_columns,
    stats_width,
)
from optim.telemetry.devices import jax_statistics, torch_statistics
from optim.telemetry.report import VariableReports
from optim.telemetry.shards import local_parts, over_all_ranks

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from numpy.typing import NDArray

    Table = NDArray[np.float64]

__all__ = ["Measured", "Measurement", "OfVariables", "of_reports"]

_KINDS = {"weights": "squares", "updates": "squares"}
"""Which statistics are needed of what; all others are slots."""


class OfVariables(NamedTuple):
    """What was measured of all variables: of the whole arrays, or of one rank's parts."""

    norm: float
    nonfinite: int
    variables: VariableReports


class Measured(NamedTuple):
    """What is known of a step.

    Attributes:
        norm: the global norm.
        nonfinite: the number of elements that are not finite.
        variables: the measurements of each variable.
        own: measures the parts that this rank holds.
    """

    norm: float | None
    nonfinite: int | None
    variables: VariableReports | None
    own: Callable[[], OfVariables] | None = None


def of_reports(variables: VariableReports, norm: float | None) -> Measured:
    """What variables that were measured elsewhere tell; `norm` is the global norm if the caller knows it."""
    stats = variables.stats
    if norm is None:
        norm = math.sqrt(stats[:, SQUARES].sum())
    return Measured(norm, int(stats[:, NONFINITE].sum()), variables)


class Measurement:
    """Measures the leaves of a step.

    Args:
        gradients: name → array of any library; not empty.
        others: "weights", "updates" and slots → arrays in the same order.
        slots: the slots' names, in the order in which they are in `others`.
        flat: see `shards.local_parts`.
        scale: what the gradients have been multiplied by.
        left_out: names of variables whose norms are not known here; only `own` has them.
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
        self._kept = [i for i, name in enumerate(self._names) if name not in left_out]
        leaves = [*gradients.values(), *(leaf for what in others.values() for leaf in what)]
        self._parts, self._shards = local_parts(leaves, flat)
        kinds = [_KINDS.get(what, "slot") for what in others]
        self._kinds = [kind for kind in ("gradient" if detailed else "squares", *kinds) for _ in gradients]
        self._hosts: list[NDArray[Any] | None] = []
        self._sizes: list[int] = []
        self._table: Table | None = None

    def measured(self, norm: float | None) -> Measured:
        """Measure whole arrays; every rank that holds a part of one has to call this.

        Args:
            norm: the global norm if the caller knows it.
        """
        whole = self._whole()
        if not self._detailed and not math.isfinite(whole.norm):  # seldom
            self._kinds, self._table = ["gradient"] * len(self._kinds), None
            whole = self._whole()
        variables = whole.variables if self._detailed else None
        return Measured(whole.norm if norm is None else norm, whole.nonfinite, variables, self.own)

    def own(self) -> OfVariables:
        """What was measured of the parts that this rank holds."""
        table = self._local()  # it knows the sizes
        return self._assembled(table, self._sizes, list(range(len(self._names))))

    def _whole(self) -> OfVariables:
        if not self._shards:
            table = self._local()  # it knows the sizes
            return self._assembled(table, self._sizes, self._kept)
        table = over_all_ranks(self._with_sizes(), self._shards, largest=bool(self._slots))
        return self._assembled(table, table[:, -1].astype(int).tolist(), self._kept)

    def _with_sizes(self) -> Table:
        """float64[leaves, ARRAY_WIDTH + 1]: this rank's table, and the number of elements."""
        local = self._local()  # it knows the sizes
        return np.column_stack([local, self._sizes])

    def _local(self) -> Table:
        """float64[leaves, ARRAY_WIDTH]: statistics of this rank's parts, measured once."""
        if self._table is None:
            self._hosts = _on_host_all(self._parts)
            self._sizes = [_size(p) if h is None else h.size for p, h in zip(self._parts, self._hosts, strict=True)]
            self._table = _statistics(self._parts, self._hosts, self._kinds)
        return self._table

    def _assembled(self, table: Table, sizes: Sequence[int], kept: list[int]) -> OfVariables:
        """What a table of all leaves tells of the variables that are kept."""
        count = len(self._names)
        blocks = dict(zip(("gradients", *self._others), table.reshape(-1, count, table.shape[1]), strict=True))
        if len(kept) < count:
            blocks = {what: block[kept] for what, block in blocks.items()}
        gradients = blocks["gradients"]
        stats = np.full((len(kept), stats_width(len(self._slots))), math.nan)
        stats[:, OF_GRADIENT] = gradients[:, OF_GRADIENT]
        for column, what in ((WEIGHT_SQUARES, "weights"), (UPDATE_SQUARES, "updates")):
            if what in blocks:
                stats[:, column] = blocks[what][:, SQUARES]
        for k, block in enumerate([*blocks.values()][len(blocks) - len(self._slots) :]):
            stats[:, slot_columns(k)] = block[:, :SLOT_WIDTH]
        norm = self._norm(gradients[:, SQUARES].tolist(), kept)
        if self._scale != 1.0:
            norm /= self._scale
            stats[:, SQUARES] /= self._scale**2
        names, sizes = self._names, sizes[:count]
        if len(kept) < count:
            names, sizes = [names[i] for i in kept], [sizes[i] for i in kept]
        has = {f"has_{what}": what in blocks for what in ("weights", "updates")}
        return OfVariables(
            norm, int(stats[:, NONFINITE].sum()), VariableReports(names, sizes, self._slots, stats, **has)
        )

    def _norm(self, squares: list[float], kept: list[int]) -> float:
        """The global norm; gradients in the host's memory are read again if float64 is too narrow for their squares."""
        hosts = [host for i in kept if (host := self._hosts[i]) is not None]
        if self._shards or len(hosts) < len(kept):
            return math.sqrt(sum(squares))
        return norm_from_squares(squares, hosts)


def _size(leaf: Any) -> int:
    """The number of elements."""
    return int(leaf.numel() if hasattr(leaf, "numel") else leaf.size)  # size is a method of torch's


def _on_host_all(parts: Sequence[Any]) -> list[NDArray[Any] | None]:
    """`_on_host` of each; quickly for torch's, of which there may be many, and small."""
    if {library_of(kind) for kind in set(map(type, parts))} == {"torch"} and all(part.is_cpu for part in parts):
        try:
            return [part.detach().numpy() for part in parts]
        except (TypeError, RuntimeError):  # one of them needs more care
            pass
    return [_on_host(part) for part in parts]


def _on_host(part: Any) -> NDArray[Any] | None:
    """The array in the host's memory, without a copy if its dtype permits; None if it is on another device."""
    library = library_of(type(part))
    if not library:
        found: NDArray[Any] = part
        return found
    if library == "torch":
        if not (part.is_cpu or part.is_meta):
            return None
        try:
            found = (part.detach() if part.requires_grad else part).numpy()
        except (TypeError, RuntimeError):  # sparse, of a dtype that NumPy lacks, or without elements
            return as_array(part, "gradients", widened=True)
        return found
    devices = part.devices()
    at_hand = len(devices) == 1 and part.is_fully_addressable and next(iter(devices)).platform == "cpu"
    return np.asarray(part) if at_hand else None


def _statistics(parts: Sequence[Any], hosts: Sequence[NDArray[Any] | None], kinds: Sequence[str]) -> Table:
    """float64[parts, ARRAY_WIDTH]: of a kind's columns that are not needed, some are 0."""
    table = np.zeros((len(parts), ARRAY_WIDTH))
    at_hand = [(i, host) for i, host in enumerate(hosts) if host is not None]
    detailed = [(i, host) for i, host in at_hand if kinds[i] != "squares"]
    others = [(i, host) for i, host in at_hand if kinds[i] == "squares"]
    if detailed:
        table[_rows(detailed)] = measure([host for _, host in detailed])
    if others:
        table[_rows(others), SQUARES] = sums_of_squares([host for _, host in others])
    if len(at_hand) < len(parts):
        _measure_on_devices(table, [i for i, host in enumerate(hosts) if host is None], parts, kinds)
    return table


def _rows(numbered: Sequence[tuple[int, Any]]) -> Any:
    """The rows of numbered arrays: as a slice if they follow one another, since NumPy is faster with that."""
    rows = [i for i, _ in numbered]
    return slice(rows[0], rows[-1] + 1) if rows[-1] - rows[0] == len(rows) - 1 else rows


def _measure_on_devices(table: Table, rows: Sequence[int], parts: Sequence[Any], kinds: Sequence[str]) -> None:
    """Fill these rows of the table, with one transfer from each device."""
    devices: dict[Any, list[int]] = {}
    for i in rows:
        devices.setdefault(parts[i].device if library_of(type(parts[i])) == "torch" else "jax", []).append(i)
    for device, there in devices.items():
        arrays = [parts[i] for i in there]
        table[there] = (
            jax_statistics(arrays) if device == "jax" else torch_statistics(arrays, [kinds[i] for i in there])
        )
