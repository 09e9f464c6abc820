"""Pictures, texts and histograms that other loggers stored, as Summaries, without decoding them.

JSON can state what is no Unicode text, such as half of a pair of surrogates: in tags and texts, it is escaped.
"""

from __future__ import annotations

from struct import error as TooShort  # noqa: N812 - an exception
from struct import unpack_from
from typing import Any

import numpy as np

from summaries.kinds.histogram import histogram_raw
from summaries.kinds.text import text
from summaries.presenting.tables import unicode
from summaries.storage.plain import open_below
from summaries.wire.pb import Summary

__all__ = ["histogram_of", "picture", "picture_of", "words"]

_PNG, _JPEG = b"\x89PNG\r\n\x1a\n", b"\xff\xd8"
_FRAMES = {*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC}  # JPEG's segments that tell the size
_RGB = 3


def picture(tag: str, path: str) -> Summary | None:
    """The picture in a file that `files_below` found; None if it is neither PNG nor JPEG.

    Raises:
        OSError: it cannot be read.
    """
    with open_below(path) as file:
        return picture_of(tag, file.read())


def picture_of(tag: str, data: bytes) -> Summary | None:
    """A picture, encoded as PNG or JPEG; None if it is neither."""
    try:
        width, height = unpack_from(">II", data, 16) if data.startswith(_PNG) else _jpeg_size(data)
        image = Summary.Image(width=width, height=height, colorspace=_RGB, encoded_image_string=data)
    except (TooShort, ValueError):  # a size beyond int32
        return None
    return Summary(value=[Summary.Value(tag=unicode(tag), image=image)])


def _jpeg_size(data: bytes) -> tuple[int, int]:
    """Width and height: of segments of marker and length, the first frame tells them."""
    at = len(_JPEG) if data.startswith(_JPEG) else len(data)
    while True:
        mark, kind, length = unpack_from(">BBH", data, at)
        if mark != 0xFF:  # noqa: PLR2004 - what each segment begins with
            raise TooShort
        if kind in _FRAMES:
            height, width = unpack_from(">HH", data, at + 5)
            return width, height
        at += 2 + length


def words(tag: str, what: str) -> Summary:
    """A text."""
    return text(unicode(tag), unicode(what))


def histogram_of(tag: str, edges: Any, counts: Any) -> Summary | None:
    """A histogram of k + 1 edges and k counts; None if these are not such.

    What the values were is not known any more: they are taken to lie in the middle of their bins.
    """
    try:
        bounds, numbers = np.array(edges, np.float64), np.array(counts, np.float64)
    except (ValueError, TypeError, OverflowError):  # the last of an integer beyond floats
        return None
    if bounds.ndim != 1 or numbers.ndim != 1 or len(bounds) != len(numbers) + 1 or not len(numbers):
        return None
    middle = (bounds[1:] + bounds[:-1]) / 2
    num, total, squares = (float(numbers @ middle**power) for power in (0, 1, 2))
    ends = float(bounds[0]), float(bounds[-1])
    return histogram_raw(unicode(tag), *ends, num, total, squares, bounds[1:].tolist(), numbers.tolist())
