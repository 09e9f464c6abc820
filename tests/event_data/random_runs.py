"""Random events and the runs that they make: what tests of readers draw from, and how they compare what was read."""

import math
import struct

import numpy as np
from event_data.events import field
from hypothesis import strategies as st

from summaries import Event, SessionLog, Summary
from summaries.reading.kinds import KINDS
from summaries.reading.run import Run
from summaries.wire import pb

TAGS = ["", "a", "loss", "train/loss_of_a_longer_name", "漢字", "x" * 130, "note/text_summary"]


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
    assert (one.versions, one.records) == (other.versions, other.records)
    assert one.metadata == other.metadata
    assert [log[0::2] for log in one.session_logs] == [log[0::2] for log in other.session_logs]
    assert list(one.scalars) == list(other.scalars)
    for tag, series in one.scalars.items():
        for name in ("step", "wall_time", "value", "standing"):
            np.testing.assert_array_equal(getattr(series, name), getattr(other.scalars[tag], name), strict=True)
    for kind in KINDS:
        mine, theirs = getattr(one, kind), getattr(other, kind)
        assert list(mine) == list(theirs)
        for tag, items in mine.items():
            assert repr(items._locations.tolist()) == repr(theirs[tag]._locations.tolist())  # NaN is not itself
            np.testing.assert_array_equal(items.standing, theirs[tag].standing)
    assert repr(one._non_summary_events) == repr(other._non_summary_events)  # NaN is not itself


def written(directory, files):
    for i, data in enumerate(files):
        (directory / f"{i:03d}.tfevents").write_bytes(data)
    return directory
