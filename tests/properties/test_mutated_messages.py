"""Messages damaged inside sound records: every reader says the same of them, and what raises is a FormatError."""

import struct

import pytest
from engines import BOTH, read_run
from hypothesis import example, given, settings
from hypothesis import strategies as st

from summaries import Event, Summary, read_events
from summaries.errors import FormatError
from summaries.reading.kinds import KINDS
from summaries.wire import pb
from summaries.wire.records import RecordParser, frame
from summaries.wire.tensors import string_tensor


def value(tag, plugin="", **content):
    metadata = pb.SummaryMetadata(plugin_data=pb.SummaryMetadata.PluginData(plugin_name=plugin)) if plugin else None
    return Summary.Value(tag=tag, metadata=metadata, **content)


def floats(*shape):
    dims = [pb.TensorShapeProto.Dim(size=size) for size in shape]
    return pb.TensorProto(dtype=pb.DT_FLOAT, tensor_shape=pb.TensorShapeProto(dim=dims), float_val=[1.0, 2.0, 3.0])


GRAPH = pb.GraphDef(node=[pb.NodeDef(name="a", op="Const")]).SerializeToString()
VALUES = [
    value("scalar", simple_value=1.5),
    value("new/scalar", "scalars", tensor=pb.TensorProto(dtype=pb.DT_FLOAT, float_val=[1.0])),
    value("histo", histo=pb.HistogramProto(min=0, max=1, bucket_limit=[1.0, 2.0], bucket=[1.0, 0.0])),
    value("new/histo", "histograms", tensor=floats(1, 3)),
    value("image", image=Summary.Image(width=1, height=2, encoded_image_string=b"png")),
    value("new/image", "images", tensor=string_tensor([b"1", b"2", b"png"], [3])),
    value("audio", audio=Summary.Audio(encoded_audio_string=b"wav")),
    value("new/audio", "audio", tensor=string_tensor([b"wav", b"label"], [1, 2])),
    value("text", "text", tensor=string_tensor([b"one", b"two"], [2])),
    value("curve", "pr_curves", tensor=floats(3, 1)),
    value("mesh", "mesh", tensor=floats(1, 1, 3)),
    value("tensor", tensor=floats(3)),
]
EVENTS = [
    *(Event(wall_time=1.0, step=3, summary=Summary(value=[one])) for one in VALUES),
    Event(wall_time=1.0, step=3, summary=Summary(value=VALUES)),
    Event(wall_time=1.0, graph_def=GRAPH),
    Event(wall_time=1.0, meta_graph_def=b"\x12" + bytes([len(GRAPH)]) + GRAPH),
    Event(wall_time=1.0, tagged_run_metadata=pb.TaggedRunMetadata(tag="step", run_metadata=b"\x12\x00")),
    Event(wall_time=1.0, file_version="brain.Event:2"),
    Event(wall_time=0.0, step=0),
]
MESSAGES = [event.SerializeToString() for event in EVENTS]
ZERO_TIME = b"\x09" + struct.pack("<d", 0.0)


@st.composite
def mutated(draw):
    """The data of one record, with a few bytes of it changed, cut out or doubled."""
    data = bytearray(draw(st.sampled_from(MESSAGES)))
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(data)))
        stop = min(len(data), at + draw(st.integers(0, 6)))
        data[at:stop] = draw(st.one_of(st.binary(max_size=6), st.just(b""), st.just(data[at:stop] * 2)))
    return bytes(data)


def broken(event):
    return Event(wall_time=1.0, **event).SerializeToString()


def decode_everything(run):
    """Decode all that the run has; anything but a FormatError comes through."""
    for kind in KINDS:
        for items in getattr(run, kind).values():
            for i in range(len(items)):
                expect_format_error_at_most(lambda items=items, i=i: items[i])
    expect_format_error_at_most(lambda: run.graph)
    expect_format_error_at_most(lambda: run.run_metadata)
    assert isinstance(run.hparams, dict)


def expect_format_error_at_most(read):
    fault = None
    try:
        read()
    except FormatError as error:
        fault = error.fault
    assert fault is None or (fault.path and fault.offset >= 0 and fault.length >= 0)


@settings(deadline=None, max_examples=150)  # of up to six messages each
@given(st.lists(mutated(), min_size=1, max_size=6))
@example([broken({"meta_graph_def": b"\x0c"})])
@example([broken({"meta_graph_def": b"\x12\x05ab"})])
@example([broken({"meta_graph_def": b"\x08" + b"\xff" * 12})])
def test_whatever_is_decoded_only_format_errors_are_raised(tmp_path_factory, datas):
    path = tmp_path_factory.mktemp("run") / "a.tfevents"
    path.write_bytes(b"".join(map(frame, datas)))
    for engine in BOTH:
        decode_everything(read_run(path, engine=engine))


@settings(deadline=None, max_examples=150)  # of up to six messages each
@given(st.lists(mutated(), min_size=1, max_size=6))
@example([ZERO_TIME + b"\x7a\x00"])  # a wall time of zero, and a field that no Event has
@example([ZERO_TIME])
@example([b"\x10\x00\x7a\x00"])
@example([struct.pack("<Bd", 9, 1.0) + ZERO_TIME + b"\x7a\x00"])
def test_all_readers_agree(tmp_path_factory, datas):
    """An event is given by all ways of reading or by none, and the run's faults are those that a function hears of."""
    path = tmp_path_factory.mktemp("run") / "a.tfevents"
    path.write_bytes(b"".join(map(frame, datas)))
    faults = []
    told, skipped, raised = (
        [event.SerializeToString(deterministic=True) for event in events]
        for events in (
            read_events(path, on_fault=faults.append),
            read_events(path, on_fault="skip"),
            until_raised(path),
        )
    )
    assert told == skipped
    assert raised == told[: len(raised)]
    assert len(raised) == len(told) or any(fault.kind.is_data_loss for fault in faults)
    for engine in BOTH:
        run = read_run(path, engine=engine)
        assert list(run.faults) == faults
        assert run.tags == tags_of(skipped)


def until_raised(path):
    try:
        yield from read_events(path)
    except FormatError:
        return


def tags_of(events):
    values = (one for data in events for one in Event.FromString(data).summary.value)
    return tuple(dict.fromkeys(one.tag for one in values))


@pytest.mark.parametrize("data", MESSAGES)
def test_the_messages_are_sound(tmp_path, data):
    """What is mutated is read whole as it is."""
    (tmp_path / "a.tfevents").write_bytes(frame(data))
    parser = RecordParser()
    parser.feed(frame(data))
    assert [item.data for item in parser.items()] == [[data]]
    run = read_run(tmp_path)
    assert run.faults == ()
    assert sum(len(getattr(run, kind)) for kind in KINDS) + len(run.scalars) == len(run.tags)
