"""One huge file: 1.1 GB read at once, in ranges by two threads, and as ten files of 110 MB; and the memory of each."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from typing import TYPE_CHECKING

from benchmarks.bench_reader import write
from benchmarks.timing import best_seconds, print_table
from summaries import read_logdir, read_run
from summaries.reading import ranges
from summaries.reading.run import read_files
from summaries.storage.logdir import run_files

if TYPE_CHECKING:
    from collections.abc import Callable

POINTS, TAGS, THREADS = 20_500_000, 20, 2
DIRECTORY = os.path.join(tempfile.gettempdir(), "gradledger_bench_ranges")
_WAYS = ("in ranges, 2 threads", "as a whole", "ten files, 2 threads")


def main() -> None:
    one, ten = _files()
    # First, since a process begins with the memory of the one that starts it.
    memory = {way: _peak(number) for number, way in enumerate(_WAYS)}
    read_run(os.path.join(ten, "run0"), fast=True)  # compile, or load the compiled code
    figures = best_seconds(dict(zip(_WAYS, _readers(one, ten), strict=True)), 5)
    size = sum(file.size for file in run_files(one))
    print_table(f"{size / 1e9:.2f} GB of scalars as columns", "s", figures, _WAYS[0])
    print_table("peak resident memory", "MB", memory, _WAYS[0])


def _files() -> tuple[str, str]:
    """The directories of the large file and of the ten, which are made once."""
    one, ten = (os.path.join(DIRECTORY, name) for name in ("one", "ten"))
    if not os.path.exists(ten):
        write(os.path.join(one, "x.tfevents"), POINTS, TAGS)
        tenth = os.path.join(DIRECTORY, "tenth")
        write(tenth, POINTS // 10, TAGS)
        for i in range(10):
            os.makedirs(os.path.join(ten, f"run{i}"))
            os.link(tenth, os.path.join(ten, f"run{i}", "x.tfevents"))
    return one, ten


def _readers(one: str, ten: str) -> tuple[Callable[[], object], ...]:
    files = run_files(one)
    assert files[0].size > ranges.CUT_BYTES
    return (
        lambda: read_files(files, files[0].size, fast=True, threads=THREADS),
        lambda: read_files(files, files[0].size, fast=True, threads=1),
        lambda: read_logdir(ten, fast=True, jobs=THREADS),
    )


def _peak(number: int) -> float:
    """The peak resident memory of a process that reads in one of these ways, in MB."""
    found = subprocess.run([sys.executable, "-m", __spec__.name, str(number)], capture_output=True, check=True)
    return float(found.stdout)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        _readers(*_files())[int(sys.argv[1])]()
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    else:
        main()
