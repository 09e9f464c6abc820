"""Object stores: one large run, a thousand small ones, and both again, over a link of 50 ms and 200 MB/s.

The store is moto's S3 server behind the tests' proxy, each in a process of its own. Peers: tensorboard's
EventAccumulator on the same bucket, and tbparse. "The link" is what 16 plain connections take for the same bytes.
"""

from __future__ import annotations

import http.client
import logging
import math
import multiprocessing
import os
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from benchmarks.bench_reader import write
from benchmarks.figures import OURS, Figure
from benchmarks.peers import Contender, NotInstalledError, compare, stop, take_turns
from benchmarks.scale import sized
from summaries import audit, read_logdir, read_run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from multiprocessing.connection import Connection
    from typing import Self

LATENCY_SECS, BYTES_PER_SEC = 0.05, 200e6
POINTS, RUNS = sized(2_080_000, 400_000), sized(1_000, 100)  # 114 MB
FEW = sized(20, 3)  # runs
RANGE_BYTES, CONNECTIONS = 4 << 20, 16


def figures() -> Iterator[Figure]:
    """Yield each as it is measured."""
    for library in ("moto", "s3fs"):
        if find_spec(library) is None:
            raise NotInstalledError(f"{library} is not installed")
    stop()  # tensorboard looks for the store's address in the environment when it is imported
    with tempfile.TemporaryDirectory() as directory, Link() as link:
        write(os.path.join(directory, "one", "x.tfevents"), POINTS)
        for i in range(RUNS):
            write(os.path.join(directory, "many", f"run{i:04d}", "x.tfevents"), 50, 5)
        link.put(directory)
        yield one_run(link, os.path.getsize(os.path.join(directory, "one", "x.tfevents")))
        yield small_runs(link)
        for name in ("many", "one"):
            yield again(link, name, os.path.join(directory, f"cache of {name}"))
        yield one_after_the_other(link)


def one_run(link: Link, size: int) -> Figure:
    ours = Contender(reading, (f"{link.address}/one", link.options))
    plain = Contender(downloading, (link.port, "one/x.tfevents", size))
    return link.compare(
        f"one run of {size / 1e6:.0f} MB",
        {OURS: ours, "the link": plain},
        f"at best {math.ceil(size / RANGE_BYTES)} reads",
        f"size over rate {size / BYTES_PER_SEC + LATENCY_SECS:.2f} s",
    )


def small_runs(link: Link) -> Figure:
    ours = Contender(reading_all, (f"{link.address}/many", link.options))
    at_best = f"at best {RUNS} reads: {RUNS / 32 * LATENCY_SECS:.2f} s of latency, 32 at a time"
    return link.compare(f"{RUNS:,} runs of one small file", {OURS: ours}, at_best)


def again(link: Link, name: str, cache: str) -> Figure:
    arguments = (f"{link.address}/{name}", link.options)
    take_turns({OURS: Contender(auditing, (*arguments, cache))}, 0.0)  # fills it
    contenders = {OURS: Contender(auditing, (*arguments, cache)), "without a cache": Contender(auditing, arguments)}
    return link.compare(f"an audit of unchanged runs: {name}", contenders, "at best 0 reads")


def one_after_the_other(link: Link) -> Figure:
    """A smaller share of the same runs, because they take minutes."""
    places = [f"{link.address}/many/run{i:04d}" for i in range(FEW)]
    contenders = {
        OURS: Contender(reading_each, (places, link.options)),
        "EventAccumulator": Contender(accumulating, (places, link.options), "tensorboard"),
        "tbparse": Contender(tbparse, (places, link.options), "tbparse"),
    }
    return link.compare(f"{FEW} of the small runs, one after the other", contenders, f"at best {FEW} reads")


def reading(address: str, options: dict[str, Any]) -> Callable[[], object]:
    return partial(read_run, address, storage_options=options)


def reading_all(address: str, options: dict[str, Any]) -> Callable[[], object]:
    return partial(read_logdir, address, storage_options=options)


