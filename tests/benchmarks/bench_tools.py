"""Tools: verify and rewriting, in MB/s of one core, with the compiled indexer and without.

Two files: two million small scalars of twenty tags in turns, and large histograms. The peer is tensorboard's own loop
over the records of a file, which checks and decodes nothing more than their checksums.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.bench_reader import write
from benchmarks.figures import OURS, Figure
from benchmarks.peers import Contender, Measured, compare
from benchmarks.plain import engaged
from benchmarks.scale import sized
from summaries import SummaryWriter, verify
from summaries.tools import keep, merge, rename, repair, shift, thin

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

POINTS = sized(2_000_000, 200_000)
FEW = sized(200_000, 50_000)  # for what is slow
HISTOGRAMS = sized(3_000, 500)
HALF = "train/metric_?[02468]"  # half of the tags
# What is measured, by name: (the path of a file, a place to write to).
TOOLS: dict[str, Callable[[str, str], object]] = {
    "verify": lambda path, _out: verify(path),
    "repair, nothing damaged": repair,
    "keep half": lambda path, out: keep(path, out, tags=HALF),
    "merge --latest": lambda path, out: merge([path], out, latest=True),
    "thin --every 10": lambda path, out: thin(path, out, every=10),
    "thin --minmax 1000": lambda path, out: thin(path, out, minmax=1000),
    "rename all": lambda path, out: rename(path, out, tags={"*": "x/*"}),
    "shift": lambda path, out: shift(path, out, steps=1000, seconds=1.0),
}


def figures() -> Iterator[Figure]:
    """Yield one for each tool and file."""
    with tempfile.TemporaryDirectory() as directory:
        small = os.path.join(directory, "small", "x.tfevents")
        write(small, POINTS)
        few = os.path.join(directory, "few", "x.tfevents")
        write(few, FEW)
        large = write_histograms(os.path.join(directory, "large"))
        out = os.path.join(directory, "out")
        for name in TOOLS:
            yield of(f"{name}, {POINTS:,} small scalars", small, {OURS: Contender(running, (name, small, out))})
        contenders = {
            OURS: Contender(running, ("keep half", few, out)),
            "gradledger, plain": Contender(running_plainly, ("keep half", few, out)),
        }
        yield of(f"keep half, {FEW:,} small scalars", few, contenders)
        yield of(f"verify, {FEW:,} small scalars", few, verifying(few, out))
        for name in TOOLS:
            contenders = {OURS: Contender(running, (name, large, out))}
            contenders = verifying(large, out) if name == "verify" else contenders
            yield of(f"{name}, {HISTOGRAMS:,} histograms", large, contenders)


def of(what: str, path: str, contenders: dict[str, Contender]) -> Figure:
    return compare(what, "MB/s", contenders, per=os.path.getsize(path) / 1e6, seconds=2.0)


def verifying(path: str, out: str) -> dict[str, Contender]:
    """Ours beside the peer's loop."""
    theirs = {"tensorboard's record loop": Contender(record_loop, (path,), "tensorboard")}
    return {OURS: Contender(running, ("verify", path, out))} | theirs


def running(name: str, path: str, out: str) -> Callable[[], object]:
    """A tool, which writes to a place that is emptied before."""

    def run() -> Measured:
        shutil.rmtree(out, ignore_errors=True)
        began = time.perf_counter()
        TOOLS[name](path, out)
        return Measured(time.perf_counter() - began)

    return run


def running_plainly(name: str, path: str, out: str) -> Callable[[], object]:
    """The same without compiled code."""
    return engaged("plain", running(name, path, out))


def record_loop(path: str) -> Callable[[], object]:
    from tensorboard.backend.event_processing.event_file_loader import RawEventFileLoader

    return lambda: sum(1 for _ in RawEventFileLoader(path).Load())


def write_histograms(directory: str) -> str:
    """A run of two tags with large histograms in turns; the path of its file."""
    edges = np.linspace(-1, 1, 2001)
    with SummaryWriter(directory) as writer:
        for step in range(HISTOGRAMS):
            counts = np.full(2000, step + 1.0)
            writer.add_histogram_raw(
                f"train/metric_0{step % 2}", -1, 1, 2000 * (step + 1), 0, 1, edges[1:], counts, step
            )
    return str(writer.path)
