"""How each event file begins: the version of the format, and where it supersedes earlier files of its run."""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING

from summaries import wire
from summaries.storage.files import create_event_file
from summaries.storage.nowhere import NowhereEventFile
from summaries.wire.records import frame

if TYPE_CHECKING:
    from collections.abc import Mapping

    from summaries.storage.files import EventFile

__all__ = ["begun_file"]

_TIME = Struct("<cd")  # Event.wall_time, …
_VERSION = b"\x1a\x0dbrain.Event:2\x52\x0c\x0a\x0agradledger"  # … .file_version and .source_metadata.writer


def begun_file(
    directory: str | None,
    now: float,
    suffix: str,
    purge_step: int | None,
    storage_options: Mapping[str, object] | None = None,
) -> EventFile:
    """A new event file that contains its first records.

    Args:
        directory: where; None for a file that is not written to disk.
        now: seconds since the epoch.
        suffix: the end of the file's name.
        purge_step: supersedes the events of the run's earlier files at this step and later; None for none.
        storage_options: for an address, the options of its file system.

    Raises:
        OSError: the file cannot be created.
    """
    first = frame((_TIME.pack(b"\x09", now) if now else b"") + _VERSION)
    if directory is None:
        file: EventFile = NowhereEventFile()
    else:
        file = create_event_file(directory, now, suffix, first, storage_options)
    if purge_step is not None:
        session = wire.pb.SessionLog(status=wire.pb.SessionLog.START)
        start = wire.pb.Event(wall_time=now, step=purge_step, session_log=session)
        first += 2 * frame(start.SerializeToString())  # TensorBoard's Python loader ignores a run's first START
    try:
        file.append(first, 0)
    except OSError:
        file.discard()  # otherwise each retry would leave a file behind
        raise
    return file
