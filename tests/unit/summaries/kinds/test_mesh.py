"""Mesh summaries: the three tensors and their settings, and what is refused, word for word."""

import numpy as np
import pytest

import summaries

CUBE = np.zeros((1, 8, 3))
REFUSED = {
    "vertices of two": (
        summaries.mesh,
        ("a", np.zeros((1, 8, 2))),
        ValueError,
        "vertices must have shape [batch, n, 3], got (1, 8, 2)",
    ),
    "colours for others": (
        summaries.mesh,
        ("a", CUBE, np.zeros((1, 7, 3))),
        ValueError,
        "colors must have the shape of vertices, (1, 8, 3), got (1, 7, 3)",
    ),
    "a mesh without points": (
        summaries.mesh,
        ("a", None),
        TypeError,
        "vertices must be an array of numbers, got NoneType of dtype object",
    ),
    "a mesh's settings that JSON has not": (
        summaries.mesh,
        ("a", CUBE, None, None, {"size": float("nan")}),
        TypeError,
        "config_dict must contain text, finite numbers, booleans, None, and lists and dicts of them, got {'size': nan}",
    ),
}


@pytest.mark.parametrize(("build", "args", "kind", "text"), REFUSED.values(), ids=REFUSED)
def test_what_the_error_says(build, args, kind, text):
    with pytest.raises(kind) as caught:
        build(*args)
    assert str(caught.value) == text
