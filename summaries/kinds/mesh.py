"""Meshes and point clouds in three dimensions. Pure (no I/O)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from summaries.kinds.metadata import plugin_metadata
from summaries.kinds.odd_values import warn_odd
from summaries.values import as_array, as_tag
from summaries.wire.pb import MeshPluginData, Summary
from summaries.wire.tensors import numeric_tensor

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

__all__ = ["mesh"]

_RANK = 3
_COLUMNS = 3
_PARTS = (MeshPluginData.VERTEX, MeshPluginData.FACE, MeshPluginData.COLOR)


def mesh(
    tag: str, vertices: Any, colors: Any = None, faces: Any = None, config_dict: Mapping[str, Any] | None = None
) -> Summary:
    """A Summary of a mesh, or of a point cloud if there are no faces.

    Args:
        tag: the tag; the parts are stored under `<tag>_VERTEX`, `<tag>_FACE` and `<tag>_COLOR`.
        vertices: [batch, n, 3], coordinates.
        colors: [batch, n, 3], red, green and blue from 0 to 255, or None.
        faces: [batch, m, 3], indices of the three vertices of each triangle, or None. In each of these arrays, columns
            beyond the third are left out, and missing ones are 0; each with a warning once per tag.
        config_dict: names and settings of THREE.js classes, such as the camera and the material; JSON values. Numbers
            that are not finite become null, with a warning once per tag.

    Raises:
        TypeError: the tag is not a string, an array is not numeric, or the settings are not JSON values.
        ValueError: the tag is not Unicode text, or an array does not have three axes.

    >>> [value.tag for value in mesh("cube", np.zeros((1, 8, 3)), faces=np.zeros((1, 12, 3))).value]
    ['cube_VERTEX', 'cube_FACE']
    """
    tag = as_tag(tag)
    arrays = {}
    for part, name, values in zip(_PARTS, ("vertices", "faces", "colors"), (vertices, faces, colors), strict=True):
        if values is None and part != MeshPluginData.VERTEX:
            continue
        array = as_array(values, name)
        if array.ndim != _RANK:
            raise ValueError(f"{name} must have shape [batch, n, 3], got {array.shape}")
        arrays[part] = _in_three_columns(tag, name, array)
    if colors is not None and arrays[MeshPluginData.COLOR].shape != arrays[MeshPluginData.VERTEX].shape:
        shapes = f"{arrays[MeshPluginData.COLOR].shape} for {arrays[MeshPluginData.VERTEX].shape}"
        warn_odd("mesh", tag, "has colors of another shape than its vertices", "both are stored as they are", shapes)
    components = sum(1 << part for part in arrays)
    config = _json(tag, config_dict)
    summary = Summary()
    for part, array in arrays.items():
        content = MeshPluginData(
            name=tag, content_type=part, components=components, shape=array.shape, json_config=config
        )
        summary.value.add(
            tag=f"{tag}_{MeshPluginData.ContentType.Name(part)}",
            tensor=numeric_tensor(array),
            metadata=plugin_metadata("mesh", content.SerializeToString()),
        )
    return summary


def _in_three_columns(tag: str, name: str, array: NDArray[Any]) -> NDArray[np.float32]:
    """The array [batch, n, any] as [batch, n, 3]."""
    columns = min(array.shape[2], _COLUMNS)
    if array.shape[2] == columns == _COLUMNS:
        return array.astype(np.float32)
    warn_odd("mesh", tag, f"has {name} of another number of columns than 3", "cut or filled with zeros", array.shape[2])
    three = np.zeros((*array.shape[:2], _COLUMNS), np.float32)
    three[..., :columns] = array[..., :columns]
    return three


def _json(tag: str, config_dict: Mapping[str, Any] | None) -> str:
    try:
        text = json.dumps(dict(config_dict or {}), sort_keys=True)
    except (TypeError, ValueError):
        can = "text, finite numbers, booleans, None, and lists and dicts of them"
        raise TypeError(f"config_dict must contain {can}, got {config_dict!r}") from None
    finite = json.loads(text, parse_constant=lambda _: None)  # TensorBoard's page cannot parse NaN
    if finite != json.loads(text, parse_constant=str):
        warn_odd("mesh", tag, "has settings that are not finite", "they become null")
    return json.dumps(finite, sort_keys=True)
