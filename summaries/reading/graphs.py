"""Graphs and run metadata, read from their files on demand; and graphs in files of their own."""

from __future__ import annotations

import errno
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from google.protobuf import text_format
from google.protobuf.message import DecodeError

from summaries.errors import Fault, FaultKind, UndecodableError
from summaries.storage.credentials import without_credentials
from summaries.storage.files import read_file
from summaries.wire.pb import Event, GraphDef, RunMetadata
from summaries.wire.protobuf import fields
from summaries.wire.records import HEADER_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from summaries.reading.collector import NonSummaryEvent
    from summaries.storage.protocols import StoredFile

__all__ = ["graph_of", "read_graph", "run_metadata_of"]

_META_GRAPH_GRAPH_DEF = 2  # the field of a MetaGraphDef that contains its GraphDef


def graph_of(events: Sequence[NonSummaryEvent], files: Sequence[StoredFile]) -> GraphDef | None:
    """The last graph among the events, or the last one in a MetaGraphDef.

    Raises:
        OSError: the file can no longer be read.
        UndecodableError: the bytes are not a GraphDef.
    """
    event = _last(events, "graph_def") or _last(events, "meta_graph_def")
    if event is None:
        return None
    data: bytes = getattr(_event(event, files), event.what)
    with _undecodable(event, files, "GraphDef"):
        if event.what == "meta_graph_def":  # protobuf merges a repeated field
            parts = fields(data, 0, len(data))
            data = b"".join(data[start:stop] for field, start, stop in parts if field == _META_GRAPH_GRAPH_DEF)
        return GraphDef.FromString(data)


def _last(events: Sequence[NonSummaryEvent], what: str) -> NonSummaryEvent | None:
    return next((event for event in reversed(events) if event.what == what), None)


def run_metadata_of(events: Sequence[NonSummaryEvent], files: Sequence[StoredFile]) -> dict[str, RunMetadata]:
    """Tag → RunMetadata; for a repeated tag, the last one.

    Raises:
        OSError: a file can no longer be read.
        UndecodableError: a value's bytes are not a RunMetadata.
    """
    metadata: dict[str, RunMetadata] = {}
    for event in events:
        if event.what == "tagged_run_metadata":
            tagged = _event(event, files).tagged_run_metadata
            with _undecodable(event, files, "RunMetadata"):
                metadata[tagged.tag] = RunMetadata.FromString(tagged.run_metadata)
    return metadata


def _event(event: NonSummaryEvent, files: Sequence[StoredFile]) -> Event:
    with files[event.file].open() as file:
        data = file.read_range(event.offset + HEADER_BYTES, event.length)
    with _undecodable(event, files, "Event"):
        return Event.FromString(data)


@contextmanager
def _undecodable(event: NonSummaryEvent, files: Sequence[StoredFile], want: str) -> Iterator[None]:
    """Convert protobuf's DecodeError to an UndecodableError with file and offset."""
    try:
        yield
    except DecodeError as error:
        article = "an" if want == "Event" else "a"
        reason, path = f"data is not {article} {want}", files[event.file].path
        fault = Fault(FaultKind.UNDECODABLE, reason, event.offset, event.length, str(error), want, path=path)
        raise UndecodableError(fault) from None


def read_graph(path: str | os.PathLike[str], *, storage_options: Mapping[str, object] | None = None) -> GraphDef:
    """Read a GraphDef from a file, in text or binary format.

    Args:
        path: a local path, or an address that fsspec knows, such as `s3://…`.
        storage_options: for an address, the options of its file system, as fsspec takes them.

    Raises:
        OSError: the file cannot be read.
        ValueError: the file does not contain a GraphDef.

    >>> import tempfile
    >>> from summaries import GraphDef, write_graph
    >>> path = write_graph(GraphDef(node=[{"name": "x", "op": "Placeholder"}]), tempfile.mkdtemp(), "graph.pbtxt")
    >>> read_graph(path).node[0].op
    'Placeholder'
    """
    path = os.fspath(path)
    data = read_file(path, storage_options)
    path = without_credentials(path)
    if data is None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
    try:
        return GraphDef.FromString(data)
    except DecodeError:
        pass
    try:
        return text_format.Parse(data.decode(), GraphDef())
    except (UnicodeDecodeError, text_format.ParseError) as error:
        raise ValueError(f"{path} must contain a GraphDef, binary or text, got neither: {error}") from None
