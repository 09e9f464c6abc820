"""Traces a loss as a graph: for TensorBoard to draw, and for TensorFlow to run.

The loss runs once, recorded; each NumPy call becomes the equivalent TensorFlow operation with TensorFlow's attributes
(see `operations`), each Variable a VariableV2 that an Assign sets to its value, each other array a Const. Names come
from `name_scope` and from Variables' names.

    import tensorflow.compat.v1 as tf
    tf.import_graph_def(tf.GraphDef.FromString(trace_graph(loss).SerializeToString()), name="")
    session.run("init"); session.run(trace_graph(loss).node[-1].name + ":0")
"""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from optim.graph.operations import OPERATIONS
from optim.recording.calls import Box, boxes_in, plain, recorded
from optim.recording.nodes import Node, Recording, check_operands, recording
from summaries.kinds import graph as graphs
from summaries.wire.pb import AttrValue, GraphDef, NodeDef, RunMetadata, TensorShapeProto, VersionDef
from summaries.wire.tensors import numeric_tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from optim.variable import Variable

__all__ = ["trace_graph", "trace_run"]

_PRODUCER = 22  # from this graph version on, TensorFlow 1 and 2 know all these operations
_DEVICE = "/device:CPU:0"
# TensorFlow's Python names for the results of operators; other nodes are named after their operation.
_LABELS = {
    "AddV2": "add", "Sub": "sub", "Mul": "mul", "RealDiv": "truediv", "Pow": "pow", "FloorMod": "mod",
    "FloorDiv": "floordiv", "ConcatV2": "concat", "StridedSlice": "strided_slice", "Pack": "stack", "SplitV": "split",
    "BatchMatMulV2": "MatMul",
}  # fmt: skip


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
    return _trace(loss, lambda: 0, values=values).finished()


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
    drawing = _trace(loss, clock, values=values)
    return drawing.finished(), drawing.metadata()


def _trace(loss: Callable[[], Any], clock: Callable[[], int], *, values: bool) -> _Drawing:
    record = Recording(clock)
    with recording(record):
        result = loss()
        result = recorded(result)  # the loss may be a Variable itself
    if not isinstance(result, Box | np.ndarray | np.generic | int | float):
        raise TypeError(f"a loss must return an array or number, got {type(result).__name__}: {result!r}")
    return _Drawing(record.nodes, result, values=values)


