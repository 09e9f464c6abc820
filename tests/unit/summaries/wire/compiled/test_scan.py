"""The compiled scanner: its checksums, its bounds, its tag table."""

import os
import subprocess
import sys

import numpy as np
import pytest
from engines import BOTH, read_run

pytest.importorskip("numba", reason="an extra")

from numba import njit

from summaries import Event, Summary
from summaries.wire.compiled import primitives
from summaries.wire.compiled.scanner import Scanner
from summaries.wire.compiled.state import MORE
from summaries.wire.crc32c import masked_crc32c
from summaries.wire.index import Rows, Tags
from summaries.wire.layout import EVENT, VALUE
from summaries.wire.records import frame, length_crc
from summaries.wire.resync import short_length_crcs
from summaries.wire.scalars import encode_scalar


def from_python(function):
    """A compiled function of three arguments, as Python calls it: ours are for calls from compiled functions only."""
    return njit(lambda buffer, start, stop: function(buffer, start, stop))  # noqa: PLW0108 - numba compiles it


@pytest.mark.parametrize(
    "checksum",
    [from_python(primitives.checksum), from_python(primitives.sliced_crc)],
    ids=["this machine's", "tables"],
)
@pytest.mark.parametrize("size", [*range(20), 4096, 4103])
def test_checksum(checksum, size):
    data = np.random.default_rng(size).integers(256, size=size + 3, dtype=np.uint8)
    assert checksum(data, 3, 3 + size) == masked_crc32c(data[3:].tobytes())


def test_short_length_crcs():
    lengths = [0, 1, 24, 255, 256, 65535]
    assert short_length_crcs()[lengths].tolist() == [length_crc(n) for n in lengths]


varint = from_python(primitives.varint)


@pytest.mark.parametrize(
    ("data", "want"),
    [
        (b"\x00", (0, 1)),
        (b"\xac\x02", (300, 2)),
        (b"\xff" * 9 + b"\x01", (2**64 - 1, 10)),
        (b"\xff" * 9 + b"\x02", (0, -1)),
        (b"\xff" * 11, (0, -1)),
        (b"\x80", (0, -1)),
        (b"", (0, -1)),
    ],
)
def test_varint(data, want):
    assert varint(np.frombuffer(data + b"?", np.uint8), 0, len(data)) == want


def test_thousands_of_tags(tmp_path):
    tags = [f"layer{i}/{'x' * (i % 40)}" for i in range(3000)]
    path = tmp_path / "a.tfevents"
    values = [Summary.Value(tag=tag, simple_value=i) for i, tag in enumerate(tags)]
    events = [Event(step=step, wall_time=1.0, summary=Summary(value=values)) for step in range(15)]
    path.write_bytes(b"".join(frame(event.SerializeToString()) for event in events))
    run = read_run(path, engine="compiled")
    assert list(run.scalars) == tags
    assert all((series.value == i).all() and len(series) == 15 for i, series in enumerate(run.scalars.values()))


def test_an_event_with_more_values_than_there_is_room_for(tmp_path):
    path = tmp_path / "a.tfevents"
    values = [Summary.Value(tag="x", simple_value=i) for i in range(40_000)]
    event = frame(Event(step=1, wall_time=1.0, summary=Summary(value=values)).SerializeToString())
    path.write_bytes(event * 2)
    for engine in BOTH:
        assert read_run(path, engine=engine).scalars["x"].value.tolist() == [*range(40_000)] * 2


def test_a_record_larger_than_the_buffer(tmp_path):
    image = Summary.Value(tag="image", image=Summary.Image(encoded_image_string=bytes(3_000_000)))
    scalar = Summary.Value(tag="loss", simple_value=1.0)
    events = [Event(step=i, wall_time=1.0, summary=Summary(value=[image, scalar])) for i in range(3)]
    path = tmp_path / "a.tfevents"
    path.write_bytes(b"".join(frame(event.SerializeToString()) for event in events))
    run = read_run(path, engine="compiled")
    assert run.scalars["loss"].step.tolist() == [0, 1, 2]
    assert [len(images.encoded[0]) for images in run.images["image"]] == [3_000_000] * 3


def test_the_scanner_knows_a_tag_by_all_its_bytes():
    tags = ["", "a", "ab", *("b" * n + "c" for n in range(1, 30)), "b" * 300, "b" * 299 + "c", "c" * 2000]
    rows = Rows(Tags(), np.zeros(0, EVENT), np.zeros(100, VALUE))
    for tag in tags:
        rows.tags.number(tag)
    numbers = [3, 2, 1, 0, *reversed(range(len(tags)))]
    data = b"".join(encode_scalar(tags[number], 1, 1.0, 1.0) for number in numbers)
    assert Scanner(rows.tags).scan(np.frombuffer(data, np.uint8), len(data), 0, rows) == MORE
    assert rows.values["tag"][: len(numbers)].tolist() == numbers
    assert rows.cursor.tolist()[:3] == [len(data), len(numbers), len(numbers)]


CHECKED = """
import numba
import numpy as np
from summaries.wire.compiled import primitives
loads = ((primitives.load_u8, 1), (primitives.load_u32, 4), (primitives.load_u64, 8), (primitives.load_f32, 4),
         (primitives.load_f64, 8))
for intrinsic, size in loads:
    load = numba.njit(lambda buffer, offset: intrinsic(buffer, offset))
    load(np.zeros(size, np.uint8), 0)
    for offset in (1, -1):
        try:
            load(np.zeros(size, np.uint8), offset)
        except IndexError:
            continue
        raise SystemExit(f"{load} reads outside")
from summaries.native.calls import NativeError
from summaries.wire.compiled.scanner import Scanner
from summaries.wire.index import Rows, Tags
from summaries.wire.layout import EVENT, VALUE
rows = Rows(Tags(), np.zeros(0, EVENT), np.zeros(100, VALUE))
rows.cursor[0] = -1
try:
    Scanner(rows.tags).scan(np.zeros(1000, np.uint8), 100, 0, rows)
    raise SystemExit("the scanner is compiled without checks")
except NativeError as error:
    assert str(error) == "scan indexed outside an array"
import sys
from summaries import read_run
for path in sys.argv[1:]:
    run = read_run(path)
    assert run.tags
"""


def test_with_bounds_checks_no_access_is_outside(tmp_path):
    """The loads do complain under NUMBA_BOUNDSCHECK, and the scanner gives them no reason, wherever a file is cut."""
    tags = ["loss", "a much longer tag than that"]
    values = [Summary.Value(tag=tag, simple_value=1.5) for tag in tags]
    event = frame(Event(step=3, wall_time=1.5, summary=Summary(value=values)).SerializeToString())
    paths = []
    for cut in range(1, len(event), 3):
        paths.append(tmp_path / f"{cut}.tfevents")
        paths[-1].write_bytes(event * 3 + event[:-cut])
    environment = os.environ | {"NUMBA_BOUNDSCHECK": "1"}
    subprocess.run([sys.executable, "-c", CHECKED, *map(str, paths)], check=True, env=environment, timeout=300)
