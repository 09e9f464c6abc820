"""How the costs of writing, reading, auditing and rewriting grow: with points, tags, runs and elements."""

from __future__ import annotations

import os
import tempfile
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.bench_reader import write
from benchmarks.bench_tools import TOOLS, running
from benchmarks.growth import Growth, grown, rising
from benchmarks.peers import Contender
from benchmarks.places import in_memory
from benchmarks.plain import engaged
from benchmarks.scale import sized
from summaries import SummaryWriter, audit, read_logdir, read_run, summary_iterator

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

POINTS, PLAIN_POINTS = rising(sized(4_000_000, 500_000)), rising(sized(500_000, 64_000))
NEW_TAGS = rising(sized(64_000, 16_000))
TAGS, RUNS = rising(sized(16_000, 3_200)), rising(sized(3_200, 640))
ELEMENTS = rising(sized(16_000_000, 4_000_000))
POINTS_OF_A_TAG, POINTS_OF_A_RUN = 20, 100
_CACHES = "what is small stays in a cache from round to round, and memory is slower"
_COLLECTOR = "Python's garbage collector looks at all objects again whenever there are a quarter more"


def figures() -> Iterator[Growth]:
    """Yield each as it is measured."""
    with in_memory() as directory:
        yield from of_writing(directory)
    with tempfile.TemporaryDirectory() as directory:
        for n in {*POINTS, *PLAIN_POINTS}:
            write(os.path.join(directory, "points", f"{n}", "x.tfevents"), n)
        for n in TAGS:
            write(os.path.join(directory, "tags", f"{n}", "x.tfevents"), n * POINTS_OF_A_TAG, n)
        for n in RUNS:
            for i in range(n):
                write(os.path.join(directory, "runs", f"{n}", f"run{i:04d}", "x.tfevents"), POINTS_OF_A_RUN, 2)
        yield from of_reading(directory)
        yield from of_auditing(directory)
        yield from of_tools(directory)


def of_writing(directory: str) -> Iterator[Growth]:
    """Scalars of twenty tags, tags that come once, and histograms."""
    yield grown("writing scalars", "points", {n: Contender(writing, (directory, 20, n // 20)) for n in POINTS})
    yield grown("writing new tags", "tags", {n: Contender(writing, (directory, n, 1)) for n in NEW_TAGS})
    yield grown("writing a histogram", "elements", {n: Contender(histogram, (directory, n)) for n in ELEMENTS}, _CACHES)


def of_reading(directory: str) -> Iterator[Growth]:
    """Columns, compiled and plain, event by event, and many runs."""
    for name, points in (("compiled", POINTS), ("plain", PLAIN_POINTS)):
        of_points = {n: Contender(reading, (directory, "points", n, name)) for n in points}
        yield grown(f"reading, {name}", "points", of_points, _CACHES)
        of_tags = {n: Contender(reading, (directory, "tags", n, name)) for n in TAGS}
        yield grown(f"reading, {name}", f"tags of {POINTS_OF_A_TAG} points", of_tags, _CACHES)
    of_points = {n: Contender(iterating, (directory, n)) for n in PLAIN_POINTS}
    yield grown("reading event by event", "points", of_points, _COLLECTOR)
    of_runs = {n: Contender(reading_all, (directory, n)) for n in RUNS}
    yield grown("reading", f"runs of {POINTS_OF_A_RUN} points", of_runs, _COLLECTOR)


def of_auditing(directory: str) -> Iterator[Growth]:
    """One run, of many points or many tags, and many runs."""
    for of, sizes, note in (("points", POINTS, _CACHES), ("tags", TAGS, _COLLECTOR), ("runs", RUNS, _COLLECTOR)):
        yield grown("audit", of, {n: Contender(auditing, (directory, of, n)) for n in sizes}, note)


def of_tools(directory: str) -> Iterator[Growth]:
    """Each tool, with points."""
    out = os.path.join(directory, "out")
    for name in TOOLS:
        paths = {n: os.path.join(directory, "points", f"{n}", "x.tfevents") for n in POINTS}
        contenders = {n: Contender(running, (name, path, out)) for n, path in paths.items()}
        yield grown(name, "points", contenders, _CACHES, seconds=0.8)


def writing(directory: str, tags: int, steps: int) -> Callable[[], object]:
    """Every tag at each step, from the call to the closed file."""
    names = [f"train/metric_{i}" for i in range(tags)]

    def run() -> None:
        with SummaryWriter(tempfile.mkdtemp(dir=directory)) as writer:
            for step in range(steps):
                for name in names:
                    writer.add_scalar(name, 0.5, step)

    return run


def histogram(directory: str, elements: int) -> Callable[[], object]:
    values = np.random.default_rng(0).normal(size=elements).astype(np.float32)
    writer = SummaryWriter(tempfile.mkdtemp(dir=directory))

    def run() -> None:
        writer.add_histogram("h", values, 0)
        writer.flush()

    return run


def reading(directory: str, of: str, n: int, kernels: str) -> Callable[[], object]:
    return engaged(kernels, read_run, os.path.join(directory, of, f"{n}"))


def reading_all(directory: str, n: int) -> Callable[[], object]:
    return partial(read_logdir, os.path.join(directory, "runs", f"{n}"))


def iterating(directory: str, n: int) -> Callable[[], object]:
    path = os.path.join(directory, "points", f"{n}", "x.tfevents")
    return lambda: sum(1 for _ in summary_iterator(path))


def auditing(directory: str, of: str, n: int) -> Callable[[], object]:
    return partial(audit, os.path.join(directory, of, f"{n}"))
