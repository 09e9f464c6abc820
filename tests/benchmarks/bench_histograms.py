"""Histograms: of a million float32, of a small layer, and of a size between; other writers beside ours."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from benchmarks import wandb_offline
from benchmarks.bench_writer import WRITERS, of_each, writer_of
from benchmarks.peers import Measured, compare
from benchmarks.places import in_memory
from benchmarks.scale import sized

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from benchmarks.figures import Figure

MILLION, MIDDLE, SMALL = 1_000_000, 1 << 16, 4_000
COUNT = sized(1_000, 200)
WARM = 80  # histograms of a million, by which the compiled counter is loaded


def figures() -> Iterator[Figure]:
    """A million with flush and the call alone, 65,536 with flush, and 1,000 times 4,000."""
    with in_memory() as directory:
        everyone = {library: (directory, module) for library, module in WRITERS.items()}
        yield compare(
            f"a histogram of {MILLION:,} float32, with flush",
            "ms",
            of_each(histogram, everyone, MILLION)
            | {"wandb": wandb_offline.contender(wandb_offline.histogram, directory, MILLION)},
            was=2.0,
            wanted="10 x torch",
            job="log a histogram of a million values, until it is in the file",
        )
        contenders = of_each(histogram, everyone, MILLION, False)
        yield compare(f"a histogram of {MILLION:,} float32, the call", "ms", contenders, was=0.6, wanted="no slower")
        contenders = of_each(histogram, everyone, MIDDLE)
        yield compare(f"a histogram of {MIDDLE:,} float32, with flush", "ms", contenders, was=0.45, wanted="no slower")
        what = f"{COUNT:,} histograms of {SMALL:,} float32, with flush, each"
        contenders = of_each(histograms, everyone)
        yield compare(what, "µs", contenders, per=COUNT, was=70.0, wanted="no slower")


def histogram(directory: str, module: str, elements: int, flushes: bool = True) -> Callable[[], object]:
    """A histogram: with flush, or the call alone."""
    values = np.random.default_rng(0).normal(size=elements).astype(np.float32)
    writer = writer_of(directory, module)
    for step in range(WARM if module == "summaries" else 1):
        writer.add_histogram("h", np.resize(values, MILLION), step)

    def run() -> Measured:
        began = time.perf_counter()
        writer.add_histogram("h", values, 1)
        called = time.perf_counter() - began
        writer.flush()
        return Measured(time.perf_counter() - began if flushes else called)

    return run


def histograms(directory: str, module: str) -> Callable[[], object]:
    """Many small histograms, and one flush."""
    values = np.random.default_rng(0).normal(size=SMALL).astype(np.float32)
    writer = writer_of(directory, module)

    def run() -> None:
        for step in range(COUNT):
            writer.add_histogram("h", values, step)
        writer.flush()

    return run
