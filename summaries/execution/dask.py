"""An executor on Dask: a cluster that runs, one of processes on this machine, or one that a file describes.

It is a real `concurrent.futures.Executor`, and goes on when workers die. Its workers need gradledger, the same Python,
and access to the files.
"""

from __future__ import annotations

import logging
import signal
from concurrent.futures import Executor, Future
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from summaries.optional import needs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["DaskExecutor", "dask_setup", "on_dask"]


Given = ParamSpec("Given")
Result = TypeVar("Result")


class DaskExecutor(Executor):
    """An executor on the client of a Dask cluster, every future of which is done some time.

    That is not so for the client's own, `get_executor()`, in distributed 2026.8: if a worker dies when a task is
    finished and its result has not been fetched yet, and the task fails when it is done again, the future never ends.

    Args:
        client: the client.
        **options: as `get_executor` takes them.
    """

    def __init__(self, client: Any, **options: Any) -> None:
        self._client = client
        self._options = options

    @classmethod
    def instead_of(cls, executor: Executor) -> Executor:
        """The executor itself, unless it is a client's own."""
        if type(executor).__module__ != "distributed.cfexecutor":
            return executor
        return cls(executor._client, **executor._kwargs)  # type: ignore[attr-defined] # noqa: SLF001 - the only way

    @property
    def _max_workers(self) -> int:
        """How many workers there are now; they come and go."""
        return sum(self._client.nthreads().values())

    def submit(self, fn: Callable[Given, Result], /, *args: Given.args, **kwargs: Given.kwargs) -> Future[Result]:
        """Call a function on a worker."""
        future: Future[Result] = Future()
        # Otherwise Dask would take an equal call for the same one.
        theirs = self._client.submit(fn, *args, **kwargs, **{"pure": False, **self._options})
        future.add_done_callback(lambda own: theirs.cancel() if own.cancelled() else None)
        theirs.add_done_callback(partial(_hand_over, future))
        return future


def _hand_over(future: Future[Any], theirs: Any) -> None:
    """Give a future what Dask's own has; in a thread of its client."""
    if not future.set_running_or_notify_cancel():
        return
    try:
        future.set_result(theirs.result())
    except BaseException as error:  # noqa: BLE001 - whatever it is, it is handed over
        future.set_exception(error)


@contextmanager
def on_dask(where: str) -> Iterator[Executor]:
    """An executor on a Dask cluster, for the time of a context.

    Args:
        where: the address of a scheduler, such as `tcp://host:8786`, or the `.json` file that one has written; or
            `local`, for a process per core of this machine; or a `.yaml` file: Dask's configuration, with a table
            `gradledger` in which `cluster` is the class of a cluster, such as `dask_jobqueue.SLURMCluster`, `options`
            are its arguments, and `workers` is their number, or a table with `minimum` and `maximum`.

    Raises:
        ImportError: Dask is not installed, or the class is not.
        OSError: the scheduler cannot be reached, or the file cannot be read.
        ValueError: the file does not describe a cluster.
    """
    distributed = needs("distributed", "cluster")
    with ExitStack() as stack:
        if where == "local":
            address = stack.enter_context(_local_cluster(distributed))
        elif where.endswith((".yaml", ".yml")):
            address = stack.enter_context(_cluster_of(where))
        else:
            address = where
        address_options = {"scheduler_file": where} if where.endswith(".json") else {"address": address}
        client = stack.enter_context(distributed.Client(**address_options, set_as_default=False))
        yield DaskExecutor(client)


@contextmanager
def _local_cluster(distributed: Any) -> Iterator[object]:
    """A process per core. One that dies is told of by the task that was lost, so nothing of it is logged."""
    options = {"threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": logging.CRITICAL}
    config = {
        "distributed.scheduler.allowed-failures": 0,  # run_tasks counts
        "distributed.deploy.lost-worker-timeout": "1s",
    }
    with needs("dask", "cluster").config.set(config):
        cluster = distributed.LocalCluster(**options, preload=[__name__])
        try:
            count = len(cluster.workers)
            cluster.adapt(minimum=count, maximum=count)  # otherwise one that dies while it starts is not replaced
            yield cluster
        finally:
            with suppress(KeyError):  # of a worker that died, in distributed 2026.8
                cluster.close()


def dask_setup(worker: object) -> None:
    """What a process of `local` begins with: Ctrl-C is for the main process, which decides what becomes of them."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def _cluster_of(path: str) -> Iterator[object]:
    """The cluster that a file describes."""
    dask, yaml = needs("dask", "cluster"), needs("yaml", "cluster")

    with open(path, encoding="utf-8") as file:
        try:
            config = yaml.safe_load(file)
        except yaml.YAMLError as error:
            raise ValueError(f"{path} is no YAML: {error}") from None
    own = config.pop("gradledger", None) if isinstance(config, dict) else None
    if not isinstance(own, dict) or "." not in str(own.get("cluster", "")):
        raise ValueError(
            f"{path} names no cluster: it needs a table gradledger with a class, as in "
            "cluster: dask_jobqueue.SLURMCluster"
        )
    module, _, name = own["cluster"].rpartition(".")
    kind = getattr(import_module(module), name)  # importing it may add to Dask's configuration
    merged = dask.config.merge(dask.config.config, config)
    with dask.config.set(merged), kind(**own.get("options", {})) as cluster:
        workers = own.get("workers", 1)
        cluster.adapt(**workers) if isinstance(workers, dict) else cluster.scale(workers)
        yield cluster
