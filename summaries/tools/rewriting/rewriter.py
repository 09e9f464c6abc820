"""Rewriting: the events of a run, written anew with an edit applied, everything else byte for byte as it was.

    file ── reading.indexed ──▶ Index ── Edit ──▶ which values stay, tags, steps, times ── Rewriter ──▶ new file

Strategy: an `Edit` decides by columns, a megabyte of records at a time. Stretches of records that stay whole are copied
as they are, checksums included; scalars in the usual form are encoded again in bulk; only what remains is changed event
by event. A tag's first metadata, which is what readers go by, is moved to the first value that stays.

Damaged stretches, records that are no events, and the end of a record that was cut off are left out, and reported as
faults. Tags that are not UTF-8 are escaped, as our reader shows them, because tensorboard's readers fail at them.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from summaries.tools.rewriting.points import grown
from summaries.wire.edits import metadata_of, moved, with_metadata, with_tag, with_values
from summaries.wire.events import value_spans
from summaries.wire.layout import LOST, SCALAR
from summaries.wire.records import frame
from summaries.wire.scalars import ScalarEncoder

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import BinaryIO

    from numpy.typing import NDArray

    from summaries.wire.index import Index, Tags

    Mask = NDArray[np.bool_]

__all__ = ["Edit", "Rewriter"]

_WHOLE, _DROPPED, _ENCODED, _CHANGED = range(4)  # what becomes of a record
_FEW_RUNS = 64  # so many stretches of a megabyte are written one by one faster than they are joined
_UNKNOWN, _SETTLED, _OWED = range(3)  # a tag's first metadata: not seen yet · written, or not needed · to be written


class Edit:
    """What to do to one run; this one leaves everything as it is.

    Attributes:
        seconds: added to every wall time.
        renamed: gives the new name of a tag; None if all keep theirs.
    """

    seconds: float = 0.0
    renamed: Callable[[str], str] | None = None

    def begin_file(self, number: int) -> None:
        """Called before the first stretch of each file; `number` counts the run's files."""

    def keeps(self, index: Index, tags: Tags) -> Mask | None:
        """Which values stay: bool[k]; None for all. Called with every stretch of the run, in order."""
        return None

    def moves(self, index: Index) -> NDArray[np.int64] | None:
        """What is added to the step of each event: int64[n]; None for nothing. Called like `keeps`, after it."""
        return None


