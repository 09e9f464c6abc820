"""Files that are made to take a reader long: processor seconds for each MB, with the compiled scanner and without."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from importlib.util import find_spec

from hostile import FILES

from summaries import read_run

SIZE = 1_000_000
ROUNDS = 3


def main() -> None:
    ways = [True, False] if find_spec("numba") else [False]
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "a.tfevents")
        for file in FILES:
            with open(path, "wb") as out:
                size = out.write(file(SIZE))
            figures = [seconds(path, fast) / (size / 1e6) for fast in ways]
            print(f"  {file.__name__:28s}" + "".join(f"{figure:10.3f} s/MB" for figure in figures))


def seconds(path: str, fast: bool) -> float:
    """The least time of several that it takes to read the file, where its items are, and what stands of its scalars."""
    times = []
    for _ in range(ROUNDS):
        started = time.process_time()
        run = read_run(path, fast=fast)
        for series in run.scalars.values():
            series.latest()
        len(run.images)
        times.append(time.process_time() - started)
    return min(times)


if __name__ == "__main__":
    sys.exit(main())
