"""Coordinator: threads that end together, and tell what first went wrong. LooperThread: one that repeats itself."""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING, Any

from optim import checks
from optim.queues.queue import ShutDown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from types import TracebackType

    ExcInfo = tuple[type[BaseException], BaseException, TracebackType | None]

__all__ = ["END_OF_DATA", "Coordinator", "LooperThread"]

# How a thread hears that there is nothing more to do: TF1's OutOfRangeError.
END_OF_DATA: tuple[type[BaseException], ...] = (ShutDown, StopIteration)
_LONGEST_POLL_SECS = 0.1

_log = logging.getLogger("optim")


class Coordinator:
    """Has a set of threads end together: any of them may ask for it, and each looks whether one did.

    Args:
        clean_stop_exception_types: what is no error, but the end of the data; by default that a queue was closed, or
            an iterator is at its end.

    >>> coord = Coordinator()
    >>> def work():
    ...     with coord.stop_on_exception():
    ...         while not coord.should_stop():
    ...             raise RuntimeError("out of paper")
    >>> threads = [threading.Thread(target=work) for _ in range(2)]
    >>> for thread in threads:
    ...     thread.start()
    >>> coord.join(threads)
    Traceback (most recent call last):
    RuntimeError: out of paper
    """

    def __init__(self, clean_stop_exception_types: Sequence[type[BaseException]] | None = None) -> None:
        self._clean = END_OF_DATA if clean_stop_exception_types is None else tuple(clean_stop_exception_types)
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._error: BaseException | None = None
        self._threads: set[threading.Thread] = set()
        self._joined = False

    @property
    def joined(self) -> bool:
        """Whether join() has come to its end, and clear_stop() was not called since."""
        return self._joined

    def request_stop(self, ex: BaseException | ExcInfo | None = None) -> None:
        """Ask all threads to stop.

        Args:
            ex: why, if it is an error: an exception, or what sys.exc_info() returns. The first request counts: join()
                raises its exception, and no later one's.

        Raises:
            TypeError: `ex` is neither.
            BaseException: `ex` itself, where join() is over, and nobody else would hear of it.
        """
        error = ex[1] if isinstance(ex, tuple) and len(ex) == 3 else ex  # noqa: PLR2004 - type, value, traceback
        if error is not None and not isinstance(error, BaseException):
            raise TypeError(f"ex must be an exception or what sys.exc_info() returns, got {ex!r}")
        if isinstance(error, self._clean):
            error = None
        with self._lock:
            if self._joined and error is not None:
                raise error
            if not self._stop.is_set():
                self._error = error
                self._stop.set()
            elif error is not None:
                _log.warning("an exception came after the stop was requested, and is not raised: %r", error)

    def clear_stop(self) -> None:
        """Begin anew: no stop is requested, and nothing has gone wrong."""
        with self._lock:
            self._joined = False
            self._error = None
            self._stop.clear()

    def should_stop(self) -> bool:
        """Whether a stop was requested."""
        return self._stop.is_set()

    def wait_for_stop(self, timeout: float | None = None) -> bool:
        """Wait until a stop is requested.

        Args:
            timeout: at most so many seconds; None is as long as it takes.

        Returns:
            Whether one was.
        """
        return self._stop.wait(timeout)

    def stop_on_exception(self) -> _StopOnException:
        """A context: an exception in it requests a stop, and goes no further."""
        return _StopOnException(self)

    def register_thread(self, thread: threading.Thread) -> None:
        """Have join() wait for this thread, too."""
        with self._lock:
            self._threads.add(thread)

    def raise_requested_exception(self) -> None:
        """Raise what a stop was requested for, if it was an error, and join() has not raised it yet."""
        with self._lock:
            if self._error is not None and not self._joined:
                raise self._error

    def join(
        self,
        threads: Iterable[threading.Thread] | None = None,
        stop_grace_period_secs: float = 120,
        ignore_live_threads: bool = False,
    ) -> None:
        """Wait until all threads have ended: those given, and those registered.

        Args:
            threads: threads, besides those that are registered; the calling one does not count.
            stop_grace_period_secs: how long they may go on when a stop was requested.
            ignore_live_threads: whether it is fine if one goes on for longer.

        Raises:
            BaseException: that of the first request to stop, if it had one.
            RuntimeError: threads still run at the end of the grace period; the message names them.
            ValueError: the grace period is negative.
        """
        grace_secs = checks.at_least_zero("stop_grace_period_secs", stop_grace_period_secs)
        with self._lock:
            awaited = {*self._threads, *(threads or ())} - {threading.current_thread()}
        poll_secs = 0.001
        while any(thread.is_alive() for thread in awaited) and not self._stop.wait(poll_secs):
            poll_secs = min(2 * poll_secs, _LONGEST_POLL_SECS)
        deadline = time.monotonic() + grace_secs
        for thread in awaited:
            if thread.is_alive():
                thread.join(max(0.0, deadline - time.monotonic()))
        alive = sorted(thread.name for thread in awaited if thread.is_alive())
        with self._lock:
            self._joined = True
            self._threads.clear()
            if self._error is not None:
                raise self._error
        if alive and not ignore_live_threads:
            raise RuntimeError(f"threads still run {grace_secs:g} s after they were asked to stop: {', '.join(alive)}")


