"""Mesh summaries: the three tensors and their settings, and what is refused, word for word."""

import numpy as np
import pytest

import summaries
from summaries.wire.pb import MeshPluginData
from summaries.wire.tensors import decode_tensor

CUBE = np.zeros((1, 8, 3))
REFUSED = {
    "vertices without a batch": (
        summaries.mesh,
        ("a", CUBE[0]),
        ValueError,
        "vertices must have shape [batch, n, 3], got (8, 3)",
    ),
    "settings that JSON has not": (
        summaries.mesh,
        ("a", CUBE, None, None, {"size": {1}}),
        TypeError,
        "config_dict must contain text, finite numbers, booleans, None, and lists and dicts of them, got {'size': {1}}",
    ),
    "a mesh without points": (
        summaries.mesh,
        ("a", None),
        TypeError,
        "vertices must be an array of numbers, got None",
    ),
}


@pytest.mark.parametrize(("build", "args", "kind", "text"), REFUSED.values(), ids=REFUSED)
def test_what_the_error_says(build, args, kind, text):
    with pytest.raises(kind) as caught:
        build(*args)
    assert str(caught.value) == text


def parts(tag, *args):
    """Each part's array and settings."""
    return [
        (decode_tensor(value.tensor), MeshPluginData.FromString(value.metadata.plugin_data.content).json_config)
        for value in summaries.mesh(tag, *args).value
    ]


@pytest.mark.parametrize(("columns", "kept"), [(2, [1, 1, 0]), (4, [1, 1, 1])])
def test_arrays_get_three_columns(columns, kept):
    tag = f"of {columns}"
    text = (
        f"mesh {tag!r} has vertices of another number of columns than 3, such as {columns}: cut or filled with zeros; "
        "warned once per tag"
    )
    with pytest.warns(UserWarning, match=f"^{text}$"):
        ((vertices, _),) = parts(tag, np.ones((1, 8, columns)))
    assert vertices.shape == CUBE.shape
    assert vertices[0, 5].tolist() == kept


def test_colors_of_another_shape_are_stored():
    text = (
        r"mesh 'bare' has colors of another shape than its vertices, such as \(1, 7, 3\) for \(1, 8, 3\): "
        "both are stored as they are; warned once per tag"
    )
    with pytest.warns(UserWarning, match=f"^{text}$"):
        vertices, colors = parts("bare", CUBE, np.ones((1, 7, 3)))
    assert (vertices[0].shape, colors[0].shape) == ((1, 8, 3), (1, 7, 3))


def test_settings_that_are_not_finite_become_null():
    text = "mesh 'endless' has settings that are not finite: they become null; warned once per tag"
    with pytest.warns(UserWarning, match=f"^{text}$"):
        ((_, config),) = parts("endless", CUBE, None, None, {"size": float("nan"), "far": [1.5, float("inf")]})
    assert config == '{"far": [1.5, null], "size": null}'