class _Drawing:
    """A graph under construction."""

    def __init__(self, nodes: Sequence[Node], result: Any, *, values: bool) -> None:
        self.nodes: list[NodeDef] = []
        self._values = values
        self._taken: dict[str, int] = {}  # names in lower case, each with the last number that was appended to it
        self._names: dict[Node, str] = {}  # of the graph's node that produces a call's result
        self._constants: dict[Any, tuple[str, Any]] = {}
        self._assignments: list[str] = []
        for node in nodes:  # Variables come first, so that they keep their names
            if node.variable is not None:
                self._names[node] = self._variable(node.variable)
        for node in nodes:
            if node.variable is None:
                if values:
                    check_operands(node)
                self._names[node] = _Call(self, node).draw()
        self._timed = list(nodes)
        self._end(result)

    def finished(self) -> GraphDef:
        """The graph."""
        return GraphDef(node=self.nodes, versions=VersionDef(producer=_PRODUCER))

    def _end(self, result: Any) -> None:
        """Add the node that sets the Variables, and make the last node the loss."""
        source = self.source(result, "")
        if self._assignments:
            self.put("NoOp", self.unique("init"), [f"^{name}" for name in self._assignments], [])
        last = self._names.get(result.node) if isinstance(result, Box) else None
        if last is None or source != last or result.node.variable is not None:
            self.put("Identity", self.unique("loss"), [source], [plain(result)], T=np.result_type(plain(result)))
        else:
            at = next(i for i, node in enumerate(self.nodes) if node.name == last)
            self.nodes.append(self.nodes.pop(at))

    def unique(self, name: str) -> str:
        """The name in characters that TensorFlow allows, with a number appended if it is taken, as in TF1."""
        name = re.sub(r"^[^A-Za-z0-9.]", ".", re.sub(r"[^A-Za-z0-9_.\\/-]", "_", name))
        found, key = name, name.lower()
        while found.lower() in self._taken:
            self._taken[key] += 1
            found = f"{name}_{self._taken[key]}"
        self._taken[found.lower()] = 0
        return found

    def put(self, op: str, name: str, inputs: Sequence[str], results: Sequence[Any], **attributes: Any) -> str:
        """Add a node of this name."""
        node = NodeDef(name=name, op=op, input=inputs)
        for key, value in attributes.items():
            node.attr[key].CopyFrom(_attribute(value))
        if results:
            shapes = [_shape(np.shape(result)) for result in results]
            node.attr["_output_shapes"].list.shape.extend(shapes)
        self.nodes.append(node)
        return name

    def source(self, value: Any, scope: str, dtype: Any = None) -> str:
        """The name of a value's tensor; a constant is added once."""
        if isinstance(value, Box):
            name = self._names[value.node]
            if value.node.variable is not None:
                return f"{name}/read"
            return f"{name}:{value.output}" if value.output else name
        key = (id(value), scope) if isinstance(value, np.ndarray) else (type(value), value, dtype)
        if key not in self._constants:
            array = np.asarray(value, dtype)
            self._constants[key] = self.constant(array, self.unique(f"{scope}Const")), value
        return self._constants[key][0]

    def constant(self, array: NDArray[Any], name: str) -> str:
        """Add a Const, without its values unless they are wanted."""
        self.put("Const", name, [], [array], dtype=array.dtype)
        if self._values or array.size <= np.ndim(array) + 1:
            self.nodes[-1].attr["value"].tensor.CopyFrom(numeric_tensor(array))
        return name

    def _variable(self, variable: Variable) -> str:
        """Add a VariableV2 and its read node as TF1 does, and the Assign that sets it if values are wanted."""
        value, name = variable.value, self.unique(variable.name)
        place = AttrValue(list=AttrValue.ListValue(s=[f"loc:@{name}".encode()]))
        self.put(
            "VariableV2", name, [], [value], dtype=value.dtype, shape=_shape(value.shape), container="", shared_name=""
        )  # fmt: skip
        read = self.unique(f"{name}/read")
        self.put("Identity", read, [name], [value], T=value.dtype, _class=place)
        if self._values:
            initial = self.constant(value, self.unique(f"{name}/initial_value"))
            self._assignments.append(
                self.put(
                    "Assign",
                    self.unique(f"{name}/Assign"),
                    [name, initial],
                    [value],
                    T=value.dtype,
                    use_locking=True,
                    validate_shape=True,
                    _class=place,
                )
            )
        return name

    def metadata(self) -> RunMetadata:
        """Each call's time and memory, and each Variable's size in bytes."""
        metadata = RunMetadata()
        device = metadata.step_stats.dev_stats.add(device=_DEVICE)
        begin = min((node.times[0] for node in self._timed if node.variable is None), default=0)
        for node in self._timed:
            start, end = node.times if node.variable is None else (begin, begin)
            stats = device.node_stats.add(node_name=self._names[node])
            stats.all_start_micros, stats.all_start_nanos = start // 1000, start
            # TensorBoard reads whole microseconds only; a shorter call counts as one.
            micros = -(-(end - start) // 1000)
            stats.op_end_rel_micros = stats.all_end_rel_micros = micros
            stats.op_end_rel_nanos = stats.all_end_rel_nanos = end - start
            results = node.value if isinstance(node.value, tuple | list) else [node.value]
            for slot, result in enumerate(results):
                array = np.asarray(result)
                described = stats.output.add(slot=slot).tensor_description
                described.dtype = numeric_tensor(array[:0] if array.ndim else array).dtype
                described.shape.CopyFrom(_shape(array.shape))
                described.allocation_description.requested_bytes = array.nbytes
                described.allocation_description.allocated_bytes = array.nbytes
            stats.memory.add(allocator_name="numpy", total_bytes=sum(np.asarray(r).nbytes for r in results))
        return metadata


class _Call:
    """One call being added to the graph, as the entries of `operations` see it."""

    def __init__(self, drawing: _Drawing, node: Node) -> None:
        self.function = node.function
        self.args = node.args
        self.kwargs = node.kwargs
        self.value = node.value
        self._drawing = drawing
        self._node = node
        self._name = f".call{node.number}"  # a placeholder until the operation is known
        self._casts: dict[tuple[str, Any], str] = {}

    def draw(self) -> str:
        """Add the call; return the name of the node that produces its result."""
        nodes = self._drawing.nodes
        begin = len(nodes)
        entry = OPERATIONS.get(self.function)
        if entry is None or not entry(self):
            inputs = [self._drawing.source(box, self._node.scope) for box in _all_boxes(self._node)]
            self.add(f"numpy.{self._node.name}", inputs, T=np.result_type(_first(self.value)))
        # The call's name depends on its operation, which is known only now.
        op = nodes[-1].op
        name = self._drawing.unique(self._node.scope + _LABELS.get(op, op.rpartition(".")[2]))
        names = {node.name: name + node.name.removeprefix(self._name) for node in nodes[begin:]}
        names = {old: new for old, new in names.items() if old.startswith(self._name)}
        names = {old: new if new == name else self._drawing.unique(new) for old, new in names.items()}
        for node in nodes[begin:]:
            node.name = names.get(node.name, node.name)
            for i, source in enumerate(node.input):
                node.input[i] = names.get(source, source)
        return name

    def add(self, op: str, inputs: Sequence[str], *, like: Any = None, label: str = "", **attributes: Any) -> str:
        """See `call.Call`."""
        if like is not None:
            name = self._drawing.unique(f"{self._name}/{label or op}")
            return self._drawing.put(op, name, inputs, [like], **attributes)
        results = self.value if isinstance(self.value, tuple | list) else [self.value]
        return self._drawing.put(op, self._name, inputs, results, **attributes)

    def input(self, value: Any, dtype: Any = None) -> str:
        """See `call.Call`."""
        if not isinstance(value, Box):
            value = np.asarray(value) if isinstance(value, list | tuple) else value
            if dtype is not None and np.result_type(value) != dtype:
                value = np.asarray(value, dtype) if np.ndim(value) else dtype.type(value)
            return self._drawing.source(value, self._node.scope, dtype)
        name, own = self._drawing.source(value, self._node.scope), np.result_type(plain(value))
        if dtype is None or own == dtype:
            return name
        if (name, dtype) not in self._casts:
            cast = self._drawing.unique(f"{self._name}/Cast")
            like = np.broadcast_to(np.zeros((), dtype), value.shape)
            self._casts[name, dtype] = self._drawing.put(
                "Cast", cast, [name], [like], SrcT=own, DstT=dtype, Truncate=False
            )
        return self._casts[name, dtype]

    def constant(self, value: Any, label: str) -> str:
        """See `call.Call`."""
        return self._drawing.constant(np.asarray(value, np.int32), self._drawing.unique(f"{self._name}/{label}"))


def _all_boxes(node: Node) -> list[Box]:
    return [*boxes_in(node.args), *boxes_in(node.kwargs.values())]


def _first(value: Any) -> Any:
    return value[0] if isinstance(value, tuple | list) else value


def _shape(shape: Sequence[int]) -> TensorShapeProto:
    return TensorShapeProto(dim=[TensorShapeProto.Dim(size=size) for size in shape])


def _attribute(value: Any) -> AttrValue:
    """A Python value as an attribute; a dtype becomes TensorFlow's number for it."""
    if isinstance(value, AttrValue):
        return value
    if isinstance(value, TensorShapeProto):
        return AttrValue(shape=value)
    if isinstance(value, bool):
        return AttrValue(b=value)
    if isinstance(value, int):
        return AttrValue(i=value)
    if isinstance(value, str):
        return AttrValue(s=value.encode())
    return AttrValue(type=numeric_tensor(np.zeros((), value)).dtype)


graphs.trace_callables_by(lambda loss: trace_graph(loss, values=False))
