"""Layout: the rows and places that a scan of an event file fills in. Pure (no I/O)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "CAPACITY",
    "CLASS_NONE",
    "CLASS_OTHER",
    "CLASS_SCALAR",
    "CLASS_SKIPPED",
    "KIND_AUDIO",
    "KIND_HISTOGRAM",
    "KIND_IMAGE",
    "KIND_OBSOLETE",
    "KIND_TENSOR",
    "PLACE",
    "PLACE_CAPACITY",
    "ROW",
    "Block",
]

ROW = np.dtype([("step", "<i8"), ("wall_time", "<f8"), ("value", "<f8"), ("tag", "<i8")])
"""One scalar point; `tag` is its number."""

PLACE = np.dtype(
    [
        ("step", "<i8"),
        ("wall_time", "<f8"),
        ("offset", "<i8"),
        ("length", "<i8"),
        ("tag", "<i4"),
        ("file", "<i4"),
        ("kind", "<i4"),
        ("epoch", "<i4"),
    ]
)
"""The place of a Summary.Value that is not a scalar: offset and length in bytes in file number `file`; its epoch."""

CAPACITY = 1 << 15  # rows that are collected before they are sorted by tag, unless there are very many tags
PLACE_CAPACITY = 1 << 12

CLASS_NONE, CLASS_SCALAR, CLASS_OTHER, CLASS_SKIPPED = range(4)
"""A tag's class, by its first metadata: no metadata yet · scalars · anything else. Or the tag is not wanted at all."""

KIND_IMAGE, KIND_HISTOGRAM, KIND_AUDIO, KIND_TENSOR, KIND_OBSOLETE = range(1, 6)
"""The kind of a Summary.Value that is not a scalar."""


class Block(NamedTuple):
    """Points: int64[n], float64[n] in seconds since the epoch, float64[n]."""

    step: NDArray[np.int64]
    wall_time: NDArray[np.float64]
    value: NDArray[np.float64]
