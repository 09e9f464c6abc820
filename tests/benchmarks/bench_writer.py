"""The cost of logging: scalars, histograms, summaries of many tags, and the import."""

from __future__ import annotations

import importlib.util
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from typing import Any

import numpy as np

from benchmarks.timing import best_seconds, print_table
from summaries import Summary, SummaryWriter

TAGS = [f"train/metric_{i}" for i in range(20)]
OUR_SCALARS, PEER_SCALARS = 400_000, 20_000
ELEMENTS = 1_000_000
SMALL_HISTOGRAMS, SMALL_ELEMENTS = 1_000, 4_000
SUMMARY_TAGS = 200
IMPORT_ROUNDS = 7


def main() -> None:
    """Print every table."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    warnings.simplefilter("ignore")
    # A file system in memory if there is one, so that the disk's variance does not count.
    directory = tempfile.mkdtemp(dir="/dev/shm" if os.path.isdir("/dev/shm") else None)  # noqa: S108
    try:
        writers = peers(directory)
        call(directory)
        scalars(writers)
        histograms(writers)
        small_histograms(writers)
        many_tags(directory)
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    imports()


def peers(directory: str) -> dict[str, Any]:
    """Name → a function that makes a writer."""
    made: dict[str, Any] = {"gradledger": lambda: SummaryWriter(tempfile.mkdtemp(dir=directory))}
    for name, module in {"torch": "torch.utils.tensorboard", "tensorboardX": "tensorboardX"}.items():
        if importlib.util.find_spec(name) is None:
            print(f"  {name} is not installed, skipped")
            continue
        writer = importlib.import_module(module).SummaryWriter
        made[name] = lambda writer=writer: writer(tempfile.mkdtemp(dir=directory))
    return made


def call(directory: str) -> None:
    """Time the call alone, for which the training loop waits, including the encoding that some calls do."""
    writer = SummaryWriter(tempfile.mkdtemp(dir=directory))
    seconds = best_seconds({"gradledger": lambda: log_scalars(writer, OUR_SCALARS)})["gradledger"]
    writer.close()
    print_table("a scalar, the call, encoding included", "us", {"gradledger": seconds / OUR_SCALARS * 1e6})


def scalars(writers: dict[str, Any]) -> None:
    """Time a scalar from the call to the closed file."""

    def run(make: Any, count: int) -> None:
        writer = make()
        log_scalars(writer, count)
        writer.close()

    counts = {name: OUR_SCALARS if name == "gradledger" else PEER_SCALARS for name in writers}
    seconds = best_seconds({name: lambda n=name: run(writers[n], counts[n]) for name in writers})
    figures = {name: seconds[name] / counts[name] * 1e6 for name in writers}
    print_table("a scalar, end to end with close", "us", figures)


def log_scalars(writer: Any, count: int) -> None:
    """Log `count` scalars, as a training loop with 20 tags does."""
    add = writer.add_scalar
    for step in range(count // len(TAGS)):
        for tag in TAGS:
            add(tag, 0.5, step)


def histograms(writers: dict[str, Any]) -> None:
    """Time a histogram of a million float32: the call alone, and end to end with flush."""
    values = np.random.default_rng(0).normal(size=ELEMENTS).astype(np.float32)
    calls: dict[str, list[float]] = {name: [] for name in writers}
    totals: dict[str, list[float]] = {name: [] for name in writers}
    for name, make in writers.items():  # one after the other: some have threads that keep working after a flush
        writer = make()
        for step in range(40):  # the compiled counter is loaded on the way
            started = time.perf_counter()
            writer.add_histogram("h", values, step)
            calls[name].append(time.perf_counter() - started)
            writer.flush()
            totals[name].append(time.perf_counter() - started)
        writer.close()
    for title, times in (("the call", calls), ("with flush", totals)):
        figures = {name: statistics.median(several) * 1e3 for name, several in times.items()}
        print_table(f"a histogram of {ELEMENTS:,} float32, {title} (median)", "ms", figures)


def small_histograms(writers: dict[str, Any]) -> None:
    """Time histograms of the size of a layer's bias or a small kernel, with flush."""
    values = np.random.default_rng(0).normal(size=SMALL_ELEMENTS).astype(np.float32)

    def run(writer: Any) -> None:
        for step in range(SMALL_HISTOGRAMS):
            writer.add_histogram("h", values, step)
        writer.flush()

    made = {name: make() for name, make in writers.items()}
    seconds = best_seconds({name: lambda n=name: run(made[n]) for name in made}, rounds=3)
    figures = {name: value / SMALL_HISTOGRAMS * 1e6 for name, value in seconds.items()}
    print_table(f"{SMALL_HISTOGRAMS:,} histograms of {SMALL_ELEMENTS:,} float32, with flush, each", "us", figures)
    for writer in made.values():
        writer.close()


def many_tags(directory: str) -> None:
    """Time add_summary with 200 tags, against TF1's FileWriter."""
    message = Summary(value=[Summary.Value(tag=f"w/{i}/norm", simple_value=0.5) for i in range(SUMMARY_TAGS)])
    contenders = {"gradledger": (SummaryWriter(tempfile.mkdtemp(dir=directory)), message)}
    if importlib.util.find_spec("tensorflow") is not None:
        import tensorflow as tf

        tf.compat.v1.disable_eager_execution()
        writer = tf.compat.v1.summary.FileWriter(tempfile.mkdtemp(dir=directory))
        contenders["tensorflow FileWriter"] = (writer, tf.compat.v1.Summary.FromString(message.SerializeToString()))
    else:
        print("  tensorflow is not installed, skipped")

    def run(writer: Any, summary: Any) -> None:
        for step in range(200):
            writer.add_summary(summary, step)
        writer.flush()

    figures = {}
    for name, pair in contenders.items():  # one after the other: FileWriter's thread keeps working
        seconds = best_seconds({name: lambda p=pair: run(*p)}, rounds=9)[name]
        figures[name] = seconds / 200 / SUMMARY_TAGS * 1e6
    print_table(f"add_summary of {SUMMARY_TAGS} tags with flush, a tag", "us", figures)


def imports() -> None:
    """Time `import summaries` after NumPy, in a process of its own."""
    program = "import time, numpy; t = time.perf_counter(); import {}; print(time.perf_counter() - t)"
    figures = {}
    for name, module in {
        "gradledger": "summaries",
        "torch": "torch.utils.tensorboard",
        "tensorboardX": "tensorboardX",
    }.items():
        if importlib.util.find_spec(module.partition(".")[0]) is None:
            continue
        taken = [
            float(
                subprocess.run([sys.executable, "-c", program.format(module)], capture_output=True, check=True).stdout
            )
            for _ in range(IMPORT_ROUNDS if name == "gradledger" else 3)
        ]
        figures[name] = min(taken) * 1e3
    print_table("the import, after NumPy", "ms", figures)
