"""OpenVINO models: nodes and edges of their XML, and what is refused, word for word."""

import pytest

from summaries.kinds.openvino import read_openvino

MODEL = """<?xml version="1.0"?>
<net name="model" version="11">
  <layers>
    <layer id="0" name="x" type="Parameter"/>
    <layer id="1" name="w" type="Const"/>
    <layer id="7" name="dense" type="MatMul"/>
    <layer id="8" name="out" type="Result"/>
  </layers>
  <edges>
    <edge from-layer="0" from-port="0" to-layer="7" to-port="0"/>
    <edge from-layer="1" from-port="0" to-layer="7" to-port="1"/>
    <edge from-layer="7" from-port="2" to-layer="8" to-port="0"/>
  </edges>
</net>
"""


def test_layers_and_edges(tmp_path):
    path = tmp_path / "model.xml"
    path.write_text(MODEL)
    assert [(node.name, node.op, list(node.input)) for node in read_openvino(path).node] == [
        ("x", "Parameter", []),
        ("w", "Const", []),
        ("dense", "MatMul", ["x", "w"]),
        ("out", "Result", ["dense"]),
    ]


@pytest.mark.parametrize(
    ("text", "got"),
    [
        ("{}", "without it: ParseError('not well-formed (invalid token): line 1, column 0')"),
        ("<net/>", "without layers"),
        (MODEL.replace('to-layer="8"', 'to-layer="9"'), "without it: KeyError('9')"),
    ],
    ids=["no XML", "no layers", "an edge to nowhere"],
)
def test_what_is_no_model(tmp_path, text, got):
    path = tmp_path / "model.xml"
    path.write_text(text)
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - its text is below
        read_openvino(path)
    assert str(caught.value) == f"{path} must be the XML of an OpenVINO model, got a file {got}"
