"""Superseding: which values of a run a restart has superseded, found in one pass and dropped in a second.

`reading.restarts` decides, as it does for `Series.latest`. Memory does not grow with the file: 16 bytes for each
restart or repeated step of each tag, and fewer if a later one is as low.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from summaries.reading.restarts import Returns
from summaries.tools.rewriting.points import grown
from summaries.tools.rewriting.rewriter import Edit
from summaries.wire.layout import KIND_NOTHING, START

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from summaries.wire.index import Index, Tags

    Mask = NDArray[np.bool_]

__all__ = ["Latest"]

_LOWEST = np.iinfo(np.int64).min


class Latest(Edit):
    """Keeps the values that stand. First `see` everything, then `rewind`, then it is an edit."""

    def __init__(self) -> None:
        self._position = 0  # how many values there are before the next one, in all files
        self._first_positions: dict[int, int] = {}  # of each file
        self._last = np.full(0, _LOWEST)  # the last step, by tag
        self._returns, self._starts = Returns(), Returns()  # of each tag, and of sessions

    def begin_file(self, number: int) -> None:
        """Note that the values of the next file follow."""
        self._position = self._first_positions.setdefault(number, self._position)

    def see(self, index: Index, tags: Tags) -> None:
        """Take a stretch, in order, of all files."""
        self._see_starts(index)
        positions, steps = self._columns(index)
        rows = np.flatnonzero(index.values["kind"] != KIND_NOTHING)
        own = index.values["tag"][rows]
        rows = rows[np.argsort(own, kind="stable")]
        own, steps = index.values["tag"][rows], steps[rows]
        self._last = grown(self._last, len(tags.names), _LOWEST)
        new_tag = np.diff(own, prepend=-1) != 0
        before = np.concatenate(([_LOWEST], steps[:-1]))
        before[new_tag] = self._last[own[new_tag]]
        self._last[own] = steps  # of equal tags, the last one counts
        back = np.flatnonzero(steps <= before)
        for tag, position, step in zip(
            own[back].tolist(), positions[rows[back]].tolist(), steps[back].tolist(), strict=True
        ):
            self._returns.add(tag, position, step)

    def rewind(self) -> None:
        """All was seen."""
        self._returns.close()
        self._starts.close()

    def keeps(self, index: Index, tags: Tags) -> Mask:
        """Which values stand."""
        positions, steps = self._columns(index)
        own = index.values["tag"].astype(np.int64)
        superseded = self._returns.supersede(own, positions, steps)
        superseded |= self._starts.supersede(np.zeros_like(own), positions, steps)
        stands: Mask = ~superseded | (index.values["kind"] == KIND_NOTHING)
        return stands

    def _columns(self, index: Index) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The position and the step of each value."""
        count = len(index.values)
        positions = np.arange(self._position, self._position + count)
        self._position += count
        return positions, index.events["step"][index.values["event"]]

    def _see_starts(self, index: Index) -> None:
        for row in index.events[index.events["what"] == START]:
            self._starts.add(0, self._position + int(row["first"]), int(row["step"]))
