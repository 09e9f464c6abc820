"""A graph under construction: its nodes and their unique names; and GraphCall, one NumPy call that is added to it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from optim.recording.calls import Box, boxes_in, plain
from optim.recording.compositions import NO_VALUE
from summaries.wire.pb import AttrValue, GraphDef, NodeDef, TensorShapeProto, VersionDef
from summaries.wire.tensors import numeric_tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from optim.recording.nodes import Node
    from optim.variable import Variable

__all__ = ["INT32", "Drawing", "GraphCall", "NoEquivalentError", "axes_of", "dtype_of", "shape_message"]

INT32 = np.dtype(np.int32)
_PRODUCER = 22  # from this graph version on, TensorFlow 1 and 2 know all these operations
# TensorFlow's Python names for the results of operators; other nodes are named after their operation.
_LABELS = {
    "AddV2": "add", "Sub": "sub", "Mul": "mul", "RealDiv": "truediv", "Pow": "pow", "FloorMod": "mod",
    "FloorDiv": "floordiv", "ConcatV2": "concat", "StridedSlice": "strided_slice", "Pack": "stack", "SplitV": "split",
    "BatchMatMulV2": "MatMul",
}  # fmt: skip


class NoEquivalentError(Exception):
    """TensorFlow has no equivalent of a call with these arguments."""


class Drawing:
    """A graph under construction.

    Args:
        values: whether it contains the arrays.

    Attributes:
        nodes: the graph's nodes so far.
        names: of each recorded call, the name of the graph's node that produces its result.
    """

    def __init__(self, *, values: bool) -> None:
        self.nodes: list[NodeDef] = []
        self.names: dict[Node, str] = {}
        self._values = values
        self._taken: dict[str, int] = {}  # names in lower case, each with the last number that was appended to it
        self._constants: dict[Any, tuple[str, Any]] = {}
        self._assignments: list[str] = []

    def finished(self, result: Any) -> GraphDef:
        """The graph, with a node that sets the Variables; its last node is the loss.

        Args:
            result: what the loss returned.
        """
        source = self.source(result, "")
        if self._assignments:
            self.put("NoOp", self.unique("init"), [f"^{name}" for name in self._assignments], [])
        last = self.names.get(result.node) if isinstance(result, Box) else None
        if last is None or source != last or result.node.variable is not None:
            self.put("Identity", self.unique("loss"), [source], [plain(result)], T=dtype_of(result))
        else:
            at = next(i for i, node in enumerate(self.nodes) if node.name == last)
            self.nodes.append(self.nodes.pop(at))
        return GraphDef(node=self.nodes, versions=VersionDef(producer=_PRODUCER))

    def unique(self, name: str) -> str:
        """The name in characters that TensorFlow allows, with a number appended if it is taken, as in TF1."""
        name = re.sub(r"^[^A-Za-z0-9.]", ".", re.sub(r"[^A-Za-z0-9_.\\/-]", "_", name))
        free, key = name, name.lower()
        while free.lower() in self._taken:
            self._taken[key] += 1
            free = f"{name}_{self._taken[key]}"
        self._taken[free.lower()] = 0
        return free

    def put(self, op: str, name: str, inputs: Sequence[str], results: Sequence[Any], **attributes: Any) -> str:
        """Add a node of this name."""
        node = NodeDef(name=name, op=op, input=inputs)
        for key, value in attributes.items():
            node.attr[key].CopyFrom(_attribute(value))
        if results:
            shapes = [shape_message(np.shape(result)) for result in results]
            node.attr["_output_shapes"].list.shape.extend(shapes)
        self.nodes.append(node)
        return name

    def source(self, value: Any, scope: str, dtype: Any = None) -> str:
        """The name of a value's tensor; a constant is added once."""
        if isinstance(value, Box):
            name = self.names[value.node]
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

    def add_variable(self, node: Node) -> None:
        """Add a VariableV2 and its read node as TF1 does, and the Assign that sets it if values are wanted."""
        variable: Variable = node.variable
        value, name = variable.value, self.unique(variable.name)
        self.names[node] = name
        location = AttrValue(list=AttrValue.ListValue(s=[f"loc:@{name}".encode()]))
        shape = shape_message(value.shape)
        self.put("VariableV2", name, [], [value], dtype=value.dtype, shape=shape, container="", shared_name="")
        self.put("Identity", self.unique(f"{name}/read"), [name], [value], T=value.dtype, _class=location)
        if self._values:
            initial = self.constant(value, self.unique(f"{name}/initial_value"))
            options = {"T": value.dtype, "use_locking": True, "validate_shape": True, "_class": location}
            assign = self.put("Assign", self.unique(f"{name}/Assign"), [name, initial], [value], **options)
            self._assignments.append(assign)

    def add_call(self, node: Node, convert: Callable[[GraphCall], None]) -> None:
        """Add a call: TensorFlow's operations for it, or a node of its own kind.

        Args:
            node: the recorded call.
            convert: adds TensorFlow's operations, or raises NoEquivalentError.
        """
        call = GraphCall(self, node)
        begin = len(self.nodes)
        try:
            convert(call)
        except NoEquivalentError:
            boxes = boxes_in((*node.args, *node.kwargs.values()))
            first = node.value[0] if isinstance(node.value, tuple | list) else node.value
            call.add(f"numpy.{node.name}", [self.source(box, node.scope) for box in boxes], T=np.result_type(first))
        self.names[node] = call.renamed(self.nodes[begin:])