class _StopOnException:
    def __init__(self, coord: Coordinator) -> None:
        self._coord = coord

    def __enter__(self) -> None:
        pass

    def __exit__(self, _: object, error: BaseException | None, traceback: object) -> bool:
        if error is not None:
            self._coord.request_stop(error)
        return error is not None


class LooperThread(threading.Thread):
    """A thread that does something again and again, until its coordinator is asked to stop.

    It registers with the coordinator, and is a daemon. An exception stops the coordinator. Derived classes may have a
    `start_loop` and a `stop_loop`, and a `run_loop` in the target's place.

    Args:
        coord: the coordinator.
        timer_interval_secs: from one beginning to the next; None is without a pause.
        target: what to do.
        args: its arguments.
        kwargs: its keyword arguments.

    Raises:
        TypeError: `coord` is no Coordinator.

    >>> coord, seen = Coordinator(), []
    >>> def work():
    ...     seen.append(len(seen))
    ...     if len(seen) == 3:
    ...         coord.request_stop()
    >>> thread = LooperThread.loop(coord, 0.001, work)
    >>> coord.join()
    >>> seen
    [0, 1, 2]
    """

    def __init__(
        self,
        coord: Coordinator,
        timer_interval_secs: float | None,
        target: Callable[..., object] | None = None,
        args: Sequence[Any] | None = None,
        kwargs: Mapping[str, Any] | None = None,
    ) -> None:
        if not isinstance(coord, Coordinator):
            raise TypeError(f"coord must be a Coordinator, got {type(coord).__name__}: {coord!r}")
        interval_secs = 0.0 if timer_interval_secs is None else timer_interval_secs
        self._interval_secs = checks.at_least_zero("timer_interval_secs", interval_secs)
        super().__init__(daemon=True)
        self._coord = coord
        self._loop_target = target
        self._loop_args = tuple(args or ())
        self._loop_kwargs = dict(kwargs or {})
        coord.register_thread(self)

    @staticmethod
    def loop(
        coord: Coordinator,
        timer_interval_secs: float | None,
        target: Callable[..., object],
        args: Sequence[Any] | None = None,
        kwargs: Mapping[str, Any] | None = None,
    ) -> LooperThread:
        """Make such a thread, and start it."""
        looper = LooperThread(coord, timer_interval_secs, target, args, kwargs)
        looper.start()
        return looper

    def run(self) -> None:
        """What the thread does."""
        with self._coord.stop_on_exception():
            self.start_loop()
            due = time.monotonic()
            while not self._coord.wait_for_stop(max(0.0, due - time.monotonic())):
                due += self._interval_secs
                self.run_loop()
            self.stop_loop()

    def start_loop(self) -> None:
        """Done once, at the beginning."""

    def stop_loop(self) -> None:
        """Done once, when the coordinator was asked to stop."""

    def run_loop(self) -> None:
        """Done each time: calls the target."""
        if self._loop_target is not None:
            self._loop_target(*self._loop_args, **self._loop_kwargs)
