"""TensorFlow's bins, and the tables that tell a float's bin by its bits. Pure (no I/O).

The edges are 0 and plus and minus 1e-12 * 1.1^k, up to 1e20. The upper bits of a float (its sign, its exponent and four
bits of its mantissa) name a cell: a sixteenth of an octave, within which at most one edge falls. So a table of one
number for each cell is enough: added to the float's bits, it carries into the cell's place if the float has reached the
edge, and what is found there is the number of the bin.

Bins are numbered as bits count: from 0 upwards, then -0.0 alone, then from 0 downwards.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["BINS", "OUTERMOST", "Places", "bin_of", "in_order", "places", "tensorflow_edges"]

OUTERMOST = 1e20  # where the edges end
_SMALLEST = 1e-12
_CELL_BITS = {np.dtype(np.float32): 19, np.dtype(np.float64): 48}  # all but the sign, the exponent and four more


@cache
def tensorflow_edges() -> NDArray[np.float64]:
    """The edges, computed by repeated multiplication as in TensorFlow."""
    positive = []
    edge = _SMALLEST
    while edge < OUTERMOST:
        positive.append(edge)
        edge *= 1.1
    return np.array([*(-edge for edge in reversed(positive)), 0.0, *positive])


class Places(NamedTuple):
    """How a float's bits give its bin: bin = (bits + steps[bits >> shift]) >> shift, modulo 2**64.

    Attributes:
        steps: int64[cells].
        shift: the number of bits below those that name a cell.
    """

    steps: NDArray[np.int64]
    shift: int


@cache
def places(dtype: np.dtype[Any]) -> Places:
    """The table of a dtype, float32 or float64."""
    shift, bits = _CELL_BITS[dtype], 8 * dtype.itemsize
    boundaries = _boundaries(dtype)
    starts = np.arange(1 << (bits - shift), dtype=np.uint64) << np.uint64(shift)
    size = np.uint64(1 << shift)
    first = np.searchsorted(boundaries, starts, side="right")
    last = np.searchsorted(boundaries, starts + (size - np.uint64(1)), side="right")
    steps = (first.astype(np.uint64) << np.uint64(shift)) - starts
    cut = np.flatnonzero(last > first)
    steps[cut] += size - (boundaries[first[cut]] - starts[cut])
    return Places(steps.view(np.int64), shift)


def _boundaries(dtype: np.dtype[Any]) -> NDArray[np.uint64]:
    """uint64[BINS - 1], ascending: the bits of the first number of each bin but the first."""
    edges = tensorflow_edges()
    least = edges.astype(dtype)  # the least number at or above each edge
    least = np.where(least < edges, np.nextafter(least, dtype.type(np.inf)), least)
    bits = least.view(f"u{dtype.itemsize}").astype(np.uint64)
    minus_zero = np.uint64(1 << (8 * dtype.itemsize - 1))
    # Of negative numbers, the bits count upwards as they fall: the number after an edge begins the bin below it.
    below = bits[edges < 0][::-1] + np.uint64(1)
    return np.concatenate((bits[edges > 0], [minus_zero, minus_zero + np.uint64(1)], below))


_POSITIVE = int(np.count_nonzero(tensorflow_edges() > 0))
BINS = 2 * _POSITIVE + 3
"""The number of bins: those from 0 upwards, as many from 0 downwards, and -0.0's."""


def in_order(counts: NDArray[Any]) -> NDArray[Any]:
    """The counts of BINS bins by the number of edges at or below their values: [edges + 1]."""
    counts[0] += counts[_POSITIVE + 1]  # -0.0 is 0
    return np.concatenate((counts[: _POSITIVE + 1 : -1], counts[: _POSITIVE + 1]))


def bin_of(value: float) -> int:
    """The number of edges at or below a value."""
    return int(np.searchsorted(tensorflow_edges(), value, side="right"))
