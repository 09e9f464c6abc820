"""A few threads that stay: they share the work of one step, and wait for the next.

Compiled kernels run without the interpreter's lock, so Python's own threads are enough. They are started when a step
is first large enough, and again after a fork, which copies no threads.
"""

from __future__ import annotations

import os
import threading
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["get_num_threads", "set_num_threads", "share"]

_setting: list[int] = []  # what set_num_threads was told, at most one


def set_num_threads(number: int | None) -> None:
    """How many threads share a step's work, the caller's own among them.

    Args:
        number: at least 1. None leaves it to the environment variable GRADLEDGER_NUM_THREADS, and where that is not
            set, to the number of processors that this process may use.

    Raises:
        ValueError: it is less than 1.
    """
    if number is not None and number < 1:
        raise ValueError(f"the number of threads must be positive, got {number}")
    _setting[:] = [] if number is None else [int(number)]


def get_num_threads() -> int:
    """How many threads share a step's work.

    >>> set_num_threads(2)
    >>> get_num_threads()
    2
    >>> set_num_threads(None)
    """
    if _setting:
        return _setting[0]
    told = os.environ.get("GRADLEDGER_NUM_THREADS", "")
    if told.isdecimal() and int(told) > 0:
        return int(told)
    return _processors()


@cache
def _processors() -> int:
    """Those that this process might use when it was first asked: the system takes its time to answer."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class _Worker(threading.Thread):
    """Waits on a lock, works, and releases another: no queue and no condition costs less between two locks."""

    def __init__(self) -> None:
        super().__init__(name="gradledger-kernels", daemon=True)
        self._go, self._done = threading.Lock(), threading.Lock()
        self._go.acquire()
        self._done.acquire()
        self._work: Callable[[], None] | None = None
        self._error: BaseException | None = None
        self.start()

    def begin(self, work: Callable[[], None]) -> None:
        self._work, self._error = work, None
        self._go.release()

    def finish(self) -> None:
        self._done.acquire()
        if self._error is not None:
            raise self._error

    def run(self) -> None:
        while True:
            self._go.acquire()
            try:
                if self._work is not None:
                    self._work()
            except BaseException as error:  # noqa: BLE001 - raised again in the thread that asked for the work
                self._error = error
            self._work = None
            self._done.release()


_workers: list[_Worker] = []
_busy = threading.Lock()


def share(work: Callable[[], None], most: int) -> None:
    """Call `work` in several threads at once, this one among them, and wait for all.

    Args:
        work: takes pieces of work, from a place that threads can share, until there are none.
        most: no more threads than this. A single one where another step is using the threads already.
    """
    threads = min(get_num_threads(), most)
    if threads < 2 or not _busy.acquire(blocking=False):  # noqa: PLR2004 - one thread is this one
        work()
        return
    try:
        while len(_workers) < threads - 1:
            _workers.append(_Worker())
        _share_among(_workers[: threads - 1], work)
    finally:
        _busy.release()


def _share_among(workers: list[_Worker], work: Callable[[], None]) -> None:
    for worker in workers:
        worker.begin(work)
    try:
        work()
    finally:
        for worker in workers:
            worker.finish()


def _forget() -> None:
    global _busy  # noqa: PLW0603 - a child has neither its parent's threads nor what they held
    _workers.clear()
    _busy = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
