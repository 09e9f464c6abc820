"""Work in processes, any of which may die: each item's result, or how the process ended that worked on it.

    parent ── item ──▶ worker
    parent ◀─ result ── worker

A worker has one item at a time, so that its death says which item it was, and costs no other. That is why this is no
`ProcessPoolExecutor`: where a process of that dies, all that is still to do is lost, and nobody knows by whose fault.
"""

from __future__ import annotations

import multiprocessing
import signal
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from multiprocessing.connection import Connection

__all__ = ["Died", "in_processes"]

Item = TypeVar("Item")
Result = TypeVar("Result")
_GONE = (EOFError, OSError)  # what a pipe shows when nobody is at its other end


@dataclass(frozen=True, slots=True)
class Died:
    """A process ended before it had the result.

    Attributes:
        how: in words, as "was killed by signal 15".
    """

    how: str


def in_processes(
    task: Callable[[Item], Result], items: Sequence[Item], count: int
) -> Iterator[tuple[Item, Result | Died]]:
    """Every item with its result, as they come.

    Args:
        task: what to do with an item; picklable, as items and results are. A process in which it raises ends.
        items: what to work on, handed out in this order.
        count: how many processes, at least 1. Each starts by importing the main module again.

    Raises:
        ChildProcessError: no process can be started.
    """
    left = deque(items)
    workers: dict[Any, _Worker[Item, Result]] = {}

    def start() -> None:
        worker = _Worker(task)
        workers[worker.connection] = worker

    try:
        for _ in range(min(count, len(left))):
            start()
        while workers:
            for connection in wait(list(workers)):
                worker = workers[connection]
                item, outcome = worker.receive()
                if left and not isinstance(outcome, Died):
                    worker.send(left.popleft())
                else:
                    workers.pop(connection).stop()
                    if left and item:
                        start()
                    elif left and not workers and isinstance(outcome, Died):
                        raise ChildProcessError(f"no process to audit in can be started: the last {outcome.how}")
                if item:
                    yield item[0], outcome
    finally:
        for worker in workers.values():
            worker.stop()


class _Worker(Generic[Item, Result]):
    """A process, and what it works on: nothing, until it has said that it is ready."""

    def __init__(self, task: Callable[[Item], Result]) -> None:
        context = multiprocessing.get_context("spawn")  # forked, a child would inherit locks that nobody there can open
        self.connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, task), daemon=True)
        self._process.start()
        theirs.close()  # else the pipe would not end with the process
        self._item: tuple[()] | tuple[Item] = ()

    def send(self, item: Item) -> None:
        """Have it work on this."""
        self._item = (item,)
        with suppress(*_GONE):  # who receives from it will see it
            self.connection.send(item)

    def receive(self) -> tuple[tuple[()] | tuple[Item], Result | Died]:
        """What it worked on, if it did, and what came of it."""
        item, self._item = self._item, ()
        try:
            return item, self.connection.recv()
        except _GONE:
            self._process.join()
            return item, Died(_ending(self._process.exitcode or 0))

    def stop(self) -> None:
        """End the process, whatever it does."""
        self.connection.close()
        self._process.terminate()
        self._process.join()


def _ending(code: int) -> str:
    if code >= 0:
        return f"ended with status {code}"
    hint = ", as a system does that runs out of memory" if code == -9 else ""  # noqa: PLR2004 - SIGKILL
    return f"was killed by signal {-code}{hint}"


def _serve(connection: Connection, task: Callable[[Item], Result]) -> None:
    """What a process does: say that it is ready, then work on what it is sent, until nobody is there."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent gets it too, and decides
    result: Result | None = None
    with suppress(*_GONE):
        while True:
            connection.send(result)
            item = connection.recv()
            result = task(item)
