"""Rows as they are read → columns by tag. Pure (no I/O)."""

from __future__ import annotations

import mmap
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

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
    "sorted_rows",
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

_MIN_ROWS = 32
_MAP_ROWS = 1 << 15  # columns from here on (256 kB) are mapped
_MAX_MAPS = 30_000  # Linux gives a process 65,530


class Block(NamedTuple):
    """Points: int64[n], float64[n] in seconds since the epoch, float64[n]."""

    step: NDArray[np.int64]
    wall_time: NDArray[np.float64]
    value: NDArray[np.float64]


class Points:
    """All points of a run, each tag's in columns of its own.

    >>> points = Points()
    >>> rows = np.array([(1, 0.5, 3.0, 1), (1, 0.5, 4.0, 0), (2, 0.6, 5.0, 1)], ROW)
    >>> points.add(*sorted_rows(rows, 2))
    >>> points.counts, points.columns()[1].value
    ([1, 2], array([3., 5.]))
    """

    def __init__(self) -> None:
        self._tags: list[_Columns] = []

    @property
    def counts(self) -> list[int]:
        """How many points each tag has so far, by tag number."""
        return [tag.length for tag in self._tags]

    def add(self, block: Block, counts: NDArray[np.int64]) -> None:
        """Take points that are sorted by tag, of which `counts` (int64[t]) tells how many each tag has."""
        while len(self._tags) < len(counts):
            self._tags.append(_Columns())
        first = 0
        present = np.flatnonzero(counts)
        for number, n in zip(present.tolist(), counts[present].tolist(), strict=True):
            self._tags[number].extend(block, first, first + n)
            first += n

    def columns(self) -> list[Block]:
        """Each tag's points so far, by tag number; nothing is copied, and nothing can be added from now on."""
        return [tag.block() for tag in self._tags]


class _Columns:
    """Three columns that grow. Large ones are mapped: growing moves their pages in the page table, not their bytes."""

    __slots__ = ("_arrays", "_maps", "_room", "length")
    _open_maps = 0

    def __init__(self) -> None:
        self._arrays: list[NDArray[Any]] = [np.empty(0, dtype) for dtype in _DTYPES]
        self._maps: list[mmap.mmap] = []
        self._room = 0
        self.length = 0

    def extend(self, block: Block, first: int, last: int) -> None:
        stop = self.length + last - first
        if stop > self._room:
            self._grow(max(stop, 2 * self._room, _MIN_ROWS))
        for array, column in zip(self._arrays, block, strict=True):
            array[self.length : stop] = column[first:last]
        self.length = stop

    def block(self) -> Block:
        steps, wall_times, values = (array[: self.length] for array in self._arrays)
        return Block(steps, wall_times, values)

    def _grow(self, rows: int) -> None:
        old = self._arrays
        if self._maps and _RESIZABLE:
            self._arrays = old = []  # a map that somebody looks at cannot be moved
            for memory in self._maps:
                memory.resize(8 * rows)
            self._arrays = self._views()
        elif rows >= _MAP_ROWS and _Columns._open_maps < _MAX_MAPS:
            _Columns._open_maps += 3
            self._maps = [_private_map(8 * rows) for _ in _DTYPES]
            self._arrays = self._views()
        else:
            self._arrays = [np.empty(rows, dtype) for dtype in _DTYPES]
        for new, array in zip(self._arrays, old, strict=False):
            new[: self.length] = array[: self.length]
        self._room = rows

    def _views(self) -> list[NDArray[Any]]:
        return [np.frombuffer(memory, dtype) for memory, dtype in zip(self._maps, _DTYPES, strict=True)]

    def __del__(self) -> None:
        _Columns._open_maps -= len(self._maps)


def _private_map(size: int) -> mmap.mmap:
    """Zeroed memory. A shared map, Python's default, must not be touched beyond the size that it began with."""
    if _RESIZABLE:
        return mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    return mmap.mmap(-1, size)


_DTYPES = (np.int64, np.float64, np.float64)
_RESIZABLE = sys.platform == "linux"  # macOS and Windows cannot resize a map that has no file


def sorted_rows(rows: NDArray[np.void], tags: int) -> tuple[Block, NDArray[np.int64]]:
    """ROW[n], sorted by tag, each tag's in their order; and int64[tags]: how many each tag has."""
    numbers = rows["tag"]
    order = np.argsort(numbers.astype(np.uint16) if tags <= 1 << 16 else numbers, kind="stable")
    block = Block(*(rows[name][order] for name in Block._fields))
    return block, np.bincount(numbers, minlength=tags)
