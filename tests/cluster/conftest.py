"""A Dask cluster of two processes, a server of objects, and runs to audit: `make cluster` installs what this needs."""

import logging
import os
import sys
from contextlib import contextmanager, suppress

import dask
import distributed
import numpy as np
import pytest
from labelled.logdir import write_all
from processes.servers import running
from stores.bucket import Bucket

from summaries import SummaryWriter

SMALL = 5_000
_KINDS = 50


@contextmanager
def local_cluster(**options):
    """Two worker processes; each death is told at once, as `--dask local` has it."""
    dask.config.set({"distributed.scheduler.allowed-failures": 0, "distributed.deploy.lost-worker-timeout": "1s"})
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=logging.CRITICAL, **options
    )
    cluster.adapt(minimum=2, maximum=2)
    yield cluster
    with suppress(KeyError):  # of a worker that died, in distributed 2026.8
        cluster.close()


@pytest.fixture(scope="session")
def cluster():
    with local_cluster() as cluster:
        yield cluster


@pytest.fixture
def executor(cluster):
    with distributed.Client(cluster, set_as_default=False) as client:
        client.wait_for_workers(2)
        yield client.get_executor()


@pytest.fixture(scope="session", name="labelled_logdir")
def _labelled_logdir(tmp_path_factory):
    """Every labelled run, healthy and faulty, and the ranks of a job with a fault."""
    return write_all(tmp_path_factory.mktemp("labelled"))


@pytest.fixture(scope="session")
def small_logdir(tmp_path_factory):
    """Five thousand small runs, of fifty kinds."""
    directory = tmp_path_factory.mktemp("small")
    for number in range(SMALL):
        run = directory / f"run{number}"
        if number >= _KINDS:
            run.mkdir()
            (one,) = (directory / f"run{number % _KINDS}").iterdir()
            os.link(one, run / one.name)
            continue
        rng = np.random.default_rng(number)
        with SummaryWriter(run) as writer:
            for step in range(30):
                rising = 0.1 * step if number % 3 == 0 else 0
                writer.add_scalar("train/loss", 2 / (1 + step) + rising + 0.01 * rng.standard_normal(), step)
    return directory


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    """The port of an S3 server, in a process of its own."""
    program = os.path.join(os.path.dirname(sys.executable), "moto_server")
    with running([program, "-p", "0"], tmp_path_factory.mktemp("server") / "log") as (_, address):
        yield int(address.rpartition(":")[2])


@pytest.fixture(scope="session")
def put(server):
    """directory → (address, storage options) of a bucket with its files."""

    def put(directory):
        bucket = Bucket(server, f"bucket-{directory.name}".replace("_", "-"), server)
        bucket.put_tree(directory)
        return bucket.address, {**bucket.options, "config_kwargs": {}}

    return put
