"""The compiled scanner: its checksums, its bounds, its tag table."""

import os
import subprocess
import sys

import numpy as np
import pytest
from google.protobuf.message import DecodeError
from helpers import run_script
from hypothesis import given
from hypothesis import strategies as st

from summaries import Event, Summary, read_run
from summaries.native import building, library
from summaries.wire.compiled.scanner import Scanner
from summaries.wire.compiled.state import MORE, ODD, UNUSUAL
from summaries.wire.index import Rows, Tags
from summaries.wire.layout import EVENT, VALUE
from summaries.wire.pb import SummaryMetadata
from summaries.wire.records import frame, length_crc
from summaries.wire.resync import short_length_crcs
from summaries.wire.scalars import encode_scalar


def rows_with(tags):
    """Rows to be filled, with these tags."""
    rows = Rows(Tags(), np.zeros(0, EVENT), np.zeros(100, VALUE))
    for tag in tags:
        rows.tags.number(tag)
    return rows


def scanned(data, tags=()):
    """Why the scanner stopped, and where."""
    rows = rows_with(tags)
    status = Scanner(rows.tags).scan(np.frombuffer(data, np.uint8), len(data), 0, rows)
    return status, int(rows.cursor[0])


@pytest.mark.parametrize("size", [*range(20), 4096, 4103, 70_000])
def test_checksums(size):
    """Whatever the data is, its checksum decides whether anybody looks at it."""
    record = frame(np.random.default_rng(size).integers(8, size=size, dtype=np.uint8).tobytes())
    assert scanned(record)[0] == (UNUSUAL if size else MORE)
    for at in {0, 8, 11, 12, len(record) // 2, len(record) - 1}:
        damaged = bytearray(record)
        damaged[at] ^= 0x10
        assert scanned(bytes(damaged)) == (ODD, 0)


def test_short_length_crcs():
    lengths = [0, 1, 24, 255, 256, 65535]
    assert short_length_crcs()[lengths].tolist() == [length_crc(n) for n in lengths]


@pytest.mark.parametrize(
    ("varint", "step"),
    [
        (b"\x00", 0),
        (b"\xac\x02", 300),
        (b"\xff" * 8 + b"\x7f", 2**63 - 1),
        (b"\xac\x82\x80\x00", 300),  # longer than it needs to be
        (b"\xff" * 9 + b"\x01", None),  # below zero, which protobuf has to report
        (b"\xff" * 9 + b"\x02", None),
        (b"\xff" * 11, None),
        (b"\x80", None),
        (b"", None),
    ],
)
def test_varints(varint, step):
    """What is no varint, or a step below zero, is left to protobuf."""
    value = encode_scalar("x", 0, 1.0, 2.0)[12 + 9 : -4]
    record = frame(b"\x09" + bytes(8) + b"\x10" + varint + value)
    assert scanned(record, ["x"]) == ((UNUSUAL, 0) if step is None else (MORE, len(record)))


@pytest.mark.parametrize("padding", range(11))
@pytest.mark.parametrize("of", ["summary", "value", "tag", "key in a tensor", "length in a tensor"])
def test_keys_and_lengths_may_be_longer_than_they_need_to_be_as_protobuf_has_it(of, padding):
    def padded(number, name):
        rest = padding if of == name else 0
        return bytes([number | 0x80, *[0x80] * (rest - 1), 0]) if rest else bytes([number])

    if "tensor" in of:
        tensor = padded(0x2A, "key in a tensor") + padded(4, "length in a tensor") + bytes(4)
        number = b"\x42" + bytes([len(tensor)]) + tensor
    else:
        number = b"\x15" + bytes(4)
    value = b"\x0a" + padded(1, "tag") + b"x" + number
    summary = b"\x0a" + padded(len(value), "value") + value
    data = b"\x09" + bytes(8) + b"\x10\x01\x2a" + padded(len(summary), "summary") + summary
    try:
        Event.FromString(data)
    except DecodeError:
        assert scanned(frame(data), ["x"]) == (UNUSUAL, 0)
    else:
        assert scanned(frame(data), ["x"])[0] == MORE


def named(name):
    """The record of a scalar with the tag "x" and a node's name."""
    value = b"\x0a\x01x\x3a" + bytes([len(name)]) + name + b"\x15" + bytes(4)
    return frame(b"\x09" + bytes(8) + b"\x10\x01\x2a" + bytes([len(value) + 2, 0x0A, len(value)]) + value)


@given(st.one_of(st.text(max_size=20).map(str.encode), st.binary(max_size=8)))
def test_text_is_what_python_takes_for_text(name):
    try:
        name.decode()
    except UnicodeDecodeError:
        assert scanned(named(name), ["x"])[0] == UNUSUAL
    else:
        assert scanned(named(name), ["x"])[0] == MORE


EDGES = ["7f", "c280", "dfbf", "e0a080", "ed9fbf", "ee8080", "efbfbf", "f0908080", "f48fbfbf"]
NO_TEXT = ["80", "c1bf", "e09fbf", "eda080", "edbfbf", "f08fbfbf", "f4908080", "f5808080", "c2", "e0a0", "c2c2"]


@pytest.mark.parametrize("name", EDGES + NO_TEXT)
def test_text_at_the_edges_of_what_is_text(name):
    assert scanned(named(bytes.fromhex(name)), ["x"])[0] == (MORE if name in EDGES else UNUSUAL)


def test_a_description_beyond_ascii_needs_no_protobuf():
    metadata = SummaryMetadata(plugin_data={"plugin_name": "scalars"}, summary_description="größe")
    value = Summary.Value(tag="x", metadata=metadata, tensor={"dtype": 1, "float_val": [2.0]})
    rows = rows_with(["x"])
    rows.tags.describe(0, metadata)
    data = frame(Event(step=1, wall_time=1.0, summary=Summary(value=[value])).SerializeToString())
    assert Scanner(rows.tags).scan(np.frombuffer(data, np.uint8), len(data), 0, rows) == MORE
    assert rows.values[["value", "step", "tag"]][0].tolist() == (2.0, 1, 0)


def test_thousands_of_tags(tmp_path):
    tags = [f"layer{i}/{'x' * (i % 40)}" for i in range(3000)]
    path = tmp_path / "a.tfevents"
    values = [Summary.Value(tag=tag, simple_value=i) for i, tag in enumerate(tags)]
    events = [Event(step=step, wall_time=1.0, summary=Summary(value=values)) for step in range(15)]
    path.write_bytes(b"".join(frame(event.SerializeToString()) for event in events))
    run = read_run(path)
    assert list(run.scalars) == tags
    assert all((series.value == i).all() and len(series) == 15 for i, series in enumerate(run.scalars.values()))


def test_an_event_with_more_values_than_there_is_room_for(tmp_path):
    path = tmp_path / "a.tfevents"
    values = [Summary.Value(tag="x", simple_value=i) for i in range(40_000)]
    event = frame(Event(step=1, wall_time=1.0, summary=Summary(value=values)).SerializeToString())
    path.write_bytes(event * 2)
    for kernels in ("compiled", "plain"):
        library.use(kernels)
        try:
            assert read_run(path).scalars["x"].value.tolist() == [*range(40_000)] * 2
        finally:
            library.use(None)


def test_a_record_larger_than_the_buffer(tmp_path):
    image = Summary.Value(tag="image", image=Summary.Image(encoded_image_string=bytes(3_000_000)))
    scalar = Summary.Value(tag="loss", simple_value=1.0)
    events = [Event(step=i, wall_time=1.0, summary=Summary(value=[image, scalar])) for i in range(3)]
    path = tmp_path / "a.tfevents"
    path.write_bytes(b"".join(frame(event.SerializeToString()) for event in events))
    run = read_run(path)
    assert run.scalars["loss"].step.tolist() == [0, 1, 2]
    assert [len(images.encoded[0]) for images in run.images["image"]] == [3_000_000] * 3


def test_the_scanner_knows_a_tag_by_all_its_bytes():
    tags = ["", "a", "ab", *("b" * n + "c" for n in range(1, 30)), "b" * 300, "b" * 299 + "c", "c" * 2000]
    numbers = [3, 2, 1, 0, *reversed(range(len(tags)))]
    data = b"".join(encode_scalar(tags[number], 1, 1.0, 1.0) for number in numbers)
    rows = rows_with(tags)
    assert Scanner(rows.tags).scan(np.frombuffer(data, np.uint8), len(data), 0, rows) == MORE
    assert rows.values["tag"][: len(numbers)].tolist() == numbers
    assert rows.cursor.tolist()[:3] == [len(data), len(numbers), len(numbers)]


def test_a_scalar_with_a_new_tag_needs_no_protobuf():
    wanted = Tags(lambda name: name != "unwanted")
    rows = Rows(wanted, np.zeros(0, EVENT), np.zeros(100, VALUE))
    names = ["loss", "unwanted", "größe", "unwanted", "loss", ""]
    data = b"".join(encode_scalar(name, step, 1.0, 2.0) for step, name in enumerate(names))
    assert Scanner(wanted).scan(np.frombuffer(data, np.uint8), len(data), 0, rows) == MORE
    assert wanted.names == ["loss", "unwanted", "größe", ""]
    assert rows.cursor.tolist()[:3] == [len(data), 6, 4]
    assert rows.values[["step", "tag"]][:4].tolist() == [(0, 0), (2, 2), (4, 0), (5, 3)]


def test_a_new_tag_that_is_no_text_is_left_to_protobuf():
    data = frame(encode_scalar("tag?", 1, 1.0, 2.0)[12:-4].replace(b"tag?", b"tag\xff"))
    assert scanned(data) == (UNUSUAL, 0)


# For one level of the processor, which all have, and in one part: the checks are in what is compiled for every level.
BUILD = """
import sys
from summaries.native import building
building._PARTS = 1  # both here, so that it is so in the processes that compile
building.modules = lambda: ("summaries.wire.compiled.scan",)
if __name__ == "__main__":
    target = building.host()
    building.build([target._replace(levels=target.levels[-1:])], sys.argv[1])
"""
CHECKED = """
import sys
from summaries.native import library
library.DIRECTORY = sys.argv[1]
import numpy as np
from summaries import read_run
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
for path in sys.argv[2:]:
    assert read_run(path).tags
"""


def test_with_bounds_checks_no_access_is_outside(tmp_path):
    """A library that is built with NUMBA_BOUNDSCHECK does complain, and has no reason to, wherever a file is cut."""
    pytest.importorskip("numba", reason="only to build")
    run_script(tmp_path, BUILD, tmp_path, env=os.environ | {"NUMBA_BOUNDSCHECK": "1"}, timeout=300)
    tags = ["loss", "a much longer tag than that"]
    values = [Summary.Value(tag=tag, simple_value=1.5) for tag in tags]
    event = frame(Event(step=3, wall_time=1.5, summary=Summary(value=values)).SerializeToString())
    paths = []
    for cut in range(1, len(event), 3):
        paths.append(tmp_path / f"{cut}.tfevents")
        paths[-1].write_bytes(event * 3 + event[:-cut])
    command = [sys.executable, "-c", CHECKED, tmp_path, *paths]
    subprocess.run(command, check=True, cwd=building.ROOT, timeout=300)