def reading_each(places: list[str], options: dict[str, Any]) -> Callable[[], object]:
    return lambda: [read_run(place, storage_options=options) for place in places]


def auditing(address: str, options: dict[str, Any], cache: str | bool = False) -> Callable[[], object]:
    return partial(audit, address, storage_options=options, cache=cache)


def accumulating(places: list[str], options: dict[str, Any]) -> Callable[[], object]:
    os.environ.update(in_environment(options))
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    return lambda: [EventAccumulator(place, size_guidance={"scalars": 0}).Reload() for place in places]


def tbparse(places: list[str], options: dict[str, Any]) -> Callable[[], object]:
    os.environ.update(in_environment(options))
    from tbparse import SummaryReader

    return lambda: [SummaryReader(place).scalars for place in places]


def in_environment(options: dict[str, Any]) -> dict[str, str]:
    """The store, for who is told of it by the environment."""
    return {
        "S3_ENDPOINT": options["client_kwargs"]["endpoint_url"],
        "AWS_ACCESS_KEY_ID": options["key"],
        "AWS_SECRET_ACCESS_KEY": options["secret"],
        "AWS_DEFAULT_REGION": "us-east-1",
    }


def downloading(port: int, key: str, size: int) -> Callable[[], object]:
    """Fetch an object by plain connections."""

    def fetch(first: int) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port)
        for start in range(first * RANGE_BYTES, size, CONNECTIONS * RANGE_BYTES):
            wanted = f"bytes={start}-{min(start + RANGE_BYTES, size) - 1}"
            connection.request("GET", f"/bucket/{key}", headers={"Range": wanted})
            connection.getresponse().read()

    def run() -> None:
        with ThreadPoolExecutor(CONNECTIONS) as pool:
            list(pool.map(fetch, range(CONNECTIONS)))

    run()  # the proxy has it in memory now
    return run


class Link:
    """The bucket, its server and the proxy, in another process."""

    def __enter__(self) -> Self:
        from stores.bucket import Bucket

        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        started, ready = context.Pipe()
        self._processes = [context.Process(target=serve_store, args=(ready,), daemon=True)]
        self._processes[0].start()
        port = started.recv()
        self._processes.append(context.Process(target=serve_proxy, args=(theirs, port), daemon=True))
        self._processes[1].start()
        self.port = self._connection.recv()
        self._bucket = Bucket(port, "bucket", self.port)
        self.address, self.options = self._bucket.address, self._bucket.options
        self.options["config_kwargs"] = {"max_pool_connections": 64}
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._processes:
            process.terminate()

    def put(self, directory: str) -> None:
        """Put all files below a directory."""
        from pathlib import Path

        self._bucket.put_tree(Path(directory))

    def counts(self) -> tuple[int, int, int]:
        """(listings, reads, others) since the last call."""
        self._connection.send(None)
        return self._connection.recv()  # type: ignore[no-any-return]

    def compare(self, what: str, contenders: dict[str, Contender], *notes: str) -> Figure:
        """A figure of seconds, which says how many requests each round of ours made."""
        self.counts()
        take_turns({OURS: contenders[OURS]}, 0.0)
        listings, reads, others = self.counts()
        requests = f"{listings} listings, {reads} reads, {others} others"
        return compare(what, "s", contenders, seconds=6.0, notes=(requests, *notes))


def serve_store(ready: Connection) -> None:
    """A process: the S3 server."""
    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server: Any = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    ready.send(server.get_host_and_port()[1])
    time.sleep(86400)


def serve_proxy(connection: Connection, port: int) -> None:
    """A process: the proxy, which tells its counts when it is asked."""
    from stores.proxy import Proxy

    proxy = Proxy(port, LATENCY_SECS, BYTES_PER_SEC, remembers=True)
    connection.send(proxy.port)
    while True:
        connection.recv()
        connection.send(proxy.counts())
        proxy.requests.clear()
