"""Graphs that cannot be read are UndecodableErrors with file and offset."""

import pytest
from engines import ENGINES, read_run

from summaries import Event
from summaries.errors import UndecodableError
from summaries.wire import pb
from summaries.wire.records import frame

FIRST = frame(Event(wall_time=1.0, file_version="brain.Event:2").SerializeToString())

# Bytes that a MetaGraphDef cannot have: (bytes, what the error says).
BROKEN = {
    "the end of a group": (b"\x0c", "wire type 4 is not allowed in an event"),
    "a long field": (b"\x12\x05ab", "a field is longer than its message"),
    "a long number": (b"\x08" + b"\xff" * 12, "a varint is not terminated"),
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("data", "got"), BROKEN.values(), ids=BROKEN)
def test_a_broken_meta_graph(tmp_path, data, got, engine):
    path = tmp_path / "a.tfevents"
    path.write_bytes(FIRST + frame(Event(wall_time=1.0, meta_graph_def=data).SerializeToString()))
    run = read_run(path, engine=engine)
    with pytest.raises(UndecodableError) as caught:
        _ = run.graph
    assert str(caught.value).startswith(f"data is not a GraphDef: got {got}, want GraphDef - at {path}, ")
    assert caught.value.fault.offset == len(FIRST)


def test_broken_run_metadata(tmp_path):
    path = tmp_path / "a.tfevents"
    tagged = pb.TaggedRunMetadata(tag="step", run_metadata=b"\x0a\x05")
    path.write_bytes(FIRST + frame(Event(wall_time=1.0, tagged_run_metadata=tagged).SerializeToString()))
    run = read_run(path)
    with pytest.raises(UndecodableError, match=r"^data is not a RunMetadata: got "):
        _ = run.run_metadata


def test_the_parts_of_a_meta_graph_are_merged(tmp_path):
    path = tmp_path / "a.tfevents"
    parts = [pb.GraphDef(node=[pb.NodeDef(name=name)]).SerializeToString() for name in ("a", "b")]
    meta = b"".join(b"\x12" + bytes([len(part)]) + part for part in parts)
    path.write_bytes(FIRST + frame(Event(wall_time=1.0, meta_graph_def=meta).SerializeToString()))
    assert [node.name for node in read_run(path).graph.node] == ["a", "b"]
