"""What the compiled scanner works on, and the types of its functions' arguments. Pure (no I/O)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from summaries.native.calls import INTEGER, Array
from summaries.wire.layout import EVENT, VALUE

__all__ = ["ARGUMENTS", "FULL", "MORE", "NEW", "ODD", "UNUSUAL", "Scratch", "TagTable"]

MORE, ODD, UNUSUAL, FULL, NEW = range(5)
"""Why the scanner stopped: the bytes end inside a record · no sound record · a record for protobuf · no room · a scalar
with a tag that it does not know."""


class TagTable(NamedTuple):
    """The known tags, by number, and a hash table of them.

    Attributes:
        slots: int32[2**k]: tag numbers, by hash; -1: free.
        entries: int64[t, 4]: each tag's start in the pool, length, hash, class.
        pool: uint8[p]: the concatenated tags.
        following: int32[t]: the tag that most recently followed each tag; -1: none.
        entered: int64[1]: how many tags are in the slots.
    """

    slots: Any
    entries: Any
    pool: Any
    following: Any
    entered: Any


class Scratch(NamedTuple):
    """Scratch memory: int64[6] for the spans of a value's fields, int64[2, 8] for nested messages."""

    at: Any
    stack: Any


_BYTES, _INTEGERS, _CRCS = Array(np.uint8), Array(np.int64), Array(np.uint32)
_TAGS = TagTable(Array(np.int32), Array(np.int64, 2), _BYTES, Array(np.int32), _INTEGERS)
_SCRATCH = Scratch(_INTEGERS, Array(np.int64, 2))

ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "frames": (INTEGER, INTEGER, INTEGER, _BYTES, _CRCS, Array(np.int64, 2)),
    "scan": (INTEGER, INTEGER, INTEGER, _BYTES, _INTEGERS, _CRCS, _TAGS, Array(EVENT), Array(VALUE), _SCRATCH),
    "scatter": (Array(VALUE), INTEGER, Array(np.int64, 2)),
}
"""The types of the arguments of each compiled function."""
