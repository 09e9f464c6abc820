"""The wire types of the messages inside a Summary.Value, as a table for the compiled scanner. Pure (no I/O).

The scanner accepts only what this table contains. A record with an unknown field, or with another wire type, goes to
protobuf, which alone decides what a record means.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["SCHEMA"]

# Field codes. Repeated numbers may be unpacked or packed; both occur in practice.
VARINT, FIXED64, FIXED32, BYTES, STRING, PACKED_VARINT, PACKED64, PACKED32 = range(1, 9)
SUBMESSAGE = 32
"""The code of a message field is this plus the message's number."""

IMAGE, AUDIO, HISTOGRAM, TENSOR, METADATA, _SHAPE, _DIM, _PLUGIN = range(8)

_FIELDS: dict[int, dict[int, int]] = {
    IMAGE: {1: VARINT, 2: VARINT, 3: VARINT, 4: BYTES},
    AUDIO: {1: FIXED32, 2: VARINT, 3: VARINT, 4: BYTES, 5: STRING},
    HISTOGRAM: {1: FIXED64, 2: FIXED64, 3: FIXED64, 4: FIXED64, 5: FIXED64, 6: PACKED64, 7: PACKED64},
    TENSOR: {1: VARINT, 2: SUBMESSAGE + _SHAPE, 3: VARINT, 4: BYTES, 5: PACKED32, 6: PACKED64, 7: PACKED_VARINT}
    | {8: BYTES, 9: PACKED32, 10: PACKED_VARINT, 11: PACKED_VARINT, 12: PACKED64, 13: PACKED_VARINT}
    | {16: PACKED_VARINT, 17: PACKED_VARINT, 18: BYTES},
    METADATA: {1: SUBMESSAGE + _PLUGIN, 2: STRING, 3: STRING, 4: VARINT},
    _SHAPE: {2: SUBMESSAGE + _DIM, 3: VARINT},
    _DIM: {1: VARINT, 2: STRING},
    _PLUGIN: {1: STRING, 2: BYTES},
}


def _table() -> NDArray[np.uint8]:
    table = np.zeros((len(_FIELDS), 32), np.uint8)
    for message, fields in _FIELDS.items():
        for field, code in fields.items():
            table[message, field] = code
    return table


SCHEMA = _table()
"""uint8[messages, 32]: field code by message number and field number; 0 if unknown."""
