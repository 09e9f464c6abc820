"""Reading: event by event, as columns, only some tags, many runs, many files.

Peers: tensorboard's EventAccumulator, its data server with checksums (a process, timed until its log says that it is
done), TensorFlow's summary_iterator, and tbparse. The data server keeps 1,000 points per tag, the others all.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
import time
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.figures import OURS, Figure
from benchmarks.peers import Contender, Measured, compare
from benchmarks.plain import engaged
from benchmarks.scale import sized
from summaries import read_logdir, read_run, summary_iterator
from summaries.wire.pb import Event
from summaries.wire.records import frame
from summaries.wire.scalars import ScalarEncoder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

POINTS, TAGS = sized(2_000_000, 300_000), 20
FEWER = sized(300_000, 60_000)  # for what is slow
MANY = sized(5_000, 500)  # runs of 50 points
SOME, SOME_POINTS = sized(300, 50), 1_000  # runs, and points of each, for what is slow


def figures() -> Iterator[Figure]:
    """Yield each as it is measured."""
    with tempfile.TemporaryDirectory() as directory:
        yield from large_files(directory)
        yield from small_files(directory)
        yield from many_files(directory)


def large_files(directory: str) -> Iterator[Figure]:
    """One file as columns, one of its tags, and ten such files."""
    one, hundred, ten = (os.path.join(directory, name) for name in ("one", "hundred", "ten"))
    write(os.path.join(one, "x.tfevents"), POINTS)
    plain = {"gradledger, plain": Contender(reading, (one, "plain"))}
    server = {"data server, 1 thread": Contender(data_server, (one, 1), "tensorboard_data_server")}
    yield compare(
        f"one file of {POINTS:,} scalars as columns", "s", {OURS: Contender(reading, (one,))} | plain | server
    )
    write(os.path.join(hundred, "x.tfevents"), POINTS, 100)
    tag = "train/metric_07"
    contenders = {
        OURS: Contender(reading, (hundred, None, tag)),
        "all tags": Contender(reading, (hundred,)),
        "one tag, plain": Contender(reading, (hundred, "plain", tag)),
        "all tags, plain": Contender(reading, (hundred, "plain")),
    }
    # No peer reads only some tags: tensorboard's readers take all, and show some.
    yield compare(f"one of 100 tags of a file of {POINTS:,} scalars", "s", contenders)
    for i in range(10):
        os.makedirs(os.path.join(ten, f"run{i}"))
        os.link(os.path.join(one, "x.tfevents"), os.path.join(ten, f"run{i}", "x.tfevents"))
    server = {"data server": Contender(data_server, (ten, os.cpu_count() or 1), "tensorboard_data_server")}
    yield compare("ten such runs", "s", {OURS: Contender(reading_all, (ten,))} | server)


def small_files(directory: str) -> Iterator[Figure]:
    """Event by event, as columns, and as a table, beside what is slow."""
    fewer = os.path.join(directory, "fewer")
    write(os.path.join(fewer, "x.tfevents"), FEWER)
    contenders = {OURS: Contender(iterating, (fewer,)), "tensorflow": Contender(tensorflow, (fewer,), "tensorflow")}
    yield compare(f"summary_iterator over {FEWER:,} scalars", "s", contenders)
    contenders = {
        OURS: Contender(reading, (fewer,)),
        "gradledger, plain": Contender(reading, (fewer, "plain")),
        "EventAccumulator": Contender(accumulator, (fewer,), "tensorboard"),
    }
    yield compare(f"{FEWER:,} scalars as columns", "s", contenders)
    contenders = {OURS: Contender(table, (fewer,)), "tbparse": Contender(tbparse, (fewer,), "tbparse")}
    what = f"a run of {FEWER:,} scalars as a pandas table"
    yield compare(what, "s", contenders, job="read a run into pandas")


def many_files(directory: str) -> Iterator[Figure]:
    """Many runs of few points."""
    some, many = os.path.join(directory, "some"), os.path.join(directory, "many")
    for i in range(SOME):
        write(os.path.join(some, f"run{i:04d}", "x.tfevents"), SOME_POINTS, 5)
    contenders = {OURS: Contender(table_of_all, (some,)), "tbparse": Contender(tbparse, (some,), "tbparse")}
    what = f"{SOME} runs of {SOME_POINTS:,} points as one pandas table"
    yield compare(what, "s", contenders, job="read many runs into pandas")
    for i in range(MANY):
        write(os.path.join(many, f"run{i:04d}", "x.tfevents"), 50, 5)
    yield compare(f"{MANY:,} runs of 50 points", "s", {OURS: Contender(reading_all, (many,))})


def write(path: str, points: int, tags: int = TAGS) -> None:
    """Write one file of scalars, tag after tag at each step."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    encoder, rng = ScalarEncoder(), np.random.default_rng(0)
    numbers = np.array([encoder.register(f"train/metric_{i:02d}") for i in range(tags)])
    with open(path, "wb") as file:
        file.write(frame(Event(wall_time=1.7e9, file_version="brain.Event:2").SerializeToString()))
        for start in range(0, points, 200_000):
            i = np.arange(start, min(points, start + 200_000))
            file.write(encoder.encode(numbers[i % tags], i // tags, 1.7e9 + i * 1e-3, rng.normal(size=len(i)))[0])


def reading(directory: str, kernels: str | None = None, tags: str | None = None) -> Callable[[], object]:
    return engaged(kernels, read_run, directory, tags=tags)


def reading_all(directory: str) -> Callable[[], object]:
    return partial(read_logdir, directory)


def table(directory: str) -> Callable[[], object]:
    return lambda: read_run(directory).to_pandas()


def table_of_all(directory: str) -> Callable[[], object]:
    return lambda: read_logdir(directory).to_pandas()


def tbparse(directory: str) -> Callable[[], object]:
    from tbparse import SummaryReader

    return lambda: SummaryReader(directory).scalars


def iterating(directory: str) -> Callable[[], object]:
    return lambda: exhaust(summary_iterator(os.path.join(directory, "x.tfevents")))


def tensorflow(directory: str) -> Callable[[], object]:
    from tensorflow.python.summary.summary_iterator import summary_iterator as theirs

    return lambda: exhaust(theirs(os.path.join(directory, "x.tfevents")))


def exhaust(events: Iterator[object]) -> None:
    for _ in events:
        pass


def accumulator(directory: str) -> Callable[[], object]:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    return lambda: EventAccumulator(directory, {"scalars": 0}).Reload()


def data_server(directory: str, threads: int) -> Callable[[], object]:
    """The wall time that tensorboard's data server takes to load a directory."""
    import tensorboard_data_server

    command = [tensorboard_data_server.server_binary(), "--logdir", directory, "--reload", "once", "--port", "0", "-vv"]
    environment = os.environ | {"RAYON_NUM_THREADS": str(threads)}
    expected = sum("tfevents" in name for _, _, names in os.walk(directory) for name in names)

    def run() -> Measured:
        began = time.perf_counter()
        with subprocess.Popen(
            [*command, "--checksum"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment
        ) as process:
            assert process.stderr is not None
            seen = 0
            for line in process.stderr:
                seen += bool(re.search(r"Finished load for run", line))
                if seen == expected:
                    break
            took = time.perf_counter() - began
            process.kill()
        assert seen == expected, "the data server ended before it had loaded all runs"
        return Measured(took)

    return run
