"""Sharing compiled work, which releases the GIL, with one other thread that waits for it.

The thread is started when there is something to share, and again after a fork, which does not copy threads. Waking it
takes a tenth of a millisecond: less than the work should.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from contextlib import suppress
from functools import cache
from queue import SimpleQueue
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["share"]

_Piece = TypeVar("_Piece")
_Result = TypeVar("_Result")
_jobs: SimpleQueue[Callable[[], None]] = SimpleQueue()
_threads: list[threading.Thread] = []


def share(work: Callable[[_Piece], _Result], pieces: Iterable[_Piece]) -> list[_Result]:
    """Call `work` with each piece; return the results, in any order.

    This thread begins with the first piece, the other with the last, so that each finds in its cache what it had there
    before. If the other is slow to wake, or busy, this one does all: it only waits for what the other has begun.

    Raises:
        Exception: an error of `work`, in either thread.
    """
    waiting, results = deque(pieces), list[_Result]()
    number = len(waiting)
    ended: SimpleQueue[_Result | BaseException] = SimpleQueue()

    def help_out() -> None:
        # The last piece is left to the caller, which then rarely waits.
        while len(waiting) > 1 and (taken := _taken(waiting.pop)):
            try:
                ended.put(work(*taken))
            except BaseException as error:  # noqa: BLE001 - raised in the caller
                ended.put(error)

    if number > 1 and _processors() > 1:
        _start_thread()
        _jobs.put(help_out)
    try:
        while taken := _taken(waiting.popleft):
            results.append(work(*taken))
    finally:
        waiting.clear()  # after an error or an interrupt, the other thread ends, too
    while len(results) < number:
        result = ended.get()
        if isinstance(result, BaseException):
            raise result
        results.append(result)
    return results


def _taken(take: Callable[[], _Piece]) -> list[_Piece]:
    """What `take` takes from a deque; nothing if the other thread has taken the last."""
    try:
        return [take()]
    except IndexError:
        return []


@cache
def _processors() -> int:
    """The number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _start_thread() -> None:
    if not _threads:
        _threads.append(threading.Thread(target=_serve, args=(_jobs,), name="gradledger-helper", daemon=True))
        with suppress(RuntimeError):  # at the very end, a thread cannot be started any more, and nobody needs it
            _threads[-1].start()


def _serve(jobs: SimpleQueue[Callable[[], None]]) -> None:
    while True:
        jobs.get()()


def _forget() -> None:
    global _jobs  # noqa: PLW0603 - a child does not have its parent's thread
    _threads.clear()
    _jobs = SimpleQueue()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
