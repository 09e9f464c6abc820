"""What a Summary.Value that is not a scalar becomes. Pure (no I/O).

Old and new style decode to the same: a histogram is an array of buckets, whether stored as HistogramProto or as tensor.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from summaries.reading.media import Audio, Images
from summaries.wire.layout import KIND_AUDIO, KIND_HISTOGRAM, KIND_IMAGE, KIND_NOTHING
from summaries.wire.tensors import decode_tensor

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from summaries.wire.pb import Summary

__all__ = ["COLUMNS", "Column", "column_of"]


def _histogram(value: Summary.Value) -> NDArray[np.float64]:
    """float64[k, 3]: left edge, right edge, count of each bucket, as TensorBoard converts old style to new."""
    if value.HasField("tensor"):
        array = decode_tensor(value.tensor)
        if array.dtype.kind not in "fiub":
            raise ValueError(f"a histogram must be real numbers, got an array of {array.dtype}")
        return np.asarray(array, np.float64).reshape(-1, 3)
    histogram = value.histo
    limits, counts = np.array(histogram.bucket_limit, np.float64), np.array(histogram.bucket, np.float64)
    if len(limits) != len(counts):
        got = f"{len(limits)} limits and {len(counts)} counts"
        raise ValueError(f"a histogram must have as many limits as counts, got {got}")
    filled = np.flatnonzero(counts > 0)
    if not len(filled):
        return np.empty((0, 3))
    # Outer limits may be the largest float: replace them by minimum and maximum, and drop the empty outer buckets.
    first, last = int(filled[0]), int(filled[-1])
    inner = limits[first:last]
    edges = [histogram.min, *inner], [*inner, histogram.max]
    return np.array([*edges, counts[first : last + 1]], np.float64).T


def _images(value: Summary.Value) -> Images:
    if value.HasField("image"):
        return Images(value.image.width, value.image.height, (value.image.encoded_image_string,))
    strings = _strings(value, "images").ravel()
    if len(strings) < 2:  # noqa: PLR2004 - width and height
        raise ValueError(f"images must be width, height and their bytes, got {len(strings)} strings")
    width, height, *encoded = strings
    return Images(int(width), int(height), tuple(encoded))


def _audio(value: Summary.Value) -> Audio:
    if value.HasField("audio"):
        return Audio((value.audio.encoded_audio_string,), ("",))
    array = _strings(value, "audio")
    if not array.size:
        return Audio((), ())
    clips = array.reshape(len(array) if array.ndim else 1, -1)
    labels = clips[:, 1] if clips.shape[1] > 1 else [b""] * len(clips)
    return Audio(tuple(clips[:, 0]), tuple(_text(label) for label in labels))


def _texts(value: Summary.Value) -> str | NDArray[Any]:
    """A str, or an object array of str if there are several."""
    array = _strings(value, "text")
    texts = np.array([_text(item) for item in array.flat] + [None], object)[:-1]
    return str(texts[0]) if len(texts) == 1 else texts.reshape(array.shape)


def _tensor(value: Summary.Value) -> Any:
    if value.HasField("obsolete_old_style_histogram"):
        return value.obsolete_old_style_histogram
    return decode_tensor(value.tensor) if value.HasField("tensor") else None


def _strings(value: Summary.Value, what: str) -> NDArray[Any]:
    """The tensor's array of bytes objects."""
    array = decode_tensor(value.tensor)
    if array.dtype != object:
        raise ValueError(f"{what} must be strings, got an array of {array.dtype}")
    return array


def _text(data: bytes) -> str:
    return data.decode(errors="backslashreplace")


class Column(NamedTuple):
    """What values of one kind become.

    Attributes:
        name: the attribute of a Run that has them.
        lacking: what is said if there are none: the beginning of a sentence.
        plugin: the plugin that their tags' metadata names; "" where no other column fits.
        kind: the kind of those that are not stored as a tensor; KIND_NOTHING if there is none.
        decode: Summary.Value → value; raises ValueError if it is invalid.
    """

    name: str
    lacking: str
    plugin: str
    kind: int
    decode: Callable[[Any], Any]


COLUMNS = (
    Column("histograms", "no histograms are tagged", "histograms", KIND_HISTOGRAM, _histogram),
    Column("images", "no images are tagged", "images", KIND_IMAGE, _images),
    Column("audio", "no audio is tagged", "audio", KIND_AUDIO, _audio),
    Column("texts", "no texts are tagged", "text", KIND_NOTHING, _texts),
    Column("pr_curves", "no PR curves are tagged", "pr_curves", KIND_NOTHING, _tensor),
    Column("meshes", "no meshes are tagged", "mesh", KIND_NOTHING, _tensor),
    Column("tensors", "no tensors are tagged", "", KIND_NOTHING, _tensor),
)
"""Every kind of value that is not a scalar; the last one has what fits no other."""


def column_of(tag: str, kind: int, plugin: str) -> int:
    """The number of the column that has a tag's values of this kind; its first metadata names the plugin."""
    if not plugin and tag.endswith("/text_summary"):  # as torch and tensorboardX name it
        plugin = "text"
    last = len(COLUMNS) - 1
    for number, column in enumerate(COLUMNS[:last]):
        if kind == column.kind or (kind not in _OWN_KINDS and plugin == column.plugin):
            return number
    return last


_OWN_KINDS = frozenset({KIND_HISTOGRAM, KIND_IMAGE, KIND_AUDIO})
