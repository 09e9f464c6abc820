"""Statistics of arrays that are not in the host's memory, measured where they are: one transfer for each device.

Columns are those of `kernels.stats` for an array: SQUARES SUM LARGEST ZEROS NONFINITE. Norms are computed in float64,
in float32 where a device or JAX has no wider type, and squared here in float64.
"""

from __future__ import annotations

import sys
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from optim.kernels.stats import (
    ARRAY_WIDTH,
    LARGEST,
    NONFINITE,
    OF_GRADIENT,
    SQUARES,
    SUM,
    UPDATE_SQUARES,
    WEIGHT_SQUARES,
    ZEROS,
    stats_width,
)
from optim.telemetry.arriving import Arriving, Fetched
from optim.telemetry.report import VariableReports
from optim.telemetry.rows import Rows, in_rows, of_pieces, wide_dtype

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Table = NDArray[np.float64]

__all__ = ["jax_statistics", "reports_of_traced", "torch_statistics", "traced_statistics"]


def torch_statistics(tensors: Sequence[Any], kinds: Sequence[str]) -> Arriving[Table]:
    """float64[tensors, ARRAY_WIDTH]: statistics of tensors on one device, none of them sharded; nothing waits for them.

    Args:
        tensors: of floating dtypes.
        kinds: of each, what is measured: "squares" only; of a "norm" NONFINITE too; of a "gradient" also ZEROS; of a
            "slot" SUM and LARGEST too. Other columns are 0.
    """
    torch = sys.modules["torch"]
    with torch.no_grad():  # so that none has to be detached, which takes as long as to measure it
        return _statistics(torch, [tensor.to_dense() if tensor.is_sparse else tensor for tensor in tensors], kinds)


_OF_ROWS = (  # column, kinds that have it, and what each row gives
    (SQUARES, ("squares", "norm", "gradient", "slot"), Rows.norms),
    (NONFINITE, ("norm", "gradient"), Rows.counts_of_nonfinite),
    (ZEROS, ("gradient",), Rows.counts),
    (SUM, ("slot",), Rows.sums),
)


class _Block(NamedTuple):
    """Pieces of tensors that were measured together.

    Attributes:
        tensors: the row of each piece's tensor in the table.
        sizes: the pieces' numbers of elements.
        columns: what was measured of them.
        height: the number of rows in which they were joined.
    """

    tensors: list[int]
    sizes: list[int]
    columns: list[int]
    height: int

    def add_to(self, table: Table, found: Table) -> None:
        """Add float64[columns, height], what was found of the rows, to a table of all tensors."""
        with np.errstate(over="ignore"):
            found[0] **= 2
        for column, values in zip(self.columns, of_pieces(found, self.sizes), strict=True):
            np.add.at(table[:, column], self.tensors, self.sizes - values if column == ZEROS else values)


def _statistics(torch: Any, dense: Sequence[Any], kinds: Sequence[str]) -> Arriving[Table]:
    blocks, numbers = [], []
    for kind in dict.fromkeys(kinds):
        measured = [(column, measure) for column, having, measure in _OF_ROWS if kind in having]
        for rows in in_rows({i: dense[i] for i, its_kind in enumerate(kinds) if its_kind == kind}):
            blocks.append(_Block(rows.members, rows.sizes, [column for column, _ in measured], len(rows.elements)))
            numbers += [measure(rows) for _, measure in measured]
    count, slots = len(dense), [i for i, kind in enumerate(kinds) if kind == "slot"]
    largest = [_largest(dense[i]) for i in slots]
    fetched = Fetched(torch.cat([*numbers, torch.stack(largest)] if largest else numbers or [dense[0].new_zeros(0)]))

    def filled() -> Table:
        table, values, first = np.zeros((count, ARRAY_WIDTH)), fetched.values(), 0
        for block in blocks:
            found = values[first : (first := first + len(block.columns) * block.height)]
            block.add_to(table, found.reshape(-1, block.height))
        table[slots, LARGEST] = values[first:]
        return table

    return Arriving([fetched], filled)


def _largest(tensor: Any) -> Any:
    kind = wide_dtype(tensor)
    return tensor.max().to(kind) if tensor.numel() else tensor.new_full((), -np.inf, dtype=kind)


def jax_statistics(arrays: Sequence[Any]) -> Table:
    """float64[arrays, ARRAY_WIDTH]: statistics of JAX arrays, sharded or not, in one jitted function."""
    return _from_traced(np.asarray(_jitted()(list(arrays))))


@cache
def _jitted() -> Any:
    return sys.modules["jax"].jit(traced_statistics)


def traced_statistics(arrays: Sequence[Any], axes: Sequence[tuple[str, ...]] = ()) -> Any:
    """float32[arrays, ARRAY_WIDTH]: statistics of JAX arrays, which may be traced; norms in place of SQUARES.

    Args:
        arrays: of floating dtypes; of complex ones, the magnitudes are measured.
        axes: of each array, the axes of a mesh along which devices hold its other parts, within shard_map; none if ().
    """
    jax = sys.modules["jax"]
    of_each = zip(arrays, axes or [()] * len(arrays), strict=True)
    return jax.numpy.stack([_traced(jax, array, names) for array, names in of_each])


def _traced(jax: Any, array: Any, axes: tuple[str, ...]) -> Any:
    jnp = jax.numpy
    total, largest = jnp.sum, jnp.max
    if axes:
        total = lambda values: jax.lax.psum(jnp.sum(values), axes)  # noqa: E731
        largest = lambda values: jax.lax.pmax(jnp.max(values), axes)  # noqa: E731
    if not array.size:
        return jnp.array([0.0, 0.0, -np.inf, 0.0, 0.0])
    if jnp.iscomplexobj(array):
        array = jnp.abs(array)
    wide = array if array.dtype == jnp.float64 else array.astype(jnp.float32)
    most = largest(jnp.abs(wide))  # NaN if an element is
    unit = jnp.where(jnp.isfinite(most) & (most > 0), most, 1.0)  # so that squares neither overflow nor underflow
    norm = jnp.where(jnp.isinf(most), most, unit * jnp.sqrt(total(jnp.square(wide / unit))))
    counts = [total(wide == 0), total(~jnp.isfinite(wide))]
    return jnp.stack([norm, total(wide), largest(wide), *(count.astype(wide.dtype) for count in counts)])


def reports_of_traced(names: Sequence[str], sizes: Sequence[int], table: Any, scale: float = 1.0) -> VariableReports:
    """What `traced_statistics` measured of gradients, and perhaps of weights and updates.

    Args:
        names: the variables' names.
        sizes: their numbers of elements.
        table: the gradients' rows, and then perhaps as many of the weights, and then of the updates.
        scale: what the gradients have been multiplied by.
    """
    count, table = len(names), _from_traced(np.asarray(table))
    has_weights, has_updates = len(table) > count, len(table) > 2 * count
    stats = np.full((count, stats_width(0)), np.nan)
    stats[:, OF_GRADIENT] = table[:count, OF_GRADIENT]
    stats[:, SQUARES] /= scale**2
    if has_weights:
        stats[:, WEIGHT_SQUARES] = table[count : 2 * count, SQUARES]
    if has_updates:
        stats[:, UPDATE_SQUARES] = table[2 * count :, SQUARES]
    return VariableReports(names, sizes, (), stats, has_weights=has_weights, has_updates=has_updates)


def _from_traced(rows: NDArray[Any]) -> Table:
    """float64[arrays, ARRAY_WIDTH] of `kernels.stats`, from rows of `traced_statistics`."""
    table = rows.astype(np.float64)
    table[:, SQUARES] **= 2
    return table
