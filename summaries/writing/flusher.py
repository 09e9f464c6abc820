"""Flusher: the background thread that writes waiting events, of a run file and of those of the runs below."""

from __future__ import annotations

import contextlib
import math
import sys
import threading
import weakref
from queue import Empty, SimpleQueue
from typing import Any, Protocol

from summaries.storage.names import is_remote
from summaries.values import as_float

__all__ = ["Flusher", "flusher_for"]

_FLUSH_SECS, _REMOTE_FLUSH_SECS = 2.0, 60.0
_FIRST_SECS = 0.1  # a process that is killed early leaves what it logged until shortly before
_IDLE_SECS = 2.0  # between two calls if each call writes what it logs: only what failed is left to do
_END_SECS = 0.5  # for a thread that was told to end, and may be writing
_NOW, _END = "now", "end"  # what the thread is told


class _RunFile(Protocol):
    def write_in_background(self) -> None:
        """Write the waiting events; keep any error for the caller's thread."""


class Flusher:
    """Calls every run file's `write_in_background` each `flush_secs`, and as soon as one asks for it.

    The thread holds no reference to the flusher or its run files, so unused ones are collected; it ends when the last
    run file is removed, or the flusher, which its run files hold, is collected.

    Args:
        flush_secs: the longest time between two calls, in seconds; at 0, each call writes what it logs.
        first_secs: the time to the first call after `begin`; it doubles with each further call, up to flush_secs.

    Attributes:
        flush_secs: the same, not negative.

    Raises:
        ValueError: flush_secs is NaN.
    """

    def __init__(self, flush_secs: float, first_secs: float = _FIRST_SECS) -> None:
        secs = as_float(flush_secs, "flush_secs")
        if math.isnan(secs):
            raise ValueError("flush_secs must be a number of seconds, got nan")
        self.flush_secs: float = max(secs, 0.0)
        self._most_secs = min(self.flush_secs or _IDLE_SECS, threading.TIMEOUT_MAX)
        # An infinite flush_secs means never, not later and later.
        self._first_secs = self._most_secs if math.isinf(secs) else min(first_secs, self._most_secs)
        # A dict, because its changes and list(dict.values()) are atomic: with a lock, a finalizer could deadlock in
        # the thread that already holds it.
        self._run_files: dict[int, weakref.ref[_RunFile]] = {}
        self._thread: _Thread | None
        self._ended: _Thread | None = None
        self._next_secs: float
        self.forget_thread()

    def __reduce__(self) -> tuple[type[Flusher], tuple[float, float]]:
        return Flusher, (self.flush_secs, self._first_secs)  # a copy begins a thread of its own

    def add(self, run_file: _RunFile) -> None:
        """Serve `run_file` too, until it is removed or collected."""
        self._run_files[id(run_file)] = weakref.ref(run_file)
        with self._start_lock:
            if self._thread is not None or sys.is_finalizing():  # at the very end, no thread can be started any more
                return
            thread = _Thread(weakref.ref(self), self._wake, self._first_secs)
            collected = weakref.finalize(self, thread.end)
            collected.atexit = False
            thread.collected = collected
            if self._thread is None:  # a handler of a signal may have added one, or may now end this one
                self._thread = thread
                thread.start()

    def remove(self, run_file: _RunFile) -> None:
        """Stop serving `run_file`; after the last one, the thread is told to end."""
        self._run_files.pop(id(run_file), None)
        with self._start_lock:
            thread, unused = self._thread, all(reference() is None for reference in list(self._run_files.values()))
            if thread is not None and unused:
                self.forget_thread()
                thread.collected.detach()
                thread.end()
                self._ended = thread

    def join(self) -> None:
        """Wait until a thread that was told to end has done so: that it is seen nowhere any more."""
        ended, self._ended = self._ended, None
        if ended is not None:
            ended.stop()

    def begin(self) -> None:
        """Notice that a file gets its first event: the next calls come soon."""
        if self._next_secs > 2 * self._first_secs:  # else one comes soon anyway
            self._next_secs = self._first_secs
            self.wake()

    def wake(self) -> None:
        """Begin the next round now."""
        if self._wake.empty():
            self._wake.put(_NOW)

    def forget_thread(self) -> None:
        """Begin without a thread: at first, and in a forked child, which does not inherit its parent's."""
        # Not a threading.Event: a signal handler in the middle of Event.set would wait for itself.
        self._wake: SimpleQueue[str] = SimpleQueue()
        self._start_lock = threading.RLock()  # a signal handler may add a run file in the middle of this
        self._thread = None
        self._next_secs = self._first_secs

    def _round(self) -> float:
        """Call every run file; return the seconds until the next round."""
        secs = self._next_secs
        self._next_secs = min(2 * secs, self._most_secs)
        for reference in list(self._run_files.values()):
            run_file = reference()
            if run_file is not None:
                run_file.write_in_background()
        return secs


def flusher_for(logdir: str, flush_secs: float | None) -> Flusher:
    """A flusher for a directory. Each write to a remote one creates an object, so it writes less often there."""
    if is_remote(logdir):
        return Flusher(_REMOTE_FLUSH_SECS if flush_secs is None else flush_secs, first_secs=math.inf)
    return Flusher(_FLUSH_SECS if flush_secs is None else flush_secs)


class _Thread(threading.Thread):
    """Serves a flusher. Waits first: it may begin late, and what only the user flushes is left alone even then."""

    collected: weakref.finalize[Any, Any]  # ends it with its flusher

    def __init__(self, flusher: weakref.ref[Flusher], wake: SimpleQueue[str], secs: float) -> None:
        super().__init__(name="gradledger-flusher", daemon=True)
        self._flusher, self._wake, self._secs = flusher, wake, secs

    def run(self) -> None:
        secs = self._secs
        while True:
            with contextlib.suppress(Empty):
                if self._wake.get(timeout=secs) == _END:
                    return
            flusher = self._flusher()
            if flusher is None:
                return
            secs = flusher._round()  # noqa: SLF001 - the thread is a part of the class
            del flusher

    def end(self) -> None:
        """Tell it to end, and do not wait for that: it may wait for a lock of the caller's."""
        self._wake.put(_END)

    def stop(self) -> None:
        """Tell it to end, and wait for that."""
        self.end()
        if self.is_alive() and threading.current_thread() is not self:  # not if a signal's handler interrupts its start
            self.join(_END_SECS)
