"""Events that carry no summary, read again when they are asked for: graphs and run metadata; and hyperparameters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from google.protobuf.message import DecodeError

from summaries.errors import Fault, FaultKind, UndecodableError
from summaries.wire.pb import Event, GraphDef, RunMetadata
from summaries.wire.protobuf import fields
from summaries.wire.records import HEADER_BYTES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from google.protobuf.message import Message

    from summaries.reading.collector import Moment
    from summaries.storage.protocols import StoredFile

import errno
import os

from google.protobuf import text_format

from summaries.storage.files import read_file

__all__ = ["graph_of", "read_graph", "run_metadata_of"]

_META_GRAPH_GRAPH_DEF = 2  # the field of a MetaGraphDef that holds its GraphDef


def graph_of(moments: Sequence[Moment], files: Sequence[StoredFile]) -> GraphDef | None:
    """The last graph among the moments, or the last one in a MetaGraphDef."""
    for what in ("graph_def", "meta_graph_def"):
        for moment in reversed(moments):
            if moment.what != what:
                continue
            data: bytes = getattr(_event(moment, files), what)
            if what == "meta_graph_def":
                graphs = [data[a:b] for field, a, b in fields(data, 0, len(data)) if field == _META_GRAPH_GRAPH_DEF]
                data = b"".join(graphs)  # protobuf merges what comes twice
            graph = GraphDef()
            _parse(graph, data, moment, files)
            return graph
    return None


def run_metadata_of(moments: Sequence[Moment], files: Sequence[StoredFile]) -> dict[str, RunMetadata]:
    """Tag → RunMetadata; the last one where a tag comes twice."""
    found: dict[str, RunMetadata] = {}
    for moment in moments:
        if moment.what == "tagged_run_metadata":
            tagged = _event(moment, files).tagged_run_metadata
            found[tagged.tag] = RunMetadata()
            _parse(found[tagged.tag], tagged.run_metadata, moment, files)
    return found


def _event(moment: Moment, files: Sequence[StoredFile]) -> Event:
    with files[moment.file].open() as file:
        data = file.read_range(moment.offset + HEADER_BYTES, moment.length)
    event = Event()
    _parse(event, data, moment, files)
    return event


def _parse(message: Message, data: bytes, moment: Moment, files: Sequence[StoredFile]) -> None:
    try:
        message.ParseFromString(data)
    except DecodeError as error:
        want = type(message).__name__
        reason = f"data is no {want}"
        path = files[moment.file].path
        fault = Fault(FaultKind.UNDECODABLE, reason, moment.offset, moment.length, str(error), want, path=path)
        raise UndecodableError(fault) from None


def read_graph(path: str | os.PathLike[str]) -> GraphDef:
    """The GraphDef in a file, text or binary: whichever it is.

    Raises:
        OSError: the file cannot be read.
        ValueError: it holds no GraphDef.
    """
    path = os.fspath(path)
    data = read_file(path)
    if data is None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
    try:
        return GraphDef.FromString(data)
    except DecodeError:
        pass
    try:
        return text_format.Parse(data.decode(), GraphDef())
    except (UnicodeDecodeError, text_format.ParseError) as error:
        raise ValueError(f"{path} must hold a GraphDef, binary or text, got neither: {error}") from None
