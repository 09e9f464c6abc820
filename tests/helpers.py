"""Helpers for several tests: feed a parser, read a file back, run a program."""

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

from summaries import read_run
from summaries.reading.event_iterator import summary_iterator
from summaries.wire.pb import Summary
from summaries.wire.records import Batch, RecordParser

ROOT = Path(__file__).parents[1]

# OpenBLAS's kernels for these processors round differently; "" is its own choice. Every x86 processor in use runs them.
CORE_TYPES = ("", "Haswell", "Sandybridge", "Prescott")


def chunks_of(data, size):
    """The data in chunks of `size` bytes; in one chunk if `size` is None."""
    size = size or len(data) or 1
    return [data[start : start + size] for start in range(0, len(data), size)]


class Record(NamedTuple):
    """One record: the offset of its header in bytes, and its data."""

    offset: int
    data: bytes


def one_by_one(items):
    """What a parser yields, with each record by itself."""
    return [
        one
        for item in items
        for one in (
            map(Record, map(item.offset, range(len(item.starts))), item.data) if isinstance(item, Batch) else [item]
        )
    ]


def parse(chunks, **options):
    """Every record and fault of a stream that arrives in these chunks and then ends."""
    parser = RecordParser(**options)
    items = []
    for chunk in chunks:
        parser.feed(chunk)
        items += one_by_one(parser.items())
    parser.close()
    return [*items, *one_by_one(parser.items())]


def scalars(path):
    """Every (step, tag, value) of an event file, in order; the file holds a version and then only scalars."""
    version, *events = summary_iterator(path)
    assert version.file_version == "brain.Event:2"
    return [(event.step, value.tag, value.simple_value) for event in events for value in event.summary.value]


def point(tag, value):
    """A Summary of one scalar."""
    return Summary(value=[Summary.Value(tag=tag, simple_value=value)])


def event_files(directory):
    """The event files in a directory, sorted."""
    return sorted(Path(directory).glob("*tfevents*"))


def events(directory):
    """The events in a directory, after the version of the first file."""
    return [event for path in event_files(directory) for event in summary_iterator(path)][1:]


def logged(writer):
    """tag → [(step, value)] of what a SummaryWriter has logged until now."""
    writer.flush()
    scalars = read_run(writer.get_logdir()).scalars
    return {tag: list(zip(series.step.tolist(), series.value.tolist(), strict=True)) for tag, series in scalars.items()}


def polls():
    """Rounds of waiting for another thread or process; running out of them is a failure, not a measurement."""
    for _ in range(6000):
        yield
        time.sleep(0.05)


def assert_learns_if_clipped(logdir):
    """Of 30 quick demos (six kernels, five seeds), the worst clipped run has 0.79, the best unclipped one 0.21."""
    clipped, unclipped = (read_run(logdir / name).scalars["test/accuracy"].value for name in ("clipped", "unclipped"))
    assert clipped[-1] > 0.6
    assert unclipped[-1] < 0.4


def environment_of(core_type):
    """The environment of a program whose BLAS has one thread, and the kernels of this processor."""
    chosen = {"OPENBLAS_CORETYPE": core_type} if core_type else {}
    return {**os.environ, "OPENBLAS_NUM_THREADS": "1", "COLUMNS": "200"} | chosen


def run(*arguments, status=0, **options):
    """Run a Python program to its end; return its output."""
    program, seen = [sys.executable, *map(str, arguments)], {"text": True, "errors": "backslashreplace"}
    done = subprocess.run(program, capture_output=True, check=False, cwd=ROOT, **{**seen, **options})
    assert done.returncode == status, done.stderr
    return done.stdout


def run_script(directory, text, *arguments, **options):
    """Run a program with this text, from a file because multiprocessing imports it again; return its output."""
    script = directory / "script.py"
    script.write_text(text, encoding="utf-8")
    return run(script, *arguments, **options)
