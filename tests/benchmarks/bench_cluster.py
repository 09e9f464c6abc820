"""Auditing on a Dask cluster of this machine, beside processes of our own: overhead, growth of cost, and memory.

The cluster is there already, as it is for whoever has one; our own processes are started, as they are each time. Growth
is the slope of log(seconds) over log(runs), log(bytes) and log(workers): 1 is proportional, and -1 a perfect division.
There is no peer: no other tool audits event files.
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

import numpy as np

from benchmarks.bench_audit import write
from benchmarks.simulated import Simulated
from summaries.auditing import engine
from summaries.auditing.config import Config
from summaries.auditing.discovery import RunFiles, runs_below

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from concurrent.futures import Executor

MANY = int(os.environ.get("SIMULATED_RUNS", "100000"))
LARGE_POINTS = int(os.environ.get("LARGE_POINTS", "2000000"))
ROUNDS = int(os.environ.get("ROUNDS", "3"))
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


def main() -> None:
    if find_spec("distributed") is None:
        print("distributed is not installed: skipped")
        return
    memory()  # first, because a child's peak memory includes its parent's at the time of the fork
    with tempfile.TemporaryDirectory() as directory:
        small, large = os.path.join(directory, "small"), os.path.join(directory, "large")
        for number in range(5_000):
            write(os.path.join(small, f"run{number:04d}", "x.tfevents"), 100, 2)
        write(os.path.join(large, "run0", "x.tfevents"), LARGE_POINTS)
        for number in range(1, 10):
            os.makedirs(os.path.join(large, f"run{number}"))
            os.link(os.path.join(large, "run0", "x.tfevents"), os.path.join(large, f"run{number}", "x.tfevents"))
        with dask(WORKERS) as executor:
            overhead("5,000 runs of 100 points", runs_below(small), executor)
            overhead(f"10 runs of {LARGE_POINTS:,} points", runs_below(large), executor)
    growth()


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


def overhead(title: str, runs: Sequence[RunFiles], executor: Executor) -> None:
    """Compare the least of several rounds, in turns."""
    own, theirs = [], []
    for _ in range(ROUNDS):
        own.append(seconds(runs))
        theirs.append(seconds(runs, executor))
    print(title)
    print(f"  processes of our own{min(own):14.3f} s")
    print(f"  Dask                {min(theirs):14.3f} s   overhead {100 * (min(theirs) / min(own) - 1):+.1f} %")


def growth() -> None:
    """Fit how the time grows with the number of runs, the bytes of each, and the number of workers."""
    counts = [MANY * share // 100 for share in (1, 2, 4, 8)]
    with dask(WORKERS) as executor:
        fitted("runs", [(n, seconds(Simulated().runs(n), executor)) for n in counts])
        of_sizes = [Simulated(points).runs(100) for points in (1_000, 4_000, 16_000, 64_000)]
        fitted("bytes", [(runs[0].size, seconds(runs, executor)) for runs in of_sizes])
    by_workers = []
    for workers in sorted({1, WORKERS}):
        with dask(workers) as executor:
            by_workers.append((workers, seconds(Simulated().runs(counts[2]), executor)))
    fitted("workers", by_workers)


def fitted(what: str, measured: Sequence[tuple[int, float]]) -> None:
    """Print what was measured, and the slope of the logarithms."""
    print(f"growth with {what}: " + ", ".join(f"{number:,}: {taken:.2f} s" for number, taken in measured))
    if len(measured) > 1:
        numbers, taken = np.log(np.array(measured)).T
        print(f"  exponent of {what:12}{np.polyfit(numbers, taken, 1)[0]:10.2f}")


def memory() -> None:
    """Print what the client takes for very many runs."""
    with tempfile.TemporaryDirectory() as directory:
        program = os.path.join(directory, "memory.py")
        with open(program, "w", encoding="utf-8") as file:
            file.write(_MEMORY)
        done = subprocess.run([sys.executable, program, str(MANY)], capture_output=True, text=True, check=True)
    runs, most = done.stdout.split()
    print(f"peak memory of the client for {int(runs):,} simulated runs{float(most):10.0f} MiB")


if __name__ == "__main__":
    main()
