"""Statistics of arrays that are not in the host's memory, measured where they are: one transfer for each device.

Columns are those of `kernels.stats` for an array: SQUARES SUM LARGEST ZEROS NONFINITE. Norms are computed in float64,
in float32 where a device or JAX has no wider type, and squared here in float64.
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
from optim.telemetry.arriving import Arriving, Fetched
from optim.telemetry.report import VariableReports

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    Table = NDArray[np.float64]

__all__ = ["jax_statistics", "norms_of", "reports_of_traced", "torch_statistics", "traced_statistics"]

_TOGETHER = 1 << 24  # elements that are counted at a time


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


def _statistics(torch: Any, dense: Sequence[Any], kinds: Sequence[str]) -> Arriving[Table]:
    wide = torch.float32 if dense[0].device.type == "mps" else torch.float64
    slots = [i for i, kind in enumerate(kinds) if kind == "slot"]
    counted = [i for i, kind in enumerate(kinds) if kind in ("norm", "gradient")]
    blocks = [
        (SQUARES, range(len(dense)), norms_of(torch, dense, wide)),
        (SUM, slots, [dense[i].sum(dtype=wide) for i in slots]),
        (LARGEST, slots, [_largest(dense[i], wide) for i in slots]),
        *_counts(torch, {i: dense[i] for i in counted}, wide, zeros="gradient" in kinds),
    ]
    fetched = Fetched(torch.stack([value for *_, values in blocks for value in values]))

    def filled() -> Table:
        table, numbers = np.zeros((len(dense), ARRAY_WIDTH)), iter(fetched.values())
        for column, rows, values in blocks:
            np.add.at(table[:, column], rows, [next(numbers) for _ in values])
        with np.errstate(over="ignore"):
            table[:, SQUARES] **= 2
        return table

    return Arriving([fetched], filled)


def norms_of(torch: Any, tensors: Sequence[Any], wide: Any = None) -> list[Any]:
    """The norm of each tensor, where it is; from sums in the wide dtype, if there is one."""
    norms: list[Any] = [None] * len(tensors)
    alike: dict[Any, list[int]] = {}  # in one call the fast way is for none that differ, or are empty
    for i, tensor in enumerate(tensors):
        alike.setdefault((tensor.device, tensor.dtype, not tensor.numel()), []).append(i)
    for rows in alike.values():
        of_each = torch._foreach_norm([tensors[i] for i in rows], 2, wide)  # noqa: SLF001 - it has no public name
        for i, norm in zip(rows, of_each, strict=True):
            norms[i] = norm
    return norms


def _counts(
    torch: Any, tensors: dict[int, Any], wide: Any, *, zeros: bool
) -> Iterator[tuple[int, list[int], list[Any]]]:
    """Counts of elements that are not finite, and of those that are 0 if that is asked for: column, rows and counts.

    Args:
        torch: the module.
        tensors: by their rows; a row may come several times, to be summed.
        wide: the dtype of the counts.
        zeros: whether to count those as well.
    """
    for rows, pieces in _together(tensors):
        joined, sizes = torch._utils._flatten_dense_tensors(pieces), [piece.numel() for piece in pieces]  # noqa: SLF001 - as below
        for column, are in ((NONFINITE, joined - joined != 0), (ZEROS, joined == 0 if zeros else None)):
            if are is not None:
                ones = are.to(torch.float16).split(sizes)
                yield column, rows, list(torch._foreach_norm(ones, 1, wide))  # noqa: SLF001 - as above


def _together(tensors: dict[int, Any]) -> Iterable[tuple[list[int], list[Any]]]:
    """Rows and pieces that are counted together: to start an operation takes as long as to count a million elements."""
    groups: list[tuple[list[int], list[Any]]] = []
    latest: dict[Any, tuple[list[int], list[Any], int]] = {}  # by dtype, and the number of elements
    for row, tensor in tensors.items():
        for piece in tensor.reshape(-1).split(_TOGETHER) if tensor.numel() > _TOGETHER else (tensor,):
            rows, pieces, size = latest.get(piece.dtype, ([], [], _TOGETHER))
            size += piece.numel()
            if size > _TOGETHER:
                rows, pieces, size = [], [], piece.numel()
                groups.append((rows, pieces))
            rows.append(row)
            pieces.append(piece)
            latest[piece.dtype] = rows, pieces, size
    return groups


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
