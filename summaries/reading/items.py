"""The values of a run that are not scalars: where they lie in its files, by kind and tag."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from summaries.reading.by_name import ByName
from summaries.reading.columns import Epochs
from summaries.reading.kinds import KINDS, kind_of
from summaries.reading.series import Items
from summaries.wire.layout import PLACE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from summaries.reading.kinds import Kind
    from summaries.reading.restarts import SessionStarts
    from summaries.storage.protocols import StoredFile
    from summaries.wire.pb import SummaryMetadata

__all__ = ["in_order", "items_by_kind"]


def in_order(locations: Sequence[NDArray[np.void]]) -> NDArray[np.void]:
    """The locations of all values in one array, those of a tag and a kind beside each other."""
    if not locations:
        return np.empty(0, PLACE)
    every = np.concatenate(locations)
    return every[np.argsort(_keys(every), kind="stable")]


def items_by_kind(
    locations: NDArray[np.void],
    tags: Mapping[int, str],
    metadata: Mapping[str, SummaryMetadata],
    files: Sequence[StoredFile],
    starts: SessionStarts,
) -> dict[str, ByName[Items]]:
    """Attribute of a Run → tag → Items.

    Args:
        locations: of the values, as `in_order` returns them.
        tags: the names of tags by their numbers.
        metadata: tag → its first metadata, which tells its kind.
        files: the files of the run, by their numbers.
        starts: the starts of its sessions.
    """
    by_kind: dict[str, ByName[Items]] = {name: ByName({}, _none(kind)) for name, kind in KINDS.items()}
    if not len(locations):
        return by_kind
    steps, wall_times = locations["step"].copy(), locations["wall_time"].copy()
    firsts = np.flatnonzero(np.diff(_keys(locations), prepend=-1))
    numbers, stored = (locations[column][firsts].tolist() for column in ("tag", "kind"))
    bounds = pairwise([*firsts.tolist(), len(locations)])
    for number, stored_as, (first, last) in zip(numbers, stored, bounds, strict=True):
        tag, own = tags[number], locations[first:last]
        kind = kind_of(tag, stored_as, metadata[tag].plugin_data.plugin_name if tag in metadata else "")
        restarts = starts.restarts(Epochs.of(own["epoch"])) if starts else ()
        points = steps[first:last], wall_times[first:last]
        by_kind[kind.name][tag] = Items(tag, *points, own, files, kind.decode, restarts)
    return by_kind


def _none(kind: Kind) -> str:
    """The beginning of the error for a tag that has no values of a kind."""
    return f"no {kind.nouns} {'is' if kind.nouns == kind.noun else 'are'} tagged"


def _keys(locations: NDArray[np.void]) -> NDArray[np.int64]:
    keys: NDArray[np.int64] = locations["tag"].astype(np.int64) << 8 | locations["kind"]
    return keys
