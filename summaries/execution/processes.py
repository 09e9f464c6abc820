"""Work in processes, any of which may die: the result of each item, or how its process ended.

    parent ── items ──▶ worker
    parent ◀─ results ── worker

A worker gets a few items at a time, because messages take time too. If it dies, each of its items is tried again alone,
which shows the item that causes the death and saves the others. A `ProcessPoolExecutor` cannot do this: if one of its
processes dies, all remaining work is lost, and there is no telling which item was the cause.
"""

from __future__ import annotations

import multiprocessing
import signal
from collections import deque
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from multiprocessing.connection import Connection

__all__ = ["Died", "in_processes"]

Item = TypeVar("Item")
Result = TypeVar("Result")
_MOST_AT_A_TIME = 32
_GONE = (EOFError, OSError)  # what a pipe raises if the other end is gone


@dataclass(frozen=True, slots=True)
class Died:
    """A process ended before it returned a result.

    Attributes:
        how: in words, for example "was killed by signal 15".
    """

    how: str


def in_processes(
    task: Callable[[Item], Result], items: Sequence[Item], jobs: int
) -> Iterator[tuple[Item, Result | Died]]:
    """Run a task on every item, in processes.

    Args:
        task: the function to call with each item. It may be called twice with the same item, and if it raises, its
            process ends. It must be picklable, like the items and the results. If it has a method `expecting`, that is
            called with the items that come next, and returns a context manager in which they are worked on.
        items: what to work on, handed out in this order.
        jobs: number of processes, at least 1. Each starts by importing the main module again.

    Yields:
        Each item with its result, in the order in which they are done.

    Raises:
        ChildProcessError: no process can be started.
    """
    size = max(1, min(_MOST_AT_A_TIME, len(items) // (4 * jobs)))
    left = deque(items[start : start + size] for start in range(0, len(items), size))
    workers: dict[Any, _Worker[Item, Result]] = {}

    def start() -> None:
        worker = _Worker(task)
        workers[worker.connection] = worker

    try:
        for _ in range(min(jobs, len(left))):
            start()
        while workers:
            for connection in wait(list(workers)):
                worker = workers[connection]
                chunk, outcome = worker.receive()
                if not isinstance(outcome, Died) and left:
                    worker.send(left.popleft())
                else:
                    workers.pop(connection).stop()
                if isinstance(outcome, Died):
                    left.extendleft(_alone(chunk))
                    if left and not workers and not chunk:
                        raise ChildProcessError(f"cannot start a process to audit in: the last one {outcome.how}")
                    if left and chunk:
                        start()
                yield from _known(chunk, outcome)
    finally:
        for worker in workers.values():
            worker.stop()


def _alone(chunk: Sequence[Item]) -> list[Sequence[Item]]:
    """The items of a process that died, each to be tried again alone; none if it had only one."""
    return [[item] for item in reversed(chunk)] if len(chunk) > 1 else []


def _known(chunk: Sequence[Item], outcome: Sequence[Result] | Died) -> Iterable[tuple[Item, Result | Died]]:
    if isinstance(outcome, Died):
        return [(item, outcome) for item in chunk] if len(chunk) == 1 else []
    return zip(chunk, outcome, strict=True)


class _Worker(Generic[Item, Result]):
    """A process, and the items that it works on: none until it has reported that it is ready."""

    def __init__(self, task: Callable[[Item], Result]) -> None:
        context = multiprocessing.get_context("spawn")  # a forked child would inherit locks that it cannot release
        self.connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, task), daemon=True)
        self._process.start()
        theirs.close()  # otherwise the pipe would outlive the process
        self._items: Sequence[Item] = ()

    def send(self, items: Sequence[Item]) -> None:
        """Send it items to work on."""
        self._items = items
        with suppress(*_GONE):  # the next receive will notice
            self.connection.send(items)

    def receive(self) -> tuple[Sequence[Item], Sequence[Result] | Died]:
        """The items that it worked on, and their results, or how it died."""
        items, self._items = self._items, ()
        try:
            return items, self.connection.recv()
        except _GONE:
            self._process.join()
            return items, Died(_ending(self._process.exitcode or 0))

    def stop(self) -> None:
        """End the process, whatever it is doing."""
        self.connection.close()
        self._process.terminate()
        self._process.join()


def _ending(code: int) -> str:
    if code >= 0:
        return f"ended with status {code}"
    hint = ", as happens when the system runs out of memory" if code == -9 else ""  # noqa: PLR2004 - SIGKILL
    return f"was killed by signal {-code}{hint}"


def _serve(connection: Connection, task: Callable[[Item], Result]) -> None:
    """The main function of a process: report that it is ready, then work until the parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent gets the signal too, and decides
    results: list[Result] = []
    expecting = getattr(task, "expecting", nullcontext)
    with suppress(*_GONE):
        while True:
            connection.send(results)
            items = connection.recv()
            with expecting(items):
                results = [task(item) for item in items]
