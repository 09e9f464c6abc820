"""Layouts of the custom-scalars dashboard: their charts, and what is refused, word for word."""

import numpy as np
import pytest

import summaries
from summaries.wire.pb import Layout

REFUSED = {
    "a margin of two tags": (
        summaries.custom_scalars,
        ({"a": {"b": ["Margin", ["x", "y"]]}},),
        ValueError,
        "margin chart 'b' must have 3 tags (value, lower, upper), got 2",
    ),
    "tags that are numbers": (
        summaries.custom_scalars,
        ({"a": {"b": ["Multiline", [1]]}},),
        TypeError,
        "the tags of chart 'b' must be a list of strings, got [1]",
    ),
    "no tags": (
        summaries.custom_scalars,
        ({"a": {"b": ["Multiline", 7]}},),
        TypeError,
        "the tags of chart 'b' must be a list of strings, got 7",
    ),
    "no title": (
        summaries.custom_scalars,
        ({"a": {1: ["Multiline", ["x"]]}},),
        TypeError,
        "the titles in layout must be strings, got int: 1",
    ),
    "no layout of charts": (
        summaries.custom_scalars,
        (None,),
        TypeError,
        "layout must be a dictionary, got NoneType: None",
    ),
    "half a chart": (
        summaries.custom_scalars,
        ({"a": {"b": ["Multiline"]}},),
        ValueError,
        "chart 'b' must be ['Multiline', tags] or ['Margin', tags], got ['Multiline']",
    ),
}


@pytest.mark.parametrize(("build", "args", "kind", "text"), REFUSED.values(), ids=REFUSED)
def test_what_the_error_says(build, args, kind, text):
    with pytest.raises(kind) as caught:
        build(*args)
    assert str(caught.value) == text


def chart(content, title="b"):
    (value,) = summaries.custom_scalars({"a": {title: content}}).value
    return Layout.FromString(value.tensor.string_val[0]).category[0].chart[0]


@pytest.mark.parametrize(
    "tags", [["x"], ("x",), {"x"}, np.array(["x"]), "x", [b"x"]], ids=["list", "tuple", "set", "array", "str", "bytes"]
)
def test_tags_in_any_collection(tags):
    assert list(chart(["Multiline", tags]).multiline.tag) == ["x"]


def test_another_kind_of_chart_becomes_a_multiline():
    text = (
        "chart 'cake' is neither 'Multiline' nor 'Margin', such as 'Pie': it becomes a Multiline; warned once per tag"
    )
    with pytest.warns(UserWarning, match=f"^{text}$"):
        assert list(chart(["Pie", ["x", "y"], "ignored"], "cake").multiline.tag) == ["x", "y"]
