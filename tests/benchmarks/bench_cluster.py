"""Auditing on a Dask cluster of this machine, beside processes of our own: overhead, growth of cost, and memory.

The cluster is there already, as it is for whoever has one; our own processes are started, as they are each time. All
of them are processes of their own, so nothing is measured in this one. There is no peer: no other tool audits event
files.
"""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING

from benchmarks.bench_audit import write
from benchmarks.figures import Figure
from benchmarks.growth import Growth, rising
from benchmarks.peers import NotInstalledError
from benchmarks.scale import sized
from benchmarks.simulated import Simulated
from summaries.auditing import engine
from summaries.auditing.config import Config
from summaries.auditing.discovery import RunFiles, runs_below

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from concurrent.futures import Executor

MANY = int(os.environ.get("SIMULATED_RUNS", sized(100_000, 2_000)))
LARGE_POINTS = int(os.environ.get("LARGE_POINTS", sized(2_000_000, 100_000)))
ROUNDS = int(os.environ.get("ROUNDS", sized(3, 1)))
WORKERS = os.cpu_count() or 1
_MEMORY = """
import os, resource, sys
from benchmarks.simulated import Simulated
from summaries.auditing import engine
from summaries.auditing.config import Config
from summaries.auditing.report import json
from summaries.auditing.reports import Report
from summaries.execution.dask import on_dask
if __name__ == "__main__":
    runs = Simulated().runs(int(sys.argv[1]))
    with on_dask("local") as executor:
        report = Report(engine.audit_runs(runs, Config(), executor=executor, stretches=1))
    with open(os.devnull, "w") as file:
        file.writelines(json.parts(report))
    print(len(report.runs), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def figures() -> Iterator[Figure | Growth]:
    """Yield each as it is measured."""
    if find_spec("distributed") is None:
        raise NotInstalledError("distributed is not installed")
    yield memory()
    with tempfile.TemporaryDirectory() as directory:
        small, large = os.path.join(directory, "small"), os.path.join(directory, "large")
        runs = sized(5_000, 500)
        for number in range(runs):
            write(os.path.join(small, f"run{number:04d}", "x.tfevents"), 100, 2)
        write(os.path.join(large, "run0", "x.tfevents"), LARGE_POINTS)
        for number in range(1, 10):
            os.makedirs(os.path.join(large, f"run{number}"))
            os.link(os.path.join(large, "run0", "x.tfevents"), os.path.join(large, f"run{number}", "x.tfevents"))
        with dask(WORKERS) as executor:
            yield overhead(f"{runs:,} runs of 100 points", runs_below(small), executor)
            yield overhead(f"10 runs of {LARGE_POINTS:,} points", runs_below(large), executor)
    yield from growth()


@contextmanager
def dask(workers: int) -> Iterator[Executor]:
    """A cluster of this machine, whose workers have imported what they need."""
    import distributed

    options = {"threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": logging.CRITICAL}
    with distributed.LocalCluster(n_workers=workers, **options) as cluster, distributed.Client(cluster) as client:
        executor = client.get_executor()
        seconds(Simulated().runs(200), executor)
        yield executor


def seconds(runs: Sequence[RunFiles], executor: Executor | None = None) -> float:
    """How long an audit takes: on an executor, or in processes of our own."""
    began = time.perf_counter()
    jobs = None if executor else WORKERS
    engine.audit_runs(runs, Config(), jobs=jobs, processes=executor is None, executor=executor, stretches=1)
    return time.perf_counter() - began


def overhead(title: str, runs: Sequence[RunFiles], executor: Executor) -> Figure:
    """Dask beside processes of our own: the least of several rounds, in turns."""
    own, theirs = [], []
    for _ in range(ROUNDS):
        own.append(seconds(runs))
        theirs.append(seconds(runs, executor))
    notes = (f"overhead {100 * (min(theirs) / min(own) - 1):+.1f} %",)
    return Figure(f"audit of {title} on Dask", "s", min(theirs), {"processes of our own": min(own)}, notes=notes)


def growth() -> Iterator[Figure | Growth]:
    """How the time grows with the number of runs and the bytes of each, and what a second worker brings."""
    with dask(WORKERS) as executor:
        yield fitted("runs", {n: Simulated().runs(n) for n in rising(max(640, MANY * 8 // 100))}, executor)
        of_sizes = [Simulated(points).runs(100) for points in rising(sized(64_000, 16_000))]
        yield fitted("bytes of each of 100 runs", {runs[0].size: runs for runs in of_sizes}, executor)
    some = Simulated().runs(MANY * 4 // 100)
    by_workers = {}
    for workers in sorted({1, WORKERS}):
        with dask(workers) as executor:
            by_workers[f"{workers} workers"] = seconds(some, executor)
    of_all = by_workers.pop(f"{WORKERS} workers")
    yield Figure(f"audit of {len(some):,} simulated runs on Dask, {WORKERS} workers", "s", of_all, by_workers)


def fitted(what: str, runs: dict[int, Sequence[RunFiles]], executor: Executor) -> Growth:
    """The least of several rounds, in turns."""
    rounds = [[seconds(some, executor) for some in runs.values()] for _ in range(max(2, ROUNDS))]
    return Growth("audit on Dask", what, tuple(runs), tuple(map(min, zip(*rounds, strict=True))))


def memory() -> Figure:
    """What the client takes for very many runs."""
    with tempfile.TemporaryDirectory() as directory:
        program = os.path.join(directory, "memory.py")
        with open(program, "w", encoding="utf-8") as file:
            file.write(_MEMORY)
        done = subprocess.run([sys.executable, program, str(MANY)], capture_output=True, text=True, check=True)
    runs, most = done.stdout.split()
    return Figure(f"peak memory of Dask's client for {int(runs):,} simulated runs", "MiB", float(most))
