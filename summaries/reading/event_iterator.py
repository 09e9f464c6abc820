"""One event file → its events and its faults, in order."""

from __future__ import annotations

import operator
import os
import warnings
from dataclasses import replace
from itertools import repeat
from typing import TYPE_CHECKING, Literal

from google.protobuf.message import DecodeError

from summaries.errors import Fault, FaultKind, UnfinishedTailWarning, raise_fault
from summaries.reading.follow import follow_files
from summaries.storage.files import place_of
from summaries.storage.names import is_remote
from summaries.storage.protocols import chunks, expecting
from summaries.wire.events import WALL_TIME_KEY, decode_event
from summaries.wire.pb import Event
from summaries.wire.records import RecordParser

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import Unpack

    from summaries.storage.files import Access
    from summaries.storage.protocols import Storage, StoredFile
    from summaries.wire.records import Batch

__all__ = ["empty_file", "events_at", "events_of", "no_event_file", "read_events", "records_of", "summary_iterator"]


def summary_iterator(
    path: str | os.PathLike[str], *, storage_options: Mapping[str, object] | None = None
) -> Iterator[Event]:
    """Yield every Event of one file, in order.

    Args:
        path: an event file; a local path, or an address that fsspec knows, such as `s3://…`.
        storage_options: for an address, the options of its file system, as fsspec takes them.

    Yields:
        Event messages; the first one contains the file's version.

    Raises:
        FileNotFoundError: the file does not exist.
        FormatError: the file is damaged; raised after all events before the damage. `read_events` can continue past it.

    Warns:
        UnfinishedTailWarning: the file ends inside a record, because it is still being written, or was truncated.

    >>> import tempfile
    >>> from summaries import SummaryWriter
    >>> with SummaryWriter(tempfile.mkdtemp()) as writer:
    ...     writer.add_scalar("loss", 0.5, 7)
    >>> for event in summary_iterator(writer.path):
    ...     for value in event.summary.value:
    ...         print(event.step, value.tag, value.simple_value)
    7 loss 0.5
    """
    return read_events(path, storage_options=storage_options)


def read_events(
    path: str | os.PathLike[str],
    *,
    follow: bool = False,
    on_fault: Literal["raise", "skip"] | Callable[[Fault], object] = "raise",
    stop: threading.Event | None = None,
    timeout_secs: float | None = None,
    storage_options: Mapping[str, object] | None = None,
) -> Iterator[Event]:
    """Yield every Event of one file, in order, with a choice of how to handle damage.

    Args:
        path: an event file; with `follow`, also a run's directory, to follow all of its files. It is a local path, or
            an address that fsspec knows, such as `s3://…`.
        follow: continue at the end of the file, and yield each event soon after its writer flushes it. If the file is
            replaced, reading continues where the old one ended if the bytes before that point are the same, and
            otherwise at its start. An unfinished record at the end is not reported: its writer may still complete it.
            Disks are looked at four times a second, stores once.
        on_fault: "raise" raises damage as a `FormatError` and warns of an unfinished tail; "skip" continues past
            both; a function is called with each `Fault`, and reading continues when it returns. Events with a fault
            that loses no data (`not fault.kind.is_data_loss`) are always yielded; only a function is told of these.
        stop: ends following, from any thread, within a quarter of a second.
        timeout_secs: ends following after this many seconds without new data; None waits forever.
        storage_options: for an address, the options of its file system, as fsspec takes them.

    Raises:
        ValueError: `on_fault` is not one of these.
        FileNotFoundError: the file does not exist.
        OSError: the path cannot be read; or it is a pipe, a socket or a device.
        FormatError: the file is damaged, and `on_fault` is "raise".

    Warns:
        UnfinishedTailWarning: the file ends inside a record, and `on_fault` is "raise".

    >>> import tempfile
    >>> from summaries import SummaryWriter
    >>> writer = SummaryWriter(tempfile.mkdtemp())
    >>> writer.add_scalar("loss", 0.5, 7)
    >>> writer.flush()
    >>> for event in read_events(writer.path, follow=True):
    ...     if event.HasField("summary"):
    ...         print(event.step)
    ...         break
    7
    >>> writer.close()
    """
    path = os.fspath(path)
    if callable(on_fault):
        handle: Callable[[Fault], object] = on_fault
    elif isinstance(on_fault, str) and on_fault in _HANDLERS:
        handle = _HANDLERS[on_fault]
    else:
        raise ValueError(f'on_fault must be "raise", "skip" or a function, got {on_fault!r}')
    if follow:
        followed = follow_files(path, stop, timeout_secs, storage_options=storage_options)
        return (event for file, items in followed for event in _events(items, file, handle))
    return events_at(path, handle, storage_options=storage_options)


