"""An executor of processes, any of which may die: that costs its call, and no other.

    submit ──▶ a thread of this process ══ pipe ══ its process

It exists because the others of one machine do not do that, or are larger: if a process of `ProcessPoolExecutor` or of
loky dies, all calls are lost, and there is no telling which of them was the cause; Dask's LocalCluster goes on, but
needs another 21 packages, a scheduler with ports, and seconds to start.
"""

from __future__ import annotations

import multiprocessing
import pickle
import signal
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import suppress
from threading import Lock, local
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from summaries.execution.sharing import share_nothing

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future
    from multiprocessing.connection import Connection
    from types import TracebackType

__all__ = ["Processes", "WorkerDiedError"]

Given = ParamSpec("Given")
Result = TypeVar("Result")
_GONE = (EOFError, OSError)  # what a pipe raises if the other end is gone
_family = Lock()  # multiprocessing waits for dead children whenever it starts one, and would take the status of ours


class WorkerDiedError(Exception):
    """A process ended before it returned a result; the message says how."""


class Processes(Executor):
    """An executor whose `jobs` threads each have a process, which is started again after it died.

    The future of a call whose process died raises `WorkerDiedError`, which says how. As long as none could be started,
    it raises `ChildProcessError`. As a context manager that is left by an exception, it ends the processes at once.

    Args:
        jobs: number of processes, at least 1. Each starts by importing the main module again.
    """

    def __init__(self, jobs: int) -> None:
        self._max_workers = jobs
        self._threads = ThreadPoolExecutor(jobs)
        self._own = local()
        self._workers: set[_Worker] = set()
        self._started = False
        self._ended = False

    def submit(self, fn: Callable[Given, Result], /, *args: Given.args, **kwargs: Given.kwargs) -> Future[Result]:
        """Call a function in a process; it must be picklable, like its arguments and its result."""
        return self._threads.submit(self._call, (fn, args, kwargs))

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the processes when they have done what was submitted; with `cancel_futures`, at once."""
        self._ended = cancel_futures
        if cancel_futures:
            self._end()
        self._threads.shutdown(wait, cancel_futures=cancel_futures)
        if wait:
            self._end()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.shutdown(cancel_futures=error is not None)

    def _end(self) -> None:
        for worker in list(self._workers):
            worker.stop()

    def _call(self, call: tuple[Any, ...]) -> Any:
        """Run a call in the process of this thread."""
        try:
            returned, result = self._worker().call(call)
        except WorkerDiedError:
            self._workers.discard(self._own.__dict__.pop("worker"))
            raise
        if not returned:
            raise result
        return result

    def _worker(self) -> _Worker:
        """The process of this thread, which may have to be started."""
        if not hasattr(self._own, "worker"):
            self._own.worker = worker = _Worker()
            self._workers.add(worker)
            if self._ended:  # meanwhile
                worker.stop()
            try:
                worker.receive()
            except WorkerDiedError as error:
                if not self._started:
                    raise ChildProcessError(f"cannot start a process to work in: {error}") from None
                raise
            self._started = True
        own: _Worker = self._own.worker
        return own


class _Worker:
    """A process that makes one call after the other."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")  # a forked child would inherit locks that it cannot release
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs,), daemon=True)
        with _family:
            self._process.start()
        theirs.close()  # otherwise the pipe would outlive the process

    def call(self, call: tuple[Any, ...]) -> Any:
        """Whether the call returned, and what it returned or raised."""
        with suppress(*_GONE):  # receive will notice
            self._connection.send(call)
        return self.receive()

    def receive(self) -> Any:
        """What the process sends.

        Raises:
            WorkerDiedError: it ended instead.
        """
        try:
            return self._connection.recv()
        except _GONE:
            with _family:
                self._process.join()
            self._connection.close()
            raise WorkerDiedError(_ending(self._process.exitcode or 0)) from None

    def stop(self) -> None:
        """End the process, whatever it is doing; who waits for what it sends is told that it ended."""
        self._process.terminate()
        with _family:
            self._process.join()


def _ending(code: int) -> str:
    if code >= 0:
        return f"the last one ended with status {code}"
    hint = ", as happens when the system runs out of memory" if code == -9 else ""  # noqa: PLR2004 - SIGKILL
    return f"the last one was killed by signal {-code}{hint}"


def _serve(connection: Connection) -> None:
    """The main function of a process: report that it is ready, then work until the parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent gets the signal too, and decides
    share_nothing()
    with suppress(*_GONE):
        connection.send(None)
        while True:
            connection.send(_answer(connection.recv_bytes()))


def _answer(pickled: bytes) -> tuple[bool, object]:
    try:
        fn, args, kwargs = pickle.loads(pickled)  # noqa: S301 - it comes from the parent, as the program does
        return True, fn(*args, **kwargs)
    except Exception as error:  # noqa: BLE001 - it is raised again by the future
        return False, error
