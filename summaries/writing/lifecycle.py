"""Lifecycle: opens, writes, closes and reopens a writer's file, whatever other threads, signal handlers and forks do.

Locks. A thread that opens or closes files may wait for one that encodes or writes, never the other way round.

A signal handler may come between any two calls, log, flush and close. It never waits for a thread that may wait for
what the handler interrupted. A handler in the middle of its own thread's write to the disk cannot write: it warns, and
what it logged comes behind.
"""

from __future__ import annotations

import contextlib
import logging
import math
import os
import threading
import time
import warnings
from collections import deque
from typing import TYPE_CHECKING

from summaries import kinds, wire
from summaries.kinds.metadata import MetadataOnce
from summaries.lazy import load
from summaries.storage.names import checked_suffix, is_remote
from summaries.storage.nowhere import NowhereEventFile
from summaries.values import as_count, as_step
from summaries.writing.beginning import begun_file
from summaries.writing.flusher import Flusher
from summaries.writing.lifetime import close_at_last, close_before_store, look_after
from summaries.writing.nonfinite import NonFiniteWarnings
from summaries.writing.pending import ROW_BYTES, Pending, held_by_this_thread
from summaries.writing.shadowed import computed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, Self

__all__ = ["NEVER", "Lifecycle", "new_flusher"]

_logger = logging.getLogger("summaries")

_FLUSH_SECS, _REMOTE_FLUSH_SECS = 2.0, 60.0
NEVER = -1
"""A limit that every buffer exceeds."""


def new_flusher(logdir: str, flush_secs: float | None) -> Flusher:
    """A flusher for a directory. Each write to a remote one creates an object, so it writes less often there."""
    if is_remote(logdir):
        return Flusher(_REMOTE_FLUSH_SECS if flush_secs is None else flush_secs, first_secs=math.inf)
    return Flusher(_FLUSH_SECS if flush_secs is None else flush_secs)


