"""One huge file: 1.1 GB read at once, in ranges by two threads, and as ten files of 110 MB; and the memory of each."""

from __future__ import annotations

import os
import sys
import tempfile
from typing import TYPE_CHECKING

from benchmarks.bench_reader import write
from benchmarks.figures import OURS, Figure
from benchmarks.memory import peak
from benchmarks.peers import Contender, Measured, compare
from benchmarks.scale import QUICK, sized
from summaries import read_logdir
from summaries.reading import ranges
from summaries.reading.run import read_files
from summaries.storage.logdir import run_files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

POINTS, TAGS, THREADS = sized(20_500_000, 4_000_000), 20, 2
READ = "from benchmarks.bench_ranges import *; {prepare}({directory!r})()"


def figures() -> Iterator[Figure]:
    """Yield the time, and the memory."""
    with tempfile.TemporaryDirectory() as directory:
        one, ten = os.path.join(directory, "one"), os.path.join(directory, "ten")
        write(os.path.join(one, "x.tfevents"), POINTS, TAGS)
        tenth = os.path.join(directory, "tenth")
        write(tenth, POINTS // 10, TAGS)
        for i in range(10):
            os.makedirs(os.path.join(ten, f"run{i}"))
            os.link(tenth, os.path.join(ten, f"run{i}", "x.tfevents"))
        size = os.path.getsize(os.path.join(one, "x.tfevents"))
        ways = {OURS: (in_ranges, one), "as a whole": (as_a_whole, one), "ten files": (ten_files, ten)}
        what = f"one file of {size / 1e9:.2f} GB as columns, {THREADS} threads"
        contenders = {name: Contender(prepare, (where,)) for name, (prepare, where) in ways.items()}
        yield compare(what, "s", contenders, wanted="as ten files")
        peaks = {name: Contender(peaking, (prepare.__name__, where)) for name, (prepare, where) in ways.items()}
        yield compare(f"{what}: peak resident memory", "MiB", peaks, seconds=0.0)


def in_ranges(directory: str, threads: int = THREADS) -> Callable[[], object]:
    if QUICK:
        ranges.CUT_BYTES = 10**8
    files = run_files(directory)
    assert files[0].size > ranges.CUT_BYTES
    return lambda: read_files(files, files[0].size, fast=True, threads=threads)


def as_a_whole(directory: str) -> Callable[[], object]:
    return in_ranges(directory, 1)


def ten_files(directory: str) -> Callable[[], object]:
    return lambda: read_logdir(directory, fast=True, jobs=THREADS)


def peaking(prepare: str, directory: str) -> Callable[[], object]:
    """The peak resident memory of a process that reads in one of these ways."""
    program = [sys.executable, "-c", READ.format(prepare=prepare, directory=directory)]
    return lambda: Measured(peak(program))
