"""Rows as they are read → columns by tag. Pure (no I/O)."""

from __future__ import annotations

import mmap
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "CAPACITY",
    "CLASS_NONE",
    "CLASS_OTHER",
    "CLASS_SCALAR",
    "KIND_AUDIO",
    "KIND_EMPTY",
    "KIND_HISTOGRAM",
    "KIND_IMAGE",
    "KIND_OBSOLETE",
    "KIND_TENSOR",
    "PLACE",
    "PLACE_CAPACITY",
    "ROW",
    "Block",
    "Points",
    "empty_block",
    "sorted_block",
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
        ("unused", "<i4"),
    ]
)
"""Where the Summary.Value of something that is no scalar stands: offset and length in bytes in file number `file`."""

CAPACITY = 1 << 15  # rows that are collected before they are sorted by tag
PLACE_CAPACITY = 1 << 12

CLASS_NONE, CLASS_SCALAR, CLASS_OTHER = range(3)
"""What a tag's first metadata makes of it: there was none yet · scalars · anything else."""

KIND_EMPTY, KIND_IMAGE, KIND_HISTOGRAM, KIND_AUDIO, KIND_TENSOR, KIND_OBSOLETE = range(6)
"""What a Summary.Value holds."""

_MAP_BYTES = 1 << 16  # blocks from here on are mapped, so that their memory goes back to the system at once


class Block(NamedTuple):
    """Some points sorted by tag: int64[n], float64[n] in seconds since the epoch, float64[n]."""

    step: NDArray[np.int64]
    wall_time: NDArray[np.float64]
    value: NDArray[np.float64]


class Points:
    """All points of a run, in blocks as they were read, until `take` lays out each tag's as columns.

    >>> points = Points()
    >>> rows = np.array([(1, 0.5, 3.0, 1), (1, 0.5, 4.0, 0), (2, 0.6, 5.0, 1)], ROW)
    >>> points.add(*sorted_block(rows, 2))
    >>> points.counts[:2], points.take()[1].value
    (array([1, 2]), array([3., 5.]))
    """

    def __init__(self) -> None:
        self._blocks: list[tuple[Block, NDArray[np.int64]]] = []
        self.counts = np.zeros(0, np.int64)  # int64[t]: by tag number, how many points there are so far

    def add(self, block: Block, counts: NDArray[np.int64]) -> None:
        """Take a block, of which `counts` (int64[t]) tells how many points each tag has."""
        self._blocks.append((block, counts))
        self.counts = counts + np.pad(self.counts, (0, len(counts) - len(self.counts)))

    def take(self) -> list[Block]:
        """The columns of each tag. Every block is given up as soon as it is copied, so that nothing is there twice."""
        ends = np.cumsum(self.counts)
        total = int(ends[-1]) if len(ends) else 0
        out = Block(np.empty(total, np.int64), np.empty(total), np.empty(total))
        starts = ends - self.counts
        cursor = starts.copy()
        self._blocks.reverse()
        while self._blocks:
            block, counts = self._blocks.pop()
            present = np.flatnonzero(counts)
            done = 0
            for number, n in zip(present.tolist(), counts[present].tolist(), strict=True):
                at = int(cursor[number])
                for column, piece in zip(out, block, strict=True):
                    column[at : at + n] = piece[done : done + n]
                done += n
            cursor[: len(counts)] += counts
        bounds = zip(starts.tolist(), ends.tolist(), strict=True)
        return [Block(*(column[first:last] for column in out)) for first, last in bounds]


def empty_block(n: int) -> Block:
    """Room for n points."""
    size = 3 * 8 * n
    memory = np.frombuffer(mmap.mmap(-1, size) if size >= _MAP_BYTES else bytearray(size), np.int64).reshape(3, n)
    return Block(memory[0], memory[1].view(np.float64), memory[2].view(np.float64))


def sorted_block(rows: NDArray[np.void], tags: int) -> tuple[Block, NDArray[np.int64]]:
    """ROW[n], sorted by tag, each tag's in their order; and int64[tags]: how many each tag has."""
    numbers = rows["tag"]
    order = np.argsort(numbers.astype(np.uint16) if tags <= 1 << 16 else numbers, kind="stable")
    block = empty_block(len(rows))
    for name, column in block._asdict().items():
        np.take(rows[name], order, out=column)
    return block, np.bincount(numbers, minlength=tags)
