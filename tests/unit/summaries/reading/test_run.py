"""Runs: what each kind of value becomes, what is wrong with a file, and what stands after restarts."""

import math
import os
import pathlib
import struct

import numpy as np
import pytest
from engines import ENGINES, read_run

from summaries import (
    Event,
    FaultKind,
    GraphDef,
    Run,
    RunMetadata,
    SessionLog,
    Standing,
    Summary,
    UndecodableError,
    read_events,
    read_logdir,
)
from summaries.wire import pb
from summaries.wire.pb.event_pb2 import TaggedRunMetadata
from summaries.wire.protobuf import varint
from summaries.wire.records import frame

VERSION = Event(wall_time=1.0, file_version="brain.Event:2")


def scalar(step, value, tag="loss", wall_time=1.0):
    summary = Summary(value=[Summary.Value(tag=tag, simple_value=value)])
    return Event(step=step, wall_time=wall_time, summary=summary)


def start(step):
    return Event(step=step, wall_time=1.0, session_log=SessionLog(status=SessionLog.START))


def file_of(*events):
    return b"".join(frame(event if isinstance(event, bytes) else event.SerializeToString()) for event in events)


@pytest.fixture(params=ENGINES)
def run_of(tmp_path, request):
    """Writes files of one run and reads them: bytes → Run."""

    def read(*files):
        for i, data in enumerate(files):
            (tmp_path / f"{i}.tfevents").write_bytes(data)
        return read_run(tmp_path, engine=request.param)

    return read


TENSORS = {
    "float": pb.TensorProto(dtype=pb.DT_FLOAT, float_val=[2.5]),
    "float, raw": pb.TensorProto(dtype=pb.DT_FLOAT, tensor_content=struct.pack("<f", 2.5)),
    "double": pb.TensorProto(dtype=pb.DT_DOUBLE, double_val=[2.5]),
    "double, raw": pb.TensorProto(dtype=pb.DT_DOUBLE, tensor_content=struct.pack("<d", 2.5)),
    "half": pb.TensorProto(dtype=pb.DT_HALF, half_val=[int(np.float16(2.5).view(np.uint16))]),
    "half, raw": pb.TensorProto(dtype=pb.DT_HALF, tensor_content=np.float16(2.5).tobytes()),
    "bfloat16": pb.TensorProto(dtype=pb.DT_BFLOAT16, half_val=[0x4020]),
    "one element": pb.TensorProto(
        dtype=pb.DT_FLOAT,
        tensor_shape=pb.TensorShapeProto(dim=[pb.TensorShapeProto.Dim(size=1)]),
        float_val=[2.5],
    ),
}
INTEGERS = {
    "int32": pb.TensorProto(dtype=pb.DT_INT32, int_val=[-7]),
    "int32, raw": pb.TensorProto(dtype=pb.DT_INT32, tensor_content=struct.pack("<i", -7)),
    "int64": pb.TensorProto(dtype=pb.DT_INT64, int64_val=[-7]),
    "int64, raw": pb.TensorProto(dtype=pb.DT_INT64, tensor_content=struct.pack("<q", -7)),
}


@pytest.mark.parametrize(
    ("tensor", "want"),
    [*((t, 2.5) for t in TENSORS.values()), *((t, -7.0) for t in INTEGERS.values())],
    ids=[*TENSORS, *INTEGERS],
)
def test_a_new_style_scalar(run_of, tensor, want):
    """Metadata comes with the first value, and counts for those that have none."""
    metadata = pb.SummaryMetadata(plugin_data=pb.SummaryMetadata.PluginData(plugin_name="scalars"))
    first = Summary.Value(tag="loss", tensor=tensor, metadata=metadata)
    later = Summary.Value(tag="loss", tensor=tensor)
    other = Summary.Value(
        tag="loss",
        tensor=tensor,
        metadata=pb.SummaryMetadata(plugin_data=pb.SummaryMetadata.PluginData(plugin_name="text")),
    )
    events = [Event(step=i, wall_time=1.0, summary=Summary(value=[v])) for i, v in enumerate([first, later, other])]
    run = run_of(file_of(VERSION, *events))
    assert run.scalars["loss"].value.tolist() == [want] * 3
    assert run.metadata["loss"].plugin_data.plugin_name == "scalars"


def test_the_files_of_a_run_are_merged_in_order(run_of):
    run = run_of(file_of(VERSION, scalar(1, 1.0)), file_of(VERSION, scalar(2, 2.0)), file_of(VERSION, scalar(0, 3.0)))
    assert run.scalars["loss"].step.tolist() == [1, 2, 0]
    assert [os.path.basename(path) for path in run.files] == ["0.tfevents", "1.tfevents", "2.tfevents"]


