"""Object stores: one large run, a thousand small ones, and both again, over a link of 50 ms and 200 MB/s.

The store is moto's S3 server behind the tests' proxy, each in a process of its own. Peers, if installed: tensorboard's
EventAccumulator on the same bucket, and tbparse. "The link" is what 16 plain connections take for the same bytes.
"""

from __future__ import annotations

import http.client
import logging
import math
import multiprocessing
import os
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from benchmarks.bench_reader import write
from benchmarks.timing import print_table
from summaries import audit, read_logdir, read_run

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.connection import Connection
    from typing import Self

LATENCY_SECS, BYTES_PER_SEC = 0.05, 200e6
POINTS, RUNS = 2_080_000, 1000  # 114 MB
RANGE_BYTES, CONNECTIONS = 4 << 20, 16


def main() -> None:
    if find_spec("moto") is None or find_spec("s3fs") is None:
        print("  needs what `make stores` installs: run it with that environment's Python")
        return
    with tempfile.TemporaryDirectory() as directory, Link() as link:
        write(os.path.join(directory, "one", "x.tfevents"), POINTS)
        for i in range(RUNS):
            write(os.path.join(directory, "many", f"run{i:04d}", "x.tfevents"), 50, 5)
        link.put(directory)
        one_run(link, os.path.join(directory, "one", "x.tfevents"))
        small_runs(link)
        again(link, os.path.join(directory, "cache"))
        others(link)


def one_run(link: Link, path: str) -> None:
    size = os.path.getsize(path)
    read_run(os.path.dirname(path))  # compile
    read_run(f"{link.address}/one", storage_options=link.options)  # the proxy has it in memory now
    figures = {"the link": min(link.download("one/x.tfevents", size) for _ in range(3))}
    figures["gradledger"] = link.timed(lambda: read_run(f"{link.address}/one", storage_options=link.options), 3)
    figures["size over rate"] = size / BYTES_PER_SEC + LATENCY_SECS
    print_table(f"one run of {size / 1e6:.0f} MB", "s", figures, "the link")
    link.show(math.ceil(size / RANGE_BYTES))


def small_runs(link: Link) -> None:
    many = f"{link.address}/many"
    read_logdir(many, storage_options=link.options)
    figures = {"1,000 / 32 x latency": RUNS / 32 * LATENCY_SECS}
    figures["gradledger"] = link.timed(lambda: read_logdir(many, storage_options=link.options), 3)
    print_table(f"{RUNS} runs of one small file", "s", figures, "1,000 / 32 x latency")
    link.show(RUNS)


def again(link: Link, cache: str) -> None:
    for name in ("many", "one"):
        audited = partial(audit, f"{link.address}/{name}", storage_options=link.options, cache=cache)
        figures = {"first audit": link.timed(audited, 1), "gradledger": link.timed(audited, 3)}
        print_table(f"an audit of unchanged runs: {name}", "s", figures)
        link.show(0)


def others(link: Link) -> None:
    """A smaller share of the same runs, because they take minutes."""
    os.environ.update(
        S3_ENDPOINT=link.options["client_kwargs"]["endpoint_url"],
        AWS_ACCESS_KEY_ID=link.options["key"],
        AWS_SECRET_ACCESS_KEY=link.options["secret"],
        AWS_DEFAULT_REGION="us-east-1",
    )
    places = [f"{link.address}/many/run{i:04d}" for i in range(20)]
    options = {"storage_options": link.options}
    figures = {"gradledger": link.timed(lambda: [read_run(place, **options) for place in places], 1)}
    link.show(20)
    if find_spec("tensorboard"):
        from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

        def load() -> None:
            for place in places:
                EventAccumulator(place, size_guidance={"scalars": 0}).Reload()

        figures["tensorboard"] = link.timed(load, 1)
        link.show(20)
    print_table("20 of the small runs, one after the other", "s", figures)
    if find_spec("tbparse"):
        from tbparse import SummaryReader

        try:
            len(SummaryReader(places[0]).scalars)
        except Exception as error:  # noqa: BLE001 - whatever it raises, it cannot
            print(f"  tbparse cannot read from there: {type(error).__name__}: {error}")


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
        self._port = self._connection.recv()
        self._bucket = Bucket(port, "bucket", self._port)
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

    def show(self, fewest: int) -> None:
        """Print the number of requests of the last measurement."""
        print(f"    {self._last[0]} listings, {self._last[1]} reads, {self._last[2]} others; at best {fewest} reads")

    def timed(self, run: Callable[[], object], rounds: int) -> float:
        """The shortest time of some rounds, in seconds."""
        best = math.inf
        for _ in range(rounds):
            self.counts()
            started = time.perf_counter()
            run()
            best = min(best, time.perf_counter() - started)
            self._last = self.counts()
        return best

    def download(self, key: str, size: int) -> float:
        """The time that plain connections take, in seconds."""

        def fetch(first: int) -> None:
            connection = http.client.HTTPConnection("127.0.0.1", self._port)
            for start in range(first * RANGE_BYTES, size, CONNECTIONS * RANGE_BYTES):
                wanted = f"bytes={start}-{min(start + RANGE_BYTES, size) - 1}"
                connection.request("GET", f"/bucket/{key}", headers={"Range": wanted})
                connection.getresponse().read()

        started = time.perf_counter()
        with ThreadPoolExecutor(CONNECTIONS) as pool:
            list(pool.map(fetch, range(CONNECTIONS)))
        return time.perf_counter() - started


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


if __name__ == "__main__":
    sys.exit(main())
