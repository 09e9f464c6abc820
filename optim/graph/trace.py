"""Traces a loss as a graph: for TensorBoard to draw, and for TensorFlow to run.

The loss runs once, recorded; each NumPy call becomes the equivalent TensorFlow operation with TensorFlow's attributes
(see `operations`), each Variable a VariableV2 that an Assign sets to its value, each other array a Const. Names come
from `name_scope` and from Variables' names.

    import tensorflow.compat.v1 as tf
    tf.import_graph_def(tf.GraphDef.FromString(trace_graph(loss).SerializeToString()), name="")
    session.run("init"); session.run(trace_graph(loss).node[-1].name + ":0")
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from optim.graph.drawing import Drawing, shape_message
from optim.graph.operations import OPERATIONS, no_operation
from optim.recording.calls import Box, recorded
from optim.recording.nodes import Recording, check_operands, recording
from summaries.kinds import graph as graphs
from summaries.wire.pb import GraphDef, RunMetadata
from summaries.wire.tensors import numeric_tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from optim.recording.nodes import Node

__all__ = ["trace_graph", "trace_run"]

_DEVICE = "/device:CPU:0"


def trace_graph(loss: Callable[[], Any], *, values: bool = True) -> GraphDef:
    """The graph of a loss: a node for each NumPy call, under TensorFlow's operation names.

    If TensorFlow has an equivalent operation for every call, it can import the graph and compute the loss: run the node
    `init`, which sets the Variables, and then the last node. A call without an equivalent becomes a node
    `numpy.<name>`; a call that takes several operations becomes several nodes, in a scope of its name.

    Args:
        loss: a callable without arguments that reads Variables. It is called once.
        values: whether the graph contains the arrays: the Variables' values, and the constants. TensorBoard does not
            show them, and the graph is small without them; TensorFlow needs them.

    Returns:
        The graph. Each node has its dtypes and `_output_shapes`; the last one is the loss.

    Raises:
        TypeError: the loss does not return an array or number.
        RuntimeError: an array that would be in the graph was changed after its use.

    >>> from optim import Variable
    >>> w = Variable([[1.0], [2.0]], name="layer1/weights")
    >>> graph = trace_graph(lambda: np.mean(np.ones((3, 2), np.float32) @ w))
    >>> [f"{node.op} {node.name}" for node in graph.node if node.op in ("VariableV2", "MatMul", "Mean")]
    ['VariableV2 layer1/weights', 'MatMul MatMul', 'Mean Mean']
    """
    return _traced(loss, lambda: 0, values=values)[0]


def trace_run(
    loss: Callable[[], Any], *, values: bool = True, clock: Callable[[], int] = time.time_ns
) -> tuple[GraphDef, RunMetadata]:
    """The graph of a loss, and the cost of each call.

    Log both, with `add_graph` and `add_run_metadata`, and TensorBoard can colour the graph by compute time or memory.

    Args:
        loss: as in `trace_graph`. It is called once.
        values: as in `trace_graph`.
        clock: returns the time since the epoch in ns.

    Returns:
        The graph; and the duration of each call, the size of its result, and the size of each Variable.

    Raises:
        TypeError: the loss does not return an array or number.
        RuntimeError: an array that would be in the graph was changed after its use.

    >>> from optim import Variable
    >>> w = Variable([1.0, 2.0], name="w")
    >>> graph, metadata = trace_run(lambda: np.sum(np.square(w)))
    >>> [stats.node_name for stats in metadata.step_stats.dev_stats[0].node_stats]
    ['w', 'Square', 'Sum']
    """
    graph, names = _traced(loss, clock, values=values)
    return graph, _costs(names)


def _traced(loss: Callable[[], Any], clock: Callable[[], int], *, values: bool) -> tuple[GraphDef, Mapping[Node, str]]:
    """The graph of a loss; and of each recorded call, in order, the node that produces its result."""
    record = Recording(clock)
    with recording(record):
        result = loss()
        result = recorded(result)  # the loss may be a Variable itself
    if not isinstance(result, Box | np.ndarray | np.generic | int | float):
        raise TypeError(f"a loss must return an array or number, got {type(result).__name__}: {result!r}")
    drawing = Drawing(values=values)
    for node in record.nodes:  # Variables come first, so that they keep their names
        if node.variable is not None:
            drawing.add_variable(node)
    for node in record.nodes:
        if node.variable is None:
            if values:
                check_operands(node)
            drawing.add_call(node, OPERATIONS.get(node.function, no_operation))
    return drawing.finished(result), {node: drawing.names[node] for node in record.nodes}


def _costs(names: Mapping[Node, str]) -> RunMetadata:
    """Each call's time and memory, and each Variable's size in bytes."""
    metadata = RunMetadata()
    device = metadata.step_stats.dev_stats.add(device=_DEVICE)
    begin = min((node.times[0] for node in names if node.variable is None), default=0)
    for node, name in names.items():
        start, end = node.times if node.variable is None else (begin, begin)
        stats = device.node_stats.add(node_name=name)
        stats.all_start_micros, stats.all_start_nanos = start // 1000, start
        # TensorBoard reads whole microseconds only; a shorter call counts as one.
        stats.op_end_rel_micros = stats.all_end_rel_micros = -(-(end - start) // 1000)
        stats.op_end_rel_nanos = stats.all_end_rel_nanos = end - start
        results = node.value if isinstance(node.value, tuple | list) else [node.value]
        for slot, array in enumerate(map(np.asarray, results)):
            described = stats.output.add(slot=slot).tensor_description
            described.dtype = numeric_tensor(array[:0] if array.ndim else array).dtype
            described.shape.CopyFrom(shape_message(array.shape))
            described.allocation_description.requested_bytes = array.nbytes
            described.allocation_description.allocated_bytes = array.nbytes
        stats.memory.add(allocator_name="numpy", total_bytes=sum(np.asarray(result).nbytes for result in results))
    return metadata


graphs.trace_callables_by(lambda loss: trace_graph(loss, values=False))