class GraphCall:
    """One call that is being added to a graph, as the tables of operations see it.

    Attributes:
        function, args, kwargs, value: the NumPy function, its arguments, with boxes among them, and its result.
    """

    def __init__(self, drawing: Drawing, node: Node) -> None:
        self.function: Any = node.function
        self.args: Any = node.args
        self.kwargs: dict[str, Any] = node.kwargs
        self.value: Any = node.value
        self._drawing = drawing
        self._scope = node.scope
        self._name = f".call{node.number}"  # a placeholder until the operation is known
        self._casts: dict[tuple[str, Any], str] = {}

    @property
    def dtype(self) -> Any:
        """The result's dtype."""
        return dtype_of(self.value)

    def arguments(self, names: str) -> dict[str, Any]:
        """The arguments that were given, by name.

        Args:
            names: those that the operation supports, between spaces, in the function's order.

        Raises:
            NoEquivalentError: there are others that matter, or `out`.
        """
        supported = names.split()
        by_name = dict(zip(supported, self.args, strict=False))
        options = {key: value for key, value in self.kwargs.items() if value is not NO_VALUE}
        others = [key for key, value in options.items() if key not in (*supported, "dtype", "order", "copy")]
        by_name |= {key: value for key, value in options.items() if key in supported}
        if any(options[key] is not None for key in others) or by_name.get("out") is not None:
            raise NoEquivalentError
        return by_name

    def add(self, op: str, inputs: Sequence[str], *, like: Any = None, label: str = "", **attributes: Any) -> str:
        """Add an operation; return its output's name. Unless it is the last, `like` is like its output."""
        if like is not None:
            name = self._drawing.unique(f"{self._name}/{label or op}")
            return self._drawing.put(op, name, inputs, [like], **attributes)
        results = self.value if isinstance(self.value, tuple | list) else [self.value]
        return self._drawing.put(op, self._name, inputs, results, **attributes)

    def input(self, value: Any, dtype: Any = None) -> str:
        """Return the name of an argument's tensor, cast to `dtype` if necessary; constants are added."""
        if not isinstance(value, Box):
            value = np.asarray(value) if isinstance(value, list | tuple) else value
            if dtype is not None and np.result_type(value) != dtype:
                value = np.asarray(value, dtype) if np.ndim(value) else dtype.type(value)
            return self._drawing.source(value, self._scope, dtype)
        name, own = self._drawing.source(value, self._scope), dtype_of(value)
        if dtype is None or own == dtype:
            return name
        if (name, dtype) not in self._casts:
            like = np.broadcast_to(np.zeros((), dtype), value.shape)
            self._casts[name, dtype] = self.add("Cast", [name], like=like, SrcT=own, DstT=dtype, Truncate=False)
        return self._casts[name, dtype]

    def constant(self, value: Any, label: str) -> str:
        """Add an int32 constant, a number or a list of numbers; return its name."""
        return self._drawing.constant(np.asarray(value, INT32), self._drawing.unique(f"{self._name}/{label}"))

    def renamed(self, nodes: Sequence[NodeDef]) -> str:
        """Name the nodes of this call after the last one's operation, which is known only now; return its name."""
        op = nodes[-1].op
        name = self._drawing.unique(self._scope + _LABELS.get(op, op.rpartition(".")[2]))
        new = {node.name: name + node.name.removeprefix(self._name) for node in nodes}
        names = {old: new[old] for old in new if old.startswith(self._name)}
        names = {old: new if new == name else self._drawing.unique(new) for old, new in names.items()}
        for node in nodes:
            node.name = names.get(node.name, node.name)
            for i, source in enumerate(node.input):
                node.input[i] = names.get(source, source)
        return name


def axes_of(axis: Any, ndim: int) -> list[int]:
    """A reduction's axes, counted from 0."""
    axes = range(ndim) if axis is None else axis if isinstance(axis, tuple | list) else (axis,)
    return [int(a) % ndim for a in axes] if ndim else []


def dtype_of(value: Any) -> Any:
    """The dtype of an array, a number or a box's value."""
    return np.result_type(plain(value))


def shape_message(shape: Sequence[int]) -> TensorShapeProto:
    """A shape as TensorFlow's message."""
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
