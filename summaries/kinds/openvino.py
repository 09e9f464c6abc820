"""OpenVINO models: a GraphDef of the layers that their XML file lists."""

from __future__ import annotations

from typing import TYPE_CHECKING

from summaries.wire.pb import GraphDef, NodeDef, VersionDef

if TYPE_CHECKING:
    import os

__all__ = ["read_openvino"]

_PRODUCER = 22  # the graph version that TensorBoard's own converters write


def read_openvino(path: str | os.PathLike[str]) -> GraphDef:
    """The graph of an OpenVINO model: a node for each layer, whose inputs are the layers that feed it.

    Raises:
        ValueError: the file is not the XML of a model.
        OSError: the file cannot be read.
    """
    from xml.etree import ElementTree as ET  # noqa: PLC0415 - importing it takes two milliseconds

    try:
        model = ET.parse(path).getroot()  # noqa: S314 - the user's own model; expat limits entities
        layers = {layer.attrib["id"]: layer for layer in model.iterfind("layers/layer")}
        nodes = {key: NodeDef(name=layer.attrib["name"], op=layer.get("type", "op")) for key, layer in layers.items()}
        for edge in model.iterfind("edges/edge"):
            nodes[edge.attrib["to-layer"]].input.append(nodes[edge.attrib["from-layer"]].name)
    except (ET.ParseError, KeyError) as error:
        raise ValueError(f"{path} must be the XML of an OpenVINO model, got a file without it: {error!r}") from None
    if not nodes:
        raise ValueError(f"{path} must be the XML of an OpenVINO model, got a file without layers")
    return GraphDef(node=nodes.values(), versions=VersionDef(producer=_PRODUCER))
