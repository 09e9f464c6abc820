"""Superseding: which values of a run a restart has superseded, found in one pass and dropped in a second.

A value is superseded if a later value of its tag, or a later start of a session, has its step or a lower one; this is
what `Series.latest` says. As long as a tag's steps rise, its first step is the lowest, so that only the places where
they do not rise need be kept: 16 bytes for each restart or repeated step of each tag, and fewer if a later one is as
low. Memory does not grow with the file.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from summaries.tools.rewriting.points import grown
from summaries.tools.rewriting.rewriter import Edit
from summaries.wire.layout import KIND_NOTHING, START

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from summaries.wire.index import Index, Tags

    Mask = NDArray[np.bool_]

__all__ = ["Latest"]

_LOWEST = np.iinfo(np.int64).min
_FILE_BITS, _TAG_BITS = 36, 40  # a place: the file's number, then the value's number in it


class Latest(Edit):
    """Keeps the values that stand. First `see` everything, then `rewind`, then it is an edit."""

    def __init__(self) -> None:
        self._place = 0  # of the next value
        self._last = np.full(0, _LOWEST)  # the last step, by tag
        self._returns: dict[int, list[tuple[int, int]]] = {}  # by tag: (place, step), where steps did not rise
        self._starts: list[tuple[int, int]] = []  # the same of sessions

    def begin_file(self, number: int) -> None:
        """Note that the values of the next file follow."""
        self._place = number << _FILE_BITS

    def see(self, index: Index, tags: Tags) -> None:
        """Take a stretch, in order, of all files."""
        places, steps = self._columns(index)
        self._see_starts(index)
        rows = np.flatnonzero(index.values["kind"] != KIND_NOTHING)
        own = index.values["tag"][rows]
        rows = rows[np.argsort(own, kind="stable")]
        own, steps = index.values["tag"][rows], steps[rows]
        self._last = grown(self._last, len(tags.names), _LOWEST)
        new_tag = np.diff(own, prepend=-1) != 0
        before = np.concatenate(([_LOWEST], steps[:-1]))
        before[new_tag] = self._last[own[new_tag]]
        self._last[own] = steps  # of equal tags, the last one counts
        returns = np.flatnonzero(steps <= before)
        for tag, place, step in zip(
            own[returns].tolist(), places[rows[returns]].tolist(), steps[returns].tolist(), strict=True
        ):
            _push(self._returns.setdefault(tag, []), place, step)

    def rewind(self) -> None:
        """All was seen."""
        found = sorted(self._returns.items())
        rows = list(
            chain.from_iterable(((tag << _TAG_BITS) | place, step) for tag, own in found for place, step in own)
        )
        self._keys = np.array(rows[::2], np.int64)
        self._steps = np.array(rows[1::2], np.int64)
        self._start_places = np.array([place for place, _ in self._starts], np.int64)
        self._start_steps = np.array([step for _, step in self._starts], np.int64)

    def keeps(self, index: Index, tags: Tags) -> Mask:
        """Which values stand."""
        places, steps = self._columns(index)
        own = index.values["tag"].astype(np.int64) << _TAG_BITS
        superseded = _at_or_above(steps, self._keys, self._steps, own | places, own)
        superseded |= _at_or_above(steps, self._start_places, self._start_steps, places, np.zeros_like(own))
        stands: Mask = ~superseded | (index.values["kind"] == KIND_NOTHING)
        return stands

    def _columns(self, index: Index) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The place and the step of each value."""
        count = len(index.values)
        places = np.arange(self._place, self._place + count)
        self._place += count
        return places, index.events["step"][index.values["event"]]

    def _see_starts(self, index: Index) -> None:
        before = self._place - len(index.values)
        for event in np.flatnonzero(index.events["what"] == START).tolist():
            row = index.events[event]
            _push(self._starts, before + int(row["first"]), int(row["step"]))


def _push(stack: list[tuple[int, int]], place: int, step: int) -> None:
    """Add a place to those that supersede what is before them; earlier ones with higher steps have no more effect."""
    while stack and stack[-1][1] >= step:
        stack.pop()
    stack.append((place, step))


def _at_or_above(
    steps: NDArray[np.int64],
    keys: NDArray[np.int64],
    lowest: NDArray[np.int64],
    places: NDArray[np.int64],
    own: NDArray[np.int64],
) -> Mask:
    """Whether the next key after each place is of the same tag (`own`), and its step is no higher."""
    if not len(keys):
        return np.zeros(len(steps), bool)
    following = np.searchsorted(keys, places, side="right")
    exists = following < len(keys)
    following[~exists] = 0
    found: Mask = exists & (keys[following] >> _TAG_BITS == own >> _TAG_BITS) & (lowest[following] <= steps)
    return found
