"""Files that are made to take a reader long: processor seconds for each MB, compiled and plain, and how they grow."""

from __future__ import annotations

import os
import tempfile
import time
from typing import TYPE_CHECKING

from event_data.hostile import FILES

from benchmarks.figures import OURS, Figure
from benchmarks.growth import Growth, grown, rising
from benchmarks.peers import Contender, Measured, compare
from benchmarks.plain import engaged
from benchmarks.scale import sized
from summaries import read_run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SIZES = rising(sized(4_000_000, 128_000))  # bytes
# Most of these files become very many objects. Without the collector, the exponents are between 0.97 and 1.04; of
# `tags_of_images`, which is as many strings as it has values, 1.08.
_NOTE = "Python's garbage collector looks at all objects again whenever there are a quarter more"


def figures() -> Iterator[Figure | Growth]:
    """Yield three for each file: the seconds, and how they grow with its bytes, compiled and plain."""
    with tempfile.TemporaryDirectory() as directory:
        for file in FILES:
            paths = {size: os.path.join(directory, f"{file.__name__}.{size}.tfevents") for size in SIZES}
            for size, path in paths.items():
                with open(path, "wb") as out:
                    out.write(file(size))
            bytes_of = {size: os.path.getsize(path) for size, path in paths.items()}
            ways: dict[str, str | None] = {OURS: None, "gradledger, plain": "plain"}
            contenders = {name: Contender(reading, (paths[SIZES[-1]], kernels)) for name, kernels in ways.items()}
            yield compare(file.__name__, "s a MB", contenders, per=bytes_of[SIZES[-1]] / 1e6, seconds=2.0)
            for name in ("compiled", "plain"):
                sizes = {bytes_of[size]: Contender(reading, (path, name)) for size, path in paths.items()}
                yield grown(f"reading {file.__name__}, {name}", "bytes", sizes, _NOTE, seconds=1.0)


def reading(path: str, kernels: str | None) -> Callable[[], object]:
    """Processor seconds to read the file, to tell where its items are, and what stands of its scalars."""

    def run() -> Measured:
        began = time.process_time()
        found = engaged(kernels, read_run, path)()
        for series in found.scalars.values():
            series.latest()
        len(found.images)
        return Measured(time.process_time() - began)

    return run
