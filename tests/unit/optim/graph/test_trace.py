"""A loss as a graph: TensorFlow's names, attributes and shapes; and what each call cost."""

import itertools

import numpy as np
import pytest
from optimizing.losses import FUNCTIONS, LOSSES, inputs

from optim import GradientTape, Variable, gradients, name_scope, stop_gradient, trace_graph, trace_run
from summaries import SummaryWriter, read_graph, summary_iterator, write_graph
from summaries.wire import pb
from summaries.wire.pb import GraphDef
from summaries.wire.tensors import decode_tensor


@pytest.fixture
def network():
    """A loss of two layers, float32."""
    rng = np.random.default_rng(0)
    weights = Variable(rng.standard_normal((4, 3)).astype(np.float32), name="layer1/weights")
    bias = Variable(np.zeros(3), name="layer1/bias", dtype=np.float32)
    out = Variable(rng.standard_normal((3, 2)).astype(np.float32), name="layer2/weights", trainable=False)
    x = rng.standard_normal((5, 4)).astype(np.float32)

    def loss():
        with name_scope("layer1"):
            hidden = np.tanh(x @ weights + bias)
        with name_scope("layer2"):
            scores = hidden @ out
        with name_scope("loss"):
            return np.mean(scores**2, axis=(0, 1))

    return loss


def by_name(graph):
    return {node.name: node for node in graph.node}


def shapes(node):
    return [[dim.size for dim in shape.dim] for shape in node.attr["_output_shapes"].list.shape]


def test_nodes(network):
    nodes = by_name(trace_graph(network))
    assert {name: (node.op, list(node.input)) for name, node in nodes.items() if node.op != "Const"} == {
        "layer1/weights": ("VariableV2", []),
        "layer1/weights/read": ("Identity", ["layer1/weights"]),
        "layer1/weights/Assign": ("Assign", ["layer1/weights", "layer1/weights/initial_value"]),
        "layer1/bias": ("VariableV2", []),
        "layer1/bias/read": ("Identity", ["layer1/bias"]),
        "layer1/bias/Assign": ("Assign", ["layer1/bias", "layer1/bias/initial_value"]),
        "layer2/weights": ("VariableV2", []),
        "layer2/weights/read": ("Identity", ["layer2/weights"]),
        "layer2/weights/Assign": ("Assign", ["layer2/weights", "layer2/weights/initial_value"]),
        "layer1/MatMul": ("MatMul", ["layer1/Const", "layer1/weights/read"]),
        "layer1/add": ("AddV2", ["layer1/MatMul", "layer1/bias/read"]),
        "layer1/Tanh": ("Tanh", ["layer1/add"]),
        "layer2/MatMul": ("MatMul", ["layer1/Tanh", "layer2/weights/read"]),
        "loss/pow": ("Pow", ["layer2/MatMul", "loss/Const"]),
        "loss/Mean": ("Mean", ["loss/pow", "loss/Mean/reduction_indices"]),
        "init": ("NoOp", ["^layer1/weights/Assign", "^layer1/bias/Assign", "^layer2/weights/Assign"]),
    }


def test_attributes(network):
    nodes = by_name(trace_graph(network))
    product, mean, variable = nodes["layer1/MatMul"], nodes["loss/Mean"], nodes["layer1/weights"]
    assert {key: value for key, value in product.attr.items() if key != "_output_shapes"} == {
        "T": pb.AttrValue(type=pb.DT_FLOAT),
        "transpose_a": pb.AttrValue(b=False),
        "transpose_b": pb.AttrValue(b=False),
    }
    assert (mean.attr["keep_dims"].b, mean.attr["Tidx"].type) == (False, pb.DT_INT32)
    assert (variable.attr["dtype"].type, [dim.size for dim in variable.attr["shape"].shape.dim]) == (
        pb.DT_FLOAT,
        [4, 3],
    )
    assert [shapes(nodes[name]) for name in ("layer1/MatMul", "layer1/weights", "loss/Mean")] == [
        [[5, 3]],
        [[4, 3]],
        [[]],
    ]
    axes = decode_tensor(nodes["loss/Mean/reduction_indices"].attr["value"].tensor)
    assert (axes.tolist(), axes.dtype) == ([0, 1], np.int32)


def test_the_last_node_is_the_loss(network):
    w = Variable([1.0, 2.0], name="w")

    def with_metric():
        loss = np.sum(w**2)
        np.max(w)
        return loss

    lasts = [trace_graph(loss).node[-1] for loss in (network, with_metric, lambda: w, lambda: np.split(w, 2)[1])]
    assert [(node.op, node.name, list(node.input)) for node in lasts[1:]] == [
        ("Sum", "Sum", ["pow", "Sum/reduction_indices"]),
        ("Identity", "loss", ["w/read"]),
        ("Identity", "loss", ["split:1"]),
    ]
    assert lasts[0].name == "loss/Mean"


def test_names_are_unique():
    """Scopes that are entered again, Variables of one name, and characters that TensorFlow does not allow."""
    one, other = Variable(1.0, name="a b:0"), Variable(2.0, name="a b:0")

    def loss():
        total = 0.0
        for _ in range(2):
            with name_scope("step"), name_scope("inner"):
                total = total + one * other
        return total

    names = [node.name for node in trace_graph(loss, values=False).node]
    assert len(set(names)) == len(names)
    assert [name for name in names if not name.endswith("Const")] == [
        *("a_b_0", "a_b_0/read", "a_b_0_1", "a_b_0_1/read"),
        *("step/inner/mul", "step/inner/add", "step_1/inner/mul", "step_1/inner/add"),
    ]
    with pytest.raises(
        ValueError, match=r"^name must consist of letters, digits, '\.', '_', '-', '/' and not begin with '_', got"
    ):
        name_scope("two words").__enter__()


