"""Work in processes, any of which may die: each item's result, or how the process ended that worked on it.

    parent ── items ──▶ worker
    parent ◀─ results ── worker

A worker gets a few items at a time, because messages take time too. If it dies, each of these is tried again, alone,
so that a death says which item it was, and costs no other. That is why this is no `ProcessPoolExecutor`: where one of
its processes dies, all that is still to do is lost, and nobody knows by whose fault.
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
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from multiprocessing.connection import Connection

__all__ = ["Died", "in_processes"]

Item = TypeVar("Item")
Result = TypeVar("Result")
_MOST_AT_A_TIME = 32
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
        task: what to do with an item, and perhaps once again; picklable, as items and results are. A process in which
            it raises ends.
        items: what to work on, handed out in this order.
        count: how many processes, at least 1. Each starts by importing the main module again.

    Raises:
        ChildProcessError: no process can be started.
    """
    size = max(1, min(_MOST_AT_A_TIME, len(items) // (4 * count)))
    left = deque(items[start : start + size] for start in range(0, len(items), size))
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
                chunk, outcome = worker.receive()
                if not isinstance(outcome, Died) and left:
                    worker.send(left.popleft())
                else:
                    workers.pop(connection).stop()
                if isinstance(outcome, Died):
                    left.extendleft(_alone(chunk))
                    if left and not workers and not chunk:
                        raise ChildProcessError(f"no process to audit in can be started: the last {outcome.how}")
                    if left and chunk:
                        start()
                yield from _known(chunk, outcome)
    finally:
        for worker in workers.values():
            worker.stop()


def _alone(chunk: Sequence[Item]) -> list[Sequence[Item]]:
    """What a process that died leaves to be tried again: nothing, where it had but one item."""
    return [[item] for item in reversed(chunk)] if len(chunk) > 1 else []


def _known(chunk: Sequence[Item], outcome: Sequence[Result] | Died) -> Iterable[tuple[Item, Result | Died]]:
    if isinstance(outcome, Died):
        return [(item, outcome) for item in chunk] if len(chunk) == 1 else []
    return zip(chunk, outcome, strict=True)


class _Worker(Generic[Item, Result]):
    """A process, and what it works on: nothing, until it has said that it is ready."""

    def __init__(self, task: Callable[[Item], Result]) -> None:
        context = multiprocessing.get_context("spawn")  # forked, a child would inherit locks that nobody there can open
        self.connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, task), daemon=True)
        self._process.start()
        theirs.close()  # else the pipe would not end with the process
        self._items: Sequence[Item] = ()

    def send(self, items: Sequence[Item]) -> None:
        """Have it work on these."""
        self._items = items
        with suppress(*_GONE):  # who receives from it will see it
            self.connection.send(items)

    def receive(self) -> tuple[Sequence[Item], Sequence[Result] | Died]:
        """What it worked on, and what came of it."""
        items, self._items = self._items, ()
        try:
            return items, self.connection.recv()
        except _GONE:
            self._process.join()
            return items, Died(_ending(self._process.exitcode or 0))

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
    results: list[Result] = []
    with suppress(*_GONE):
        while True:
            connection.send(results)
            results = [task(item) for item in connection.recv()]
