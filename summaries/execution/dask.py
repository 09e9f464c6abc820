"""An executor on Dask: a cluster that runs, one of processes on this machine, or one that a file describes.

It is a real `concurrent.futures.Executor`, and goes on when workers die. Its workers need gradledger, the same Python,
and access to the files.
"""

from __future__ import annotations

import logging
import signal
from contextlib import ExitStack, contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

from summaries.optional import needs

if TYPE_CHECKING:
    from collections.abc import Iterator
    from concurrent.futures import Executor

__all__ = ["dask_setup", "on_dask"]


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
        found = {"scheduler_file": where} if where.endswith(".json") else {"address": address}
        client = stack.enter_context(distributed.Client(**found, set_as_default=False))
        yield client.get_executor()


@contextmanager
def _local_cluster(distributed: Any) -> Iterator[object]:
    """A process per core. One that dies is told of by the task that was lost, so nothing of it is logged."""
    options = {"threads_per_worker": 1, "dashboard_address": None, "silence_logs": logging.CRITICAL}
    config = {
        "distributed.scheduler.allowed-failures": 0,  # run_tasks counts
        "distributed.deploy.lost-worker-timeout": "1s",
    }
    with (
        needs("dask", "cluster").config.set(config),
        distributed.LocalCluster(**options, preload=[__name__]) as cluster,
    ):
        count = len(cluster.workers)
        cluster.adapt(minimum=count, maximum=count)  # one that dies while it starts is not replaced without this
        yield cluster


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
