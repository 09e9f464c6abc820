"""Layout: the rows that reading an event file fills in, plain or compiled. Pure (no I/O)."""

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
    "COUNT",
    "EVENT",
    "KINDS",
    "KIND_AUDIO",
    "KIND_HISTOGRAM",
    "KIND_IMAGE",
    "KIND_NOTHING",
    "KIND_OBSOLETE",
    "KIND_SCALAR",
    "KIND_TENSOR",
    "LOST",
    "NUMBERS",
    "OTHER",
    "PLACE",
    "ROOM",
    "SCALAR",
    "SETTLED",
    "START",
    "STEPS",
    "SUMMARY",
    "USUAL_BYTES",
    "VALUE",
    "VERSION",
    "WALL_TIMES",
    "Block",
]


def _row(**types: str) -> np.dtype[np.void]:
    return np.dtype(list(types.items()))


EVENT = _row(start="<i8", stop="<i8", step="<i8", wall_time="<f8", first="<i8", count="<i4", what="<i4")
"""One record: its first byte and the byte after it in the buffer; its values are `count` rows from `first` on."""

VALUE = _row(
    value="<f8", step="<i8", wall_time="<f8", event="<i4", tag="<i4", length="<i4", kind="<i2", described="<i2"
)
"""A Summary.Value: a scalar's value, or where anything else lies in the file, in bytes, exact below 2**53; its step and
wall time; its event and tag, by number; the length in bytes of what is no scalar; its kind; whether it has metadata."""

PLACE = _row(step="<i8", wall_time="<f8", offset="<i8", length="<i8", tag="<i4", file="<i4", kind="<i4", epoch="<i4")
"""The place of a Summary.Value that is not a scalar: offset and length in bytes in file number `file`; its epoch."""

CAPACITY = 1 << 14  # rows that are collected before they are sorted by tag, unless there are very many tags

LOST, OTHER, SUMMARY, SCALAR, VERSION, START = range(6)
"""What a record is: not an Event, or one whose tag is no text · an event without a summary · a summary · one scalar in
the form that `scalars.ScalarEncoder` writes, in `USUAL_BYTES` · the file's version · a session's start."""

USUAL_BYTES = 20, 100
"""The fewest and the most bytes of the data of a SCALAR."""

CLASS_NONE, CLASS_SCALAR, CLASS_OTHER, CLASS_SKIPPED = range(4)
"""A tag's class, by its first metadata: no metadata yet · scalars · anything else. Or the tag is not wanted at all."""

KIND_NOTHING, KIND_SCALAR, KIND_IMAGE, KIND_HISTOGRAM, KIND_AUDIO, KIND_TENSOR, KIND_OBSOLETE = range(-1, 6)
"""The kind of a Summary.Value; KIND_NOTHING: no value, only a tag and metadata."""

KINDS = {
    None: KIND_NOTHING,
    "simple_value": KIND_SCALAR,
    "image": KIND_IMAGE,
    "histo": KIND_HISTOGRAM,
    "audio": KIND_AUDIO,
    "tensor": KIND_TENSOR,
    "obsolete_old_style_histogram": KIND_OBSOLETE,
}
"""The kind of a value, by its field in the message."""


COUNT, ROOM, SETTLED, STEPS, WALL_TIMES, NUMBERS = range(6)
"""What is known of a tag's columns, in words: how many points they have; for how many compiled code has room; how many
are counted into epochs; the addresses of the columns."""


class Block(NamedTuple):
    """Points: int64[n], float64[n] in seconds since the epoch, float64[n]."""

    step: NDArray[np.int64]
    wall_time: NDArray[np.float64]
    value: NDArray[np.float64]
