"""MetaGraphDefs: whose are taken, what is refused word for word, and which graphs TensorFlow exports."""

import sys
from types import SimpleNamespace

import pytest
from tensorboard.compat.proto.meta_graph_pb2 import MetaGraphDef

from summaries import GraphDef, Summary
from summaries.kinds.meta_graph import exported_meta_graph, is_tensorflow, meta_graph_bytes

META = MetaGraphDef()
META.graph_def.node.add(name="x", op="Placeholder")
META.collection_def["losses"].node_list.value.append("x:0")


@pytest.mark.parametrize("given", [META, META.SerializeToString()], ids=["message", "bytes"])
def test_a_message_or_its_bytes(given):
    assert meta_graph_bytes(given) == META.SerializeToString()


@pytest.mark.parametrize(
    ("given", "kind", "text"),
    [
        (7, TypeError, "meta_graph_def must be a protobuf message or its bytes, got int"),
        (Summary(), TypeError, "meta_graph_def must be a message of type MetaGraphDef, got one of type Summary"),
        (
            b"\x12\x85",
            ValueError,
            "meta_graph_def must be a MetaGraphDef, got 2 bytes that do not parse as one: a varint is not terminated",
        ),
    ],
)
def test_what_is_no_meta_graph(given, kind, text):
    with pytest.raises(kind) as caught:
        meta_graph_bytes(given)
    assert str(caught.value) == text


class Graph:
    """As TensorFlow's: its class is recognized by its module."""

    def as_graph_def(self, add_shapes=False):
        return GraphDef(node=[{"name": f"shapes: {add_shapes}"}])


Graph.__module__ = "tensorflow.python.framework.ops"


@pytest.fixture
def exported(monkeypatch):
    """The calls of TensorFlow's export_meta_graph."""
    calls = []

    def export_meta_graph(graph_def, graph):
        calls.append((graph_def, graph))
        return META

    v1 = SimpleNamespace(
        train=SimpleNamespace(export_meta_graph=export_meta_graph), get_default_graph=lambda: "default"
    )
    monkeypatch.setitem(sys.modules, "tensorflow", SimpleNamespace(compat=SimpleNamespace(v1=v1)))
    return calls


def test_tensorflow_exports_its_graph_with_shapes(exported):
    graph = Graph()
    assert exported_meta_graph(graph) == META.SerializeToString()
    assert exported == [(graph.as_graph_def(add_shapes=True), graph)]


def test_tensorflow_exports_its_graph_def_with_the_default_graphs_collections(exported):
    definition = type("GraphDef", (), {"__module__": "tensorflow.core.framework.graph_pb2"})()
    assert exported_meta_graph(definition) == META.SerializeToString()
    assert exported == [(definition, "default")]


@pytest.mark.parametrize("graph", [GraphDef(), b"", lambda: 0, META], ids=["ours", "bytes", "loss", "tensorboard's"])
def test_other_graphs_have_no_collections(graph):
    assert not is_tensorflow(graph)
    assert exported_meta_graph(graph) is None
