"""Coordinator: stops threads together and raises their first error. LooperThread: a thread that repeats a call."""

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

# These tell a thread that the data has ended, like TF1's OutOfRangeError.
END_OF_DATA: tuple[type[BaseException], ...] = (ShutDown, StopIteration)
_LONGEST_POLL_SECS = 0.1

_log = logging.getLogger("optim")


class Coordinator:
    """Stops a set of threads together: any of them may request it, and each checks whether one has.

    Args:
        clean_stop_exception_types: exceptions that mean the end of the data, not an error; by default a closed queue
            and an exhausted iterator.

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
        """Whether join() has finished, without a clear_stop() since."""
        return self._joined

    def request_stop(self, ex: BaseException | ExcInfo | None = None) -> None:
        """Ask all threads to stop.

        Args:
            ex: the error, if any: an exception, or the result of sys.exc_info(). The first request counts: join()
                raises its exception, not those of later ones.

        Raises:
            TypeError: `ex` is neither.
            BaseException: `ex` itself, if join() has finished and can no longer raise it.
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
        """Reset: no stop is requested, and no error is kept."""
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
            timeout: the most seconds to wait; None waits without a limit.

        Returns:
            Whether a stop was requested.
        """
        return self._stop.wait(timeout)

    def stop_on_exception(self) -> _StopOnException:
        """A context manager: an exception inside requests a stop, and is not propagated."""
        return _StopOnException(self)

    def register_thread(self, thread: threading.Thread) -> None:
        """Make join() wait for this thread, too.

        Args:
            thread: a thread, started or not.
        """
        with self._lock:
            self._threads.add(thread)

    def raise_requested_exception(self) -> None:
        """Raise the error for which a stop was requested, if any, unless join() has raised it already."""
        with self._lock:
            if self._error is not None and not self._joined:
                raise self._error

    def join(
        self,
        threads: Iterable[threading.Thread] | None = None,
        stop_grace_period_secs: float = 120,
        ignore_live_threads: bool = False,
    ) -> None:
        """Wait until all given and registered threads have ended.

        Args:
            threads: threads, in addition to the registered ones; the calling thread is ignored.
            stop_grace_period_secs: how long they may keep running after a stop was requested, in seconds.
            ignore_live_threads: whether threads may keep running for longer.

        Raises:
            BaseException: the error of the first stop request, if it had one.
            RuntimeError: threads are still running at the end of the grace period; the message names them.
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
            names = ", ".join(alive)
            raise RuntimeError(f"threads still running {grace_secs:g} s after they were asked to stop: {names}")


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
    """A thread that repeats a call until its coordinator is asked to stop.

    It is a daemon, and registers with the coordinator. An exception stops the coordinator. Derived classes may override
    `start_loop` and `stop_loop`, and override `run_loop` instead of giving a target.

    Args:
        coord: the coordinator.
        timer_interval_secs: the time from the start of one call to the next, in seconds; None means no pause.
        target: the callable to repeat.
        args: its arguments.
        kwargs: its keyword arguments.

    Raises:
        TypeError: `coord` is not a Coordinator.

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
        """Create and start a LooperThread.

        Args:
            coord: what stops it, and is told of its errors.
            timer_interval_secs: seconds from one call to the next; None calls without a pause.
            target: what is called.
            args: its arguments by position.
            kwargs: its arguments by name.
        """
        looper = LooperThread(coord, timer_interval_secs, target, args, kwargs)
        looper.start()
        return looper

    def run(self) -> None:
        """Repeat the call until a stop is requested."""
        with self._coord.stop_on_exception():
            self.start_loop()
            due = time.monotonic()
            while not self._coord.wait_for_stop(max(0.0, due - time.monotonic())):
                due += self._interval_secs
                self.run_loop()
            self.stop_loop()

    def start_loop(self) -> None:
        """Called once, at the beginning."""

    def stop_loop(self) -> None:
        """Called once, when the coordinator was asked to stop."""

    def run_loop(self) -> None:
        """Called each time: calls the target."""
        if self._loop_target is not None:
            self._loop_target(*self._loop_args, **self._loop_kwargs)
