"""Records of one length out of a buffer: which they are, and their bytes as an array. Pure (no I/O)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

__all__ = ["equal", "gathered"]

_NARROW = 1 << 16  # NumPy sorts numbers of two bytes by their digits, which is many times faster


def equal(numbers: NDArray[np.int64]) -> Iterator[NDArray[np.intp]]:
    """The indices of each distinct number, none of which is below zero, ascending.

    >>> [indices.tolist() for indices in equal(np.array([7, 5, 7]))]
    [[1], [0, 2]]
    """
    if not len(numbers):
        return
    if (numbers == numbers[0]).all():
        yield np.arange(len(numbers))
        return
    order = np.argsort(numbers.astype(np.uint16) if numbers.max() < _NARROW else numbers, kind="stable")
    yield from np.split(order, np.flatnonzero(np.diff(numbers[order])) + 1)


def gathered(buffer: bytes, starts: NDArray[np.int64], size: int) -> NDArray[np.uint8]:
    """uint8[n, size]: the bytes from each start on.

    >>> gathered(b"abcdef", np.array([3, 0]), 2).tobytes()
    b'deab'
    """
    # Every offset is the start of one overlapping item, which NumPy copies as a whole.
    items = np.ndarray((len(buffer) - size + 1,), f"V{size}", buffer, strides=(1,))
    return items[starts].view(np.uint8).reshape(len(starts), size)
