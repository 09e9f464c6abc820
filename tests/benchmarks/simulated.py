"""Runs that exist only in memory, as many as a benchmark wants: a storage of files with one of a few contents."""

from __future__ import annotations

import io
from contextlib import nullcontext
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from summaries import Event
from summaries.auditing.discovery import RunFiles
from summaries.storage.protocols import StoredFile
from summaries.wire.records import frame
from summaries.wire.scalars import ScalarEncoder

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

KINDS = 20


def small_run(seed: int, points: int = 100) -> bytes:
    """An event file of a loss that falls; of every third kind, it diverges."""
    rng, encoder = np.random.default_rng(seed), ScalarEncoder()
    step = np.arange(points)
    value = 0.4 + 2 * np.exp(-step / 15) * np.exp(0.1 * rng.standard_normal(points))
    if seed % 3 == 0:
        value[points // 2 :] *= np.exp(np.linspace(0, 5, points - points // 2))
    number = np.full(points, encoder.register("train/loss"))
    first = frame(Event(wall_time=1.7e9, file_version="brain.Event:2").SerializeToString())
    return first + encoder.encode(number, step, 1.7e9 + step * 0.5, value)[0]


class Simulated:
    """A storage of simulated files; see `summaries.storage.protocols.Storage`.

    Args:
        points: how many each has.
    """

    poll_secs = 1.0

    def __init__(self, points: int = 100) -> None:
        self.points = points
        self.contents = [small_run(seed, points) for seed in range(KINDS)]

    def __reduce__(self) -> tuple[object, ...]:
        return simulated, (self.points,)  # made again by each worker, once

    def runs(self, count: int) -> list[RunFiles]:
        """So many runs, each of one file."""
        made = []
        for number in range(count):
            size = len(self.contents[number % KINDS])
            path = f"/simulated/sweep/run{number:06d}/events.out.tfevents.1700000000.host.{number}"
            made.append(RunFiles(f"sweep/run{number:06d}", (StoredFile(path, size, number, self),), size))
        return made

    def open(self, file: StoredFile, scan_from: int | None = None) -> _Opened:
        return _Opened(self.contents[int(file.identity) % KINDS])

    def expecting(self, files: Sequence[StoredFile]) -> AbstractContextManager[object]:
        return nullcontext()


@lru_cache(maxsize=8)
def simulated(points: int) -> Simulated:
    """The storage of runs of so many points."""
    return Simulated(points)


class _Opened(io.BytesIO):
    def read_range(self, start: int, size: int) -> bytes:
        return self.getvalue()[start : start + size]

    def read_into(self, start: int, buffer: memoryview) -> int:
        self.seek(start)
        return self.readinto(buffer)
