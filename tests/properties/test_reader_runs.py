"""Random events, in random files, with random damage: nothing is lost but what is damaged, and fast equals plain."""

import math
import struct
from importlib.util import find_spec

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from summaries import Event, FaultKind, SessionLog, Summary, read_events, read_run
from summaries.patterns import matcher
from summaries.reading.run import Run
from summaries.wire import pb
from summaries.wire.protobuf import varint
from summaries.wire.records import frame

needs_numba = pytest.mark.skipif(find_spec("numba") is None, reason="numba is an extra")

TAGS = ["", "a", "loss", "train/loss_of_a_longer_name", "漢字", "x" * 130, "note/text_summary"]
DAMAGE = {
    FaultKind.DAMAGED_LENGTH,
    FaultKind.DAMAGED_PAYLOAD,
    FaultKind.ZERO_FILLED,
    FaultKind.UNFINISHED_TAIL,
    FaultKind.NO_EVENT_FILE,
}


def field(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


def tensors():
    shapes = st.sampled_from([[], [1], [2], [0]])

    def build(dtype, shape, number, raw):
        dims = [pb.TensorShapeProto.Dim(size=size) for size in shape]
        tensor = pb.TensorProto(dtype=dtype, tensor_shape=pb.TensorShapeProto(dim=dims))
        if raw:
            kind = {pb.DT_FLOAT: "<f4", pb.DT_DOUBLE: "<f8", pb.DT_INT32: "<i4", pb.DT_INT64: "<i8", pb.DT_HALF: "<f2"}
            tensor.tensor_content = np.full(math.prod(shape), number, kind[dtype]).tobytes()
        elif dtype == pb.DT_HALF:
            tensor.half_val.append(int(np.float16(number).view(np.uint16)))
        else:
            names = {pb.DT_FLOAT: "float", pb.DT_DOUBLE: "double", pb.DT_INT32: "int", pb.DT_INT64: "int64"}
            getattr(tensor, names[dtype] + "_val").append(number)
        return tensor

    kinds = st.sampled_from([pb.DT_FLOAT, pb.DT_DOUBLE, pb.DT_INT32, pb.DT_INT64, pb.DT_HALF])
    return st.builds(build, kinds, shapes, st.integers(-100, 100), st.booleans())


METADATA = st.sampled_from(["", "scalars", "histograms", "text"]).map(
    lambda name: pb.SummaryMetadata(plugin_data=pb.SummaryMetadata.PluginData(plugin_name=name), display_name="dé")
)
VALUE = st.one_of(
    st.builds(Summary.Value, simple_value=st.floats(width=32)),
    st.builds(Summary.Value, tensor=tensors()),
    st.builds(Summary.Value, tensor=tensors(), metadata=METADATA),
    st.builds(Summary.Value, simple_value=st.floats(width=32), metadata=METADATA),
    st.builds(Summary.Value, histo=st.builds(pb.HistogramProto, min=st.floats(), bucket=st.lists(st.floats()))),
    st.builds(Summary.Value, image=st.builds(Summary.Image, encoded_image_string=st.binary(max_size=40))),
    st.builds(Summary.Value, metadata=METADATA, node_name=st.sampled_from(["", "node", "ñ"])),
).flatmap(lambda value: st.sampled_from(TAGS).map(lambda tag: _tagged(value, tag)))


def _tagged(value, tag):
    value.tag = tag
    return value


STEP = st.one_of(st.integers(0, 5), st.integers(-3, 2**40))
WALL_TIME = st.one_of(st.floats(1.7e9, 1.8e9), st.sampled_from([0.0, math.nan, math.inf]))
SCALAR = st.builds(
    lambda tag, number, step, wall_time: Event(
        step=step, wall_time=wall_time, summary=Summary(value=[Summary.Value(tag=tag, simple_value=number)])
    ),
    st.sampled_from(TAGS),
    st.floats(width=32),
    STEP,
    WALL_TIME,
)
EVENT = st.one_of(
    SCALAR,
    SCALAR,
    st.builds(Event, step=STEP, wall_time=WALL_TIME, summary=st.builds(Summary, value=st.lists(VALUE, max_size=4))),
    st.builds(Event, step=STEP, session_log=st.builds(SessionLog, status=st.integers(0, 3))),
    st.builds(Event, wall_time=WALL_TIME, graph_def=st.binary(max_size=9)),
    st.builds(Event, step=STEP, wall_time=WALL_TIME),
).map(Event.SerializeToString)
BAD_TAG = st.builds(
    lambda tag, number: field(5, field(1, field(1, tag) + b"\x15" + struct.pack("<f", number))),
    st.sampled_from([b"\xff", b"a\xc3", b"\xed\xa0\x80"]),
    st.floats(width=32),
)
ODD_EVENT = st.one_of(
    st.binary(max_size=30),
    BAD_TAG,
    st.lists(EVENT, min_size=2, max_size=3).map(b"".join),
    st.builds(lambda data, number: data + field(number, b"?"), EVENT, st.integers(1, 20)),
    st.builds(lambda data, cut: data[:cut], EVENT, st.integers(0, 60)),
)


def same(one: Run, other: Run):
    assert one.tags == other.tags
    assert one.faults == other.faults
    assert one.metadata == other.metadata
    assert [log[0::2] for log in one.session_logs] == [log[0::2] for log in other.session_logs]
    assert list(one.scalars) == list(other.scalars)
    for tag, series in one.scalars.items():
        for name in ("step", "wall_time", "value", "standing"):
            np.testing.assert_array_equal(getattr(series, name), getattr(other.scalars[tag], name), strict=True)
    for kind in ("histograms", "images", "audio", "texts", "tensors", "pr_curves", "meshes"):
        mine, theirs = getattr(one, kind), getattr(other, kind)
        assert list(mine) == list(theirs)
        for tag, items in mine.items():
            assert repr(items._places.tolist()) == repr(theirs[tag]._places.tolist())  # NaN is not itself
            np.testing.assert_array_equal(items.standing, theirs[tag].standing)
    assert repr(one._non_summary_events) == repr(other._non_summary_events)  # NaN is not itself


def written(directory, files):
    for i, data in enumerate(files):
        (directory / f"{i:03d}.tfevents").write_bytes(data)
    return directory


@needs_numba
@settings(deadline=None)
@given(files=st.lists(st.lists(st.one_of(EVENT, EVENT, ODD_EVENT), max_size=25), min_size=1, max_size=3))
def test_fast_equals_plain_on_any_records(tmp_path_factory, files):
    directory = written(tmp_path_factory.mktemp("run"), [b"".join(map(frame, file)) for file in files])
    same(read_run(directory, fast=True), read_run(directory, fast=False))


class Selected:
    """A run as `read_run(tags=patterns)` has to return it: what the whole run has of these tags."""

    KINDS = ("scalars", "histograms", "images", "audio", "texts", "tensors", "pr_curves", "meshes", "metadata")

    def __init__(self, run, patterns):
        wanted = matcher(patterns)
        self.tags = tuple(filter(wanted, run.tags))
        for kind in self.KINDS:
            setattr(self, kind, {tag: own for tag, own in getattr(run, kind).items() if wanted(tag)})
        self.faults, self.session_logs = run.faults, run.session_logs
        self._non_summary_events = run._non_summary_events


PATTERNS = st.one_of(st.sampled_from(TAGS), st.lists(st.sampled_from([*TAGS, "*loss*", "?", "*"]), max_size=3))


def same_selection(selected: Run, run: Run, patterns):
    want = Selected(run, patterns)
    for kind in Selected.KINDS[1:-1]:  # the places have the numbers of the tags, which are the whole run's
        for tag, items in getattr(selected, kind).items():
            assert selected._numbers[tag] == run._numbers[tag]
            assert len(items)
    same(selected, want)
    assert (selected.files, selected.versions, selected.records) == (run.files, run.versions, run.records)
    assert [selected.file_starts(tag) for tag in selected.tags] == [run.file_starts(tag) for tag in want.tags]


@needs_numba
@settings(deadline=None)
@given(
    files=st.lists(st.lists(st.one_of(EVENT, EVENT, ODD_EVENT), max_size=25), min_size=1, max_size=3),
    patterns=PATTERNS,
)
def test_selected_tags_are_the_same_as_when_all_are_read(tmp_path_factory, files, patterns):
    directory = written(tmp_path_factory.mktemp("run"), [b"".join(map(frame, file)) for file in files])
    run = read_run(directory, fast=False)
    for fast in (True, False):
        same_selection(read_run(directory, fast=fast, tags=patterns), run, patterns)


@st.composite
def damaged_files(draw):
    """(The records, the file's bytes, which byte ranges were damaged.)"""
    records = [frame(data) for data in draw(st.lists(EVENT, min_size=1, max_size=20))]
    data = bytearray(b"".join(records))
    spans = []
    for _ in range(draw(st.integers(0, 3))):
        if not data:
            break
        start = draw(st.integers(0, len(data) - 1))
        length = draw(st.integers(1, 40))
        what = draw(st.sampled_from(["flip", "zero", "noise"]))
        stop = min(len(data), start + length if what != "flip" else start + 1)
        old = bytes(data[start:stop])
        new = {
            "flip": bytes([old[0] ^ 1 << draw(st.integers(0, 7))]),
            "zero": bytes(stop - start),
            "noise": draw(st.binary(min_size=stop - start, max_size=stop - start)),
        }[what]
        data[start:stop] = new
        spans.append((start, stop))
    cut = draw(st.one_of(st.none(), st.integers(0, len(data))))
    return records, bytes(data), spans, len(data) if cut is None else cut


@needs_numba
@settings(deadline=None)
@given(damaged_files())
def test_fast_equals_plain_on_damaged_files(tmp_path_factory, file):
    _, data, _, cut = file
    directory = written(tmp_path_factory.mktemp("run"), [data[:cut]])
    same(read_run(directory, fast=True), read_run(directory, fast=False))


@needs_numba
@settings(deadline=None)
@given(damaged_files(), PATTERNS)
def test_selected_tags_of_damaged_files(tmp_path_factory, file, patterns):
    _, data, _, cut = file
    directory = written(tmp_path_factory.mktemp("run"), [data[:cut]])
    run = read_run(directory, fast=False)
    for fast in (True, False):
        same_selection(read_run(directory, fast=fast, tags=patterns), run, patterns)


@settings(deadline=None)
@given(damaged_files())
def test_every_undamaged_record_comes_back_and_every_damage_is_reported(tmp_path_factory, file):
    records, data, _, cut = file
    path = tmp_path_factory.mktemp("run") / "a.tfevents"
    path.write_bytes(data[:cut])
    faults = []
    events = [event.SerializeToString(deterministic=True) for event in read_events(path, on_fault=faults.append)]
    want, lost, offset = [], [], 0
    for record in records:
        whole = data[offset : offset + len(record)] == record and offset + len(record) <= cut
        if whole:
            want.append(Event.FromString(record[12:-4]).SerializeToString(deterministic=True))
        else:
            lost.append((offset, min(offset + len(record), cut)))
        offset += len(record)
    assert _is_subsequence(want, events)
    covered = [(fault.offset, fault.offset + fault.length) for fault in faults if fault.kind in DAMAGE]
    for start, stop in lost:
        if start < stop:
            assert any(first < stop and last > start for first, last in covered)


def _is_subsequence(want, got):
    rest = iter(got)
    return all(any(one == other for other in rest) for one in want)


@settings(deadline=None)
@given(st.lists(SCALAR, max_size=40).map(lambda events: [event.SerializeToString() for event in events]), st.data())
def test_any_split_into_files_gives_the_same_points(tmp_path_factory, events, data):
    cuts = sorted(data.draw(st.lists(st.integers(0, len(events)), max_size=3)))
    pieces = [events[a:b] for a, b in zip([0, *cuts], [*cuts, len(events)], strict=True)]
    one = written(tmp_path_factory.mktemp("one"), [b"".join(map(frame, events))])
    many = written(tmp_path_factory.mktemp("many"), [b"".join(map(frame, piece)) for piece in pieces])
    together, apart = read_run(one), read_run(many)
    assert together.tags == apart.tags
    for tag, series in together.scalars.items():
        for name in ("step", "wall_time", "value"):
            np.testing.assert_array_equal(getattr(series, name), getattr(apart.scalars[tag], name))


@settings(deadline=None)
@given(st.binary(max_size=200), st.sampled_from([None, False]))
def test_any_bytes_are_read_without_an_error(tmp_path_factory, data, fast):
    path = tmp_path_factory.mktemp("run") / "a.tfevents"
    path.write_bytes(data)
    run = read_run(path, fast=fast)
    assert run.faults
    for kind in ("histograms", "images", "audio", "texts", "tensors", "pr_curves", "meshes"):
        assert not getattr(run, kind)
