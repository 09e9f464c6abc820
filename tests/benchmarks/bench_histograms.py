"""Histograms of a million elements, of a middle size and of small ones, beside torch and the old figures."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from benchmarks import wandb_offline
from benchmarks.bench_writer import WRITERS, of_each, writer_of
from benchmarks.peers import Measured, compare
from benchmarks.places import in_memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from benchmarks.figures import Figure

_MILLION = 1_000_000


class _Job(NamedTuple):
    """Histograms of so many elements, so many in a row; with flush, or the calls alone."""

    what: str
    elements: int
    number: int = 1
    dtype: str = "float32"
    flushes: bool = True
    has_nan: bool = False


_JOBS = (  # and what each took before, in milliseconds; in microseconds where there are several
    (_Job("with flush", _MILLION), 2.0, "10 x torch"),
    (_Job("the call alone", _MILLION, flushes=False), 0.55, "no slower"),
    (_Job("with flush, of float64", _MILLION, dtype="float64"), 9.2, ""),
    (_Job("with flush, one of them NaN", _MILLION, has_nan=True), 20.0, ""),
    (_Job("with flush", 1 << 16), 0.45, "no slower"),
    (_Job("with flush, each of 1,000", 4_000, 1_000), 66.0, "no slower"),
)


def figures() -> Iterator[Figure]:
    """Yield each as it is measured."""
    with in_memory() as directory:
        everyone = {library: (directory, module) for library, module in WRITERS.items()}
        for job, was, wanted in _JOBS:
            contenders = of_each(prepared, everyone, job)
            what, unit = f"a histogram of {job.elements:,}, {job.what}", "ms" if job.number == 1 else "µs"
            row = ""
            if job is _JOBS[0][0]:
                contenders["wandb"] = wandb_offline.contender(wandb_offline.histogram, directory, job.elements)
                row = "log a histogram of a million values, until it is in the file"
            yield compare(what, unit, contenders, per=job.number, seconds=2.0, was=was, wanted=wanted, job=row)


def prepared(directory: str, module: str, job: _Job) -> Callable[[], object]:
    """What one round does, with any writer."""
    values = np.random.default_rng(0).normal(size=job.elements).astype(job.dtype)
    values[job.elements // 2] = np.nan if job.has_nan else 0
    return partial(_round, writer_of(directory, module), values, job)


def _round(writer: Any, values: NDArray[Any], job: _Job) -> Measured:
    began = time.perf_counter()
    for step in range(job.number):
        writer.add_histogram("h", values, step)
    called = time.perf_counter()
    writer.flush()
    return Measured((time.perf_counter() if job.flushes else called) - began)


if __name__ == "__main__":
    for figure in figures():
        print(*figure.lines(), sep="\n", flush=True)
