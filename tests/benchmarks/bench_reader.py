"""Reading: event by event, as columns, only some tags, many runs, many files.

Peers, if installed: tensorboard's EventAccumulator, its data server with checksums (a process, timed until its log says
that it is done), and TensorFlow's summary_iterator. The data server keeps 1,000 points per tag, the others all.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec

import numpy as np

from summaries import read_logdir, read_run, summary_iterator
from summaries.wire.pb import Event
from summaries.wire.records import frame
from summaries.wire.scalars import ScalarEncoder

POINTS, TAGS = 2_000_000, 20
ITERATED = 300_000


def main() -> None:
    with tempfile.TemporaryDirectory() as directory:
        one = os.path.join(directory, "one")
        write(os.path.join(one, "x.tfevents"), POINTS)
        columns(one)
        hundred = os.path.join(directory, "hundred")
        write(os.path.join(hundred, "x.tfevents"), POINTS, 100)
        selection(hundred)
        small = os.path.join(directory, "small", "x.tfevents")
        write(small, ITERATED)
        iterate(small)
        accumulator(os.path.dirname(small))
        ten = os.path.join(directory, "ten")
        for i in range(10):
            os.makedirs(os.path.join(ten, f"run{i}"))
            os.link(os.path.join(one, "x.tfevents"), os.path.join(ten, f"run{i}", "x.tfevents"))
        runs(ten)
        many = os.path.join(directory, "many")
        for i in range(5000):
            write(os.path.join(many, f"run{i:04d}", "x.tfevents"), 50, 5)
        say("5,000 runs of 50 points", "s", {"gradledger": best(lambda: read_logdir(many), 2)})


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


def columns(directory: str) -> None:
    figures = {}
    if find_spec("numba"):
        read_run(directory, fast=True)  # compile, or load the compiled code
        figures["gradledger"] = best(lambda: read_run(directory, fast=True), 5)
    figures["gradledger, plain"] = best(lambda: read_run(directory, fast=False), 1)
    if find_spec("tensorboard_data_server"):
        figures["data server, 1 thread"] = min(data_server(directory, 1) for _ in range(3))
    say(f"one file of {POINTS:,} scalars as columns", "s", figures)


def selection(directory: str) -> None:
    """No peer reads only some tags: tensorboard's readers take all, and show some."""
    figures = {"one tag": best(lambda: read_run(directory, tags="train/metric_07"), 5)}
    figures["all tags"] = best(lambda: read_run(directory), 5)
    figures["one tag, plain"] = best(lambda: read_run(directory, tags="train/metric_07", fast=False), 1)
    figures["all tags, plain"] = best(lambda: read_run(directory, fast=False), 1)
    say(f"one of 100 tags of a file of {POINTS:,} scalars", "s", figures)


def runs(directory: str) -> None:
    figures = {"gradledger": best(lambda: read_logdir(directory), 3)}
    if find_spec("tensorboard_data_server"):
        figures["data server"] = min(data_server(directory, os.cpu_count() or 1) for _ in range(2))
    say("ten such runs", "s", figures)


def iterate(path: str) -> None:
    def exhaust(iterator: object) -> None:
        for _ in iterator:  # type: ignore[attr-defined]
            pass

    figures = {"gradledger": best(lambda: exhaust(summary_iterator(path)), 5)}
    if find_spec("tensorflow"):
        from tensorflow.python.summary.summary_iterator import summary_iterator as theirs

        figures["tensorflow"] = best(lambda: exhaust(theirs(path)), 5)
    say(f"summary_iterator over {ITERATED:,} scalars", "s", figures)


def accumulator(directory: str) -> None:
    figures = {"gradledger": best(lambda: read_run(directory), 3)}
    figures["gradledger, plain"] = best(lambda: read_run(directory, fast=False), 2)
    if find_spec("tensorboard"):
        from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

        figures["EventAccumulator"] = best(lambda: EventAccumulator(directory, {"scalars": 0}).Reload(), 1)
    say(f"{ITERATED:,} scalars as columns", "s", figures)


def data_server(directory: str, threads: int) -> float:
    """The wall time that tensorboard's data server takes to load a directory, in seconds."""
    import tensorboard_data_server

    command = [tensorboard_data_server.server_binary(), "--logdir", directory, "--reload", "once", "--port", "0", "-vv"]
    environment = os.environ | {"RAYON_NUM_THREADS": str(threads)}
    started = time.perf_counter()
    with subprocess.Popen(
        [*command, "--checksum"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stderr is not None
        expected = sum("tfevents" in name for _, _, names in os.walk(directory) for name in names)
        seen = 0
        for line in process.stderr:
            seen += bool(re.search(r"Finished load for run", line))
            if seen == expected:
                break
        took = time.perf_counter() - started
        process.kill()
    return took


def best(action: object, rounds: int) -> float:
    """The shortest time of several rounds, in seconds."""
    times = []
    for _ in range(rounds):
        started = time.perf_counter()
        action()  # type: ignore[operator]
        times.append(time.perf_counter() - started)
    return min(times)


def say(title: str, unit: str, figures: dict[str, float]) -> None:
    print(f"{title}, {unit}")
    ours = next(iter(figures.values()))
    for name, figure in figures.items():
        print(f"  {name:24s}{figure:10.3f}   {figure / ours:8.1f} x ours")


if __name__ == "__main__":
    sys.exit(main())
