"""How each event file begins: the version of the format, and where it supersedes earlier files of its run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from summaries.storage.files import create_event_file
from summaries.storage.nowhere import NowhereEventFile
from summaries.wire.pb import Event, SessionLog, SourceMetadata
from summaries.wire.records import frame

if TYPE_CHECKING:
    from collections.abc import Mapping

    from summaries.storage.files import EventFile

__all__ = ["begun_file"]


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
    version = Event(wall_time=now, file_version="brain.Event:2", source_metadata=SourceMetadata(writer="gradledger"))
    first = frame(version.SerializeToString())
    if directory is None:
        file: EventFile = NowhereEventFile()
    else:
        file = create_event_file(directory, now, suffix, first, storage_options)
    if purge_step is not None:
        start = Event(wall_time=now, step=purge_step, session_log=SessionLog(status=SessionLog.START))
        first += 2 * frame(start.SerializeToString())  # TensorBoard's Python loader ignores a run's first START
    try:
        file.append(first, 0)
    except OSError:
        file.discard()  # otherwise each retry would leave a file behind
        raise
    return file
