"""Tools: verify and rewriting, in seconds and MB/s of one core, with the compiled indexer and without.

Two files: two million small scalars of twenty tags in turns, and large histograms. The peer, if installed, is
tensorboard's own loop over the records of a file, which checks and decodes nothing more than their checksums.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from importlib.util import find_spec
from typing import TYPE_CHECKING
from unittest import mock

import numpy as np

from benchmarks.bench_reader import write
from summaries import SummaryWriter, verify
from summaries.tools import copying, keep, merge, rename, repair, shift, thin

if TYPE_CHECKING:
    from collections.abc import Callable

POINTS = 2_000_000
FEW = 200_000  # for what is slow
HISTOGRAMS = 3_000


def main() -> None:
    with tempfile.TemporaryDirectory() as directory:
        small = os.path.join(directory, "small", "x.tfevents")
        write(small, POINTS)
        few = os.path.join(directory, "few", "x.tfevents")
        write(few, FEW)
        if find_spec("numba"):
            measure(f"{POINTS:,} small scalars", small, tools(small, "train/metric_?[02468]"), directory)
        with mock.patch.object(copying, "use_fast", return_value=False):
            half = tools(few, "train/metric_?[02468]")
            measure(
                f"{FEW:,} small scalars, without numba", few, {"keep half of the tags": half["keep half"]}, directory
            )
        measure(f"{FEW:,} small scalars, peers", few, peers(few), directory)
        large = write_histograms(os.path.join(directory, "large"))
        measure(f"{HISTOGRAMS:,} histograms", large, tools(large, "a") | peers(large), directory)


def tools(path: str, half: str) -> dict[str, Callable[[str], object]]:
    """What is measured, by name: each writes to a place that it is given."""
    return {
        "verify": lambda _out: verify(path),
        "repair, nothing damaged": lambda out: repair(path, out),
        "keep half": lambda out: keep(path, out, tags=half),
        "merge --latest": lambda out: merge([path], out, latest=True),
        "thin --every 10": lambda out: thin(path, out, every=10),
        "thin --minmax 1000": lambda out: thin(path, out, minmax=1000),
        "rename all": lambda out: rename(path, out, tags={"*": "x/*"}),
        "shift": lambda out: shift(path, out, steps=1000, seconds=1.0),
    }


def peers(path: str) -> dict[str, Callable[[str], object]]:
    """tensorboard's loop over records."""
    if not find_spec("tensorboard"):
        return {}
    from tensorboard.backend.event_processing.event_file_loader import RawEventFileLoader

    return {"tensorboard's record loop": lambda _out: sum(1 for _ in RawEventFileLoader(path).Load())}


def write_histograms(directory: str) -> str:
    """A run of two tags with large histograms in turns; the path of its file."""
    edges = np.linspace(-1, 1, 2001)
    with SummaryWriter(directory) as writer:
        for step in range(HISTOGRAMS):
            counts = np.full(2000, step + 1.0)
            writer.add_histogram_raw("ab"[step % 2], -1, 1, 2000 * (step + 1), 0, 1, edges[1:], counts, step)
    return str(writer.path)


def measure(title: str, path: str, runs: dict[str, Callable[[str], object]], directory: str) -> None:
    """Time each, best of three after one that compiles, and print it."""
    megabytes = os.path.getsize(path) / 1e6
    print(f"{title}, {megabytes:.0f} MB: s, MB/s")
    for name, run in runs.items():
        times = []
        for _ in range(4):
            out = os.path.join(directory, "out")
            shutil.rmtree(out, ignore_errors=True)
            started = time.perf_counter()
            run(out)
            times.append(time.perf_counter() - started)
        print(f"  {name:32s}{min(times[1:]):10.3f}{megabytes / min(times[1:]):10.0f}")


if __name__ == "__main__":
    sys.exit(main())
