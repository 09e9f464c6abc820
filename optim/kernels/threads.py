"""A few threads that stay: they share the work of one step, and wait for the next.

Compiled kernels run without the interpreter's lock, so Python's own threads are enough. They are started when a step
is first large enough, and again after a fork, which copies no threads.

A step hands each thread an errand, and takes back those that nobody has begun; so it never waits for threads that are
busy with another step. Nothing outlives a step but the threads themselves: an error or an interrupt leaves nothing
behind that the next step could stumble over, and no step returns while a thread still works for it.
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

_setting: list[int] = []  # what set_num_threads was told, at most one


def set_num_threads(number: int | None) -> None:
    """How many threads share a step's work, the caller's own among them.

    Args:
        number: at least 1. None leaves it to the environment variable GRADLEDGER_NUM_THREADS, as it was when it was
            first needed, and where that is not set, to the number of processors that this process may use.

    Raises:
        TypeError: it is no integer.
        ValueError: it is less than 1.
    """
    if number is not None and checks.integer("the number of threads", number) < 1:
        raise ValueError(f"the number of threads must be positive, got {number}")
    _setting[:] = [] if number is None else [int(number)]


def get_num_threads() -> int:
    """How many threads share a step's work.

    >>> set_num_threads(2)
    >>> get_num_threads()
    2
    >>> set_num_threads(None)
    """
    return _setting[0] if _setting else _number_by_default()


@cache
def _number_by_default() -> int:
    """The environment's, or how many processors this process might use when it was first asked."""
    told = os.environ.get("GRADLEDGER_NUM_THREADS", "")
    if told.isdecimal() and int(told) > 0:
        return int(told)
    if told:
        warnings.warn(f"GRADLEDGER_NUM_THREADS must be a positive number, got {told!r}: it is not used", stacklevel=2)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class _Errand:
    """Work that one thread is to do, unless the caller takes it back first."""

    def __init__(self, work: Callable[[], None]) -> None:
        self._work: Callable[[], None] | None = work
        self._taker: dict[None, str] = {}
        self._end = threading.Lock()
        self._end.acquire()
        self._ended = False
        self.error: BaseException | None = None

    def _is_taken_by(self, who: str) -> bool:
        return self._taker.setdefault(None, who) == who  # the first to ask has it, however often it asks

    def run(self) -> None:
        """In a worker: do it, if it is still wanted."""
        work, self._work = self._work, None  # what it holds is not kept beyond the step
        if work is not None and self._is_taken_by("worker"):
            try:
                work()
            except BaseException as error:  # noqa: BLE001 - raised again in the thread that asked for the work
                self.error = error
            self._ended = True
            self._end.release()

    def take_back_or_wait(self) -> None:
        """In the caller, as often as it takes: afterwards no worker is at it."""
        if not self._is_taken_by("caller"):
            while not self._ended:  # where an interrupt came after the lock was acquired, that is what tells
                self._end.acquire(timeout=0.1)
        self._work = None


class ProcessLock:
    """A re-entrant lock. A copy of it, as a pickle's or a forked process's, is held by nobody.

    Attributes:
        held: to be entered by `with`. Written in C: an interrupt comes before it is acquired, or after the `with` has
            begun, which releases it.
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
    """Call `work` with each of the pieces, in several threads at once, this one among them, and wait for all.

    Args:
        work: does one piece.
        pieces: what there is to do; begun in this order.
        most: no more threads than this.

    Raises:
        BaseException: what `work` raised, in whichever thread; or an interrupt. No thread is at work any more.
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
        _finish(errands)  # once more: an interrupt may have come as the first was about to begin
    for errand in errands:
        if errand.error is not None:
            raise errand.error


def _finish(errands: list[_Errand]) -> None:
    """Wait until no worker is at them; an interrupt is raised when that is so."""
    interrupt: BaseException | None = None
    waits = True
    while waits:
        try:
            for errand in errands:
                errand.take_back_or_wait()
            waits = False
        except BaseException as error:  # noqa: BLE001 - raised again below
            interrupt = error
    if interrupt is not None:
        raise interrupt


def _serve(errands: SimpleQueue[_Errand]) -> None:
    while True:
        errands.get().run()


def _forget() -> None:
    global _errands  # noqa: PLW0603 - a child has none of its parent's threads
    _workers.clear()
    _errands = SimpleQueue()
    for lock in _locks:
        lock.held = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
