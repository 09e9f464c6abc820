"""Damage event files at random, for as long as you like, and read them both ways.

    python tests/fuzz/fuzz_scanner.py --secs 600

The compiled scanner runs with bounds checks, in which every access outside its arrays is an IndexError, and must give
what the plain path gives. A file that breaks it is kept, and its path printed.
"""

import argparse
import os
import pathlib
import sys
import tempfile
import time

os.environ["NUMBA_BOUNDSCHECK"] = "1"

import numpy as np
from engines import read_run

from summaries.reading.kinds import KINDS
from summaries.wire import records
from summaries.wire.records import frame

GOLDEN = pathlib.Path(__file__).parents[1] / "golden"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--secs", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    corpus = [list(split(path.read_bytes())) for path in sorted(GOLDEN.rglob("*tfevents*"))]
    end = time.monotonic() + options.secs
    rounds = faults = points = 0
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory) / "a.tfevents"
        while time.monotonic() < end:
            path.write_bytes(mutated(corpus[rng.integers(len(corpus))], rng))
            compiled, plain = read_run(path, engine="compiled"), read_run(path, engine="plain")
            difference = differs(compiled, plain)
            if difference:
                kept = pathlib.Path(tempfile.mkdtemp()) / "a.tfevents"
                kept.write_bytes(path.read_bytes())
                print(f"round {rounds}: {difference} differ: {kept}")
                return 1
            rounds += 1
            faults += len(compiled.faults)
            points += sum(map(len, compiled.scalars.values()))
    print(f"{rounds} files, {faults} faults, {points} points: fast and plain gave the same, nothing was raised")
    return 0


def split(data):
    """The data of each record."""
    parser = records.RecordParser()
    parser.feed(data)
    parser.close()
    return (data for item in parser.items() if isinstance(item, records.Batch) for data in item.data)


def mutated(corpus, rng):
    """Some of the records, damaged inside (with sound checksums) or outside (without), or not at all."""
    picked = [bytearray(corpus[i]) for i in rng.integers(len(corpus), size=rng.integers(1, 60))]
    for data in picked:
        if data and rng.random() < 0.3:
            damage(data, rng, int(rng.integers(1, 4)))
    stream = bytearray(b"".join(frame(bytes(data)) for data in picked))
    if rng.random() < 0.4:
        damage(stream, rng, int(rng.integers(1, 5)))
    return bytes(stream)


def damage(data, rng, times):
    for _ in range(times):
        at = int(rng.integers(len(data))) if data else 0
        size = int(rng.integers(1, 20))
        match int(rng.integers(5)):
            case 0 if data:
                data[at] ^= 1 << int(rng.integers(8))
            case 1:
                data[at : at + size] = bytes(size)
            case 2:
                data[at : at + size] = rng.integers(256, size=size, dtype=np.uint8).tobytes()
            case 3:
                del data[at : at + size]
            case _:
                data[at:at] = data[at : at + size]


def differs(compiled, plain):  # noqa: C901 - a list of things to compare
    """What is not the same, or ""."""
    for name in ("tags", "faults", "metadata"):
        if getattr(compiled, name) != getattr(plain, name):
            return name
    if list(compiled.scalars) != list(plain.scalars):
        return "scalars"
    for tag, series in compiled.scalars.items():
        for name in ("step", "wall_time", "value"):
            if not np.array_equal(getattr(series, name), getattr(plain.scalars[tag], name), equal_nan=name != "step"):
                return f"{name} of {tag!r}"
    for kind in KINDS:
        mine, theirs = getattr(compiled, kind), getattr(plain, kind)
        if list(mine) != list(theirs):
            return kind
        for tag, items in mine.items():
            if repr(items._places.tolist()) != repr(theirs[tag]._places.tolist()):
                return f"{kind} of {tag!r}"
    return ""


if __name__ == "__main__":
    sys.exit(main())
