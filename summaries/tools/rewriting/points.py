"""Points of tags by number: where each value of a stretch stands among all values of its tag."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Counter", "grown"]


class Counter:
    """Numbers the points of each tag, over all stretches.

    Attributes:
        counts: int64[t or more]: the number of points so far, by tag.

    >>> counter = Counter()
    >>> counter.numbers(np.array([0, 1, 0, 0]), 2)
    array([0, 0, 1, 2])
    >>> counter.numbers(np.array([1, 0]), 2)
    array([1, 3])
    """

    def __init__(self) -> None:
        self.counts: NDArray[np.int64] = np.zeros(0, np.int64)

    def numbers(self, tags: NDArray[np.integer], count: int) -> NDArray[np.int64]:
        """int64[n]: the number of each point among those of its tag, from 0.

        Args:
            tags: integers[n], tag numbers.
            count: the number of tags that there are.
        """
        self.counts = grown(self.counts, count, 0)
        order = np.argsort(tags, kind="stable")
        own = np.bincount(tags, minlength=len(self.counts))
        first = np.concatenate(([0], np.cumsum(own)[:-1]))  # where each tag's points start in this order
        numbers = np.empty(len(tags), np.int64)
        ordered = tags[order]
        numbers[order] = np.arange(len(tags)) - first[ordered] + self.counts[ordered]
        self.counts += own
        return numbers


def grown(column: NDArray[np.int64], count: int, value: int) -> NDArray[np.int64]:
    """The column with room for `count` entries; new ones have this value."""
    if count <= len(column):
        return column
    return np.concatenate((column, np.full(max(count, 2 * len(column)) - len(column), value, np.int64)))