SUMMARY = b"\x0a\x01\xff\x15" + struct.pack("<f", 2.0)
BAD_TAG = b"\x2a" + varint(len(SUMMARY) + 2) + b"\x0a" + varint(len(SUMMARY)) + SUMMARY
GOOD = file_of(VERSION, scalar(1, 1.0))
NOISE = bytes(range(1, 200))
FAULTS = {
    "whole": (GOOD, 1, []),
    "empty file": (b"", 0, [FaultKind.EMPTY_FILE]),
    "no event file": (NOISE, 0, [FaultKind.NO_EVENT_FILE]),
    "other records": (file_of(b"\x0a\x03abc"), 0, [FaultKind.UNDECODABLE]),
    "cut tail": (GOOD + GOOD[:-1], 1, [FaultKind.UNFINISHED_TAIL]),
    "damaged payload": (GOOD[:-1] + b"!" + GOOD, 1, [FaultKind.DAMAGED_PAYLOAD]),
    "damaged length": (GOOD + b"!" + GOOD[1:] + GOOD, 3, [FaultKind.DAMAGED_LENGTH]),
    "zero-filled": (GOOD + bytes(100) + GOOD, 2, [FaultKind.ZERO_FILLED]),
    "all zero": (bytes(100), 0, [FaultKind.ZERO_FILLED]),
    "undecodable": (GOOD + file_of(b"\xff") + GOOD, 2, [FaultKind.UNDECODABLE]),
    "a huge claim": (GOOD + struct.pack("<Q", 2**40) + NOISE + GOOD, 2, [FaultKind.DAMAGED_LENGTH]),
    "negative step": (file_of(scalar(-3, 1.0)), 1, [FaultKind.NEGATIVE_STEP]),
    "NaN wall time": (file_of(scalar(1, 1.0, wall_time=math.nan)), 1, [FaultKind.NON_FINITE_WALL_TIME]),
    "infinite wall time": (file_of(scalar(1, 1.0, wall_time=-math.inf)), 1, [FaultKind.NON_FINITE_WALL_TIME]),
}


@pytest.mark.parametrize(("data", "points", "kinds"), FAULTS.values(), ids=FAULTS)
def test_faults(run_of, tmp_path, data, points, kinds):
    run = run_of(data)
    assert [fault.kind for fault in run.faults] == kinds
    assert sum(map(len, run.scalars.values())) == points
    assert all(fault.path == run.files[0] for fault in run.faults)
    heard = []
    list(read_events(run.files[0], on_fault=heard.append))
    assert tuple(heard) == run.faults


def test_a_huge_length_with_a_sound_checksum_allocates_nothing(run_of):
    """2 GB claimed, 100 bytes there: a tail, and no more."""
    from summaries.wire.records import length_crc

    head = struct.pack("<QI", 2**31 - 1, length_crc(2**31 - 1))
    run = run_of(GOOD + head + bytes(100))
    assert [fault.kind for fault in run.faults] == [FaultKind.UNFINISHED_TAIL]
    assert len(run.scalars["loss"]) == 1


def test_a_tag_that_is_no_text(run_of):
    run = run_of(file_of(BAD_TAG, scalar(1, 1.0), BAD_TAG))
    assert run.tags == ("\\xff", "loss")
    assert run.scalars["\\xff"].value.tolist() == [2.0, 2.0]
    first = run.faults[0]
    assert [fault.kind for fault in run.faults] == [FaultKind.UNDECODABLE_TEXT] * 2
    assert (first.reason, first.got, first.want) == ("tag is not UTF-8", r"b'\xff'", "UTF-8 text")


def test_a_session_start_and_a_later_write_supersede(run_of):
    events = [scalar(1, 1.0), scalar(2, 2.0), scalar(3, 3.0), start(3), scalar(4, 4.0), scalar(5, 5.0), scalar(5, 6.0)]
    series = run_of(file_of(VERSION, *events)).scalars["loss"]
    codes = [Standing(code).name for code in series.standing]
    assert codes == ["STANDS", "STANDS", "SESSION_RESTARTED", "STANDS", "WRITTEN_AGAIN", "STANDS"]
    assert series.latest().value.tolist() == [1.0, 2.0, 4.0, 6.0]
    assert series.value.tolist() == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]


def test_a_session_start_concerns_other_files_too(run_of):
    image = Summary.Value(tag="image", image=Summary.Image(width=1))
    images = [Event(step=i, wall_time=1.0, summary=Summary(value=[image])) for i in range(3)]
    run = run_of(file_of(VERSION, *images, scalar(7, 1.0)), file_of(start(1)), file_of(images[0]))
    assert run.scalars["loss"].latest().step.tolist() == []
    assert [Standing(code).name for code in run.images["image"].standing] == [
        "WRITTEN_AGAIN",
        "SESSION_RESTARTED",
        "SESSION_RESTARTED",
        "STANDS",
    ]
    assert run.images["image"].latest().step.tolist() == [0]


