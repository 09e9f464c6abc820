"""RunFile: a run's event file. It opens, writes, closes and reopens, whatever threads, signal handlers and forks do.

    state    next event             flush()   close()   reopen()                          fork, in the child
    OPEN     waits in the queue     writes    CLOSED    OPEN: a new file if a write failed    FORKED
    CLOSED   OPEN, in a new file    -         -         OPEN, in a new file                   CLOSED
    FORKED   OPEN, in a new file    -         CLOSED    -                                     FORKED

In CLOSED and FORKED, the queue is sealed: it refuses events, so a call that logs begins a new file first. While close()
is at work, the state is CLOSED already, and the queue still open: what other threads log makes it write once more.

Locks. A thread that opens or closes files may wait for one that encodes or writes, never the other way round.

A file that others cut short, replaced or removed, and one that the disk did not take when it was synced, are left: what
is not safely in it goes to a new one, in any state, in the middle of a write.

A signal handler may come between any two calls, log, flush and close. It never waits for a thread that may wait for
what the handler interrupted. A handler in the middle of its own thread's write to the disk cannot write: it warns, and
what it logged comes behind.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import warnings
from collections import deque
from functools import partial
from struct import Struct
from typing import TYPE_CHECKING, Any, NamedTuple

from summaries import wire
from summaries.kinds.metadata import MetadataOnce
from summaries.storage.files import create_event_file
from summaries.storage.names import is_remote
from summaries.storage.nowhere import NowhereEventFile
from summaries.storage.protocols import LostFileError
from summaries.wire.records import frame
from summaries.writing.event_queue import NEVER, Deferred, EventQueue, held_by_this_thread, pack_row
from summaries.writing.process_hooks import at_exit, close_at_last, close_before_store, look_after

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from summaries.storage.files import EventFile
    from summaries.writing.flusher import Flusher

__all__ = ["CLOSED", "FORKED", "OPEN", "TRANSITIONS", "Destination", "RunFile"]

_logger = logging.getLogger("summaries")

_TIME = Struct("<cd")  # Event.wall_time, …
_VERSION = b"\x1a\x0dbrain.Event:2\x52\x0c\x0a\x0agradledger"  # … .file_version and .source_metadata.writer
_WAKE_BYTES = 4 << 20  # enough to wake the background thread early
_MOST_TRIES = 10_000  # while other threads close what this one opens, or log what it closes


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


OPEN, CLOSED, FORKED = "open", "closed", "forked"
TRANSITIONS = {
    OPEN: {"begin": OPEN, "close": CLOSED, "cannot close": OPEN, "fork": FORKED},
    CLOSED: {"begin": OPEN, "close": CLOSED, "cannot close": OPEN, "fork": CLOSED},
    FORKED: {"begin": OPEN, "close": CLOSED, "cannot close": FORKED, "fork": FORKED},
}
"""State → what happens → the next state. Handlers of signals may close and begin files anywhere, so all can happen."""


class RunFile:
    """A run's event file, and the events that wait for it.

    Args:
        destination: where the file goes.
        flusher: the background thread that writes.
        max_queue: as EventFileWriter takes it; so are the others.
        max_bytes: its max_pending_bytes.

    Attributes:
        queue: the events that wait.
        metadata: the metadata that the file has.
    """

    def __init__(
        self,
        destination: Destination,
        flusher: Flusher,
        *,
        max_queue: int,
        max_bytes: int,
        purge_step: int | None,
        fsync: bool,
        clock: Callable[[], float],
    ) -> None:
        self.destination, self.flusher = destination, flusher
        self.max_queue, self.max_bytes = max_queue, max_bytes
        self._purge_step, self._fsync, self._clock = purge_step, fsync, clock
        self._at_once = not (max_queue and flusher.flush_secs)
        self._paths: list[list[str]] = []  # of every file so far; one in a store is several objects
        self._state = CLOSED
        self._write_failed = self._resumed = self._is_empty = self._left = False
        self._lost: LostFileError | None = None  # why the file is not written to any more
        self._make_queue()
        self._begin_file()

    def _make_queue(self) -> None:
        """Make what holds waiting events: it stays in this process, and copies do not share it."""
        self.queue = EventQueue(self.max_queue, self.max_bytes, at_once=self._at_once)
        self.metadata = MetadataOnce()
        self._errors: deque[Exception] = deque(maxlen=1)  # of the background thread
        self._make_locks()

    def _make_locks(self) -> None:
        # Held during disk writes; no call waits for it before `max_bytes` are waiting.
        self._disk_lock = threading.RLock()
        self._open_lock = threading.RLock()  # one thread at a time opens or closes
        self._now_lock = threading.RLock()  # one call at a time writes what it logs, and nothing else

    def __getstate__(self) -> dict[str, Any]:
        """What a copy of a closed file gets: everything but what holds waiting events, and the locks."""
        here = {"queue", "metadata", "_errors", "_disk_lock", "_open_lock", "_now_lock"}
        state = {name: value for name, value in self.__dict__.items() if name not in here}
        return state | {"_file": NowhereEventFile(self.path), "_paths": [self.paths]}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._make_queue()
        self.queue.seal()
        look_after(self)

    def __del__(self) -> None:
        if "_file" in self.__dict__:  # absent if __init__ failed
            close_at_last(self)

    @property
    def path(self) -> str:
        """The file being written."""
        return self._file.path

    @property
    def paths(self) -> list[str]:
        """Every file so far."""
        return [path for paths in self._paths for path in paths]

    @property
    def closed(self) -> bool:
        """Whether close() was called, and nothing was logged since."""
        return self._state == CLOSED

    # Logging.

    def look_closer(self) -> None:
        """Handle whatever is due: called when the queue is longer than its limit."""
        if self._state != OPEN:
            self.resume()
        self._raise_error()
        if self._is_empty:
            self._is_empty = False
            self.flusher.begin()
            self._let_calls_pass()
        self.queue.encode()
        waiting = self.queue.encoded_bytes()
        if waiting >= self.max_bytes:
            self.queue.limit = NEVER  # if this fails, the next call tries again before it logs anything
            self._write(fsync=self._fsync)
        elif waiting >= _WAKE_BYTES:
            self.flusher.wake()

    def add_scalar(self, tag: str, step: int, wall_time: float, value: float) -> None:
        """Log a scalar, whatever its tag and the state; the usual ones are appended to the queue's rows instead."""

        def add() -> bool:
            return self.queue.add_row(pack_row(self.queue.number_of(tag), step, wall_time, value))

        self._add_now(add) if self._at_once else self._add(add)
        self._let_calls_pass()  # fewer of them, if this is the longest tag so far

    def add_record(self, record: bytes | Deferred, size: int) -> None:
        """Log a whole record, deferred or not; `size` is the memory that it takes until it is encoded."""
        waiting = self.queue.record_bytes
        if len(self.queue.rows) > self.queue.limit or waiting > self.max_bytes // 2:
            self.look_closer()
        elif waiting > _WAKE_BYTES:
            self.flusher.wake()
        add = partial(self.queue.add_record, record, size)
        self._add_now(add) if self._at_once else self._add(add)

    def _add(self, add: Callable[[], bool]) -> None:
        """Let a call log, in a new file if this one is closed."""
        for _ in range(_MOST_TRIES):
            if add():
                return
            self.resume()
        raise RuntimeError(f"other threads close {self.path} as soon as it is open: log it again")

    def _add_now(self, add: Callable[[], bool]) -> None:
        """Let a call log, and write it; if it cannot be written, it is not logged.

        A handler amid a write, or amid the encoding that a write may wait for, only logs: the write comes behind.
        """
        if held_by_this_thread(self._disk_lock) or self.queue.encoding_here():
            self._add(add)
            return
        with self._now_lock:
            if self.queue.is_waiting():
                self._write()  # what came before
            self._add(add)
            try:
                self._write()
            except OSError:
                with self._disk_lock:
                    self.queue.withdraw(self._file)
                raise

    def resume(self) -> None:
        """Let a call log after close() or a fork, in a new file; or amid close(), which then writes its event, too."""
        with self._exclusive() as exclusive:
            if not self.queue.sealed:
                return
            if not exclusive:
                raise RuntimeError(f"this call interrupted the end of {self.path} in the same thread: log it again")
            state, path = self._state, self.path
            self._begin_file()
            if state == CLOSED and not self._resumed:
                self._resumed = True
                _logger.info("something was logged after close() of %s: it goes to %s", path, self.path)

    def _let_calls_pass(self) -> None:
        """Let calls append rows without looking closer, unless there is a reason to look.

        Code that adds a reason sets the limit only afterwards, so one of the two always sees the other.
        """
        self.queue.let_calls_pass()
        if self._state != OPEN or self._errors or self._is_empty:
            self.queue.limit = NEVER

    # Opening and closing.

    def _begin_file(self) -> None:
        """Begin a new file, and register with the background thread."""
        self.flusher.add(self)  # first: if no thread can be started, no file is left behind
        try:
            with self._disk_lock:
                self._change_file()
        except BaseException:
            self.flusher.remove(self)
            raise
        self._change("begin")
        self._write_failed = False
        self._is_empty = True
        if at_exit():
            self._at_once = True
            self.queue.tags = {}  # each call comes here, as nobody comes after it
        look_after(self)
        self.queue.limit = NEVER  # the first call notices that it is the first
        self.queue.unseal()  # last: a handler that closes the file before finds it closed

    def _change_file(self) -> None:
        """Go on in a new file; the caller holds the disk lock."""
        file = self.destination.begin_file(self._clock(), self._purge_step)
        self._file, self._lost, self._begins_at = file, None, file.size()
        self._paths.append(file.paths)
        self._purge_step = None  # only the first file purges; later ones continue it
        self.queue.begin_file()
        self.metadata.begin_file()

    def _leave_file(self, reason: LostFileError) -> None:
        """Go on in a new file, which has all that is not safely in this one; the caller holds the disk lock."""
        old, size = self._file, self.queue.durable_size()
        self._change_file()
        # What is in the new file is not in this one.
        if size is not None and size < old.size() and old.cut(size) and size == self._begins_at:
            old.discard()
            self._paths.remove(old.paths)
        if not self._left:
            self._left = True
            _logger.warning("%s: %s; what follows goes to %s", old.path, reason.strerror, self.path)

    def close(self) -> None:
        """As EventFileWriter.close."""
        if self._state == FORKED:
            self._change("close")
        if self.queue.sealed:
            return
        self.flush()
        with self._exclusive() as exclusive:
            if not exclusive:
                return  # in a signal handler, amid a flush, which has warned, or while another thread closes the file
            try:
                self.flusher.remove(self)
                self._change("close")
                self.queue.limit = NEVER
                self._seal()
                self.flush()  # what was encoded, or what the background thread has taken, and is not written yet
                self.metadata.begin_file()  # here already: what is logged next is encoded before its file begins
            except BaseException:
                self._change("cannot close")
                self.queue.unseal()
                self.flusher.add(self)
                raise

    def _seal(self) -> None:
        """Let no more events in, once those of other threads and of handlers that interrupt this are encoded."""
        for _ in range(_MOST_TRIES):
            if self.queue.seal():
                return
            self.queue.encode()
        raise RuntimeError(f"other threads log faster than {self.path} can be closed: stop them, and close it again")

    def reopen(self) -> None:
        """Continue in a new file, if the present one is closed or could not be written; else do nothing."""
        if self._state == FORKED or not (self.queue.sealed or self._write_failed):
            return
        with self._exclusive() as exclusive:
            if not exclusive:
                raise RuntimeError(
                    f"reopen() of {self.path} interrupted a flush of the same thread: call it afterwards"
                )
            with contextlib.suppress(OSError):  # if the old file cannot be written, waiting events go to the new one
                self.flush()
            if self.queue.sealed or self._write_failed:
                self._begin_file()

    def _change(self, event: str) -> None:
        self._state = TRANSITIONS[self._state][event]

    @contextlib.contextmanager
    def _exclusive(self) -> Iterator[bool]:
        """Wait for other threads that open or close files; yield whether this one may do so.

        A signal handler may not amid its own thread's write. And it does not wait for a thread that may wait for what
        the handler interrupted.
        """
        if held_by_this_thread(self._disk_lock):
            yield False
        elif not self.queue.encoding_here():
            with self._open_lock:
                yield True
        elif self._open_lock.acquire(blocking=False):
            try:
                yield True
            finally:
                self._open_lock.release()
        else:
            yield False

    # Writing.

    def flush(self) -> None:
        """As EventFileWriter.flush."""
        if not self._write(fsync=self._fsync):
            message = f"a flush of {self.path} interrupted another of the same thread"
            warnings.warn(f"{message}: the first flush resumes afterwards", RuntimeWarning, stacklevel=3)
        self._raise_error()

    def _write(self, *, fsync: bool = False) -> bool:
        """Write everything logged so far. Events that cannot be written stay in the queue.

        Returns:
            False in a signal handler that interrupted this very function, else True.
        """
        self.queue.encode()
        if held_by_this_thread(self._disk_lock):
            return False
        try:
            with self._disk_lock:
                try:
                    self._write_file(fsync=fsync)
                except LostFileError:
                    self._write_file(fsync=fsync)  # in a new file; if that is lost, too, so is the next
        except OSError:
            self._write_failed = True
            raise
        self._write_failed = False
        if self._errors and isinstance(self._errors[0], OSError):
            self._errors.clear()  # it concerned events that are now written
        self._let_calls_pass()
        return True

    def _write_file(self, *, fsync: bool) -> None:
        """Write what is encoded, in a new file if this one is lost; with `fsync`, until it is on the disk."""
        if self._lost is not None:
            if not self.queue.is_waiting():
                return
            self._leave_file(self._lost)
        try:
            self.queue.write(self._file, keep=self._fsync)
            if fsync or self.queue.unsynced_bytes() >= self.max_bytes:
                self._file.sync()
                self.queue.forget_synced()
        except LostFileError as error:
            self._lost = error
            raise

    def _raise_error(self) -> None:
        """Raise the background thread's error, if there is one, once."""
        try:
            error = self._errors.popleft()
        except IndexError:
            return
        self._let_calls_pass()
        raise error

    # Called by the background thread, at the end of the process and after a fork.

    def write_in_background(self) -> None:
        """Write the waiting events; an error is kept for the next call."""
        try:
            self.queue.resolve()
            self._write(fsync=self._fsync)
        except Exception as error:  # noqa: BLE001 - whatever it is, the next call raises it
            self._errors.append(error)
            self.queue.limit = NEVER

    def give_up(self) -> str:
        """Forget what could not be written, as the process ends; return how much it was, and the file that lacks it."""
        with contextlib.suppress(Exception):  # once more: some errors concern one event, and are raised once
            self.close()
        lost = self.queue.count()
        if not lost:
            return f"an error was found when {self.path} was closed"
        kept = ""
        with contextlib.suppress(Exception), self._disk_lock:
            kept = self._file.keep(self.queue.waiting())
        self.queue.clear()
        with contextlib.suppress(Exception):
            self.close()
        if kept:
            return (
                f"up to {lost} events of {self.path} were not sent, and are in {kept}: the run's next writer sends them"
            )
        return f"up to {lost} events were lost when {self.path} was closed"

    def after_fork_in_child(self) -> None:
        """Leave the file and the waiting events to the parent; the child's own events go to a new file."""
        self._change("fork")
        self._file = NowhereEventFile(self.path)
        self._write_failed, self._lost = False, None
        self.queue.clear()
        self.queue.seal()
        self.metadata.begin_file()
        self._errors.clear()
        self._make_locks()
        self.flusher.forget_thread()
