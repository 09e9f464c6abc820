"""Meshes and point clouds in three dimensions. Pure (no I/O)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from summaries.kinds.metadata import plugin_metadata
from summaries.values import as_array, check_tag
from summaries.wire.pb import MeshPluginData, Summary
from summaries.wire.tensors import numeric_tensor

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["mesh"]

_RANK = 3
_PARTS = (MeshPluginData.VERTEX, MeshPluginData.FACE, MeshPluginData.COLOR)


def mesh(
    tag: str,
    vertices: Any,
    colors: Any = None,
    faces: Any = None,
    config_dict: Mapping[str, Any] | None = None,
) -> Summary:
    """A Summary of a mesh, or of a point cloud if there are no faces.

    Args:
        tag: the tag; the parts are stored under `<tag>_VERTEX`, `<tag>_FACE` and `<tag>_COLOR`.
        vertices: [batch, n, 3], coordinates.
        colors: [batch, n, 3], red, green and blue from 0 to 255, or None.
        faces: [batch, m, 3], indices of the three vertices of each triangle, or None.
        config_dict: names and settings of THREE.js classes, such as the camera and the material; JSON values.

    Raises:
        TypeError: the tag is not a string, or an array is not numeric.
        ValueError: the tag is empty, or a shape is wrong.

    >>> [value.tag for value in mesh("cube", np.zeros((1, 8, 3)), faces=np.zeros((1, 12, 3))).value]
    ['cube_VERTEX', 'cube_FACE']
    """
    check_tag(tag)
    arrays = {}
    for part, name, given in zip(_PARTS, ("vertices", "faces", "colors"), (vertices, faces, colors), strict=True):
        if given is None and part != MeshPluginData.VERTEX:
            continue
        array = as_array(given, name)
        if array.ndim != _RANK or array.shape[2] != 3:  # noqa: PLR2004 - three dimensions
            raise ValueError(f"{name} must have shape [batch, n, 3], got {array.shape}")
        arrays[part] = array
    if colors is not None and arrays[MeshPluginData.COLOR].shape != arrays[MeshPluginData.VERTEX].shape:
        shapes = arrays[MeshPluginData.COLOR].shape, arrays[MeshPluginData.VERTEX].shape
        raise ValueError(f"colors must have the shape of vertices, {shapes[1]}, got {shapes[0]}")
    components = sum(1 << part for part in arrays)
    try:
        config = json.dumps(dict(config_dict or {}), sort_keys=True, allow_nan=False)
    except (TypeError, ValueError):
        can = "text, finite numbers, booleans, None, and lists and dicts of them"
        raise TypeError(f"config_dict must contain {can}, got {config_dict!r}") from None
    summary = Summary()
    for part, array in arrays.items():
        content = MeshPluginData(
            name=tag, content_type=part, components=components, shape=array.shape, json_config=config
        )
        summary.value.add(
            tag=f"{tag}_{MeshPluginData.ContentType.Name(part)}",
            tensor=numeric_tensor(array.astype(np.float32)),
            metadata=plugin_metadata("mesh", content.SerializeToString()),
        )
    return summary
