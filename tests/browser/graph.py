"""The network of `training` as TensorBoard's graph, and what a step of it cost."""

from __future__ import annotations

from summaries import GraphDef, RunMetadata
from summaries.wire.pb import AttrValue, NodeDef, TensorShapeProto
from summaries.wire.pb.tensor_pb2 import DT_FLOAT

# name, op, inputs, shape of the output, microseconds
NODES = (
    ("input/pixels", "Placeholder", (), (-1, 64), 2),
    ("input/labels", "Placeholder", (), (-1, 10), 1),
    ("hidden/weights", "VariableV2", (), (64, 16), 1),
    ("hidden/MatMul", "MatMul", ("input/pixels", "hidden/weights"), (-1, 16), 61),
    ("hidden/Tanh", "Tanh", ("hidden/MatMul",), (-1, 16), 24),
    ("output/weights", "VariableV2", (), (16, 10), 1),
    ("output/MatMul", "MatMul", ("hidden/Tanh", "output/weights"), (-1, 10), 33),
    ("output/Softmax", "Softmax", ("output/MatMul",), (-1, 10), 18),
    ("loss/Log", "Log", ("output/Softmax",), (-1, 10), 12),
    ("loss/Mul", "Mul", ("loss/Log", "input/labels"), (-1, 10), 5),
    ("loss/Mean", "Mean", ("loss/Mul",), (), 7),
    ("train/gradients/output", "MatMul", ("loss/Mean", "hidden/Tanh"), (16, 10), 35),
    ("train/gradients/hidden", "MatMul", ("train/gradients/output", "input/pixels"), (64, 16), 70),
    ("train/update/output", "ApplyMomentum", ("output/weights", "train/gradients/output"), (16, 10), 4),
    ("train/update/hidden", "ApplyMomentum", ("hidden/weights", "train/gradients/hidden"), (64, 16), 9),
    ("train/step", "NoOp", ("^train/update/output", "^train/update/hidden"), (), 1),
)


def graph_def():
    """The graph, with the shape of each tensor."""
    graph = GraphDef()
    graph.versions.producer = 22
    for name, op, inputs, shape, _ in NODES:
        shapes = AttrValue(list=AttrValue.ListValue(shape=[_shape(shape)]))
        attributes = {"_output_shapes": shapes, "T": AttrValue(type=DT_FLOAT)}
        graph.node.append(NodeDef(name=name, op=op, input=inputs, device="/device:CPU:0", attr=attributes))
    return graph


def run_metadata():
    """Time and memory of each node, for a batch of a hundred digits."""
    metadata = RunMetadata()
    device = metadata.step_stats.dev_stats.add(device="/device:CPU:0")
    start = 1_700_000_000_000_000
    for name, _, _, shape, micros in NODES:
        stats = device.node_stats.add(node_name=name, all_start_micros=start, all_end_rel_micros=micros)
        stats.op_end_rel_micros = micros
        output = stats.output.add().tensor_description
        output.dtype = DT_FLOAT
        output.shape.CopyFrom(_shape([100 if size < 0 else size for size in shape]))
        output.allocation_description.requested_bytes = 4 * _elements(shape)
        start += micros
    return metadata


def _shape(sizes):
    return TensorShapeProto(dim=[TensorShapeProto.Dim(size=size) for size in sizes])


def _elements(sizes):
    count = 1
    for size in sizes:
        count *= 100 if size < 0 else size
    return count
