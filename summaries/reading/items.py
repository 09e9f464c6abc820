"""The values of a run that are not scalars: where they lie in its files, by kind and tag."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from summaries.reading import decoders
from summaries.reading.by_name import ByName
from summaries.reading.columns import Epochs
from summaries.reading.series import Items
from summaries.wire.layout import KIND_AUDIO, KIND_HISTOGRAM, KIND_IMAGE, PLACE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from summaries.reading.restarts import SessionStarts
    from summaries.storage.protocols import StoredFile
    from summaries.wire.pb import SummaryMetadata

__all__ = ["in_order", "items_by_kind"]

_OLD_STYLE = {
    KIND_HISTOGRAM: ("histograms", decoders.HISTOGRAMS),
    KIND_IMAGE: ("images", decoders.IMAGES),
    KIND_AUDIO: ("audio", decoders.AUDIO),
}
_PLUGINS = {
    "histograms": ("histograms", decoders.HISTOGRAMS),
    "images": ("images", decoders.IMAGES),
    "audio": ("audio", decoders.AUDIO),
    "text": ("texts", decoders.TEXTS),
    "pr_curves": ("pr_curves", decoders.TENSORS),
    "mesh": ("meshes", decoders.TENSORS),
}
_LACKING = {
    "histograms": "no histograms are tagged",
    "images": "no images are tagged",
    "audio": "no audio is tagged",
    "texts": "no texts are tagged",
    "pr_curves": "no PR curves are tagged",
    "meshes": "no meshes are tagged",
    "tensors": "no tensors are tagged",
}


def in_order(places: Sequence[NDArray[np.void]]) -> NDArray[np.void]:
    """The places of all values in one array, those of a tag and a kind beside each other."""
    if not places:
        return np.empty(0, PLACE)
    every = np.concatenate(places)
    return every[np.argsort(_keys(every), kind="stable")]


def items_by_kind(
    places: NDArray[np.void],
    tags: Mapping[int, str],
    metadata: Mapping[str, SummaryMetadata],
    files: Sequence[StoredFile],
    starts: SessionStarts,
) -> dict[str, ByName[Items]]:
    """Attribute of a Run → tag → Items.

    Args:
        places: of the values, as `in_order` returns them.
        tags: the names of tags by their numbers.
        metadata: tag → its first metadata, which tells its kind.
        files: the files of the run, by their numbers.
        starts: the starts of its sessions.
    """
    found: dict[str, ByName[Items]] = {kind: ByName({}, lacking) for kind, lacking in _LACKING.items()}
    if not len(places):
        return found
    steps, wall_times = places["step"].copy(), places["wall_time"].copy()
    firsts = np.flatnonzero(np.diff(_keys(places), prepend=-1))
    numbers, kinds = places["tag"][firsts].tolist(), places["kind"][firsts].tolist()
    bounds = pairwise([*firsts.tolist(), len(places)])
    restarted = len(starts) > 0
    for number, kind, (first, last) in zip(numbers, kinds, bounds, strict=True):
        own = places[first:last]
        tag = tags[number]
        bucket, decoder = _bucket(tag, kind, metadata)
        restarts = starts.restarts(Epochs.of(own["epoch"])) if restarted else ()
        found[bucket][tag] = Items(tag, steps[first:last], wall_times[first:last], own, files, decoder, restarts)
    return found


def _keys(places: NDArray[np.void]) -> NDArray[np.int64]:
    keys: NDArray[np.int64] = places["tag"].astype(np.int64) << 8 | places["kind"]
    return keys


def _bucket(tag: str, kind: int, metadata: Mapping[str, SummaryMetadata]) -> tuple[str, int]:
    """The attribute that contains values of this kind, and their decoder."""
    if kind in _OLD_STYLE:
        return _OLD_STYLE[kind]
    known = metadata.get(tag)
    plugin = known.plugin_data.plugin_name if known else ""
    if not plugin and tag.endswith("/text_summary"):  # as torch and tensorboardX name it
        plugin = "text"
    return _PLUGINS.get(plugin, ("tensors", decoders.TENSORS))
