"""Values as JSON can hold them."""

import math

import numpy as np
import pytest

from summaries import Summary, image, tensor, text
from summaries.tools.described import described, plain
from summaries.wire.pb import SummaryMetadata

SCALARS = SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name="scalars"))
CASES = {
    "a scalar": (Summary.Value(tag="t", simple_value=0.5), "", {"kind": "scalar", "value": 0.5}),
    "a NaN": (Summary.Value(tag="t", simple_value=math.nan), "", {"kind": "scalar", "value": "nan"}),
    "a new scalar": (
        Summary.Value(tag="t", metadata=SCALARS, tensor=tensor("t", np.float32(2)).value[0].tensor),
        "scalars",
        {"kind": "scalar", "value": 2.0},
    ),
    "strings": (
        Summary.Value(tag="t", tensor=text("t", "ab").value[0].tensor),
        "",
        {"kind": "tensor", "dtype": "string", "shape": [1], "value": ["ab"]},
    ),
    "nothing": (Summary.Value(tag="t"), "hparams", {"kind": "none", "plugin": "hparams"}),
    "a torch text": (
        Summary.Value(tag="t/text_summary", tensor=text("t", "hello").value[0].tensor),
        "",
        {"kind": "text", "text": "hello"},
    ),
}


@pytest.mark.parametrize(("value", "plugin", "expected"), CASES.values(), ids=CASES)
def test_described(value, plugin, expected):
    assert described(value, plugin) == {"tag": value.tag, **expected}


def test_a_picture_is_told_by_its_size():
    value = image("t", np.zeros((4, 6, 3), np.uint8), dataformats="HWC").value[0]
    found = described(value)
    assert (found["kind"], found["width"], found["height"], len(found["bytes"])) == ("image", 6, 4, 1)
    assert "base64" not in found
    assert "base64" in described(value, full=True)


def test_long_texts_are_cut():
    value = text("t", "x" * 500).value[0]
    assert described(value, "text")["text"] == "x" * 200 + "…"
    assert described(value, "text", full=True)["text"] == "x" * 500


def test_plain():
    assert plain({1: (1 + 2j, b"x", None, True, [math.inf])}) == {"1": [[1.0, 2.0], "x", None, True, ["inf"]]}
