"""Layouts of the custom-scalars dashboard: their charts, and what is refused, word for word."""

import pytest

import summaries

REFUSED = {
    "a margin of two tags": (
        summaries.custom_scalars,
        ({"a": {"b": ["Margin", ["x", "y"]]}},),
        ValueError,
        "margin chart 'b' must have 3 tags (value, lower, upper), got 2",
    ),
    "no kind of chart": (
        summaries.custom_scalars,
        ({"a": {"b": ["Pie", ["x"]]}},),
        ValueError,
        "chart 'b' must be 'Multiline' or 'Margin', got 'Pie'",
    ),
    "a tag for a list of tags": (
        summaries.custom_scalars,
        ({"a": {"b": ["Multiline", "x"]}},),
        TypeError,
        "the tags of chart 'b' must be a list of strings, got 'x'",
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
