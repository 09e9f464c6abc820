"""Statistics of arrays in the host's memory, whichever library's, by our kernels: read once, without a copy.

Columns are those of `kernels.stats` for an array. Of torch's tensors only the addresses are asked for, if our compiled
kernels can read them there: to make a NumPy array of a small tensor takes longer than to measure it.
"""

from __future__ import annotations

import math
import sys
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from optim.kernels import compiled
from optim.kernels.codegen import DTYPES
from optim.kernels.measure import measure, sums_of_squares
from optim.kernels.stats import SQUARES
from summaries.foreign_arrays import library_of, to_numpy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Table = NDArray[np.float64]

__all__ = ["measure_at_hand", "on_host"]

_OF_SQUARES = ("squares", "norm")  # kinds of which these are measured first, and if they are finite nothing else


def measure_at_hand(parts: Sequence[Any], kinds: Sequence[str], table: Table) -> tuple[list[int], list[int]]:
    """Measure those arrays that are in the host's memory.

    Args:
        parts: arrays of any library, as many of each kind.
        kinds: what is measured: "squares" only; of a "norm" NONFINITE too, of a "gradient" also ZEROS; of a "slot" all
            columns.
        table: float64[parts, ARRAY_WIDTH]: zeros, to be filled in.

    Returns:
        The number of elements of each array, and the indices of those that are elsewhere.
    """
    count = len(parts) // len(kinds)
    blocks = [
        (kind, slice(first, first + count)) for kind, first in zip(kinds, range(0, len(parts), count), strict=True)
    ]
    memory = _memory_of(parts, signed="slot" in kinds)
    if memory is not None:
        for kind, rows in blocks:
            of_kind = compiled.Memory(memory.addresses[rows], memory.sizes[rows], memory.dtype)
            if kind in _OF_SQUARES:
                table[rows, SQUARES] = compiled.ENGINE.squares_at(of_kind)
            if kind == "gradient" or (kind == "norm" and not _are_finite(table[rows])):
                table[rows] = compiled.ENGINE.measure_gradients_at(of_kind)
            if kind == "slot":
                table[rows] = compiled.ENGINE.measure_at(of_kind)
        return list(memory.sizes), []
    if all(getattr(part, "is_cuda", False) for part in parts):  # nothing more is asked of each: there may be hundreds
        return [part.numel() for part in parts], list(range(len(parts)))
    hosts = [on_host(part) for part in parts]
    for kind, rows in blocks:
        _measure_hosts(hosts[rows], table[rows], squares_only=kind in _OF_SQUARES)
        if kind == "norm" and not _are_finite(table[rows]):
            _measure_hosts(hosts[rows], table[rows], squares_only=False)
    sizes = [_size(part) if host is None else host.size for part, host in zip(parts, hosts, strict=True)]
    return sizes, [i for i, host in enumerate(hosts) if host is None]


def on_host(part: Any) -> NDArray[Any] | None:
    """The array in the host's memory, without a copy if its dtype permits; None if it is on another device."""
    library = library_of(type(part))
    if not library:
        array: NDArray[Any] = part
        return array
    if library == "torch":
        if not (part.is_cpu or part.is_meta):
            return None
        try:
            array = (part.detach() if part.requires_grad else part).numpy()
        except (TypeError, RuntimeError):  # sparse, of a dtype that NumPy lacks, or without elements
            return to_numpy(part, "gradients", widened=True)
        return array
    devices = part.devices()
    at_hand = len(devices) == 1 and part.is_fully_addressable and next(iter(devices)).platform == "cpu"
    return np.asarray(part) if at_hand else None


def _measure_hosts(hosts: Sequence[NDArray[Any] | None], table: Table, *, squares_only: bool) -> None:
    """Fill the rows of those that `on_host` found."""
    rows = [i for i, host in enumerate(hosts) if host is not None]
    at_hand = [host for host in hosts if host is not None]
    if at_hand and squares_only:
        table[rows, SQUARES] = sums_of_squares(at_hand)
    elif at_hand:
        table[rows] = measure(at_hand)


def _are_finite(rows: Table) -> bool:
    return math.isfinite(rows[:, SQUARES].sum())  # they seldom are not


def _memory_of(tensors: Sequence[Any], *, signed: bool) -> compiled.Memory | None:
    """Where torch's tensors lie, if our compiled kernels can read all of them there.

    Args:
        tensors: arrays of any library.
        signed: whether the elements' signs matter: a tensor may be the negative of what lies there.
    """
    torch = sys.modules.get("torch")
    if torch is None or not {*map(type, tensors)} <= {torch.Tensor, torch.nn.Parameter} or not compiled.is_available():
        return None
    tensor = torch.Tensor  # its methods are called one after the other: there may be many small tensors
    dtype, *others = {each.dtype for each in tensors}
    name = str(dtype).removeprefix("torch.")
    if others or name not in DTYPES or not all(map(attrgetter("is_cpu"), tensors)):
        return None
    try:
        if not all(map(tensor.is_contiguous, tensors)) or (signed and any(map(tensor.is_neg, tensors))):
            return None
        addresses = np.fromiter(map(tensor.data_ptr, tensors), np.int64, len(tensors))
    except RuntimeError:  # sparse, for example
        return None
    sizes = tuple(map(tensor.numel, tensors))
    aligned = not np.bitwise_or.reduce(addresses) % dtype.itemsize
    return compiled.Memory(addresses, sizes, name) if aligned and 0 not in sizes and addresses.all() else None


def _size(leaf: Any) -> int:
    """The number of elements."""
    return int(leaf.numel() if hasattr(leaf, "numel") else leaf.size)  # size is a method of torch's