def test_old_and_new_style_give_the_same_values(run_of):
    def metadata(name):
        return pb.SummaryMetadata(plugin_data=pb.SummaryMetadata.PluginData(plugin_name=name))

    def strings(*items, shape=None):
        sizes = [len(items)] if shape is None else shape
        dims = [pb.TensorShapeProto.Dim(size=size) for size in sizes]
        return pb.TensorProto(dtype=7, string_val=items, tensor_shape=pb.TensorShapeProto(dim=dims))

    buckets = np.array([[0.0, 1.0, 3.0], [1.0, 2.0, 4.0]])
    dims = [pb.TensorShapeProto.Dim(size=2), pb.TensorShapeProto.Dim(size=3)]
    new = pb.TensorProto(dtype=2, tensor_content=buckets.tobytes(), tensor_shape=pb.TensorShapeProto(dim=dims))
    values = [
        Summary.Value(tag="h1", histo=pb.HistogramProto(min=0, max=2, bucket_limit=[1, 9], bucket=[3, 4])),
        Summary.Value(tag="h2", tensor=new, metadata=metadata("histograms")),
        Summary.Value(tag="i1", image=Summary.Image(width=2, height=3, encoded_image_string=b"PNG")),
        Summary.Value(tag="i2", tensor=strings(b"2", b"3", b"PNG"), metadata=metadata("images")),
        Summary.Value(tag="a1", audio=Summary.Audio(encoded_audio_string=b"WAV")),
        Summary.Value(tag="a2", tensor=strings(b"WAV", b"", shape=[1, 2]), metadata=metadata("audio")),
        Summary.Value(tag="t1/text_summary", tensor=strings(b"hi")),
        Summary.Value(tag="t2", tensor=strings(b"hi", shape=[]), metadata=metadata("text")),
    ]
    run = run_of(file_of(VERSION, *[Event(step=1, wall_time=1.0, summary=Summary(value=values))] * 2))
    for tag in ("h1", "h2"):
        np.testing.assert_array_equal(run.histograms[tag].value, [buckets, buckets])
    assert run.images["i1"].value == run.images["i2"].value == [(2, 3, (b"PNG",))] * 2
    assert run.audio["a1"].value == run.audio["a2"].value == [((b"WAV",), ("",))] * 2
    assert run.texts["t1/text_summary"].value == run.texts["t2"].value == ["hi", "hi"]


def test_graph_and_run_metadata(run_of):
    graph, timings = GraphDef(), RunMetadata()
    graph.node.add(name="x")
    timings.step_stats.dev_stats.add(device="cpu")
    events = [
        Event(graph_def=graph.SerializeToString()),
        Event(tagged_run_metadata=TaggedRunMetadata(tag="step1", run_metadata=timings.SerializeToString())),
    ]
    run = run_of(file_of(VERSION, *events))
    assert run.graph == graph
    assert run.run_metadata == {"step1": timings}
    run = run_of(file_of(VERSION, Event(meta_graph_def=b"\x12" + varint(graph.ByteSize()) + graph.SerializeToString())))
    assert run.graph == graph


@pytest.mark.only_on_disks(reason="S3 refuses to read an object that was replaced")
def test_a_value_whose_file_has_changed_says_so(run_of):
    value = Summary.Value(tag="image", image=Summary.Image(width=1))
    run = run_of(file_of(VERSION, Event(step=1, summary=Summary(value=[value]))))
    path = pathlib.Path(run.files[0])
    path.write_bytes(path.read_bytes().replace(b"image", b"gamma"))
    with pytest.raises(UndecodableError, match="the tag here is 'gamma' now"):
        run.images["image"][0]


def test_read_logdir_names_runs_by_their_path(tmp_path):
    for name in ("", "a", "a/b", "c"):
        (tmp_path / name).mkdir(exist_ok=True)
        (tmp_path / name / "x.tfevents").write_bytes(GOOD)
    for jobs in (None, 3):
        runs = read_logdir(tmp_path, jobs=jobs)
        assert list(runs) == [".", "a", "a/b", "c"]
        assert all(run.scalars["loss"].value.tolist() == [1.0] for run in runs.values())


def test_jobs_are_at_least_one(tmp_path):
    with pytest.raises(ValueError, match="jobs") as raised:
        read_logdir(tmp_path, jobs=0)
    assert str(raised.value) == "jobs must be at least 1, got 0"


@pytest.mark.only_on_disks(reason="a store has no empty directories")
@pytest.mark.parametrize("read", [read_run, read_logdir])
def test_nothing_there(tmp_path, read):
    with pytest.raises(FileNotFoundError, match="no event file"):
        read(tmp_path)
    with pytest.raises(FileNotFoundError, match="no such"):
        read(tmp_path / "missing")


def test_a_run_is_read_not_made():
    with pytest.raises(TypeError, match=r"a Run is what `read_run` returns: read_run\('runs'\)"):
        Run("runs")
