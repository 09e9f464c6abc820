"""Writes points for TensorBoard's projector, which reads files of its own instead of events.

<logdir>/projector_config.pbtxt           lists the files below; TensorBoard looks for it by this name
<logdir>/<step>/<tag>/tensors.tsv         one row per point
<logdir>/<step>/<tag>/metadata.tsv        one label per point
<logdir>/<step>/<tag>/sprite.png          one picture per point, in a square grid
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from summaries.kinds import pictures
from summaries.kinds.odd_values import warn_odd
from summaries.storage.files import read_file, write_file
from summaries.storage.names import join
from summaries.values import as_array

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


__all__ = ["Projector"]

_CONFIG = "projector_config.pbtxt"
_listing = threading.Lock()
_MAX_SPRITE_PIXELS = 8192  # per side; TensorBoard does not draw larger ones


class Projector:
    """The projector's files below one directory. Earlier entries of the configuration are kept.

    Args:
        logdir: the run's directory.
        storage_options: for an address, the options of its file system.
    """

    def __init__(self, logdir: str, storage_options: Mapping[str, object] | None = None) -> None:
        self._logdir, self._storage_options = logdir, storage_options

    def add(
        self,
        mat: Any,
        metadata: Sequence[Any] | None,
        label_img: Any,
        step: int,
        tag: str,
        metadata_header: Sequence[str] | None,
    ) -> None:
        """Write points [n, d] with their labels and pictures [n, C, H, W], and list them.

        Raises:
            ValueError: a shape is wrong, or the number of labels or pictures is not that of the points.
        """
        from urllib.parse import quote  # noqa: PLC0415 - importing it takes two milliseconds

        points = as_array(mat, "mat")
        if points.ndim != 2:  # noqa: PLR2004
            raise ValueError(f"mat must have shape [n, d], a row for each point, got {points.shape}")
        files = {"tensors.tsv": _tsv(points.tolist()).encode()}
        if metadata is not None:
            files["metadata.tsv"] = _metadata(metadata, metadata_header, len(points)).encode()
        size = None
        if label_img is not None:
            files["sprite.png"], size = _sprite(label_img, len(points))
        if metadata_header is not None and metadata is None:
            warn_odd("embedding", tag, "has a metadata_header without metadata", "the header is left out")
        directory = str(step).zfill(5), quote(tag, safe=" ").replace(".", "%2E")
        for name, data in files.items():
            write_file(join(self._logdir, *directory, name), data, self._storage_options)
        self._list(f"{tag}:{str(step).zfill(5)}", "/".join(directory), files, size)

    def _list(self, name: str, directory: str, files: dict[str, bytes], size: tuple[int, int] | None) -> None:
        lines = [
            "embeddings {",
            f"  tensor_name: {_quoted(name)}",
            f"  tensor_path: {_quoted(directory + '/tensors.tsv')}",
        ]
        if "metadata.tsv" in files:
            lines.append(f"  metadata_path: {_quoted(directory + '/metadata.tsv')}")
        if size is not None:
            width, height = size
            lines += ["  sprite {", f"    image_path: {_quoted(directory + '/sprite.png')}"]
            lines += [f"    single_image_dim: {width}", f"    single_image_dim: {height}", "  }"]
        entry = "\n".join([*lines, "}", ""])
        path = join(self._logdir, _CONFIG)
        with _listing:
            config = (read_file(path, self._storage_options) or b"").decode()  # another writer may have added entries
            if entry not in config:
                write_file(path, (config + entry).encode(), self._storage_options)


def _metadata(metadata: Sequence[Any], header: Sequence[str] | None, count: int) -> str:
    if isinstance(metadata, str) or not isinstance(metadata, Iterable):
        raise TypeError(f"metadata must be a list of labels, got {type(metadata).__name__}: {metadata!r}")
    metadata = list(metadata)
    if len(metadata) != count:
        raise ValueError(f"metadata must contain one label for each of the {count} points, got {len(metadata)}")
    if header is None:
        return _tsv([label] for label in metadata)
    for label in metadata:
        if isinstance(label, str) or not isinstance(label, Iterable):
            raise TypeError(f"with metadata_header, each label must be a list of its columns, got {label!r}")
    rows = [list(label) for label in metadata]
    wrong = [len(row) for row in rows if len(row) != len(header)]
    if wrong:
        raise ValueError(f"each label must have the {len(header)} columns of metadata_header, got one with {wrong[0]}")
    return _tsv([header, *rows])


def _tsv(rows: Any) -> str:
    """Tab-separated rows; tabs and line breaks within a cell become spaces."""
    clean = str.maketrans("\t\n\r", "   ")
    return "".join("\t".join(str(cell).translate(clean) for cell in row) + "\n" for row in rows)


def _sprite(label_img: Any, count: int) -> tuple[bytes, tuple[int, int]]:
    """The PNG of all pictures in a square grid, and the (width, height) of one."""
    pixels = pictures.as_pixels(label_img, "NCHW", "NHWC", "label_img")
    if len(pixels) != count:
        raise ValueError(f"label_img must contain one picture for each of the {count} points, got {len(pixels)}")
    side = math.ceil(math.sqrt(count))
    height, width = pixels.shape[1:3]
    if side * max(height, width) > _MAX_SPRITE_PIXELS:
        raise ValueError(
            f"label_img must fit into {_MAX_SPRITE_PIXELS} x {_MAX_SPRITE_PIXELS} pixels,"
            f" got {side} x {side} pictures of {width} x {height}"
        )
    square = np.zeros((side * side, *pixels.shape[1:]), np.uint8)
    square[:count] = pixels
    return pictures.encode_png(pictures.grid(square, side))[0], (width, height)


def _quoted(text: str) -> str:
    """The text as a string literal of protobuf's text format."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
