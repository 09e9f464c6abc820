"""Files that are made to take a reader long: processor seconds for each MB, with the compiled scanner and without."""

from __future__ import annotations

import os
import tempfile
import time
from typing import TYPE_CHECKING

from hostile import FILES

from benchmarks.figures import OURS, Figure
from benchmarks.peers import Contender, Measured, compare
from benchmarks.scale import sized
from summaries import read_run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SIZE = sized(1_000_000, 100_000)


def figures() -> Iterator[Figure]:
    """Yield one for each file."""
    with tempfile.TemporaryDirectory() as directory:
        for file in FILES:
            path = os.path.join(directory, f"{file.__name__}.tfevents")
            with open(path, "wb") as out:
                out.write(file(SIZE))
            contenders = {
                OURS: Contender(reading, (path, None)),
                "gradledger, plain": Contender(reading, (path, False)),
            }
            yield compare(file.__name__, "s a MB", contenders, seconds=2.0)


def reading(path: str, fast: bool | None) -> Callable[[], object]:
    """Processor seconds a MB to read the file, to tell where its items are, and what stands of its scalars."""
    megabytes = os.path.getsize(path) / 1e6

    def run() -> Measured:
        began = time.process_time()
        found = read_run(path, fast=fast)
        for series in found.scalars.values():
            series.latest()
        len(found.images)
        return Measured((time.process_time() - began) / megabytes)

    return run
