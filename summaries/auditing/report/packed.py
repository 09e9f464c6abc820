"""Arrays and a header that describes them, as one body for a server to give, or packed into text for a page.

    text     base64(zlib(body))
    body     uint32 length of the header | header | arrays, each starting at a multiple of 8
    header   JSON in ASCII, padded with spaces; an array is [type, offset from the first array, count]
    type     u1 u2 u4 f4 f8: unsigned integers and floats, little-endian

Numbers as text would take twice the space, and a second to parse for a million points; these are read in place.
"""

from __future__ import annotations

import base64
import json
import math
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Arrays", "as_text", "body", "plain", "to_json"]

_ALIGN = 8
_LENGTH_BYTES = 4
_TOP = (1 << 16) - 1
_HUGE = 1e300  # sums of such levels are still finite


class Arrays:
    """The arrays of one body."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0

    def add(self, array: NDArray[Any]) -> list[Any]:
        """Add a copy of an array; return its entry for the header."""
        data = np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes()
        entry = [f"{array.dtype.kind}{array.dtype.itemsize}", self._size, len(array)]
        data += bytes(-len(data) % _ALIGN)
        self._parts.append(data)
        self._size += len(data)
        return entry

    def add_rising(self, values: NDArray[np.int64]) -> list[Any]:
        """Add ascending integers as the first one and differences, in as few bytes as possible; others as float64."""
        if len(values) > 0 and float(values[-1]) - float(values[0]) < np.iinfo(np.uint32).max:
            steps = np.diff(values, prepend=values[:1])
            if steps.min() >= 0 and abs(int(values[0])) < 1 << 53:
                return [int(values[0]), *self.add(steps.astype(np.min_scalar_type(int(steps.max()))))]
        return [None, *self.add(values.astype(np.float64))]

    def add_floats(self, values: NDArray[np.float64]) -> list[Any]:
        """Add floats, as float32 if that loses nothing; most values in event files are float32."""
        with np.errstate(over="ignore", invalid="ignore"):
            narrow = values.astype(np.float32)
        return self.add(narrow if np.array_equal(narrow.astype(np.float64), values, equal_nan=True) else values)

    def add_even(self, values: NDArray[np.float64]) -> list[Any]:
        """Add roughly evenly spaced floats, such as times, as differences between 65,536 levels; others as float32.

        The first two entries for the header are the smallest value and the height of a level; None for float32.
        """
        low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 0.0)
        level = (high - low) / _TOP
        if 0 < level < _HUGE and level <= np.median(np.abs(np.diff(values))):
            levels = np.round((values - low) / level).astype(np.uint16)
            return [low, level, *self.add(np.diff(levels, prepend=levels[:1] * 0))]
        with np.errstate(over="ignore", invalid="ignore"):
            return [None, None, *self.add(values.astype(np.float32))]

    def after(self, head: bytes) -> bytes:
        """All arrays, one after the other, behind a head; it is put together once, since it may be large."""
        return b"".join([head, *self._parts])


def body(header: object, arrays: Arrays) -> bytes:
    """The header, and the arrays that it describes."""
    head = to_json(header).encode("ascii")
    head += b" " * (-(len(head) + _LENGTH_BYTES) % _ALIGN)
    return arrays.after(len(head).to_bytes(_LENGTH_BYTES, "little") + head)


def as_text(body: bytes) -> str:
    """A body as text: only letters, digits and + / =."""
    return base64.b64encode(zlib.compress(body)).decode("ascii")


def to_json(value: object) -> str:
    """JSON in ASCII that is safe inside a script element of a page, whatever strings it contains.

    It escapes `<`, `>` and `&`, so that nothing ends the element or starts a comment, and everything outside ASCII, so
    that lone surrogates and U+2028 do no harm.
    """
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def plain(value: object) -> object:
    """A number as JSON can hold it: NaN and infinities as their names in JavaScript, NumPy numbers as Python's."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value if isinstance(value, int | float | str) or value is None else str(value)
