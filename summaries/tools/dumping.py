"""Dump event files: every record with its place, and every fault where it is, one after the other."""

from __future__ import annotations

import base64
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from google.protobuf.message import DecodeError

from summaries.errors import Fault
from summaries.patterns import matcher
from summaries.reading.event_iterator import records_of
from summaries.storage.logdir import run_files
from summaries.storage.protocols import UnreachableError, expecting
from summaries.tools.described import described, plain_number, tensor_kind
from summaries.wire.events import WALL_TIME_KEY, decode_event
from summaries.wire.pb import Event
from summaries.wire.records import FOOTER_BYTES, HEADER_BYTES

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Sequence
    from typing import Unpack

    from summaries.patterns import Patterns
    from summaries.storage.files import Access
    from summaries.storage.protocols import StoredFile
    from summaries.wire.pb import Summary

Item = TypeVar("Item")

__all__ = ["DumpedEvent", "dump", "event_as_dict", "fault_as_dict"]


@dataclass(frozen=True, slots=True)
class DumpedEvent:
    """An event and its place.

    Attributes:
        path: the file.
        offset: where its record starts, in bytes from the start of the file.
        length: size of the record, in bytes.
        event: the event.
        values: its values, of wanted tags.
        plugins: for each of them, what its tag's first metadata says: a plugin's name, or "".
    """

    path: str
    offset: int
    length: int
    event: Event
    values: tuple[Summary.Value, ...]
    plugins: tuple[str, ...]


def dump(
    path: str | os.PathLike[str],
    tags: Patterns = None,
    on_error: Callable[[OSError], object] | None = None,
    **access: Unpack[Access],
) -> Iterator[DumpedEvent | Fault]:
    """Yield every event of a file, and every fault, in the order in which they lie there.

    Only a part of the file is in memory at a time.

    Args:
        path: an event file; or a run's directory, for all of its files.
        tags: only events with a value whose tag matches one of these patterns; None means all events, those without
            values too. Faults are always yielded.
        on_error: called with the error of each file that cannot be read; the others go on. If None, it is raised.
        **access: how an address is accessed: `storage_options` and `cache` as in `read_run`.

    Raises:
        FileNotFoundError: the path does not exist, or the directory contains no event file.
        OSError: a file cannot be read, and there is no `on_error`.

    >>> import tempfile
    >>> from summaries import SummaryWriter
    >>> with SummaryWriter(tempfile.mkdtemp()) as writer:
    ...     writer.add_scalar("loss", 0.5, 7)
    >>> for found in dump(writer.path):
    ...     print(found.offset, found.length, found.event.WhichOneof("what"))
    0 54 file_version
    54 42 summary
    """
    files = run_files(path, **access)
    return _dumped(files, tags, on_error)


def _dumped(
    files: Sequence[StoredFile], tags: Patterns, on_error: Callable[[OSError], object] | None
) -> Iterator[DumpedEvent | Fault]:
    wanted = matcher(tags)
    plugins: dict[str, str] = {}  # of every tag that has metadata
    with expecting(files):
        for file in files:
            for offset, length, item in _told(_events(file), on_error):
                if isinstance(item, Fault):
                    yield item
                    continue
                _remember(item, plugins)
                values = tuple(value for value in item.summary.value if wanted(value.tag))
                if values or tags is None:
                    kinds = tuple(plugins.get(value.tag, "") for value in values)
                    yield DumpedEvent(file.path, offset, length, item, values, kinds)


def _told(items: Iterator[Item], on_error: Callable[[OSError], object] | None) -> Iterator[Item]:
    try:
        yield from items
    except OSError as error:
        if on_error is None or isinstance(error, UnreachableError):
            raise
        on_error(error)


def _events(file: StoredFile) -> Iterator[tuple[int, int, Event | Fault]]:
    """Offset, length in bytes, and the event or fault of each record."""
    for batch in records_of(file):
        if isinstance(batch, Fault):
            yield batch.offset, batch.length, batch
            continue
        for i, data in enumerate(batch.data):
            offset, length = batch.offset(i), HEADER_BYTES + len(data) + FOOTER_BYTES
            if data[:1] == WALL_TIME_KEY and (usual := _usual_event(data)) is not None:
                yield offset, length, usual
                continue
            event, faults = decode_event(data, offset, batch.number + i)
            yield from ((offset, length, fault.located(file.path)) for fault in faults)
            if event is not None:
                yield offset, length, event


def _usual_event(data: bytes) -> Event | None:
    """An event without any fault; None if it needs a closer look."""
    try:
        event = Event.FromString(data)
    except DecodeError:
        return None
    return event if event.step >= 0 and math.isfinite(event.wall_time) else None


def _remember(event: Event, plugins: dict[str, str]) -> None:
    """Keep what the first metadata of each tag says."""
    for value in event.summary.value:
        if value.HasField("metadata") and value.tag not in plugins:
            plugins[value.tag] = tensor_kind(value) or ""


def event_as_dict(dumped: DumpedEvent, *, full: bool = False) -> dict[str, Any]:
    """An event as values that JSON can hold.

    Args:
        dumped: the event.
        full: whether to tell arrays, texts, and the bytes of pictures, sounds and graphs whole.

    Returns:
        "file", "offset", "length", "wall_time", "step"; and what it carries by the field's name, such as "summary".
    """
    event = dumped.event
    fields: dict[str, Any] = {
        "file": dumped.path,
        "offset": dumped.offset,
        "length": dumped.length,
        "wall_time": plain_number(event.wall_time),
        "step": event.step,
    }
    what = event.WhichOneof("what")
    if what == "summary":
        pairs = zip(dumped.values, dumped.plugins, strict=True)
        fields["summary"] = [described(value, plugin, full=full) for value, plugin in pairs]
    elif what is not None:
        fields[what] = _other(event, what, full=full)
    return fields


def _other(event: Event, what: str, *, full: bool) -> Any:
    """What an event without a summary carries."""
    carried = getattr(event, what)
    if isinstance(carried, str):  # file_version
        return carried
    if isinstance(carried, bytes):  # graph_def, meta_graph_def
        return _blob(carried, full=full)
    if what == "session_log":
        status = type(carried).SessionStatus.Name(carried.status)
        return {"status": status, "checkpoint_path": carried.checkpoint_path, "msg": carried.msg}
    if what == "log_message":
        return {"level": carried.level, "message": carried.message}
    if what == "tagged_run_metadata":
        return {"tag": carried.tag, **_blob(carried.run_metadata, full=full)}
    return {}


def _blob(data: bytes, *, full: bool) -> dict[str, Any]:
    return {"bytes": len(data)} | ({"base64": base64.b64encode(data).decode()} if full else {})


def fault_as_dict(fault: Fault) -> dict[str, Any]:
    """A fault as values that JSON can hold: {"fault": its kind, …}."""
    return {
        "fault": fault.kind.value,
        "file": fault.path,
        "offset": fault.offset,
        "length": fault.length,
        "record": fault.record,
        "reason": fault.reason,
        "got": fault.got,
        "want": fault.want,
    }
