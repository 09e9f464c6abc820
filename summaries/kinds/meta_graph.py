"""MetaGraphDefs: a graph with TensorFlow's collections, from which `import_meta_graph` restores it. Pure (no I/O).

TensorFlow's objects are recognized by the module of their class, since TensorFlow may not be installed; whoever has one
has imported it already.
"""

from __future__ import annotations

import importlib
from typing import Any

from google.protobuf.message import DecodeError

from summaries.wire.pb import GraphDef
from summaries.wire.protobuf import fields, serialized

__all__ = ["exported_meta_graph", "is_tensorflow", "meta_graph_bytes", "plugin_assets"]

_GRAPH_DEF = 2  # a MetaGraphDef's field
_ASSETS = "__tensorboard_plugin_asset__"  # the collection of the plugins' names; with a name appended, its assets


def meta_graph_bytes(meta_graph_def: Any) -> bytes:
    """The bytes of a MetaGraphDef, which are given as a message of any library or as bytes.

    Raises:
        TypeError: it is another message, or neither.
        ValueError: the bytes do not parse as a MetaGraphDef.
    """
    data = serialized(meta_graph_def, "meta_graph_def")
    kind = getattr(getattr(meta_graph_def, "DESCRIPTOR", None), "name", "MetaGraphDef")
    if kind != "MetaGraphDef":
        raise TypeError(f"meta_graph_def must be a message of type MetaGraphDef, got one of type {kind}")
    try:
        GraphDef.FromString(b"".join(data[start:stop] for start, stop in _graph_spans(data)))
    except DecodeError as error:
        raise ValueError(
            f"meta_graph_def must be a MetaGraphDef, got {len(data)} bytes that do not parse as one: {error}"
        ) from None
    return data


def _graph_spans(data: bytes) -> list[tuple[int, int]]:
    """(start, stop) of each part of the GraphDef in a MetaGraphDef: protobuf merges a repeated field."""
    return [(start, stop) for field, start, stop in fields(data, 0, len(data)) if field == _GRAPH_DEF]


def is_tensorflow(graph: Any) -> bool:
    """Whether this is an object of TensorFlow's, such as a tf.Graph or TensorFlow's GraphDef."""
    return any(base.__module__.startswith("tensorflow.") for base in type(graph).__mro__)


def exported_meta_graph(graph: Any) -> bytes | None:
    """The MetaGraphDef that TensorFlow exports of a tf.Graph, or of its GraphDef with the default graph's collections.

    Args:
        graph: any graph. If it is not TensorFlow's, there are no collections to export: None is returned.
    """
    if not is_tensorflow(graph):
        return None
    v1 = importlib.import_module("tensorflow").compat.v1
    if hasattr(graph, "as_graph_def"):
        owner, definition = graph, graph.as_graph_def(add_shapes=True)
    else:
        owner, definition = v1.get_default_graph(), graph
    return meta_graph_bytes(v1.train.export_meta_graph(graph_def=definition, graph=owner))


def plugin_assets(graph: Any) -> list[tuple[str, bytes]]:
    """The files that TensorBoard's plugins want beside the events: (path, content) for each, as a tf.Graph has them.

    Args:
        graph: any graph. Only one of TensorFlow's has such a collection.
    """
    if not hasattr(graph, "get_collection"):
        return []
    assets = [graph.get_collection(f"{_ASSETS}{name}")[0] for name in graph.get_collection(_ASSETS)]
    return [
        (f"plugins/{asset.plugin_name}/{name}", content if isinstance(content, bytes) else content.encode())
        for asset in assets
        for name, content in asset.assets().items()
    ]
