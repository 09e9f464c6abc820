"""What the compiled scanner and indexer work on, and the types of their arguments. Pure (no I/O)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from summaries.native.calls import INTEGER, Array
from summaries.wire.index import EVENT, VALUE
from summaries.wire.layout import PLACE, ROW, Block

__all__ = ["ARGUMENTS", "FULL", "MORE", "ODD", "UNUSUAL", "Found", "Scratch", "TagTable"]

MORE, ODD, UNUSUAL, FULL = range(4)
"""Why the scanner stopped: the bytes end inside a record · no sound record · a record for protobuf · no room."""


class TagTable(NamedTuple):
    """The known tags, by number, and a hash table of them.

    Attributes:
        slots: int32[2**k]: tag numbers, by hash; -1: free.
        entries: int64[t, 4]: each tag's start in the pool, length, hash, class.
        pool: uint8[p]: the concatenated tags.
        following: int32[t]: the tag that most recently followed each tag; -1: none.
    """

    slots: Any
    entries: Any
    pool: Any
    following: Any


class Found(NamedTuple):
    """The results: ROW[n] and PLACE[PLACE_CAPACITY], filled up to the cursor."""

    rows: Any
    places: Any


class Scratch(NamedTuple):
    """Scratch memory: int64[6] for the spans of a value's fields, int64[2, 8] for nested messages."""

    at: Any
    stack: Any


_BYTES, _INTEGERS, _FLOATS = Array(np.uint8), Array(np.int64), Array(np.float64)
_TAGS = TagTable(Array(np.int32), Array(np.int64, 2), _BYTES, Array(np.int32))
_SCRATCH = Scratch(_INTEGERS, Array(np.int64, 2))
_BLOCK = Block(_INTEGERS, _FLOATS, _FLOATS)  # type: ignore[arg-type]  # the types of its arrays
_CRCS = Array(np.uint32)
ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "scan": (
        *(INTEGER, INTEGER, INTEGER),
        *(_BYTES, _INTEGERS, _CRCS, _TAGS, Found(Array(ROW), Array(PLACE)), _SCRATCH),
    ),
    "index": (INTEGER, _BYTES, _INTEGERS, _CRCS, _TAGS, Array(EVENT), Array(VALUE), _SCRATCH),
    "enter": (INTEGER, INTEGER, INTEGER, _INTEGERS, _TAGS),
    "enter_again": (INTEGER, _TAGS),
    "group": (Array(ROW), _INTEGERS, _INTEGERS, _BLOCK),
    "spread": (_BLOCK, _INTEGERS, Array(np.int64, 2)),
}
"""The types of the arguments of each compiled function."""
