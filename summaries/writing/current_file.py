"""The file that a run's events go to: begun, written, synced, and left for a new one when it is lost."""

from __future__ import annotations

import logging
from struct import Struct
from typing import TYPE_CHECKING, NamedTuple

from summaries import wire
from summaries.storage.files import create_event_file
from summaries.storage.names import is_remote
from summaries.storage.nowhere import NowhereEventFile
from summaries.storage.protocols import LostFileError
from summaries.wire.records import frame
from summaries.writing.process_hooks import close_before_store

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from summaries.kinds.metadata import MetadataOnce
    from summaries.storage.files import EventFile
    from summaries.writing.event_queue import EventQueue

__all__ = ["CurrentFile", "Destination"]

_logger = logging.getLogger("summaries")

_TIME = Struct("<cd")  # Event.wall_time, …
_VERSION = b"\x1a\x0dbrain.Event:2\x52\x0c\x0a\x0agradledger"  # … .file_version and .source_metadata.writer


class Destination(NamedTuple):
    """Where a run's event files go.

    Attributes:
        directory: the run's directory, or its address; created with the first file.
        suffix: the end of the files' names.
        storage_options: for an address, the options of its file system.
        write_to_disk: if False, nothing is written anywhere.
    """

    directory: str
    suffix: str = ""
    storage_options: Mapping[str, object] | None = None
    write_to_disk: bool = True

    def begin_file(self, now: float, purge_step: int | None = None) -> EventFile:
        """A new event file that contains its first records.

        Args:
            now: seconds since the epoch.
            purge_step: supersedes the events of the run's earlier files at this step and later; None for none.

        Raises:
            OSError: the file cannot be created.
        """
        first = frame((_TIME.pack(b"\x09", now) if now else b"") + _VERSION)
        file: EventFile = NowhereEventFile()
        if self.write_to_disk:
            file = create_event_file(self.directory, now, self.suffix, first, self.storage_options)
        if purge_step is not None:
            session = wire.pb.SessionLog(status=wire.pb.SessionLog.START)
            start = wire.pb.Event(wall_time=now, step=purge_step, session_log=session)
            first += 2 * frame(start.SerializeToString())  # TensorBoard's Python loader ignores a run's first START
        try:
            file.append(first, 0)
        except OSError:
            file.discard()  # otherwise each retry would leave a file behind
            raise
        if self.write_to_disk and is_remote(self.directory):
            close_before_store(self.directory.partition("://")[0])
        return file


class CurrentFile:
    """The file that a run's events go to, and those before it. The caller holds a lock while it calls a method.

    Args:
        destination: where files go.
        purge_step: supersedes the events of the run's earlier files at this step and later; None for none.
        keep: whether what is written is kept until it is synced.
        most_kept: so many bytes are kept, roughly, before they are synced anyway.
        clock: returns the seconds since the epoch.

    Attributes:
        file: the file; one that takes nothing before `begin`.
    """

    def __init__(
        self,
        destination: Destination,
        *,
        purge_step: int | None,
        keep: bool,
        most_kept: int,
        clock: Callable[[], float],
    ) -> None:
        self.file: EventFile = NowhereEventFile()
        self._destination, self._clock = destination, clock
        self._purge_step, self._keep, self._most_kept = purge_step, keep, most_kept
        self._paths: list[list[str]] = []  # of every file so far; one in a store is several objects
        self._begins_at = 0  # where the user's events begin
        self._lost: LostFileError | None = None  # why the file is not written to any more
        self._has_told = False

    @property
    def paths(self) -> list[str]:
        """Those of every file so far."""
        return [path for paths in self._paths for path in paths]

    def __getstate__(self) -> dict[str, object]:
        """What a copy of a closed file gets: nothing to write to."""
        return self.__dict__ | {"file": NowhereEventFile(self.file.path), "_paths": [self.paths]}

    def begin(self, queue: EventQueue, metadata: MetadataOnce) -> None:
        """Go on in a new file.

        Raises:
            OSError: it cannot be created.
        """
        file = self._destination.begin_file(self._clock(), self._purge_step)
        self.file, self._lost, self._begins_at = file, None, file.size()
        self._paths.append(file.paths)
        self._purge_step = None  # only the first file purges; later ones continue it
        queue.begin_file()
        metadata.begin_file()

    def write(self, queue: EventQueue, metadata: MetadataOnce, *, sync: bool) -> None:
        """Write what is encoded; with `sync`, until it is on the disk. If the file is lost, it goes to a new one.

        Raises:
            OSError: it could not be written. It stays in the queue.
        """
        try:
            self._write(queue, metadata, sync=sync)
        except LostFileError:
            self._write(queue, metadata, sync=sync)  # in a new file; if that is lost, too, so is the next

    def _write(self, queue: EventQueue, metadata: MetadataOnce, *, sync: bool) -> None:
        if self._lost is not None:
            if not queue.is_waiting():
                return
            self._leave(self._lost, queue, metadata)
        try:
            queue.write(self.file, keep=self._keep)
            if sync or queue.unsynced_bytes() >= self._most_kept:
                self.file.sync()
                queue.forget_synced()
        except LostFileError as error:
            self._lost = error
            raise

    def _leave(self, reason: LostFileError, queue: EventQueue, metadata: MetadataOnce) -> None:
        """Go on in a new file, which has all that is not safely in this one."""
        old, size = self.file, queue.durable_size()
        self.begin(queue, metadata)
        # What is in the new file is not in this one.
        if size is not None and size < old.size() and old.cut(size) and size == self._begins_at:
            old.discard()
            self._paths.remove(old.paths)
        if not self._has_told:
            self._has_told = True
            _logger.warning("%s: %s; what follows goes to %s", old.path, reason.strerror, self.file.path)

    def forget(self) -> None:
        """Leave the file to the parent of a forked process."""
        self.file, self._lost = NowhereEventFile(self.file.path), None
