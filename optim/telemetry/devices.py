"""Statistics of arrays that are not in the host's memory, measured where they are: one transfer for each device.

Columns are those of `kernels.stats` for an array: SQUARES SUM LARGEST ZEROS NONFINITE. Norms are computed in float32 or
wider, and squared here in float64.
"""

from __future__ import annotations

import sys
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from optim.kernels.stats import (
    ARRAY_WIDTH,
    LARGEST,
    NONFINITE,
    OF_GRADIENT,
    SQUARES,
    SUM,
    WEIGHT_SQUARES,
    ZEROS,
    stats_width,
)
from optim.telemetry.report import VariableReports

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Table = NDArray[np.float64]

__all__ = ["jax_statistics", "reports_of_traced", "torch_statistics", "traced_statistics"]

_SMALL = 1e-12  # squares of float32 elements may have underflowed


def torch_statistics(tensors: Sequence[Any], kinds: Sequence[str]) -> Table:
    """float64[tensors, ARRAY_WIDTH]: statistics of tensors on one device, none of them sharded.

    Args:
        tensors: of floating dtypes.
        kinds: of each, what is measured: "squares" only; of a "gradient" ZEROS and NONFINITE too; of a "slot" SUM and
            LARGEST too. Other columns are 0.
    """
    torch = sys.modules["torch"]
    dense = [tensor.detach().to_dense() if tensor.is_sparse else tensor.detach() for tensor in tensors]
    gradients = [i for i, kind in enumerate(kinds) if kind == "gradient"]
    slots = [i for i, kind in enumerate(kinds) if kind == "slot"]
    values = _norms(torch, dense)
    wide = values[0].dtype
    values += [torch.count_nonzero(dense[i]).to(wide) for i in gradients]
    values += [dense[i].sum(dtype=wide) for i in slots]
    values += [_largest(dense[i], wide) for i in slots]
    fetched = np.array(torch.stack(values).tolist())  # the transfer
    norms, nonzeros, sums, largest = np.split(fetched, np.cumsum([len(dense), len(gradients), len(slots)]))
    table = np.zeros((len(dense), ARRAY_WIDTH))
    table[gradients, ZEROS] = [dense[i].numel() for i in gradients] - nonzeros
    table[slots, SUM], table[slots, LARGEST] = sums, largest
    for i in np.flatnonzero(~(np.isfinite(norms) & (norms > _SMALL))).tolist():  # seldom
        table[i, NONFINITE] = dense[i].numel() - int(torch.isfinite(dense[i]).sum())
        if wide is torch.float64:
            norms[i] = float(torch.linalg.vector_norm(dense[i], dtype=wide))
    with np.errstate(over="ignore"):
        table[:, SQUARES] = norms**2
    return table


def _norms(torch: Any, tensors: Sequence[Any]) -> list[Any]:
    """The norm of each tensor, on its device: float64 if that device has it, from sums in float32 or wider."""
    wide = torch.float32 if tensors[0].device.type == "mps" else torch.float64
    norms: list[Any] = [None] * len(tensors)
    for dtype in {tensor.dtype for tensor in tensors}:
        rows = [i for i, tensor in enumerate(tensors) if tensor.dtype == dtype]
        sums = torch.float32 if dtype.itemsize < torch.float32.itemsize else None
        same = [tensors[i] for i in rows]
        for i, norm in zip(rows, torch._foreach_norm(same, 2, sums), strict=True):  # noqa: SLF001 - it has no public name
            norms[i] = norm.to(wide)
    return norms


def _largest(tensor: Any, kind: Any) -> Any:
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
    """What `traced_statistics` measured of gradients, and perhaps of weights.

    Args:
        names: the variables' names.
        sizes: their numbers of elements.
        table: the gradients' rows, and then perhaps as many of the weights.
        scale: what the gradients have been multiplied by.
    """
    count, table = len(names), _from_traced(np.asarray(table))
    has_weights = len(table) > count
    stats = np.full((count, stats_width(0)), np.nan)
    stats[:, OF_GRADIENT] = table[:count, OF_GRADIENT]
    stats[:, SQUARES] /= scale**2
    if has_weights:
        stats[:, WEIGHT_SQUARES] = table[count:, SQUARES]
    return VariableReports(names, sizes, (), stats, has_weights=has_weights, has_updates=False)


def _from_traced(rows: NDArray[Any]) -> Table:
    """float64[arrays, ARRAY_WIDTH] of `kernels.stats`, from rows of `traced_statistics`."""
    table = rows.astype(np.float64)
    table[:, SQUARES] **= 2
    return table
