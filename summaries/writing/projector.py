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
    from collections.abc import Sequence

    from summaries.writing.current_file import Destination

__all__ = ["write_points"]

_CONFIG = "projector_config.pbtxt"
_listing = threading.Lock()
_MAX_SPRITE_PIXELS = 8192  # per side; TensorBoard does not draw larger ones


def write_points(
    destination: Destination,
    mat: Any,
    metadata: Sequence[Any] | None,
    label_img: Any,
    step: int,
    tag: str,
    metadata_header: Sequence[str] | None,
) -> None:
    """Write points [n, d] with their labels and pictures [n, C, H, W], and list them after those listed already.

    Raises:
        ValueError: a shape is wrong, or the number of labels or pictures is not that of the points.
    """
    from urllib.parse import quote  # noqa: PLC0415 - importing it takes two milliseconds

    points = as_array(mat, "mat")
    if points.ndim != 2:  # noqa: PLR2004
        raise ValueError(f"mat must have shape [n, d], a row for each point, got {points.shape}")
    folder = f"{step:05}/{quote(tag, safe=' ').replace('.', '%2E')}"
    files = {"tensors.tsv": _tsv(points.tolist())}
    entry = f"  tensor_name: {_quoted(f'{tag}:{step:05}')}\n  tensor_path: {_quoted(f'{folder}/tensors.tsv')}\n"
    if metadata is not None:
        files["metadata.tsv"] = _metadata(metadata, metadata_header, len(points))
        entry += f"  metadata_path: {_quoted(f'{folder}/metadata.tsv')}\n"
    if label_img is not None:
        files["sprite.png"], width, height = _sprite(label_img, len(points))
        size = f"    single_image_dim: {width}\n    single_image_dim: {height}\n"
        entry += f"  sprite {{\n    image_path: {_quoted(f'{folder}/sprite.png')}\n{size}  }}\n"
    if metadata_header is not None and metadata is None:
        warn_odd("embedding", tag, "has a metadata_header without metadata", "the header is left out")
    for name, data in files.items():
        write_file(join(destination.directory, folder, name), data, destination.storage_options)
    _list(destination, f"embeddings {{\n{entry}}}\n")


def _list(destination: Destination, entry: str) -> None:
    """Add an entry to the configuration."""
    path = join(destination.directory, _CONFIG)
    with _listing:
        # Read each time: another writer may have added entries.
        config = (read_file(path, destination.storage_options) or b"").decode()
        if entry not in config:
            write_file(path, (config + entry).encode(), destination.storage_options)


def _metadata(metadata: Sequence[Any], header: Sequence[str] | None, count: int) -> bytes:
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
    for row in rows:
        if len(row) != len(header):
            columns = f"the {len(header)} columns of metadata_header"
            raise ValueError(f"each label must have {columns}, got one with {len(row)}")
    return _tsv([header, *rows])


def _tsv(rows: Any) -> bytes:
    """Tab-separated rows; tabs and line breaks within a cell become spaces."""
    clean = str.maketrans("\t\n\r", "   ")
    return "".join("\t".join(str(cell).translate(clean) for cell in row) + "\n" for row in rows).encode()


def _sprite(label_img: Any, count: int) -> tuple[bytes, int, int]:
    """The PNG of all pictures in a square grid, and the width and height of one, in pixels."""
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
    return pictures.encode_png(pictures.grid(square, side))[0], width, height


def _quoted(text: str) -> str:
    """The text as a string literal of protobuf's text format."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