def test_without_values_the_graph_is_small(network):
    table = Variable(np.zeros((1000, 50)), name="table")

    def loss():
        return np.sum(table[np.arange(500)]) + network()

    large, small = trace_graph(loss), trace_graph(loss, values=False)
    assert large.ByteSize() > 400_000
    assert small.ByteSize() < 10_000
    structure = [(node.op, node.name) for node in small.node]
    setting = ("Assign", "NoOp")
    left_out = [n for n in large.node if n.op in setting or n.name.endswith("/initial_value")]
    assert structure == [(n.op, n.name) for n in large.node if n not in left_out]
    assert all(node.attr["_output_shapes"].list.shape for node in small.node)


def test_what_has_no_twin_has_a_kind_of_its_own():
    w = Variable([1.0, 2.0], name="w")
    graph = trace_graph(lambda: np.percentile(w, 50) + np.sum(np.sort(w)))
    assert [(node.op, node.name) for node in graph.node if node.op.startswith("numpy.")] == [
        ("numpy.percentile", "percentile"),
        ("numpy.sort", "sort"),
    ]


def test_dtypes_meet():
    """What NumPy promotes is cast; a Python number takes the other's dtype."""
    w, n = Variable([1.0, 2.0], name="w"), Variable([1, 2], name="n", trainable=False)
    nodes = by_name(trace_graph(lambda: np.sum(w * n + 1.5)))
    assert nodes["mul"].attr["T"].type == pb.DT_DOUBLE
    casts = [(node.name, node.attr["SrcT"].type) for node in nodes.values() if node.op == "Cast"]
    assert casts == [("mul/Cast", pb.DT_FLOAT), ("mul/Cast_1", pb.DT_INT64)]
    nodes = by_name(trace_graph(lambda: np.sum(w * 1.5)))
    assert [nodes[name].attr[key].type for name, key in (("mul", "T"), ("Const", "dtype"))] == [pb.DT_FLOAT] * 2


@pytest.mark.parametrize("loss", {**LOSSES, **FUNCTIONS}.values(), ids={**LOSSES, **FUNCTIONS})
def test_every_loss_makes_a_whole_graph(loss):
    """Each input is a node that is there; and what cannot be differentiated can be drawn."""
    variables = {name: Variable(value, name=name) for name, value in inputs(np.float32).items()}
    graph = trace_graph(lambda: loss(**variables))
    names = {node.name for node in graph.node}
    assert len(names) == len(graph.node)
    for node in graph.node:
        assert {source.removeprefix("^").partition(":")[0] for source in node.input} <= names
        assert node.op == "NoOp" or len(node.attr["_output_shapes"].list.shape) >= 1


def test_values_may_leave_a_trace():
    """There is no gradient to lose."""
    w = Variable([1.0, 2.0], name="w")
    graph = trace_graph(lambda: np.sum(w * float(w[0])) if np.asarray(w)[0] > 0 else np.sum(w))
    assert graph.node[-1].op == "Sum"
    assert "StopGradient" in {node.op for node in trace_graph(lambda: np.sum(w * stop_gradient(w))).node}


def test_a_trace_inside_of_a_tape():
    w = Variable([1.0, 2.0], name="w")
    with GradientTape() as tape:
        y = np.sum(w**2)
        trace_graph(lambda: np.sum(w * 3))
    assert tape.gradient(y, w).tolist() == [2, 4]
    assert gradients(lambda: np.sum(w), w)[0].tolist() == [1, 1]


def test_trace_run(network):
    ticks = itertools.count(1_000_000_000_000, 1500)  # ns: a call takes 1.5 us
    graph, metadata = trace_run(network, clock=lambda: next(ticks))
    assert graph == trace_graph(network)
    (device,) = metadata.step_stats.dev_stats
    stats = {node.node_name: node for node in device.node_stats}
    assert set(stats) <= set(by_name(graph))
    assert {"layer1/weights", "layer1/MatMul", "layer1/Tanh", "loss/Mean"} <= set(stats)
    first, product = stats["layer1/MatMul"], stats["layer2/MatMul"]
    assert (first.all_start_micros, first.all_end_rel_micros, first.all_end_rel_nanos) == (1_000_000_000, 2, 1500)
    assert product.all_start_micros > first.all_start_micros
    described = product.output[0].tensor_description
    assert (described.dtype, [dim.size for dim in described.shape.dim]) == (pb.DT_FLOAT, [5, 2])
    assert [product.memory[0].total_bytes, described.allocation_description.requested_bytes] == [40, 40]
    assert stats["layer1/weights"].memory[0].total_bytes == 48


def test_a_writer_takes_all_kinds(network, logdir):
    graph, metadata = trace_run(network)
    kinds = [graph, graph.SerializeToString(), network]
    with SummaryWriter(logdir) as writer:
        for kind in kinds:
            writer.add_graph(kind)
        writer.add_run_metadata(metadata, "step 1", 1)
    events = list(summary_iterator(writer.path))[1:]
    assert [GraphDef.FromString(event.graph_def) for event in events[:3]] == [
        *[graph] * 2, trace_graph(network, values=False)
    ]  # fmt: skip
    assert pb.RunMetadata.FromString(events[3].tagged_run_metadata.run_metadata) == metadata


@pytest.mark.parametrize("as_text", [True, False])
def test_write_and_read(network, tmp_path, as_text):
    graph = trace_graph(network)
    assert read_graph(write_graph(graph, tmp_path, "graph", as_text)) == graph


@pytest.mark.parametrize("trace", [trace_graph, trace_run])
def test_a_loss_that_returns_nothing(trace):
    with pytest.raises(TypeError, match=r"^a loss must return an array or number, got NoneType: None$"):
        trace(lambda: None)
