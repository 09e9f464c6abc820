"""Writes a graph to a file of its own."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from google.protobuf import text_format

from summaries.kinds.graph import graph_bytes
from summaries.storage.files import write_file
from summaries.storage.names import join
from summaries.wire.pb import GraphDef

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["write_graph"]


def write_graph(
    graph_def: Any,
    logdir: str | os.PathLike[str],
    name: str,
    as_text: bool = True,
    *,
    storage_options: Mapping[str, object] | None = None,
) -> str:
    """Write a GraphDef to a file of its own, as TF1's function of the same name does.

    Args:
        graph_def: our GraphDef, any other with the same wire format, its bytes, an object with `as_graph_def()`, or, if
            `optim` is imported, a loss, which is traced without its arrays.
        logdir: the directory; created if missing.
        name: the file's name, usually ending in .pbtxt, or in .pb if binary.
        as_text: whether to write protobuf's text format instead of binary.
        storage_options: for an address, the options of its file system, as fsspec takes them.

    Returns:
        The file's path.

    Raises:
        TypeError: `graph_def` is not a graph.
        ValueError: the bytes do not parse as a GraphDef.
        OSError: the file cannot be written.

    >>> import tempfile
    >>> from summaries import GraphDef, read_graph
    >>> from summaries.wire.pb import NodeDef
    >>> path = write_graph(GraphDef(node=[NodeDef(name="x", op="Placeholder")]), tempfile.mkdtemp(), "graph.pbtxt")
    >>> read_graph(path).node[0].name
    'x'
    """
    data = graph_bytes(graph_def)
    if as_text:
        data = text_format.MessageToString(GraphDef.FromString(data), as_utf8=True).encode()
    path = join(os.fspath(logdir), name)
    write_file(path, data, storage_options)
    return path
