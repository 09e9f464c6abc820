"""Sharing compiled work, which releases the GIL, with other threads that wait for it: `share`, and `Job` to go on.

Threads are started when there is something to share, and again after a fork, which does not copy threads. Waking one
takes a tenth of a millisecond: less than the work should.

Nobody waits for a thread that is busy with something else: one that comes when all pieces are taken does nothing. Only
the threads outlive a call: after an error or an interrupt, none is at work for it any more.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from contextlib import suppress
from functools import cache
from queue import SimpleQueue
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["Job", "helpers", "processors", "share", "share_nothing"]

_Piece = TypeVar("_Piece")
_Result = TypeVar("_Result")
_jobs: SimpleQueue[Callable[[], None]] = SimpleQueue()
_threads: list[threading.Thread] = []
_forks = 0  # of which this process is the child
_this_thread = threading.local()


def share(work: Callable[[_Piece], _Result], pieces: Iterable[_Piece], threads: int | None = None) -> list[_Result]:
    """Call `work` with each piece, in several threads including this one; return the results, in any order.

    This thread begins with the first piece, the others with the last, so that each finds in its cache what it had there
    before.

    Args:
        work: what to do with one piece.
        pieces: what to do it with.
        threads: how many threads at most; by default this one and its `helpers`.

    Raises:
        BaseException: an error of `work`, in any thread; or an interrupt. By then no thread is working any more.
    """
    job = Job(work, pieces)
    try:
        job.begin(min(helpers() if threads is None else threads - 1, job.pieces - 1))
        return job.results()
    finally:
        job.end()  # an interrupt may have come at any place above


class Job(Generic[_Piece, _Result]):
    """Work that other threads may begin while the one that asks for it goes on.

    Lists and deques are changed by one operation at a time, so they need no lock.

    Args:
        work: as in `share`.
        pieces: likewise.

    Attributes:
        pieces: the number of pieces.

    >>> job = Job(abs, [-3])
    >>> job.begin(1)
    >>> job.results()
    [3]
    """

    def __init__(self, work: Callable[[_Piece], _Result], pieces: Iterable[_Piece]) -> None:
        self._work = work
        self._waiting = deque(pieces)
        self.pieces: int = len(self._waiting)
        self._results: list[_Result] = []
        self._errors: list[BaseException] = []
        self._helpers: list[None] = []
        self._ended: list[None] = []
        # Released when a helper ends. Not a queue: its wait never ends if a handler of a signal takes longer than that.
        self._wake = threading.Lock()
        self._wake.acquire()
        self._forks = _forks

    def begin(self, threads: int) -> None:
        """Have so many other threads take pieces, as soon as they have nothing else to do."""
        if threads > 0:
            _start_threads(threads)
        for _ in range(threads):
            _jobs.put(self._help_out)

    def results(self) -> list[_Result]:
        """Do the pieces that no other thread has taken, and wait for those that one has.

        Raises:
            BaseException: as `share`.
        """
        try:
            self._take(self._waiting.popleft)
        finally:
            self.end()
        if self._errors:
            raise self._errors[0]
        return self._results

    def _take(self, take: Callable[[], _Piece]) -> None:
        """Do the pieces that `take` takes from those that wait."""
        while True:
            try:
                piece = take()
            except IndexError:  # another thread took the last
                return
            self._results.append(self._work(piece))

    def _help_out(self) -> None:
        """In another thread: take pieces from the end."""
        self._helpers.append(None)  # before it takes a piece: `end` first leaves none to take, and then counts
        try:
            self._take(self._waiting.pop)
        except BaseException as error:  # noqa: BLE001 - raised in the caller
            self._errors.append(error)
            self._waiting.clear()
        self._ended.append(None)
        with suppress(RuntimeError):  # the one that ended before has woken it
            self._wake.release()

    def end(self) -> None:
        """Leave what no thread has taken; return when no other is at work. An interrupt is raised only afterwards.

        Raises:
            RuntimeError: this process was forked while another thread was at work, which is not in the child.
        """
        interrupt: BaseException | None = None
        waits = True
        while waits:
            try:
                self._waiting.clear()
                while self._forks == _forks and len(self._ended) < len(self._helpers):
                    self._wake.acquire(timeout=0.1)  # no longer: an interrupt may have taken what woke it
                waits = False
            except BaseException as error:  # noqa: BLE001 - raised again below
                interrupt = error
        if interrupt is not None:
            raise interrupt
        if len(self._ended) < len(self._helpers):
            raise RuntimeError("this process was forked amid a read, whose other thread it does not have: read again")


def share_nothing() -> None:
    """From now on, no other thread helps this one: it is one of several that keep all processors busy."""
    _this_thread.shares_nothing = True


def helpers() -> int:
    """How many other threads may help this one: one, if there is a processor for it."""
    return 0 if hasattr(_this_thread, "shares_nothing") else min(processors(), 2) - 1


@cache
def processors() -> int:
    """The number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _start_threads(number: int) -> None:
    while len(_threads) < number:
        thread = threading.Thread(target=_serve, args=(_jobs,), name="gradledger-helper", daemon=True)
        with suppress(RuntimeError):  # at the very end, a thread cannot be started any more, and nobody needs it
            thread.start()
        _threads.append(thread)


def _serve(jobs: SimpleQueue[Callable[[], None]]) -> None:
    while True:
        jobs.get()()


def _forget() -> None:
    global _forks, _jobs  # noqa: PLW0603 - a child does not have its parent's threads
    _forks += 1
    _threads.clear()
    _jobs = SimpleQueue()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
