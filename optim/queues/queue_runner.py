"""QueueRunner: threads that fill a queue, so that training does not wait for a reader."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING, Any

from optim.queues.coordinator import END_OF_DATA, Coordinator

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

__all__ = ["QueueRunner"]

_log = logging.getLogger("optim")


class QueueRunner:
    """Runs functions that put items on a queue, each repeatedly in a thread of its own.

    If a function finds the queue closed or its data exhausted, its thread ends quietly; the last one closes the queue,
    so that consumers get the remaining items, and then `ShutDown`. Any other exception stops the coordinator. When the
    coordinator stops, the queue is closed, too.

    Args:
        queue: an `optim.Queue`, which is `queue.Queue` from Python 3.13 on, or any other object with a `shutdown`.
        enqueue_ops: callables without arguments, such as `lambda: queue.put(next(reader))`.
        close_op: closes the queue when all data is on it; by default its `shutdown`.
        cancel_op: closes the queue on a stop; likewise.
        queue_closed_exception_types: exceptions that end a thread quietly; by default ShutDown and StopIteration.

    Raises:
        TypeError: the queue cannot be closed, or an `enqueue_op` cannot be called.
        ValueError: there are no `enqueue_ops`.

    >>> from optim import Queue, ShutDown
    >>> queue, numbers = Queue(maxsize=4), iter(range(10))
    >>> coord, runner = Coordinator(), QueueRunner(queue, [lambda: queue.put(next(numbers))])
    >>> threads = runner.create_threads(coord, start=True)
    >>> taken = []
    >>> with coord.stop_on_exception():
    ...     while True:
    ...         taken.append(queue.get())
    >>> coord.join(threads)
    >>> taken
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
    """

    def __init__(
        self,
        queue: Any,
        enqueue_ops: Iterable[Callable[[], object]],
        close_op: Callable[[], object] | None = None,
        cancel_op: Callable[[], object] | None = None,
        queue_closed_exception_types: Sequence[type[BaseException]] | None = None,
    ) -> None:
        self.queue = queue
        self.enqueue_ops: list[Callable[[], object]] = list(enqueue_ops)
        shutdown = getattr(queue, "shutdown", None)
        if not callable(shutdown) and (close_op is None or cancel_op is None):
            raise TypeError(
                f"queue must have a shutdown method, as optim.Queue and Python 3.13's queue.Queue do; got {queue!r}"
            )
        if not self.enqueue_ops:
            raise ValueError("enqueue_ops must not be empty: there is nothing to run")
        for op in self.enqueue_ops:
            if not callable(op):
                raise TypeError(f"enqueue_ops must be callables without arguments, got {type(op).__name__}: {op!r}")
        self.close_op: Callable[[], object] = close_op or queue.shutdown
        self.cancel_op: Callable[[], object] = cancel_op or queue.shutdown
        closed = END_OF_DATA if queue_closed_exception_types is None else tuple(queue_closed_exception_types)
        self.queue_closed_exception_types = closed
        self._lock = threading.Lock()
        self._running = 0
        self._exceptions: list[BaseException] = []

    @property
    def exceptions_raised(self) -> list[BaseException]:
        """The exceptions of the threads since they were last created, without those that end one quietly."""
        with self._lock:
            return list(self._exceptions)

    def create_threads(
        self, coord: Coordinator | None = None, daemon: bool = True, start: bool = False
    ) -> list[threading.Thread]:
        """A thread for each of the `enqueue_ops`, and with a coordinator one more, which closes the queue on a stop.

        Args:
            coord: the coordinator with which the threads register: an exception stops it, and it stops the threads.
            daemon: whether the process may end while they run. Unlike TF1's, they are daemons by default, so that an
                error in the main thread ends the process.
            start: whether to start them.

        Returns:
            The threads; none if earlier ones are still running.
        """
        with self._lock:
            if self._running:
                return []
            self._running = len(self.enqueue_ops)
            self._exceptions = []
        name = type(self.queue).__name__
        threads = [
            threading.Thread(target=self._run, args=(op, coord), name=f"QueueRunner-{name}-{i}", daemon=daemon)
            for i, op in enumerate(self.enqueue_ops)
        ]
        if coord is not None:
            closer = threading.Thread(
                target=self._close_on_stop, args=(coord,), name=f"QueueRunner-{name}-close_on_stop", daemon=daemon
            )
            threads.append(closer)
        for thread in threads:
            if coord is not None:
                coord.register_thread(thread)
            if start:
                thread.start()
        return threads

    def _run(self, enqueue: Callable[[], object], coord: Coordinator | None) -> None:
        try:
            while coord is None or not coord.should_stop():
                enqueue()
        except self.queue_closed_exception_types:
            pass
        except Exception as error:  # noqa: BLE001 - the coordinator's join() raises it
            with self._lock:
                self._exceptions.append(error)
            if coord is None:
                _log.exception("a thread that fills a queue has failed")
            else:
                coord.request_stop(error)
        finally:
            with self._lock:
                self._running -= 1
                last = not self._running
            if last and (coord is None or not coord.should_stop()):
                _quietly(self.close_op)

    def _close_on_stop(self, coord: Coordinator) -> None:
        coord.wait_for_stop()
        _quietly(self.cancel_op)


def _quietly(close: Callable[[], object]) -> None:
    try:
        close()
    except Exception:  # noqa: BLE001 - no caller could catch it
        _log.exception("a queue could not be closed")
