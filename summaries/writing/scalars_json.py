"""What add_scalars wrote, as JSON: for tensorboardX's export_scalars_to_json."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from summaries import wire
from summaries.storage.files import read_file
from summaries.wire.records import Batch, RecordParser

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

__all__ = ["scalars_json"]


def scalars_json(files: Mapping[str, Iterable[str]], storage_options: Mapping[str, object] | None = None) -> str:
    """Every scalar of some files: ``{directory: [[wall time, step, value], ...], ...}``.

    Args:
        files: directory → paths of the event files that were written there.
        storage_options: for addresses, the options of their file system.
    """
    return json.dumps({directory: [*_points(paths, storage_options)] for directory, paths in files.items()})


def _points(paths: Iterable[str], storage_options: Mapping[str, object] | None) -> Iterator[tuple[float, int, float]]:
    for path in paths:
        parser = RecordParser()
        parser.feed(read_file(path, storage_options) or b"")
        for item in parser.items():
            for data in item.data if isinstance(item, Batch) else ():
                event = wire.pb.Event.FromString(data)
                yield from ((event.wall_time, event.step, value.simple_value) for value in event.summary.value)
