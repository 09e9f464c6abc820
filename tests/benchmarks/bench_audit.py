"""Auditing ten large runs, seven hundred of the usual size, and five thousand small ones; start-up is included.

There is no peer: no other tool audits event files. Reading the same files is the floor, and is shown for comparison.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from benchmarks.figures import OURS, Figure
from benchmarks.memory import peak
from benchmarks.peers import Contender, Measured, compare
from benchmarks.scale import sized
from summaries import Event, read_logdir
from summaries.wire.records import frame
from summaries.wire.scalars import ScalarEncoder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TAGS = [
    "train/loss", "train/learning_rate", "gradients/global_norm", "gradients/clipped", "gradients/clip_norm",
    *(f"{kind}/layer{i}" for kind in ("gradients/norm", "weights/norm", "updates/ratio") for i in range(5)),
]  # fmt: skip
WHOLE = (0, 1)  # exit statuses of an audit that did all; 1 if it found an error


class Sweep(NamedTuple):
    """Runs of one size, and what the audit took of them once and is to take, in seconds."""

    name: str
    runs: int
    points: int
    tags: int
    was: float | None
    wanted: str


SWEEPS = (
    Sweep("ten", 10, sized(2_000_000, 200_000), len(TAGS), 2.15, "1.4"),
    Sweep("usual", sized(700, 100), 9_000, 9, 17.5, "3"),
    Sweep("many", sized(5_000, 500), 100, 2, 5.5, "2.5"),
)


def figures() -> Iterator[Figure]:
    """Yield two for each sweep: time and memory."""
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as directory:
        for sweep in SWEEPS:
            logdir = os.path.join(directory, sweep.name)
            write(os.path.join(logdir, "run0000", "x.tfevents"), sweep.points, sweep.tags)
            for i in range(1, sweep.runs):
                run = os.path.join(logdir, f"run{i:04d}")
                os.makedirs(run)
                os.link(os.path.join(logdir, "run0000", "x.tfevents"), os.path.join(run, "x.tfevents"))
            size = sweep.runs * os.path.getsize(os.path.join(logdir, "run0000", "x.tfevents"))
            what = f"audit of {sweep.runs:,} runs of {sweep.points:,} points, {size / 1e6:,.0f} MB"
            contenders = {OURS: Contender(auditing, (logdir,)), "read_logdir": Contender(reading, (logdir,))}
            yield compare(what, "s", contenders, seconds=6.0, was=sweep.was, wanted=sweep.wanted)
            memory = {OURS: Contender(peaking, (logdir,))}
            yield compare(f"{what}: the most that a process took", "MiB", memory, seconds=0.0)


def write(path: str, points: int, tags: int = len(TAGS)) -> None:
    """Write one file of scalars as training logs them, tag after tag at each step."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    encoder, rng = ScalarEncoder(), np.random.default_rng(0)
    numbers = np.array([encoder.register(tag) for tag in TAGS[:tags]])
    steps = points // tags
    with open(path, "wb") as file:
        file.write(frame(Event(wall_time=1.7e9, file_version="brain.Event:2").SerializeToString()))
        for start in range(0, points, 200_000):
            i = np.arange(start, min(points, start + 200_000))
            step, tag = i // tags, i % tags
            value = np.exp(0.2 * rng.normal(size=len(i))) * (0.5 + 2 * np.exp(-10 * step / steps))
            value[(tag == 1) | (tag == 4)] = 1e-3
            value[tag == 3] = rng.random(np.count_nonzero(tag == 3)) < 0.2
            value[tag >= 15] *= 1e-3
            file.write(encoder.encode(numbers[tag], step, 1.7e9 + i * 0.05, value)[0])


def command(directory: str) -> list[str]:
    """The audit, with its report written to a file."""
    return [sys.executable, "-m", "summaries", "audit", directory, "--format", "json", "--output", os.devnull]


def auditing(directory: str) -> Callable[[], object]:
    def run() -> None:
        status = subprocess.run(command(directory), check=False, stderr=subprocess.DEVNULL).returncode
        assert status in WHOLE, f"the audit could not do all: exit status {status}"

    return run


def peaking(directory: str) -> Callable[[], object]:
    return lambda: Measured(peak(command(directory), WHOLE))


def reading(directory: str) -> Callable[[], object]:
    return partial(read_logdir, directory)
