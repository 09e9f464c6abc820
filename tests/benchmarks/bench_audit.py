"""Auditing ten large runs, seven hundred of the usual size, and five thousand small ones; start-up is included.

There is no peer: no other tool audits event files. Reading the same files is the floor, and is shown for comparison.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time

import numpy as np

from summaries import Event, read_logdir
from summaries.wire.records import frame
from summaries.wire.scalars import ScalarEncoder

POINTS, RUNS = 2_000_000, 10
TAGS = [
    "train/loss", "train/learning_rate", "gradients/global_norm", "gradients/clipped", "gradients/clip_norm",
    *(f"{kind}/layer{i}" for kind in ("gradients/norm", "weights/norm", "updates/ratio") for i in range(5)),
]  # fmt: skip


def main() -> None:
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as directory:
        ten = os.path.join(directory, "ten")
        write(os.path.join(ten, "run0", "x.tfevents"), POINTS)
        for i in range(1, RUNS):
            os.makedirs(os.path.join(ten, f"run{i}"))
            os.link(os.path.join(ten, "run0", "x.tfevents"), os.path.join(ten, f"run{i}", "x.tfevents"))
        size = RUNS * os.path.getsize(os.path.join(ten, "run0", "x.tfevents"))
        print(f"{RUNS} runs of {POINTS:,} points, {size / 1e9:.2f} GB")
        audited(ten, 4)
        usual = os.path.join(directory, "usual")
        for i in range(700):
            write(os.path.join(usual, f"run{i:04d}", "x.tfevents"), 9_000, 9)
        print("700 runs of 9,000 points")
        audited(usual, 2)
        many = os.path.join(directory, "many")
        for i in range(5000):
            write(os.path.join(many, f"run{i:04d}", "x.tfevents"), 100, 2)
        print("5,000 runs of 100 points")
        audited(many, 2)
        read(ten)  # last, because a child's peak memory includes its parent's at the time of the fork


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


def audited(directory: str, rounds: int) -> None:
    """Time the command, with its report written to a file."""
    command = [sys.executable, "-m", "summaries", "audit", directory, "--format", "json", "--output", os.devnull]
    for _ in range(rounds):
        began = time.perf_counter()
        status = subprocess.run(command, check=False, stderr=subprocess.DEVNULL).returncode
        seconds = time.perf_counter() - began
        most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        print(
            f"  gradledger audit        {seconds:10.3f} s   exit status {status}, a process took up to {most:.0f} MiB"
        )


def read(directory: str) -> None:
    read_logdir(directory)
    began = time.perf_counter()
    read_logdir(directory)
    print(f"read_logdir of the ten    {time.perf_counter() - began:10.3f} s")


if __name__ == "__main__":
    main()
