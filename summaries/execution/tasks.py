"""A task on many items, in batches on any executor: the result of each item, or why there is none.

    items ── largest first ──▶ batches ── submit, a bounded number at a time ──▶ executor: threads, processes, Dask, MPI
    (item, result | Died) ◀── as they are done ── results, small

A batch is as large as makes the executor's own work small beside it. If its worker dies, each of its items is tried
again alone, which shows the one that kills its worker and saves the others.
"""

from __future__ import annotations

import pickle
from collections import deque
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, ThreadPoolExecutor, wait
from contextlib import nullcontext
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from summaries.execution.sharing import share_nothing

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
    from concurrent.futures import Executor, Future

__all__ = ["Died", "batches", "in_threads", "run_tasks", "workers_of"]

Item = TypeVar("Item")
Result = TypeVar("Result")

_TRIES = 3
_ROUNDS = 8  # so many batches a worker, so that none is left alone with much at the end
_WORKERS = 16  # if it is unknown how many there are
_FEWEST, _MOST = 50, 500  # items of a batch of small ones: a batch costs an engine milliseconds
_SMALLEST, _LARGEST = 1 << 20, 256 << 20  # bytes of a batch
# What engines raise if a worker died and they go on without it; by name, because importing an engine takes a second.
_DEATHS = frozenset({"WorkerDiedError", "KilledWorker", "WorkerCrashedError", "OutOfMemoryError"})


@dataclass(frozen=True, slots=True)
class Died:
    """There is no result, because workers died.

    Attributes:
        reason: in words, for example "killed its worker three times: the last one was killed by signal 9".
    """

    reason: str


def run_tasks(
    task: Callable[[Item], Result],
    items: Sequence[Item],
    *,
    executor: Executor | None = None,
    jobs: int | None = None,
    processes: bool = False,
    size: Callable[[Item], int] = lambda _: 0,
) -> Generator[tuple[Item, Result | Died]]:
    """Run a task on every item, on an executor or in threads of this process.

    Stopping early, also by Ctrl-C, cancels what has not begun.

    Args:
        task: the function to call with each item. It may be called again with the same item after a worker died. On an
            executor of processes it must be picklable, like the items and the results, and is unpickled once in each
            worker. If it has a method `expecting`, that is called with the items that come next, and returns a context
            manager in which they are worked on. If it has a method `each`, that is called with several items instead,
            and returns an iterator of their results.
        items: what to work on; the largest are worked on first.
        executor: where to work; None takes `jobs` threads of this process, or this thread for one job.
        jobs: how many items are worked on at a time. None: as many as the executor says that it has workers, or 16;
            without an executor, 1.
        processes: without an executor, use `jobs` processes instead of threads, any of which may die.
        size: the number of bytes that a task will read for an item.

    Yields:
        Each item with its result, in the order in which they are done.

    Raises:
        ValueError: `jobs` is less than 1.
        Exception: whatever the task raises.
    """
    if jobs is not None and jobs < 1:
        raise ValueError(f"jobs must be at least 1, got {jobs}")
    if executor is not None:
        yield from _on_executor(task, batches(items, workers_of(executor, jobs), size), executor, jobs)
    elif processes and (jobs or 1) > 1:
        from summaries.execution.processes import Processes  # noqa: PLC0415 - most tasks are done without

        with Processes(jobs or 1) as pool:
            yield from run_tasks(task, items, executor=pool, size=size)
    else:
        yield from _here(task, items, jobs or 1, size)


def workers_of(executor: Executor | None, jobs: int | None = None) -> int:
    """How many workers an executor has: `jobs` if that is given, or what it says itself, or 16."""
    if jobs or executor is None:
        return jobs or _WORKERS
    from summaries.execution.dask import DaskExecutor  # noqa: PLC0415 - most tasks are done without

    return getattr(DaskExecutor.instead_of(executor), "_max_workers", 0) or _WORKERS


