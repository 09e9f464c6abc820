"""Patterns of names."""

import pytest

from summaries.patterns import matcher


@pytest.mark.parametrize(
    ("patterns", "name", "matches"),
    [
        (None, "anything", True),
        ((), "anything", False),
        ("loss", "loss", True),
        ("loss", "loss/train", False),
        ("loss*", "loss/train", True),
        ("*", "a\nb/c", True),
        ("Loss", "loss", False),
        ("*.[bw]", "layer.w", True),
        ("layers[0].weight", "layers[0].weight", True),
        (["a", "b?"], "b1", True),
        (["a", "b?"], "ab1", False),
    ],
)
def test_which_names_match(patterns, name, matches):
    assert matcher(patterns)(name) is matches
