"""Graphs and meta graphs as TF1's FileWriter takes them, read back by us and by TensorBoard."""

import re
import sys
from types import SimpleNamespace

import onnx
import pytest
from helpers import events
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.compat.proto.meta_graph_pb2 import MetaGraphDef

from summaries import GraphDef, SummaryWriter, read_graph, read_run, write_graph
from summaries.wire.pb import NodeDef

GRAPH = GraphDef(node=[NodeDef(name="x", op="Placeholder")])
META = MetaGraphDef()
META.graph_def.node.add(name="x", op="Placeholder")
META.collection_def["losses"].node_list.value.append("x:0")


class Graph:
    """As TensorFlow's: its class is recognized by its module."""

    def as_graph_def(self, add_shapes=False):
        return GraphDef(node=[NodeDef(name="shapes" if add_shapes else "no shapes", op="Const")])


Graph.__module__ = "tensorflow.python.framework.ops"


@pytest.fixture
def tensorflow(monkeypatch):
    train = SimpleNamespace(export_meta_graph=lambda graph_def, graph: META)  # noqa: ARG005 - called by name
    v1 = SimpleNamespace(train=train)
    monkeypatch.setitem(sys.modules, "tensorflow", SimpleNamespace(compat=SimpleNamespace(v1=v1)))


@pytest.mark.parametrize("given", [META, META.SerializeToString()], ids=["message", "bytes"])
def test_a_meta_graph_is_read_back(logdir, given):
    with SummaryWriter(logdir) as writer:
        writer.add_meta_graph(given, 7)
    (event,) = events(logdir)
    assert (event.step, MetaGraphDef.FromString(event.meta_graph_def)) == (7, META)
    assert read_run(logdir).graph == GRAPH
    accumulator = EventAccumulator(str(logdir)).Reload()
    assert accumulator.Tags()["meta_graph"] is True
    assert accumulator.MetaGraph() == META
    assert [node.name for node in accumulator.Graph().node] == ["x"]


def test_what_is_no_meta_graph_is_not_logged(logdir):
    text = "meta_graph_def must be a message of type MetaGraphDef, got one of type GraphDef"
    with SummaryWriter(logdir) as writer, pytest.raises(TypeError, match=f"^{text}$"):
        writer.add_meta_graph(GRAPH)
    assert events(logdir) == []


@pytest.mark.usefixtures("tensorflow")
def test_the_first_graph_of_tensorflow_comes_with_its_meta_graph(logdir):
    SummaryWriter(logdir, Graph()).close()
    graph, meta_graph = events(logdir)
    assert [node.name for node in GraphDef.FromString(graph.graph_def).node] == ["shapes"]
    assert MetaGraphDef.FromString(meta_graph.meta_graph_def) == META
    assert [node.name for node in read_run(logdir).graph.node] == ["shapes"]


def test_a_graph_of_ours_comes_alone(logdir):
    SummaryWriter(logdir, GRAPH).close()
    assert [event.WhichOneof("what") for event in events(logdir)] == ["graph_def"]


def test_a_later_graph_comes_alone_and_a_graph_file_has_no_shapes(logdir, tmp_path):
    with SummaryWriter(logdir) as writer:
        writer.add_graph(Graph(), 3)
    (event,) = events(logdir)
    assert [node.name for node in GraphDef.FromString(event.graph_def).node] == ["shapes"]
    graph = read_graph(write_graph(Graph(), tmp_path, "graph.pbtxt"))  # as TF1's function
    assert [node.name for node in graph.node] == ["no shapes"]


@pytest.mark.parametrize(
    "add", [SummaryWriter.add_graph, lambda writer, *args: writer.add_graph(model=args[0], graph_def=args[2])]
)
def test_two_graphs_are_one_too_many(logdir, add):
    with (
        SummaryWriter(logdir) as writer,
        pytest.raises(ValueError, match=r"^add_graph needs a graph or a graph_def, got both$"),
    ):
        add(writer, GRAPH, 0, GRAPH)


def onnx_model():
    helper, kind = onnx.helper, onnx.TensorProto.FLOAT
    x, y = (helper.make_tensor_value_info(name, kind, [1]) for name in "xy")
    return helper.make_model(helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "model", [x], [y]))


def test_an_onnx_model_under_both_names_and_as_an_open_file(logdir, tmp_path):
    path = tmp_path / "model.onnx"
    onnx.save(onnx_model(), path)
    with SummaryWriter(logdir) as writer:
        writer.add_onnx_graph(str(path))
        writer.add_onnx_graph(prototxt=path)
        writer.add_onnx_graph(onnx_model_file=path)
        with path.open("rb") as file:
            writer.add_onnx_graph(file)
        for arguments, got in ({}, "neither"), ({"prototxt": path, "onnx_model_file": path}, "both"):
            text = f"prototxt and onnx_model_file are two names for one argument, got {got}"
            with pytest.raises(TypeError, match=f"^{re.escape(text)}$"):
                writer.add_onnx_graph(**arguments)
    first, *others = [event.graph_def for event in events(logdir)]
    assert others == [first] * 3
    assert [node.op for node in GraphDef.FromString(first).node] == ["Placeholder", "Relu", "Identity"]


def test_an_openvino_model(logdir, tmp_path):
    path = tmp_path / "model.xml"
    path.write_text('<net><layers><layer id="0" name="x" type="Parameter"/></layers><edges/></net>')
    with SummaryWriter(logdir) as writer:
        writer.add_openvino_graph(path)
    assert [(node.name, node.op) for node in read_run(logdir).graph.node] == [("x", "Parameter")]


def test_a_torch_module_needs_tensorboard(logdir, monkeypatch):
    module = type("Module", (), {"__module__": "torch.nn.modules.module"})()
    monkeypatch.setitem(sys.modules, "tensorboard", None)
    with SummaryWriter(logdir) as writer, pytest.raises(ImportError) as raised:
        writer.add_graph(module)
    assert str(raised.value) == "this needs tensorboard: pip install 'gradledger[tensorboard]'"


def test_what_plugins_want_is_written_with_the_graph(logdir):
    """As TF1's writer does; a plugin's files are in a collection of the graph."""
    prefix = "__tensorboard_plugin_asset__"
    asset = SimpleNamespace(plugin_name="beholder", assets=lambda: {"config.txt": "fast", "more": b"bytes"})
    collections = {prefix: ["beholder"], f"{prefix}beholder": [asset]}
    graph = SimpleNamespace(as_graph_def=lambda: GRAPH, get_collection=collections.__getitem__)
    with SummaryWriter(logdir) as writer:
        writer.add_graph(graph)
    assert (logdir / "plugins/beholder/config.txt").read_text() == "fast"
    assert (logdir / "plugins/beholder/more").read_bytes() == b"bytes"