def batches(items: Sequence[Item], jobs: int, size: Callable[[Item], int] = lambda _: 0) -> Iterator[list[Item]]:
    """Cut items into batches, the largest items first.

    >>> [len(batch) for batch in batches([300 << 20, 1 << 20, *[1000] * 120], 2, int)]
    [1, 50, 50, 21]
    """
    left = deque(sorted(items, key=size, reverse=True))
    most = min(max(len(left) // (_ROUNDS * jobs), _FEWEST), _MOST)
    most_bytes = min(max(sum(map(size, left)) // (_ROUNDS * jobs), _SMALLEST), _LARGEST)
    while left:
        batch = [left.popleft()]
        total = size(batch[0])
        while left and len(batch) < most and total + size(left[0]) <= most_bytes:
            total += size(left[0])
            batch.append(left.popleft())
        yield batch


def _here(
    task: Callable[[Item], Result], items: Sequence[Item], jobs: int, size: Callable[[Item], int]
) -> Iterator[tuple[Item, Result]]:
    if jobs == 1:
        with _expecting(task, items):
            yield from zip(items, _results(task, items), strict=True)
        return
    ordered = sorted(items, key=size, reverse=True)
    with _expecting(task, ordered):
        yield from zip(ordered, in_threads(task, ordered, jobs), strict=True)


def in_threads(function: Callable[[Item], Result], items: Iterable[Item], threads: int) -> Iterator[Result]:
    """Yield a function's result for each item, in order, from some threads; one thread is this one.

    When this is closed, also by Ctrl-C, only the items that have begun are done to their end.
    """
    if threads <= 1:
        yield from map(function, items)
        return
    pool = ThreadPoolExecutor(threads, initializer=share_nothing)
    try:
        yield from pool.map(function, items)
    finally:
        pool.shutdown(cancel_futures=True)


@dataclass(frozen=True, slots=True)
class _Attempt(Generic[Item]):
    items: Sequence[Item]
    tries: int = 1

    @property
    def last(self) -> bool:
        """Whether this is the last try of an item."""
        return len(self.items) == 1 and self.tries == _TRIES


class _Queue(Generic[Item]):
    """What is left to do.

    The last try of an item is made when nothing else runs: engines count a worker's death against all that they had
    given to it.
    """

    def __init__(self, cut: Iterable[Sequence[Item]]) -> None:
        self._waiting = deque(map(_Attempt, cut))
        self._suspects: deque[_Attempt[Item]] = deque()

    def __iter__(self) -> Iterator[_Attempt[Item]]:
        return chain(self._waiting, self._suspects)

    def next(self, running: int, most: int) -> _Attempt[Item] | None:
        """What to begin now, if so many batches are running, and so many may; None if nothing."""
        if self._waiting:
            return self._waiting[0] if running < most else None
        return self._suspects[0] if self._suspects and not running else None

    def begun(self) -> None:
        """What was next is running now."""
        (self._waiting or self._suspects).popleft()

    def lost(self, batch: _Attempt[Item]) -> None:
        """Its worker died: try each of its items alone, at once; and one that was alone, later."""
        if len(batch.items) > 1:
            self._waiting.extendleft(_Attempt([item]) for item in reversed(batch.items))
            return
        again = _Attempt(batch.items, batch.tries + 1)
        (self._suspects if again.last else self._waiting).append(again)


def _on_executor(
    task: Callable[[Item], Result], cut: Iterable[Sequence[Item]], executor: Executor, jobs: int | None
) -> Iterator[tuple[Item, Result | Died]]:
    from summaries.execution.dask import DaskExecutor  # noqa: PLC0415 - most tasks are done without

    executor = DaskExecutor.instead_of(executor)
    queue = _Queue(cut)
    running: dict[Future[list[_Outcome[Result]]], _Attempt[Item]] = {}
    pickled_task = _PickledOnce(task)
    try:
        while True:
            most = 2 * workers_of(executor, jobs) + 2
            while batch := queue.next(len(running), most):
                running[executor.submit(_work, pickled_task, batch.items)] = batch
                queue.begun()
            if not running:
                return
            for future in sorted(wait(running, return_when=FIRST_COMPLETED).done, key=_failed):  # results first
                error = future.exception()
                if error is not None and type(error).__name__ not in _DEATHS:
                    raise error
                batch = running.pop(future)
                if error is None:
                    yield from zip(batch.items, (outcome.get() for outcome in future.result()), strict=True)
                elif batch.last:
                    yield batch.items[0], Died(f"killed its worker three times: {_first_sentence(error)}")
                else:
                    queue.lost(batch)
    except (BrokenExecutor, CancelledError) as error:  # it cannot be mended from here
        died = Died(f"its executor broke, and with it all that was left: {_first_sentence(error)}")
        yield from ((item, died) for batch in (*running.values(), *queue) for item in batch.items)
    finally:
        for future in running:
            future.cancel()


def _failed(future: Future[Any]) -> bool:
    return future.cancelled() or future.exception() is not None


def _first_sentence(error: BaseException) -> str:
    """The beginning of an engine's explanation, which may be a page."""
    return " ".join(str(error).split()).partition(". ")[0] or type(error).__name__


@dataclass(frozen=True, slots=True)
class _Outcome(Generic[Result]):
    """What a task returned or raised, told apart from what the executor raises."""

    result: Result | None
    error: Exception | None = None

    def get(self) -> Result:
        if self.error is not None:
            raise self.error
        return self.result  # type: ignore[return-value] # the task's own None


class _PickledOnce(Generic[Item, Result]):
    """A task that a process unpickles once, whatever number of batches it gets: it may hold what took long to read."""

    def __init__(self, task: Callable[[Item], Result]) -> None:
        self.task = task
        self._pickled = b""

    def __reduce__(self) -> tuple[Callable[[bytes], _PickledOnce[Item, Result]], tuple[bytes]]:
        self._pickled = self._pickled or pickle.dumps(self.task)
        return _unpickled, (self._pickled,)


@lru_cache(maxsize=2)
def _unpickled(pickled: bytes) -> _PickledOnce[Item, Result]:
    return _PickledOnce(pickle.loads(pickled))  # noqa: S301 - it comes from the client, as the call does


def _work(pickled_task: _PickledOnce[Item, Result], items: Sequence[Item]) -> list[_Outcome[Result]]:
    """The call of a batch, in a worker."""
    with _expecting(pickled_task.task, items):
        return list(_outcomes(_results(pickled_task.task, items)))


def _results(task: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[Result]:
    results: Iterator[Result] = task.each(items) if hasattr(task, "each") else map(task, items)
    return results


def _outcomes(results: Iterator[Result]) -> Iterator[_Outcome[Result]]:
    while True:
        try:
            yield _Outcome(next(results))
        except StopIteration:
            return
        except Exception as error:  # noqa: BLE001 - it is raised again in the client
            yield _Outcome(None, error)


def _expecting(task: Callable[[Item], Result], items: Sequence[Item]) -> nullcontext[object]:
    context: nullcontext[object] = getattr(task, "expecting", nullcontext)(items)
    return context