def events_at(
    path: str | os.PathLike[str], handle: Callable[[Fault], object], **access: Unpack[Access]
) -> Iterator[Event]:
    """`read_events` without following, with a function to handle faults."""
    storage, path = place_of(path, **access)
    if is_remote(path):
        return _remote_events(storage, path, handle)
    return _events(_items(storage, path), path, handle)


def events_of(file: StoredFile, on_fault: Callable[[Fault], object]) -> Iterator[Event]:
    """`read_events` for a file that was listed, with a function to handle faults."""
    return _events(_items(file.storage, file), file.path, on_fault)


def records_of(file: StoredFile) -> Iterator[Batch | Fault]:
    """Yield the records of a file that was listed, in batches, and the faults between them, in order."""
    for item in _items(file.storage, file):
        yield item.located(file.path) if isinstance(item, Fault) else item


def _remote_events(storage: Storage, path: str, handle: Callable[[Fault], object]) -> Iterator[Event]:
    """The events of a file in a store; of one that consists of several objects, of all of them."""
    try:
        yield from _events(_items(storage, path), path, handle)
    except FileNotFoundError:
        files = storage.discover(path, recursive=False)
        with expecting(files):
            for file in files:
                yield from _events(_items(storage, file), file.path, handle)


def _events(items: Iterable[Batch | Fault], path: str, handle: Callable[[Fault], object]) -> Iterator[Event]:
    every = handle not in _HANDLERS.values()
    for item in items:
        if isinstance(item, Fault):
            if item.kind.is_data_loss or every:
                handle(item.located(path))
            continue
        data = item.data
        usual = 0 if every else _usual(data)
        pending = iter(data[:usual])
        try:  # map() over protobuf's parser is the fastest loop
            yield from map(Event.FromString, pending)
        except DecodeError:
            usual -= operator.length_hint(pending) + 1
        for i in range(usual, len(data)):
            event, faults = decode_event(data[i], item.offset(i), item.number + i)
            for fault in faults:
                if fault.kind.is_data_loss or every:
                    handle(fault.located(path))
            if event is not None:
                yield event


def _usual(data: list[bytes]) -> int:
    """The number of leading records that start with a wall time: if protobuf parses these, no data is lost."""
    if all(map(bytes.startswith, data, repeat(WALL_TIME_KEY))):
        return len(data)
    return next(i for i, record in enumerate(data) if not record.startswith(WALL_TIME_KEY))


def _items(storage: Storage, file: StoredFile | str) -> Iterator[Batch | Fault]:
    parser = RecordParser()
    end = 0
    with storage.open(file, 0) as opened:
        for chunk in chunks(opened):
            end += len(chunk)
            parser.feed(chunk)
            yield from parser.items()
    if not end:
        yield empty_file()
    parser.close()
    for item in parser.items():
        yield no_event_file(item, end) if isinstance(item, Fault) else item


def no_event_file(fault: Fault, end: int) -> Fault:
    """The fault to report of a file of `end` bytes: one that spans it all means that it is not an event file."""
    if fault.kind is not FaultKind.DAMAGED_LENGTH or fault.offset or fault.length != end:
        return fault
    return replace(fault, kind=FaultKind.NO_EVENT_FILE, reason=f"no record in the file, {fault.reason}")


def empty_file() -> Fault:
    """The fault of a file of 0 bytes."""
    return Fault(FaultKind.EMPTY_FILE, "the file is empty", 0, 0, "0 bytes", "records")


def _raise_or_warn(fault: Fault) -> None:
    if fault.kind.is_damage:
        raise_fault(fault)
    warnings.warn(str(fault), UnfinishedTailWarning, stacklevel=3)


def _skip(fault: Fault) -> None:
    """Ignore the fault."""


_HANDLERS: dict[str, Callable[[Fault], object]] = {"raise": _raise_or_warn, "skip": _skip}
