"""Histograms: of a million float32, of a layer's bias or a small kernel, and of sizes between; torch beside them."""

from __future__ import annotations

import gc
import importlib
import importlib.util
import os
import shutil
import tempfile
import time
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.figures import Figure
from summaries import SummaryWriter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

_PEERS = {"torch": "torch.utils.tensorboard", "tensorboardX": "tensorboardX"}
_MILLION, _MIDDLE, _SMALL = 1_000_000, 1 << 16, 4_000
_SMALL_COUNT = 1_000
_WARM = 80  # histograms of a million, by which the compiled counter is loaded
_ROUNDS = 41


def figures() -> Iterator[Figure]:
    """A million with flush and the call alone, 65,536 with flush, and 1,000 times 4,000."""
    warnings.simplefilter("ignore")
    # A file system in memory if there is one, so that the disk's variance does not count.
    directory = tempfile.mkdtemp(dir="/dev/shm" if os.path.isdir("/dev/shm") else None)  # noqa: S108
    values = np.random.default_rng(0).normal(size=_MILLION).astype(np.float32)
    try:
        makers = _makers(directory)
        _timed(makers["gradledger"], values, _WARM)
        one = {name: _timed(make, values, _ROUNDS) for name, make in makers.items()}
        middle = {name: _timed(make, values[:_MIDDLE], _ROUNDS) for name, make in makers.items()}
        several = {name: _many(make, values[:_SMALL]) for name, make in makers.items()}
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    calls, totals = ({name: pair[i] * 1e3 for name, pair in one.items()} for i in range(2))
    yield _figure(f"a histogram of {_MILLION:,} float32, with flush", "ms", totals, 2.0, "10 x torch")
    yield _figure(f"a histogram of {_MILLION:,} float32, the call alone", "ms", calls, 0.6, "no slower")
    flushed = {name: pair[1] * 1e3 for name, pair in middle.items()}
    yield _figure(f"a histogram of {_MIDDLE:,} float32, with flush", "ms", flushed, 0.45, "no slower")
    each = {name: seconds / _SMALL_COUNT * 1e6 for name, seconds in several.items()}
    yield _figure(f"{_SMALL_COUNT:,} histograms of {_SMALL:,} float32, with flush, each", "us", each, 70.0, "no slower")


def _figure(what: str, unit: str, values: dict[str, float], was: float, wanted: str) -> Figure:
    return Figure(what, unit, values.pop("gradledger"), values, was, wanted)


def _makers(directory: str) -> dict[str, Callable[[], Any]]:
    """Name → a function that makes a writer; of those that are installed."""
    makers: dict[str, Callable[[], Any]] = {"gradledger": lambda: SummaryWriter(tempfile.mkdtemp(dir=directory))}
    for name, module in _PEERS.items():
        if importlib.util.find_spec(name) is None:
            print(f"  {name} is not installed, skipped")
            continue
        writer = importlib.import_module(module).SummaryWriter
        makers[name] = lambda writer=writer: writer(tempfile.mkdtemp(dir=directory))
    return makers


def _timed(make: Callable[[], Any], values: NDArray[np.float32], rounds: int) -> tuple[float, float]:
    """The median seconds of the call alone, and with flush."""
    writer, seconds = make(), []
    for step in range(rounds):
        started = time.perf_counter()
        writer.add_histogram("h", values, step)
        called = time.perf_counter()
        writer.flush()
        seconds.append((called - started, time.perf_counter() - started))
    writer.close()
    call, flushed = np.median(seconds, axis=0).tolist()
    return call, flushed


def _many(make: Callable[[], Any], values: NDArray[np.float32]) -> float:
    """The least seconds of three for many histograms and one flush."""
    writer, seconds = make(), []
    for _ in range(3):
        gc.collect()
        started = time.perf_counter()
        for step in range(_SMALL_COUNT):
            writer.add_histogram("h", values, step)
        writer.flush()
        seconds.append(time.perf_counter() - started)
    writer.close()
    return min(seconds)


if __name__ == "__main__":
    for figure in figures():
        print("\n".join(figure.lines()))
