"""Queues that can be closed: Python 3.13's `queue.Queue`, with the same behaviour on older versions."""

from __future__ import annotations

import queue
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Queue", "ShutDown"]

if sys.version_info >= (3, 13):
    from queue import ShutDown

    class Queue(queue.Queue[Any]):
        """Python's queue: `shutdown` closes it."""
else:

    class ShutDown(Exception):  # noqa: N818 - Python's name for it
        """The queue is closed: items can no longer be put, or none is left to get."""

    class Queue(queue.Queue[Any]):
        """A `queue.Queue` that `shutdown` closes, like Python's own from version 3.13 on.

        Args:
            maxsize: the most items that the queue holds; 0 means no limit.

        >>> q = Queue()
        >>> q.put("last")
        >>> q.shutdown()
        >>> q.get()
        'last'
        >>> q.get()
        Traceback (most recent call last):
        optim.queues.queue.ShutDown
        """

        unfinished_tasks: int

        def __init__(self, maxsize: int = 0) -> None:
            super().__init__(maxsize)
            self.is_shutdown: bool = False

        def put(self, item: Any, block: bool = True, timeout: float | None = None) -> None:
            """Add an item, waiting for room.

            Args:
                item: anything.
                block: whether to wait for room.
                timeout: the longest to wait, in seconds; None waits for as long as it takes.

            Raises:
                queue.Full: there was no room in time.
                ShutDown: the queue is closed.
            """
            with self.not_full:

                def has_room() -> bool:
                    return self.is_shutdown or not 0 < self.maxsize <= self._qsize()

                _wait_for(self.not_full, has_room, block, timeout, queue.Full)
                if self.is_shutdown:
                    raise ShutDown
                self._put(item)
                self.unfinished_tasks += 1
                self.not_empty.notify()

        def get(self, block: bool = True, timeout: float | None = None) -> Any:
            """Take an item, waiting for one.

            Args:
                block: whether to wait for an item.
                timeout: the longest to wait, in seconds; None waits for as long as it takes.

            Raises:
                queue.Empty: there was no item in time.
                ShutDown: the queue is closed and empty.
            """
            with self.not_empty:

                def has_item() -> bool:
                    return self.is_shutdown or self._qsize() > 0

                _wait_for(self.not_empty, has_item, block, timeout, queue.Empty)
                if not self._qsize():
                    raise ShutDown
                item = self._get()
                self.not_full.notify()
                return item

        def shutdown(self, immediate: bool = False) -> None:
            """Close the queue, and wake all waiting threads.

            Args:
                immediate: whether the remaining items are dropped, and count as done.
            """
            with self.mutex:
                self.is_shutdown = True
                if immediate:
                    while self._qsize():
                        self._get()
                        self.unfinished_tasks = max(0, self.unfinished_tasks - 1)
                    self.all_tasks_done.notify_all()
                self.not_empty.notify_all()
                self.not_full.notify_all()

    def _wait_for(
        condition: Any, holds: Callable[[], bool], block: bool, timeout: float | None, error: type[Exception]
    ) -> None:
        if block and timeout is not None and timeout < 0:
            raise ValueError("'timeout' must be a non-negative number")
        if not (condition.wait_for(holds, timeout) if block else holds()):
            raise error
