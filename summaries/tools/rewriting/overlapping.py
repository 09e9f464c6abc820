"""Overlap: tags that go back in steps where one file ends and the next begins, told from the ends of the files.

Looking at every value would cost a tenth of a merge. The last values of a file, and the first ones of the next, say the
same of every tag that is written often; of others nothing is said.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from summaries.tools.rewriting.points import grown
from summaries.tools.rewriting.rewriter import Edit
from summaries.wire.layout import KIND_NOTHING

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from summaries.wire.index import Index, Tags

__all__ = ["Overlap", "Overlaps"]

_MOST = 512  # values that are looked at, at each end of a file


class Overlap(NamedTuple):
    """Tags that go back in steps.

    Attributes:
        tag: the first one.
        last: its highest step before.
        first: the step to which it goes back.
        tags: how many tags go back there, of those that were looked at.
    """

    tag: str
    last: int
    first: int
    tags: int


class Overlaps(Edit):
    """Leaves everything as it is, and notes which tags go back in steps at the beginning of a file.

    Attributes:
        found: (its highest step before, the step to which it goes back) of each tag, in order, of the first such file.
    """

    def __init__(self) -> None:
        self.found: dict[str, tuple[int, int]] = {}
        self._highest = np.zeros(0, np.int64)  # step, by tag, at the ends of the files before; 0 for none
        self._begins = True
        self._end: tuple[NDArray[np.int32], NDArray[np.int64]] | None = None  # the last values so far: tags, steps

    def begin_file(self, number: int) -> None:
        """Note that the next values are the first of a file."""
        self._begins = True
        if self._end is not None:
            np.maximum.at(self._highest, *self._end)
        self._end = None

    def keeps(self, index: Index, tags: Tags) -> None:
        """Look at a stretch, of which everything stays."""
        if self.found or not len(index.values):
            return
        self._highest = grown(self._highest, len(tags.names), 0)
        if self._begins:
            self._begins = False
            self._look(index, tags)
        last = index.values[-_MOST:]
        self._end = last["tag"].copy(), index.events["step"][last["event"]]  # the next stretch takes its place

    def first(self) -> Overlap | None:
        """What was found."""
        for tag, (last, first) in self.found.items():
            return Overlap(tag, last, first, len(self.found))
        return None

    def _look(self, index: Index, tags: Tags) -> None:
        """Compare the first values of a file with the last ones of those before."""
        values = index.values[:_MOST]
        own, steps = values["tag"], index.events["step"][values["event"]]
        last = self._highest[own]
        back = (last >= steps) & (last > 0)  # what is written once is at step 0 again
        if not back.any():
            return
        rows = np.flatnonzero(back & (values["kind"] != KIND_NOTHING))
        _, firsts = np.unique(own[rows], return_index=True)
        for row in rows[np.sort(firsts)].tolist():
            self.found[tags.names[own[row]]] = int(last[row]), int(steps[row])
