"""Hypothesis strategies: the data of events as any writer may have written them, with fields that we do not know."""

from hypothesis import strategies as st

from summaries import Event, SessionLog, Summary
from summaries.wire.pb import HistogramProto, SummaryMetadata, TensorProto
from summaries.wire.protobuf import varint
from summaries.wire.records import frame

TAGS = ("loss", "val/loss", "grad/a", "grad/b", "é", "_hparams_/session_start_info")
SCALARS = SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name="scalars"))
TEXT = SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name="text", content=b"1"))


def long_varint(number):
    """A varint of one byte more than it needs, as some writers reserve room."""
    return bytes([*(byte | 0x80 for byte in varint(number)), 0])


def field(number, contents, size=varint):
    return varint(number << 3 | 2) + size(len(contents)) + contents


STEPS = st.integers(0, 300)
UNKNOWN = st.sampled_from([b"", b"", field(15, b"new"), b"\x78\x05", field(14, b"")])
SIZES = st.sampled_from([varint, varint, varint, long_varint])


@st.composite
def values(draw):
    """The bytes of a Summary.Value."""
    tag = draw(st.sampled_from(TAGS))
    value = Summary.Value(tag=tag)
    kind = draw(st.sampled_from(["simple", "simple", "simple", "tensor", "double", "histo", "text", "nothing"]))
    if kind == "simple":
        value.simple_value = draw(st.floats(width=32))
    elif kind == "tensor":
        value.tensor.CopyFrom(TensorProto(dtype=1, float_val=[draw(st.floats(-9, 9, width=32))]))
    elif kind == "double":
        value.tensor.CopyFrom(TensorProto(dtype=2, tensor_content=b"\0" * 8))
    elif kind == "histo":
        value.histo.CopyFrom(HistogramProto(min=1, max=2, num=1, bucket=[1], bucket_limit=[2]))
    elif kind == "text":
        value.tensor.CopyFrom(TensorProto(dtype=7, string_val=[b"words"]))
    if kind == "nothing" or draw(st.integers(0, 3)) == 0:
        value.metadata.CopyFrom(draw(st.sampled_from([SCALARS, TEXT, SummaryMetadata(display_name="x")])))
    return value.SerializeToString() + draw(UNKNOWN)


@st.composite
def summary_events(draw, steps=STEPS):
    """The data of an event with a summary."""
    size = draw(SIZES)
    summary = b"".join(field(1, value, draw(SIZES)) for value in draw(st.lists(values(), min_size=1, max_size=4)))
    head = Event(wall_time=draw(st.floats(1, 2e9)), step=draw(steps)).SerializeToString()
    return head + field(5, summary + draw(UNKNOWN), size) + draw(UNKNOWN)


def plain_scalars(steps=STEPS):
    """The data of an event with one scalar in the usual form."""

    def event(tag, step, value):
        return Event(
            wall_time=1.5, step=step, summary=Summary(value=[Summary.Value(tag=tag, simple_value=value)])
        ).SerializeToString()

    return st.builds(event, st.sampled_from(TAGS[:5]), steps, st.floats(width=32))


OTHERS = st.sampled_from(
    [
        Event(wall_time=1.0, file_version="brain.Event:2").SerializeToString(),
        Event(wall_time=1.0, step=3, graph_def=b"graph").SerializeToString(),
        Event(wall_time=1.0, step=9, meta_graph_def=b"meta").SerializeToString() + field(15, b"new"),
        Event(wall_time=1.0, step=2, session_log=SessionLog(status=SessionLog.START)).SerializeToString(),
        Event(wall_time=1.0, step=5).SerializeToString(),
        b"",
    ]
)
"""Events without a summary."""

ODD = st.sampled_from(
    [
        b"\xff",  # not an Event
        field(5, field(1, b"\x0a\x02\xff\xfe\x15" + bytes(4))) + b"\x10\x04",  # a tag that is not UTF-8
        Event(wall_time=float("nan"), step=1).SerializeToString(),
        Event(wall_time=1.0, step=-4, summary=Summary(value=[Summary.Value(tag="loss")])).SerializeToString(),
        field(5, field(1, b"\x0a\x01a")) + field(4, b"graph") + field(5, field(1, b"\x0a\x01b")),
    ]
)
"""Events with faults, and one whose first summary a graph replaces."""


def sound_events():
    """The data of events that lose nothing when they are read."""
    return st.lists(st.one_of(plain_scalars(), plain_scalars(), summary_events(), OTHERS), max_size=12)


def streams():
    """Bytes of event files: sound events, odd ones, and damage between them."""
    record = st.one_of(plain_scalars(), plain_scalars(), summary_events(), OTHERS, ODD).map(frame)
    damage = st.one_of(st.binary(max_size=30), st.integers(0, 30).map(bytes), record.map(lambda whole: whole[:-1]))
    return st.lists(st.one_of(record, record, record, damage), max_size=14).map(b"".join)