class Lifecycle:
    """What EventFileWriter is besides its methods for logging; there, its arguments are documented."""

    _of_this_process = frozenset(
        (
            "_pending_events",
            "_scalar_rows",
            "_tag_numbers",
            "_metadata_once",
            "_write_errors",
            "_disk_lock",
            "_open_lock",
        )
    )

    def __init__(
        self,
        logdir: str | os.PathLike[str],
        max_queue: int = 1 << 13,
        flush_secs: float | None = None,
        filename_suffix: str = "",
        *,
        max_pending_bytes: int = 64 << 20,
        fsync: bool = False,
        purge_step: int | None = None,
        write_to_disk: bool = True,
        flusher: Flusher | None = None,
        clock: Callable[[], float] | None = None,
        storage_options: Mapping[str, object] | None = None,
    ) -> None:
        load(wire)  # now: the handler of a signal may log while a call that it interrupted imports the same module
        load(kinds)
        self._given_logdir = os.fsdecode(logdir)
        # The working directory may change while the writer writes.
        self._event_directory = (
            self._given_logdir if is_remote(self._given_logdir) else os.path.abspath(self._given_logdir)
        )
        self._file_suffix = checked_suffix(filename_suffix)
        self._max_queue = max(as_step(max_queue, "max_queue"), 0)
        self._max_pending_bytes = as_count(max_pending_bytes, "max_pending_bytes")
        self._sync_files = fsync
        self._purge_step = None if purge_step is None else as_step(purge_step, "purge_step")
        self._write_to_disk = write_to_disk
        self._storage_options = storage_options
        self._event_flusher = flusher or new_flusher(self._given_logdir, flush_secs)
        self._wall_clock = clock or time.time
        self._at_once = not (self._max_queue and self._event_flusher.flush_secs)

        self._nonfinite_warnings = NonFiniteWarnings()
        self._default_step = 0  # of calls that give none
        self._file_paths: list[list[str]] = []  # of every file so far; one in a store is several objects
        self._is_closed = False  # or closing
        self._write_failed = False  # to write
        self._went_on = False  # after close()
        self._is_forked = False
        self._renew_buffers()
        self._open_file()

    def _renew_buffers(self) -> None:
        """Make what holds waiting events: it stays in this process, and copies of the writer do not share it."""
        self._pending_events = Pending()
        self._scalar_rows = self._pending_events.rows  # both for add_scalar, which has no time to look twice
        # A tag that is not in it is logged carefully.
        self._tag_numbers = {} if self._at_once else self._pending_events.tags
        self._rows_limit = NEVER  # bytes that the buffer may hold before a call looks closer
        self._metadata_once = MetadataOnce()
        self._write_errors: deque[Exception] = deque(maxlen=1)  # of the background thread
        self._renew_locks()

    @computed
    def path(self) -> str:
        """The file being written.

        In a store, each flush creates an object, whose name has a number more: `paths` are the objects. Whatever reads
        a file takes this name, too, and reads all of its objects in order.
        """
        return self._event_file.path

    @computed
    def closed(self) -> bool:
        """Whether close() was called, and nothing was logged since."""
        return self._is_closed

    @computed
    def paths(self) -> list[str]:
        """Every file so far."""
        return [path for paths in self._file_paths for path in paths]

    def get_logdir(self) -> str:
        """The directory that the file is in."""
        return self._given_logdir

    def flush(self) -> None:
        """Return when the operating system has everything logged so far; with `fsync`, when the disk has it.

        Raises:
            OSError: it could not be written. It is kept, and tried again.
        """
        self._flush_file()

    def _flush_file(self) -> None:
        """flush() this writer's own file only."""
        if not self._is_forked:
            if not self._write_pending(fsync=self._sync_files):
                message = f"a flush of {self._event_file.path} interrupted another of the same thread"
                warnings.warn(f"{message}: the first flush resumes afterwards", RuntimeWarning, stacklevel=3)
            self._raise_error()

    def close(self) -> None:
        """Write everything. Closing again does nothing; logging again begins a new file in the same directory.

        Raises:
            OSError: it could not be written. The writer stays open.
        """
        self.close_own_file()

    def close_own_file(self) -> None:
        """close() this writer's own file only, whatever a subclass's close() does."""
        if self._pending_events.sealed:
            return
        self._flush_file()
        if held_by_this_thread(self._disk_lock):
            return  # in a signal handler during a flush, which has warned: close() can be called again afterwards
        if not self._take_open_lock():
            return  # in a signal handler: another thread is closing the writer
        try:
            self._event_flusher.remove(self)
            self._is_closed = True
            self._rows_limit = NEVER
            while not self._pending_events.seal():  # events of other threads, and of handlers that interrupt this
                if self._is_forked:
                    self._open_in_child()
                self._flush_file()
            self._flush_file()  # what the background thread has taken and not written yet
            self._metadata_once.begin_file()  # here already: what is logged next is encoded before its file begins
        except BaseException:
            self._pending_events.unseal()
            self._is_closed = False
            self._event_flusher.add(self)
            raise
        finally:
            self._open_lock.release()

    def reopen(self) -> None:
        """Continue in a new file, if the writer is closed or its file could not be written; else do nothing."""
        if not (self._pending_events.sealed or self._write_failed):
            return
        if held_by_this_thread(self._disk_lock) or not self._take_open_lock():
            path = self._event_file.path
            raise RuntimeError(f"reopen() of {path} interrupted a flush of the same thread: call it afterwards")
        try:
            with contextlib.suppress(OSError):  # if the old file cannot be written, waiting events go to the new one
                self._flush_file()
            if self._pending_events.sealed or self._write_failed:
                self._open_file()
        finally:
            self._open_lock.release()

    def _go_on(self) -> None:
        """Let a call log after close(), in a new file; or amid close(), which then writes its event, too."""
        if held_by_this_thread(self._disk_lock) or not self._take_open_lock():
            if self._pending_events.sealed:
                path = self._event_file.path
                raise RuntimeError(f"this call interrupted the end of {path} in the same thread: log it again")
            return
        try:
            if self._pending_events.sealed:
                closed = self._event_file.path
                self.reopen()
                if not self._went_on:
                    _logger.info(
                        "something was logged after close() of %s: it goes to %s", closed, self._event_file.path
                    )
                self._went_on = True
        finally:
            self._open_lock.release()

    def _take_open_lock(self) -> bool:
        """Whether this thread may open and close files; waits for another that does.

        A signal handler does not wait for a thread that may wait for what the handler interrupted.
        """
        interrupts = held_by_this_thread(self._disk_lock) or self._pending_events.encoding_here()
        return self._open_lock.acquire(blocking=not interrupts)

    def _open_file(self) -> None:
        """Begin a new file, and register with the background thread."""
        with self._disk_lock:
            directory = self._event_directory if self._write_to_disk else None
            self._event_file = begun_file(
                directory, self._wall_clock(), self._file_suffix, self._purge_step, self._storage_options
            )
            self._file_paths.append(self._event_file.paths)
            self._purge_step = None  # only the first file purges; later ones continue it
            self._pending_events.begin_file()
            self._metadata_once.begin_file()
        self._pending_events.unseal()
        self._is_closed = self._write_failed = self._is_forked = False
        self._nothing_logged = True
        self._event_flusher.add(self)
        look_after(self)
        if directory is not None and is_remote(directory):
            close_before_store(directory.partition("://")[0])
        self._rows_limit = NEVER  # the first call notices that it is the first

    def __getstate__(self) -> dict[str, Any]:
        """What a copy of a closed writer gets: everything but what holds waiting events, and the locks."""
        if not self._pending_events.sealed:
            raise TypeError(
                "an open writer cannot be copied or sent to another process: make another "
                f"{type(self).__name__}({self._given_logdir!r}) in that process; each writes a file of its own"
            )
        state = {name: value for name, value in self.__dict__.items() if name not in self._of_this_process}
        return state | {"_event_file": NowhereEventFile(self._event_file.path), "_file_paths": [self.paths]}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._renew_buffers()
        self._pending_events.seal()
        look_after(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def __del__(self) -> None:
        if "_event_file" in self.__dict__:  # absent if __init__ failed
            close_at_last(self)

    # Called by the background thread, after a fork and at the end of the process.

    def write_in_background(self) -> None:
        """Write the waiting events; an error is kept for the next call."""
        try:
            self._pending_events.resolve()
            self._write_pending()
        except Exception as error:  # noqa: BLE001 - whatever it is, the next call raises it
            self._write_errors.append(error)
            self._rows_limit = NEVER

    def give_up(self) -> str:
        """Forget what could not be written, as the process ends; return how much it was, and the file that lacks it."""
        with contextlib.suppress(Exception):  # once more: some errors concern one event, and are raised once
            self.close_own_file()
        path, lost = self._event_file.path, self._pending_events.count()
        if not lost:
            return f"an error was found when {path} was closed"
        self._pending_events.clear()
        with contextlib.suppress(Exception):
            self.close_own_file()
        return f"up to {lost} events were lost when {path} was closed"

    def after_fork_in_child(self) -> None:
        """Leave waiting events to the parent; the child's own events go to a new file."""
        self._pending_events.clear()
        self._metadata_once.begin_file()
        self._write_errors.clear()
        self._rows_limit = NEVER
        self._is_closed = self._pending_events.sealed  # the thread that was closing the writer is not in the child
        self._is_forked = not self._is_closed
        self._renew_locks()
        self._event_flusher.forget_thread()

    def _renew_locks(self) -> None:
        # Held during disk writes; no call waits for it before `max_pending_bytes` are waiting.
        self._disk_lock = threading.RLock()
        self._open_lock = threading.RLock()  # one thread at a time opens or closes

    def _open_in_child(self) -> None:
        """Create a forked child's own file when it logs its first event."""
        with self._open_lock:
            if self._is_forked:
                self._open_file()

    # Writing what waits.

    def _write_pending(self, *, fsync: bool = False) -> bool:
        """Write everything logged so far. Events that cannot be written stay pending.

        Returns:
            False in a signal handler that interrupted this very function, else True.
        """
        self._pending_events.encode()
        if held_by_this_thread(self._disk_lock):
            return False
        try:
            with self._disk_lock:
                self._pending_events.write(self._event_file)
                if fsync:
                    self._event_file.sync()
        except OSError:
            self._write_failed = True
            raise
        self._write_failed = False
        if self._write_errors and isinstance(self._write_errors[0], OSError):
            self._write_errors.clear()  # it concerned events that are now written
        self._let_calls_pass()
        return True

    def _raise_error(self) -> None:
        """Raise the background thread's error, if there is one, once."""
        try:
            error = self._write_errors.popleft()
        except IndexError:
            return
        self._let_calls_pass()
        raise error

    def _let_calls_pass(self) -> None:
        """Let calls append rows without looking closer, unless there is a reason to look.

        Code that adds a reason sets the limit only afterwards, so one of the two always sees the other.
        """
        rows = self._max_pending_bytes // self._pending_events.most_record_bytes
        self._rows_limit = ROW_BYTES * min(self._max_queue, max(1, rows))
        if self._is_closed or self._is_forked or self._write_errors:
            self._rows_limit = NEVER
