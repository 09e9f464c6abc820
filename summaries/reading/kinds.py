"""The kinds of summary that are not scalars: a table of how they are stored, decoded and told. Pure (no I/O).

Old and new style decode to the same: a histogram is an array of buckets, whether stored as HistogramProto or as tensor.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from google.protobuf.message import DecodeError

from summaries.reading.media import Audio, Images
from summaries.wire.layout import KIND_AUDIO, KIND_HISTOGRAM, KIND_IMAGE
from summaries.wire.pb import HParamsPluginData
from summaries.wire.tensors import decode_tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from summaries.reading.series import Items
    from summaries.wire.pb import Summary, SummaryMetadata

    ShownAs = Literal["histogram", "image", "audio", "text", "tensor"]

__all__ = ["KINDS", "NOUNS", "ItemsByKind", "Kind", "hyperparameters", "kind_of"]

_SESSION_START_TAG = "_hparams_/session_start_info"


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
    texts = np.array([_text(item) for item in array.flat], object).reshape(array.shape)
    return str(texts.item()) if texts.size == 1 else texts


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


class Kind(property):
    """A kind of summary whose values are not scalars: a row of the table below, and a property of each `Run`.

    Args:
        doc: what the property is, for users: tag → what its values are decoded to.
        noun: what one value is called.
        nouns: what several are called; None appends an s.
        plugin: the plugin that its tags' metadata names; "" for the kind that takes what fits no other.
        stored_as: a KIND of `wire.layout`: how values are stored that are not tensors; None if all are tensors.
        shown_as: what its decoded values are, which decides how commands show them.
        decode: Summary.Value → value; raises ValueError if it is invalid.
    """

    name: str
    noun: str
    nouns: str
    plugin: str
    stored_as: int | None
    shown_as: ShownAs
    decode: Callable[[Any], Any]

    def __init__(
        self,
        doc: str,
        noun: str,
        nouns: str | None = None,
        *,
        plugin: str,
        stored_as: int | None = None,
        shown_as: ShownAs = "tensor",
        decode: Callable[[Any], Any] = _tensor,
    ) -> None:
        def values(run: Any) -> Mapping[str, Items]:
            return run._items[self.name]  # type: ignore[no-any-return]  # noqa: SLF001 - a property of the run

        super().__init__(values)
        self.__doc__ = doc
        self.noun, self.nouns = noun, nouns or f"{noun}s"
        self.plugin, self.stored_as, self.shown_as, self.decode = plugin, stored_as, shown_as, decode

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    if TYPE_CHECKING:  # nobody asks the class of a Run

        def __get__(self, run: Any, owner: type | None = None, /) -> Mapping[str, Items]: ...  # type: ignore[override]


class ItemsByKind:
    """The values of a run that are not scalars, a property for each kind: all that readers and commands know of it.

    `CONTRIBUTING.md` says how to add a row.
    """

    # fmt: off
    histograms: Kind = Kind(
        "Tag → float64[k, 3] per step, with the left edge, the right edge and the count of each bucket.",
        "histogram", plugin="histograms", stored_as=KIND_HISTOGRAM, shown_as="histogram", decode=_histogram,
    )
    images: Kind = Kind(
        "Tag → `Images` per step.",
        "image", plugin="images", stored_as=KIND_IMAGE, shown_as="image", decode=_images,
    )
    audio: Kind = Kind(
        "Tag → `Audio` per step.",
        "audio", "audio", plugin="audio", stored_as=KIND_AUDIO, shown_as="audio", decode=_audio,
    )
    texts: Kind = Kind(
        "Tag → str per step, or an object array of str if a step has several.",
        "text", plugin="text", shown_as="text", decode=_texts,
    )
    pr_curves: Kind = Kind(
        "Tag → array[6, n] per step, of true and false positives, true and false negatives, precision and recall.",
        "PR curve", plugin="pr_curves",
    )
    meshes: Kind = Kind(
        "Tag (`<name>_VERTEX`, `_FACE`, `_COLOR`) → array[batch, n, 3] per step.",
        "mesh", "meshes", plugin="mesh",
    )
    tensors: Kind = Kind("Tag → array per step, for all values that are not of the kinds above.", "tensor", plugin="")
    # fmt: on


KINDS = {name: kind for name, kind in vars(ItemsByKind).items() if isinstance(kind, Kind)}
"""The rows of the table by name, in its order."""

NOUNS = {"scalars": ("scalar", "scalars"), **{name: (kind.noun, kind.nouns) for name, kind in KINDS.items()}}
"""Each attribute of a `Run` that maps tags to values → what one value is called, and several; in the table's order."""

_BY_PLUGIN = {kind.plugin: kind for kind in KINDS.values()}
_BY_STORED_AS = {kind.stored_as: kind for kind in KINDS.values() if kind.stored_as is not None}


def kind_of(tag: str, stored_as: int, plugin: str) -> Kind:
    """The kind of a tag's values.

    Args:
        tag: the tag.
        stored_as: a KIND of `wire.layout`: how the values are stored.
        plugin: what the tag's first metadata names; "" if it has none.
    """
    if not plugin and tag.endswith("/text_summary"):  # as torch and tensorboardX name it
        plugin = "text"
    return _BY_STORED_AS.get(stored_as) or _BY_PLUGIN.get(plugin, _BY_PLUGIN[""])


def hyperparameters(metadata: Mapping[str, SummaryMetadata]) -> dict[str, bool | float | str]:
    """Hyperparameter → value, from the hparams dashboard's session start; {} if it is missing or unreadable."""
    if _SESSION_START_TAG not in metadata:
        return {}
    data = HParamsPluginData()
    try:
        data.ParseFromString(metadata[_SESSION_START_TAG].plugin_data.content)
    except DecodeError:
        return {}
    values: dict[str, bool | float | str] = {}
    for name, value in sorted(data.session_start_info.hparams.items()):  # a map of protobuf has no order
        kind = value.WhichOneof("kind")
        if kind in ("number_value", "string_value", "bool_value"):
            values[name] = getattr(value, kind)
    return values
