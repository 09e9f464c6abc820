"""Files that are made to take a reader long: seconds for each MB, with the compiled scanner and without."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from importlib.util import find_spec

from hostile import FILES

from summaries import read_run

MEGABYTES = float(os.environ.get("MB", "1"))


def main() -> None:
    ways = [True, False] if find_spec("numba") else [False]
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "a.tfevents")
        for file in FILES:
            with open(path, "wb") as out:
                size = out.write(file(int(MEGABYTES * 1_000_000)))
            figures = [seconds(path, fast) / (size / 1e6) for fast in ways]
            print(f"  {file.__name__:28s}" + "".join(f"{figure:10.3f} s/MB" for figure in figures))


def seconds(path: str, fast: bool) -> float:
    """How long it takes to read the file, its items and what stands of them."""
    started = time.perf_counter()
    run = read_run(path, fast=fast)
    assert sum(len(series.latest()) for series in run.scalars.values()) >= 0
    assert len(run.images) >= 0
    return time.perf_counter() - started


if __name__ == "__main__":
    sys.exit(main())