class Rewriter:
    """Applies an edit to the events of one run.

    Args:
        edit: the edit.
        tags: the run's tags, which grow while it is read.

    Attributes:
        events: the number of events written.
        dropped: the number of values left out.
    """

    def __init__(self, edit: Edit, tags: Tags) -> None:
        self.events: int = 0
        self.dropped: int = 0
        self._edit = edit
        self._tags = tags
        self._metadata = np.zeros(0, np.int64)  # by tag: _UNKNOWN, _SETTLED or _OWED
        self._owed: dict[int, bytes] = {}
        self._names: list[str] = []  # new names, by tag
        self._has_new_name = np.zeros(0, bool)
        self._encoder = ScalarEncoder()
        self._numbers = np.zeros(0, np.int64)  # the encoder's, by tag

    def write(self, index: Index, out: BinaryIO) -> int:
        """Write what remains of a stretch; return the number of events."""
        self._grow()
        edit, events = self._edit, index.events
        keep = edit.keeps(index, self._tags)
        fate = _fates(index, keep)
        moves = edit.moves(index)
        inherited = self._inheriting(index, keep)
        touched = self._touched(index, keep, moves) & (fate == _WHOLE)
        if touched.any():
            fate[touched] = _CHANGED
            fate[touched & self._encodable(index)] = _ENCODED
        fate[index.values["event"][list(inherited)]] = _CHANGED
        written = int(np.count_nonzero(fate != _DROPPED))
        if fate.max(initial=0) <= _DROPPED:
            _copy(index, fate == _WHOLE, out)
        else:
            moves = np.zeros(len(events), np.int64) if moves is None else moves
            self._write_each(index, fate, _Changes(keep, inherited, moves), out)
        self.events += written
        self.dropped += 0 if keep is None else int(np.count_nonzero(~keep))
        return written if len(events) else 0

    def _grow(self) -> None:
        """Make room for the tags that are new."""
        tags = self._tags.names
        renamed = self._edit.renamed
        for name in tags[len(self._names) :]:
            self._names.append(renamed(name) if renamed else name)
        self._metadata = grown(self._metadata, len(tags), _UNKNOWN)
        self._numbers = grown(self._numbers, len(tags), -1)
        if renamed:
            self._has_new_name = np.array([new != old for new, old in zip(self._names, tags, strict=True)], bool)

    def _touched(self, index: Index, keep: Mask | None, moves: NDArray[np.int64] | None) -> Mask:
        """bool[n]: the events whose step, time or tags change."""
        edit = self._edit
        touched = np.full(len(index.events), bool(edit.seconds))
        if moves is not None:
            touched |= moves != 0
        if edit.renamed and self._has_new_name.any():
            own = self._has_new_name[index.values["tag"]]
            touched[index.values["event"][own if keep is None else own & keep]] = True
        return touched

    def _encodable(self, index: Index) -> Mask:
        """bool[n]: scalars in the usual form. The payload of a NaN, which the encoder does not keep, may matter."""
        encodable: Mask = index.events["what"] == SCALAR
        encodable[index.values["event"][np.isnan(index.values["value"])]] = False
        return encodable

    def _inheriting(self, index: Index, keep: Mask | None) -> dict[int, bytes]:
        """The values that get the metadata of one that is dropped, by row."""
        values, state = index.values, self._metadata
        tags = values["tag"]
        since = np.full(len(self._tags.names), -1)  # after which row a tag's metadata is owed
        rows = np.flatnonzero(values["described"])
        rows = rows[state[tags[rows]] == _UNKNOWN]
        for row in _firsts(tags, rows):
            tag = int(tags[row])
            state[tag] = _SETTLED
            if keep is not None and not keep[row]:
                state[tag], since[tag] = _OWED, row
                self._owed[tag] = metadata_of(_value(index, row))
        if not self._owed:
            return {}
        rows = np.flatnonzero(state[tags] == _OWED)
        rows = rows[rows > since[tags[rows]]]
        rows = rows if keep is None else rows[keep[rows]]
        inherited = {}
        for row in _firsts(tags, rows):
            tag = int(tags[row])
            state[tag] = _SETTLED
            metadata = self._owed.pop(tag)
            if metadata_of(_value(index, row)) != metadata:
                inherited[row] = metadata
        return inherited

    def _write_each(self, index: Index, fate: NDArray[np.uint8], changes: _Changes, out: BinaryIO) -> None:
        """Write a stretch with changes: each row of equal fates at once."""
        encoded, offsets = self._encode(index, np.flatnonzero(fate == _ENCODED), changes.moves)
        starts, stops = index.events["start"].tolist(), index.events["stop"].tolist()
        bounds = [0, *(np.flatnonzero(np.diff(fate)) + 1).tolist(), len(fate)]
        at = 0
        for first, last in pairwise(bounds):
            if fate[first] == _WHOLE:
                out.write(index.buffer.data[starts[first] : stops[last - 1]])
            elif fate[first] == _ENCODED:
                out.write(encoded[offsets[at] : offsets[at + last - first]])
                at += last - first
            elif fate[first] == _CHANGED:
                out.writelines(frame(self._changed(index, event, changes)) for event in range(first, last))

    def _encode(self, index: Index, chosen: NDArray[np.intp], moves: NDArray[np.int64]) -> tuple[memoryview, list[int]]:
        """The new records of usual scalars, and where each starts and the last one ends."""
        if not len(chosen):
            return memoryview(b""), [0]
        events = index.events[chosen]
        values = index.values[events["first"]]
        tags = values["tag"]
        for tag in np.unique(tags[self._numbers[tags] < 0]).tolist():
            self._numbers[tag] = self._encoder.register(self._names[tag])
        steps, seconds = events["step"] + moves[chosen], events["wall_time"] + self._edit.seconds
        records, offsets = self._encoder.encode(self._numbers[tags], steps, seconds, values["value"])
        return records, offsets.tolist()

    def _changed(self, index: Index, event: int, changes: _Changes) -> bytes:
        """The new data of one event."""
        first, count = index.events["first"][event].item(), index.events["count"][event].item()
        keep, inherited = changes.keep, changes.inherited
        tags = index.values["tag"][first : first + count].tolist()

        def change(number: int, value: bytes) -> bytes | None:
            row = first + number
            if keep is not None and not keep[row]:
                return None
            if row in inherited:
                value = with_metadata(value, inherited[row])
            tag = tags[number]
            name = self._names[tag]
            return value if name == self._tags.names[tag] else with_tag(value, name)

        data = index.data(event)
        if count:
            data = with_values(data, count, change)
        return moved(data, int(changes.moves[event]), self._edit.seconds)


class _Changes(NamedTuple):
    """What changes in a stretch: values to keep, metadata to give by row, and what is added to steps."""

    keep: Mask | None
    inherited: dict[int, bytes]
    moves: NDArray[np.int64]


def _fates(index: Index, keep: Mask | None) -> NDArray[np.uint8]:
    """uint8[n]: what becomes of each record, as far as its values decide."""
    events = index.events
    fate = np.zeros(len(events), np.uint8)  # _WHOLE
    fate[list(index.sound)] = _CHANGED
    if keep is not None and not keep.all():
        gone = np.bincount(index.values["event"][~keep], minlength=len(events))
        fate[gone > 0] = _CHANGED
        fate[(gone > 0) & (gone == events["count"])] = _DROPPED
    fate[events["what"] == LOST] = _DROPPED
    return fate


def _copy(index: Index, stays: Mask, out: BinaryIO) -> None:
    """Write the records that stay whole."""
    starts, stops = index.events["start"], index.events["stop"]
    bounds = np.flatnonzero(np.diff(stays, prepend=False, append=False))
    if len(bounds) <= _FEW_RUNS:
        spans = zip(starts[bounds[::2]].tolist(), stops[bounds[1::2] - 1].tolist(), strict=True)
        out.writelines(index.buffer.data[start:stop] for start, stop in spans)
        return
    mask = np.repeat(stays, stops - starts)
    out.write(index.buffer[starts[0] : stops[-1]][mask].data)


def _firsts(tags: NDArray[np.int32], rows: NDArray[np.intp]) -> list[int]:
    """The first of the rows for each tag among them."""
    if not len(rows):
        return []
    firsts: list[int] = rows[np.unique(tags[rows], return_index=True)[1]].tolist()
    return firsts


def _value(index: Index, row: int) -> bytes:
    """The bytes of one value."""
    event = int(index.values["event"][row])
    first, count = int(index.events["first"][event]), int(index.events["count"][event])
    data = index.data(event)
    start, length = value_spans(data, count)[row - first]
    return data[start : start + length]
