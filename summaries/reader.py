"""One event file → its events and its faults, in order."""

from __future__ import annotations

import os
import warnings
from typing import TYPE_CHECKING, Literal

from google.protobuf.message import DecodeError

from summaries.errors import Fault, FaultKind, UnfinishedTailWarning, raise_fault
from summaries.files import read_chunks
from summaries.wire.pb import Event
from summaries.wire.records import FOOTER_BYTES, HEADER_BYTES, Record, RecordParser

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["read_events", "summary_iterator"]


def summary_iterator(path: str | os.PathLike[str]) -> Iterator[Event]:
    """Every Event of one file, in order.

    Args:
        path: an event file.

    Yields:
        Event messages, the first of which tells the file's version.

    Raises:
        FileNotFoundError: there is no such file.
        FormatError: the file is damaged; every event before the damage was given. `read_events` can go on behind it.

    Warns:
        UnfinishedTailWarning: the file ends inside a record, because it is still being written, or was cut.

    >>> import tempfile
    >>> from summaries import SummaryWriter
    >>> with SummaryWriter(tempfile.mkdtemp()) as writer:
    ...     writer.add_scalar("loss", 0.5, 7)
    >>> for event in summary_iterator(writer.path):
    ...     for value in event.summary.value:
    ...         print(event.step, value.tag, value.simple_value)
    7 loss 0.5
    """
    return read_events(path)


def read_events(
    path: str | os.PathLike[str],
    *,
    on_fault: Literal["raise", "skip"] | Callable[[Fault], object] = "raise",
) -> Iterator[Event]:
    """Every Event of one file, in order, with a say in what happens where the file is damaged.

    Args:
        path: an event file.
        on_fault: "raise" raises damage as a `FormatError` and warns of an unfinished tail; "skip" goes on behind
            either; a function is called with each `Fault`, and reading goes on when it returns.

    Raises:
        ValueError: `on_fault` is none of these.
        FileNotFoundError: there is no such file.
        FormatError: the file is damaged, and `on_fault` is "raise".

    Warns:
        UnfinishedTailWarning: the file ends inside a record, and `on_fault` is "raise".
    """
    path = os.fspath(path)
    if callable(on_fault):
        handle: Callable[[Fault], object] = on_fault
    elif on_fault in _HANDLERS:
        handle = _HANDLERS[on_fault]
    else:
        raise ValueError(f'on_fault must be "raise", "skip" or a function, got {on_fault!r}')
    return _events(path, handle)


def _events(path: str, handle: Callable[[Fault], object]) -> Iterator[Event]:
    decode = Event.FromString
    records = 0
    for item in _items(path):
        if isinstance(item, Fault):
            handle(item.located(path))
            continue
        try:
            event = decode(item.data)
        except DecodeError as error:
            handle(_undecodable(item, str(error), records).located(path))
        else:
            yield event
        records += 1


def _items(path: str) -> Iterator[Record | Fault]:
    parser = RecordParser()
    for chunk in read_chunks(path):
        parser.feed(chunk)
        yield from parser.items()
    parser.close()
    yield from parser.items()


def _undecodable(record: Record, error: str, number: int) -> Fault:
    size = HEADER_BYTES + len(record.data) + FOOTER_BYTES
    return Fault(FaultKind.UNDECODABLE, "data is no Event", record.offset, size, error, "a serialized Event", number)


def _raise_or_warn(fault: Fault) -> None:
    if fault.kind is FaultKind.UNFINISHED_TAIL:
        warnings.warn(str(fault), UnfinishedTailWarning, stacklevel=3)
    else:
        raise_fault(fault)


def _skip(fault: Fault) -> None:
    """Go on."""


_HANDLERS: dict[str, Callable[[Fault], object]] = {"raise": _raise_or_warn, "skip": _skip}
