"""Graphs: GraphDef messages from any library, torch modules and ONNX models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from google.protobuf.message import DecodeError

from summaries.kinds.meta_graph import is_tensorflow
from summaries.optional import needs
from summaries.wire.pb import AttrValue, GraphDef, NodeDef, TensorShapeProto, VersionDef
from summaries.wire.protobuf import serialized

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["graph_bytes", "is_torch_module", "read_onnx", "trace_callables_by", "trace_torch"]

_PRODUCER = 22  # the graph version that TensorBoard's own converters write
_tracers: list[Callable[[Callable[[], Any]], GraphDef]] = []  # the last one is used


def trace_callables_by(tracer: Callable[[Callable[[], Any]], GraphDef]) -> None:
    """Accept a callable wherever a graph is expected: `tracer` turns it into one.

    `optim` calls this when it is imported, so that a loss can be passed as it is; `summaries` need not import `optim`.
    """
    _tracers.append(tracer)


def graph_bytes(graph: Any, *, add_shapes: bool = False) -> bytes:
    """The serialized GraphDef of a message, its bytes, an object with `as_graph_def()`, or a callable.

    Args:
        graph: one of these.
        add_shapes: whether a TensorFlow graph's nodes keep the shapes of their outputs.

    Raises:
        TypeError: `graph` is none of these.
        ValueError: the bytes do not parse as a GraphDef.
    """
    message = graph
    if hasattr(graph, "as_graph_def"):
        message = graph.as_graph_def(add_shapes=True) if add_shapes and is_tensorflow(graph) else graph.as_graph_def()
    if callable(message):
        if not _tracers:
            raise TypeError("graph is a callable: import optim to trace a loss")
        message = _tracers[-1](message)
    data = serialized(message, "graph")
    try:
        GraphDef.FromString(data)
    except DecodeError as error:
        raise ValueError(f"graph must be a GraphDef, got {len(data)} bytes that do not parse as one: {error}") from None
    return data


def is_torch_module(graph: Any) -> bool:
    """Whether this is a torch module; recognized by class name, since torch may not be installed."""
    return any(
        f"{base.__module__}.{base.__qualname__}" == "torch.nn.modules.module.Module" for base in type(graph).__mro__
    )


def trace_torch(module: Any, inputs: Any, verbose: bool = False, use_strict_trace: bool = True) -> tuple[bytes, bytes]:
    """The serialized GraphDef and RunMetadata of a torch module, traced by torch itself.

    Raises:
        ImportError: tensorboard, which torch's tracer needs, is not installed.
    """
    needs("tensorboard", "tensorboard")
    tracer = needs("torch.utils.tensorboard._pytorch_graph", "dev")
    definition, metadata = tracer.graph(module, inputs, verbose, use_strict_trace)
    return serialized(definition, "graph"), serialized(metadata, "metadata")


def read_onnx(file: Any) -> GraphDef:
    """The graph of an ONNX model, with a node for each input, initializer and operation.

    Args:
        file: a path, or a file that is open for reading bytes.

    Raises:
        ImportError: onnx is not installed.
        OSError: the file cannot be read.
    """
    onnx = needs("onnx", "onnx")
    model = onnx.load(file).graph
    constants = {tensor.name for tensor in model.initializer}
    nodes = [_onnx_tensor(value, "Placeholder") for value in model.input if value.name not in constants]
    nodes += [NodeDef(name=name, op="Const") for name in sorted(constants)]
    names = _onnx_names(model.node)
    for node in model.node:
        made = NodeDef(name=names[node.output[0]], op=node.op_type)
        made.input.extend(names.get(source, source) for source in node.input if source)
        for attribute in node.attribute:
            made.attr[attribute.name].CopyFrom(
                AttrValue(s=str(onnx.helper.get_attribute_value(attribute)).encode()[:1024])
            )
        nodes.append(made)
    nodes += [
        NodeDef(name=f"output/{value.name}", op="Identity", input=[names.get(value.name, value.name)])
        for value in model.output
    ]
    return GraphDef(node=nodes, versions=VersionDef(producer=_PRODUCER))


def _onnx_names(nodes: Iterable[Any]) -> dict[str, str]:
    """Tensor name → the node output that produces it; a node's second output is name:1, and so on."""
    names = {}
    for node in nodes:
        name = node.name or node.output[0]
        for i, output in enumerate(node.output):
            names[output] = name if i == 0 else f"{name}:{i}"
    return names


def _onnx_tensor(value: Any, op: str) -> NodeDef:
    shape = TensorShapeProto(
        dim=[TensorShapeProto.Dim(size=d.dim_value or -1) for d in value.type.tensor_type.shape.dim]
    )
    return NodeDef(name=value.name, op=op, attr={"shape": AttrValue(shape=shape)})
