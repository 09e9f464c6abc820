"""A small thread pool: its threads share the work of one step, and wait for the next.

Compiled kernels release the GIL, so Python threads are enough. They are started at the first step that is large enough,
and again after a fork, which does not copy threads.

A step gives each thread an errand, and cancels those that no thread has begun; so it never waits for threads that are
busy with another step. Only the threads outlive a step: after an error or an interrupt, nothing is left that could
disturb the next step, and no step returns while a thread still works for it.
"""

from __future__ import annotations

import os
import threading
import warnings
import weakref
from collections import deque
from functools import cache
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, TypeVar

from optim import checks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["ProcessLock", "get_num_threads", "set_num_threads", "share"]

_Piece = TypeVar("_Piece")

_setting: list[int] = []  # the setting of set_num_threads, at most one


def set_num_threads(number: int | None) -> None:
    """Set the number of threads that share a step's work, including the caller's.

    Args:
        number: at least 1. None follows the environment variable GRADLEDGER_NUM_THREADS, read on first use; if it is
            not set, the number of processors that this process may use.

    Raises:
        TypeError: `number` is not an integer.
        ValueError: `number` is less than 1.
    """
    if number is not None and checks.integer("the number of threads", number) < 1:
        raise ValueError(f"the number of threads must be positive, got {number}")
    _setting[:] = [] if number is None else [int(number)]


def get_num_threads() -> int:
    """The number of threads that share a step's work.

    >>> set_num_threads(2)
    >>> get_num_threads()
    2
    >>> set_num_threads(None)
    """
    return _setting[0] if _setting else _number_by_default()


@cache
def _number_by_default() -> int:
    """The number in the environment, or else the number of processors that this process may use; read once."""
    told = os.environ.get("GRADLEDGER_NUM_THREADS", "")
    if told.isdecimal() and int(told) > 0:
        return int(told)
    if told:
        warnings.warn(f"GRADLEDGER_NUM_THREADS must be a positive number, got {told!r}, which is ignored", stacklevel=2)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class _Errand:
    """Work for one worker thread, unless the caller cancels it first."""

    def __init__(self, work: Callable[[], None]) -> None:
        self._work: Callable[[], None] | None = work
        self._taker: dict[None, str] = {}
        self._end = threading.Lock()
        self._end.acquire()
        self._ended = False
        self.error: BaseException | None = None

    def _is_taken_by(self, who: str) -> bool:
        return self._taker.setdefault(None, who) == who  # the first to ask gets it, also when asking again

    def run(self) -> None:
        """In a worker: do the work, unless it was cancelled."""
        work, self._work = self._work, None  # do not keep its references beyond the step
        if work is not None and self._is_taken_by("worker"):
            try:
                work()
            except BaseException as error:  # noqa: BLE001 - raised again in the caller
                self.error = error
            self._ended = True
            self._end.release()

    def cancel_or_wait(self) -> None:
        """In the caller: return when no worker is running it; call again after an interrupt."""
        if not self._is_taken_by("caller"):
            while not self._ended:  # the flag also counts if an interrupt came after the lock was acquired
                self._end.acquire(timeout=0.1)
        self._work = None


class ProcessLock:
    """A re-entrant lock. A copy, by pickling or by a fork, is not held.

    Attributes:
        held: enter it with `with`. It is written in C, so an interrupt comes either before it is acquired or after the
            `with` block has begun, which releases it.
    """

    def __init__(self) -> None:
        self.held = threading.RLock()
        _locks.add(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return ProcessLock, ()


_locks: weakref.WeakSet[ProcessLock] = weakref.WeakSet()
_errands: SimpleQueue[_Errand] = SimpleQueue()
_workers: list[threading.Thread] = []


def share(work: Callable[[_Piece], None], pieces: Iterable[_Piece], most: int) -> None:
    """Call `work` with each of the pieces, in several threads including this one, and wait for all of them.

    Args:
        work: processes one piece.
        pieces: the pieces, started in this order.
        most: the maximum number of threads.

    Raises:
        BaseException: an exception of `work`, in any thread; or an interrupt. By then no thread is working any more.
    """

    def take_pieces() -> None:
        while True:
            try:
                piece = waiting.popleft()
            except IndexError:  # another thread took the last
                return
            work(piece)

    waiting = deque(pieces)
    others = min(get_num_threads(), most) - 1
    if others < 1:
        take_pieces()
    else:
        _share_with(others, take_pieces)


def _share_with(others: int, work: Callable[[], None]) -> None:
    while len(_workers) < others:
        _workers.append(threading.Thread(target=_serve, args=(_errands,), name="gradledger-kernels", daemon=True))
        _workers[-1].start()
    errands = [_Errand(work) for _ in range(others)]
    try:
        try:
            for errand in errands:
                _errands.put(errand)
            work()
        finally:
            _finish(errands)
    finally:
        _finish(errands)  # again: an interrupt may have come just before the first call
    for errand in errands:
        if errand.error is not None:
            raise errand.error


def _finish(errands: list[_Errand]) -> None:
    """Wait until no worker is running an errand; an interrupt is raised only afterwards."""
    interrupt: BaseException | None = None
    waits = True
    while waits:
        try:
            for errand in errands:
                errand.cancel_or_wait()
            waits = False
        except BaseException as error:  # noqa: BLE001 - raised again below
            interrupt = error
    if interrupt is not None:
        raise interrupt


def _serve(errands: SimpleQueue[_Errand]) -> None:
    while True:
        errands.get().run()


def _forget() -> None:
    global _errands  # noqa: PLW0603 - a child does not have its parent's threads
    _workers.clear()
    _errands = SimpleQueue()
    for lock in _locks:
        lock.held = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
