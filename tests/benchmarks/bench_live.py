"""Runs that are looked at while they grow: a scrape of many by Prometheus, and `gradledger top` in a terminal.

The processor time of `top` is that of its process, from a minute after its start on, while each of its runs gets a step
a second from here. The machine should be quiet: the library measures its own pauses by the time that it took.
"""

from __future__ import annotations

import os
import tempfile
import time
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np
from browser.plugin_runs import library_of, log_steps
from processes.terminals import terminal

from benchmarks.figures import Figure
from benchmarks.scale import sized
from summaries import SummaryWriter
from summaries.integrations.metrics import Metrics

if TYPE_CHECKING:
    from collections.abc import Iterator

SCRAPED, TAGS, POINTS = sized(1000, 100), 26, 30
WATCHED, STEPS = 100, 1000
ROUNDS = sized(11, 3)
SECONDS = sized(60, 10)


def figures() -> Iterator[Figure]:
    """Yield those of scrapes, then those of the terminal."""
    yield from scrapes()
    yield from watched()


def scrapes() -> Iterator[Figure]:
    """Scrapes of which nothing has changed since the one before, and of which everything has."""
    with tempfile.TemporaryDirectory() as root:
        for number in range(SCRAPED):
            with SummaryWriter(os.path.join(root, f"sweep/run_{number}")) as writer:
                for step in range(POINTS):
                    for tag in range(TAGS):
                        writer.add_scalar(f"layer{tag}/norm", 1 / (1 + step), step)
        library = library_of(root, poll_secs=3600)
        metrics = Metrics(library)
        metrics.text()
        what = f"a scrape of {SCRAPED:,} runs of {TAGS} tags"
        yield Figure(f"{what}, nothing new", "ms", 1e3 * min(scrape(metrics) for _ in range(ROUNDS)), wanted="50 ms")
        taken = []
        for _ in range(ROUNDS):
            for book in library.since(-1)[0]:
                book.version += 1
            taken.append(scrape(metrics))
        yield Figure(f"{what}, all changed", "ms", 1e3 * min(taken))


def scrape(metrics: Metrics) -> float:
    """Seconds that a scrape takes."""
    start = time.perf_counter()
    metrics.text()
    return time.perf_counter() - start


def watched() -> Iterator[Figure]:
    """The first frames of `gradledger top`, and what it costs while runs grow."""
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as root:
        writers = [SummaryWriter(os.path.join(root, f"run_{number}")) for number in range(WATCHED)]
        grow(writers, rng, range(STEPS))
        frames, tables = zip(*(first_frames(root) for _ in range(ROUNDS)), strict=True)
        yield Figure("gradledger top: the first frame", "ms", 1e3 * median(frames), wanted="300 ms")
        yield Figure(f"gradledger top: the table of {WATCHED} runs", "ms", 1e3 * median(tables))
        with terminal(["top", root], 120, 45) as shown:
            step = STEPS
            for until in (time.monotonic() + SECONDS, time.monotonic() + 2 * SECONDS):
                start, began = processor_secs(shown.process.pid), time.monotonic()
                while time.monotonic() < until:
                    grow(writers, rng, range(step, step + 1))
                    step += 1
                    look(shown, 1.0)
            share = (processor_secs(shown.process.pid) - start) / (time.monotonic() - began)
        yield Figure(f"gradledger top: while {WATCHED} runs grow", "% of a core", 100 * share, wanted="5 %")
        for writer in writers:
            writer.close()


def grow(writers: list[SummaryWriter], rng: Any, steps: range) -> None:
    """Log these steps of all runs."""
    for writer in writers:
        log_steps(writer, rng, steps)
        writer.flush()


def first_frames(root: str) -> tuple[float, float]:
    """Seconds until anything is on the screen, and until the table of runs is."""
    start = time.perf_counter()
    with terminal(["top", root], 120, 45) as shown:
        shown.shows("reading")
        frame = time.perf_counter() - start
        shown.shows("run_0")
        return frame, time.perf_counter() - start


def look(shown: Any, secs: float) -> None:
    """Take what the program writes, as a terminal does."""
    until = time.monotonic() + secs
    while time.monotonic() < until:
        shown.read()


def processor_secs(pid: int) -> float:
    """What a process has used so far; 0 where the system has no /proc."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            fields = file.read().rpartition(")")[2].split()
    except FileNotFoundError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
