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
import copy
import logging
import sys
import threading
import warnings
from collections import deque
from functools import partial
from typing import TYPE_CHECKING, Any

from summaries.kinds.metadata import MetadataOnce
from summaries.writing.current_file import CurrentFile
from summaries.writing.event_queue import NEVER, Deferred, EventQueue, held_by_this_thread, pack_row
from summaries.writing.process_hooks import at_exit, close_at_last, look_after

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from summaries.writing.current_file import Destination
    from summaries.writing.flusher import Flusher

__all__ = ["CLOSED", "FORKED", "OPEN", "TRANSITIONS", "RunFile"]

_logger = logging.getLogger("summaries")

_WAKE_BYTES = 4 << 20  # enough to wake the background thread early
_MOST_TRIES = 10_000  # while other threads close what this one opens, or log what it closes


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
        self.destination: Destination = destination
        self.flusher: Flusher = flusher
        self.max_queue: int = max_queue
        self.max_bytes: int = max_bytes
        self._fsync = fsync
        self._current = CurrentFile(destination, purge_step=purge_step, keep=fsync, most_kept=max_bytes, clock=clock)
        self._at_once = not (max_queue and flusher.flush_secs)
        self._state = CLOSED
        self._write_failed = self._resumed = self._is_empty = self._begun = False
        self._make_queue()
        self._begin_file()

    def _make_queue(self) -> None:
        """Make what holds waiting events: it stays in this process, and copies do not share it."""
        self.queue: EventQueue = EventQueue(self.max_queue, self.max_bytes, at_once=self._at_once)
        self.metadata: MetadataOnce = MetadataOnce()
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
        return state | {"_current": copy.copy(self._current)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._make_queue()
        self.queue.seal()
        look_after(self)

    def __del__(self, is_ending: Callable[[], bool] = sys.is_finalizing) -> None:
        # As the interpreter ends, modules lose their names, these too; and all is written: see process_hooks.
        if self.__dict__.get("_begun") and not is_ending():  # not begun if __init__ failed
            close_at_last(self)

    @property
    def path(self) -> str:
        """The file being written."""
        return self._current.file.path

    @property
    def paths(self) -> list[str]:
        """Every file so far."""
        return self._current.paths

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
        if self._at_once or not self.queue.add_record(record, size):  # the usual call costs a tenth less so
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
                    self.queue.withdraw(self._current.file)
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
                self._current.begin(self.queue, self.metadata)
        except BaseException:
            self.flusher.remove(self)
            raise
        self._begun = True
        self._change("begin")
        self._write_failed = False
        self._is_empty = True
        if at_exit():
            self._at_once = True
            self.queue.tags = {}  # each call comes here, as nobody comes after it
        look_after(self)
        self.queue.limit = NEVER  # the first call notices that it is the first
        self.queue.unseal()  # last: a handler that closes the file before finds it closed

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
                self._current.write(self.queue, self.metadata, sync=fsync)
        except OSError:
            self._write_failed = True
            raise
        self._write_failed = False
        if self._errors and isinstance(self._errors[0], OSError):
            self._errors.clear()  # it concerned events that are now written
        self._let_calls_pass()
        return True

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
            kept = self._current.file.keep(self.queue.waiting())
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
        self._current.forget()
        self._write_failed = False
        self.queue.clear()
        self.queue.seal()
        self.metadata.begin_file()
        self._errors.clear()
        self._make_locks()
        self.flusher.forget_thread()
