"""The plain path, without numba: scalars in both forms, beside their peer, and nested headers, whole and in pieces."""

from __future__ import annotations

import os
import tempfile
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from strategies import sound_header

from benchmarks.bench_reader import accumulator, reading, write
from benchmarks.figures import OURS, Figure
from benchmarks.growth import Growth, grown, rising
from benchmarks.peers import Contender, compare
from benchmarks.scale import sized
from summaries.wire.batches import BatchParser
from summaries.wire.crc32c import MASK_DELTA
from summaries.wire.crc_columns import checksums
from summaries.wire.pb import DT_FLOAT, Event, Summary, SummaryMetadata, TensorProto
from summaries.wire.records import frame

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

POINTS, TAGS = sized(2_000_000, 300_000), 20
FEWER = sized(300_000, 60_000)  # for what is slow
RUN_POINTS = 9_000
NESTED = 96_000  # bytes
GROWING = rising(sized(3_072_000, 1_536_000))  # bytes
CLAIMED, PIECE = 20_000, 12
FIRST_STEP = 1 << 14  # from here on, steps take three bytes
OLD_TENSORS, OLD_PIECES = 11.5, 1.46  # seconds


def figures() -> Iterator[Figure | Growth]:
    """Yield each as it is measured."""
    with tempfile.TemporaryDirectory() as directory:
        simple, tensors, fewer, run = (os.path.join(directory, name) for name in ("simple", "tensors", "fewer", "run"))
        write(os.path.join(simple, "x.tfevents"), POINTS)
        write_tensors(os.path.join(tensors, "x.tfevents"), POINTS)
        write(os.path.join(fewer, "x.tfevents"), FEWER)
        write(os.path.join(run, "x.tfevents"), RUN_POINTS, 9)
        old = {"was": 4.0, "wanted": "2"} if sized(1, 0) else {}
        yield compare(f"{POINTS:,} scalars, plain", "s", {OURS: Contender(reading, (simple, False))}, **old)
        old = {"was": OLD_TENSORS} if sized(1, 0) else {}
        yield compare(
            "the same as tensors with metadata, plain", "s", {OURS: Contender(reading, (tensors, False))}, **old
        )
        contenders = {
            OURS: Contender(reading, (fewer, False)),
            "EventAccumulator": Contender(accumulator, (fewer,), "tensorboard"),
        }
        yield compare(f"{FEWER:,} scalars, plain", "s", contenders)
        yield compare(f"a run of {RUN_POINTS:,} points, plain", "ms", {OURS: Contender(reading, (run, False))})
        yield from nested(directory)


def nested(directory: str) -> Iterator[Figure | Growth]:
    """Headers that each claim the next 20 kB: in a file, and fed in small pieces, as they come from a growing file."""
    path = os.path.join(directory, "nested.tfevents")
    with open(path, "wb") as file:
        file.write(headers(NESTED))
    what = f"{NESTED // 1000} kB of nested headers"
    yield compare(f"{what} in a file, plain", "s", {OURS: Contender(reading, (path, False))}, was=1.6)
    yield compare(f"{what} in pieces", "s", {OURS: Contender(feeding, (NESTED,))}, was=OLD_PIECES)
    note = "the smallest sizes hold few of the 20 kB that each header claims"
    contenders = {size: Contender(feeding, (size,)) for size in GROWING}
    yield grown("nested headers in pieces, plain", "bytes", contenders, note)


def headers(size: int) -> bytes:
    first = frame(Event(wall_time=1.7e9, file_version="brain.Event:2").SerializeToString())
    return first + sound_header(CLAIMED) * (size // PIECE)


def feeding(size: int) -> Callable[[], object]:
    data = headers(size)
    return partial(feed, [data[start : start + PIECE] for start in range(0, len(data), PIECE)])


def feed(pieces: list[bytes]) -> None:
    parser = BatchParser()
    for piece in pieces:
        for _ in parser.feed(piece):
            pass
    for _ in parser.close():
        pass


def write_tensors(path: str, points: int) -> None:
    """Write one file of scalars as TensorFlow 2 does: tensors, each with its metadata."""
    os.makedirs(os.path.dirname(path))
    records = np.frombuffer(b"".join(map(tensor_record, range(TAGS))), np.uint8).reshape(TAGS, -1)
    with open(path, "wb") as file:
        rng = np.random.default_rng(0)
        for first in range(0, points // TAGS, 5_000):
            steps = np.arange(first, min(first + 5_000, points // TAGS)) + FIRST_STEP
            block = np.tile(records, (len(steps), 1))
            put(block, 13, np.repeat(1.7e9 + steps, TAGS).astype("<f8"))
            groups = np.repeat([steps & 0x7F | 0x80, steps >> 7 & 0x7F | 0x80, steps >> 14], TAGS, axis=1)
            block[:, 22:25] = groups.T
            put(block, records[0].tobytes().index(NUMBER), rng.normal(size=len(block)).astype("<f4"))
            crcs = checksums(block[:, 12:-4])
            put(block, block.shape[1] - 4, (crcs >> 15 | crcs << 17) + np.uint32(MASK_DELTA))
            file.write(block.tobytes())


NUMBER = b"\x01\x02\x03\x04"


def tensor_record(tag: int) -> bytes:
    metadata = SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name="scalars"))
    tensor = TensorProto(dtype=DT_FLOAT, tensor_shape={}, tensor_content=NUMBER)
    value = Summary.Value(tag=f"train/metric_{tag:02d}", tensor=tensor, metadata=metadata)
    return frame(Event(wall_time=1.0, step=FIRST_STEP, summary=Summary(value=[value])).SerializeToString())


def put(block: np.ndarray, at: int, numbers: np.ndarray) -> None:
    """Write a number into each row, from a column on."""
    block[:, at : at + numbers.itemsize] = numbers.view(np.uint8).reshape(len(block), -1)


if __name__ == "__main__":
    for figure in figures():
        print("\n".join(figure.lines()), flush=True)
